//! `render --explain-values`: prints the file and line of each setting.

use std::collections::BTreeMap;
use std::io;

use crate::cli::source::Source;
use crate::cli::streams::Streams;
use crate::fleet::{Explained, Provenance, explain};
use crate::report::mask::Mask;
use crate::report::printable;

/// The maximum width of a column; a longer cell shifts its own line only.
const WIDEST: usize = 48;

/// Writes every setting of every cluster and tenant, grouped by cluster and tenant.
pub(super) fn write(source: &Source, streams: &mut Streams) -> io::Result<()> {
    let values = explain(&source.loaded);
    let mut masks: BTreeMap<String, Mask> = BTreeMap::new();
    for (index, group) in values.chunk_by(|a, b| a.subject == b.subject).enumerate() {
        let Some(first) = group.first() else { continue };
        if index > 0 {
            writeln!(streams.out())?;
        }
        writeln!(streams.out(), "{}", printable(&first.subject))?;
        let rows: Vec<[String; 3]> = group.iter().map(|value| row(value, source, &mut masks)).collect();
        let width =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let [field_width, value_width] = [0, 1].map(|column| width(column).unwrap_or_default().min(WIDEST));
        for [field, value, from] in &rows {
            writeln!(streams.out(), "  {field:field_width$}  {value:value_width$}  {from}")?;
        }
    }
    Ok(())
}

fn row(value: &Explained, source: &Source, masks: &mut BTreeMap<String, Mask>) -> [String; 3] {
    let (shown, from) = match &value.from {
        Provenance::Derived(_) => (value.value.clone(), value.from.to_string()),
        Provenance::At(span) => {
            let mask = masks.entry(span.file().path().to_owned()).or_insert_with(|| Mask::new(span.file()));
            let hidden = mask.hides(span.range());
            (if hidden { "***".to_owned() } else { value.value.clone() }, source.display_place(&value.from.to_string()))
        }
    };
    [value.field.as_str(), shown.as_str(), from.as_str()].map(|cell| printable(cell).replace('\n', " "))
}
