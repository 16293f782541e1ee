//! YAML output of objects: one stream for `kubectl apply`, with appliers in comments.

use std::io::{self, Write};

use super::delivery::{Delivery, Secrets, describe, for_display};
use crate::report::mask::Masks;
use crate::report::printable::{log_line, one_line};
use crate::yaml::go;

pub(super) fn write(deliveries: &[Delivery<'_>], secrets: Secrets, out: &mut dyn Write) -> io::Result<()> {
    let mut masks = Masks::default();
    // A comment precedes its document: some parsers reject a document that contains only comments.
    let mut comments: Vec<String> = Vec::new();
    for Delivery { receiver, groups } in deliveries {
        let name = receiver.to_string();
        if !name.is_empty() {
            comments.push(format!("cluster {name}"));
        }
        for group in groups {
            comments.push(describe(group));
            for applied in &group.objects {
                writeln!(out, "---")?;
                flush(&mut comments, out)?;
                let node = for_display(&applied.object.node, secrets, &mut masks);
                out.write_all(go::print(&node).as_bytes())?;
            }
        }
    }
    flush(&mut comments, out)
}

fn flush(comments: &mut Vec<String>, out: &mut dyn Write) -> io::Result<()> {
    comments.drain(..).try_for_each(|comment| writeln!(out, "{}", log_line(&one_line(&format!("# {comment}")))))
}
