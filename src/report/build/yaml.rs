//! Manifests: one stream that `kubectl apply` takes, so that who applies what is said in comments.

use std::io::{self, Write};

use super::delivery::{Delivery, Secrets, describe, shown};
use crate::report::mask::Masks;
use crate::report::printable::printable;
use crate::yaml::go;

pub(super) fn write(deliveries: &[Delivery<'_>], secrets: Secrets, out: &mut dyn Write) -> io::Result<()> {
    let mut masks = Masks::default();
    // A comment stands in the document that follows it: a document of comments alone confuses other readers.
    let mut comments: Vec<String> = Vec::new();
    for Delivery { receiver, groups } in deliveries {
        let name = receiver.to_string();
        if !name.is_empty() {
            comments.push(format!("cluster {}", printable(&name).replace(['\n', '\t'], " ")));
        }
        for group in groups {
            comments.push(describe(group));
            for applied in &group.objects {
                writeln!(out, "---")?;
                flush(&mut comments, out)?;
                let node = shown(&applied.object.node, secrets, &mut masks);
                out.write_all(go::print(&node).as_bytes())?;
            }
        }
    }
    flush(&mut comments, out)
}

fn flush(comments: &mut Vec<String>, out: &mut dyn Write) -> io::Result<()> {
    comments.drain(..).try_for_each(|comment| writeln!(out, "# {comment}"))
}
