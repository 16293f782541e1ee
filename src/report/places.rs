//! The places of a finding that an output for readers shows: the first few, and the number of the other places.

use crate::base::finding::{Finding, Label};

/// The maximum number of shown places with the same cause, apart from the main position.
const MAX_SHOWN: usize = 3;

/// The main position and the related ones as they are shown.
pub(super) struct Shown {
    pub(super) at: Label,
    pub(super) related: Vec<Label>,
}

impl Shown {
    pub(super) fn of(finding: &Finding) -> Self {
        let (mut at, mut related) = (finding.at.clone(), finding.related.clone());
        let Some(others) = &finding.others else { return Self { at, related } };
        let (here, elsewhere): (Vec<&Label>, Vec<&Label>) =
            others.places.iter().partition(|place| place.span == at.span);
        if !here.is_empty() {
            let names: Vec<&str> = here.iter().take(MAX_SHOWN).map(|place| place.message.as_str()).collect();
            let more = if elsewhere.is_empty() { others.omitted } else { 0 } + here.len() - names.len();
            let comma = if at.message.is_empty() { "" } else { ", " };
            at.message = format!("{}{comma}also for {}{}", at.message, names.join(", "), and_more(" ", more));
        }
        let shown = elsewhere.len().min(MAX_SHOWN);
        let more = elsewhere.len() - shown + others.omitted;
        related.extend(elsewhere.into_iter().take(shown).cloned());
        if let Some(last) = related.last_mut().filter(|_| shown > 0) {
            last.message.push_str(&and_more(", ", more));
        }
        Self { at, related }
    }
}

fn and_more(separator: &str, count: usize) -> String {
    if count == 0 { String::new() } else { format!("{separator}and {count} more") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::finding::Others;

    #[test]
    fn the_first_places_and_the_number_of_the_others_are_shown() {
        let file = crate::text::File::new("a.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\n");
        let place = |line: usize, name: &str| Label::new(file.span(line * 5..line * 5 + 1), name);
        let mut finding = Finding::error("rule", file.span(0..1), "wrong");
        let places = vec![place(0, "here"), place(1, "p"), place(2, "q"), place(3, "r"), place(4, "s")];
        finding.others = Some(Box::new(Others { places, omitted: 7, count: 12 }));
        let shown = Shown::of(&finding);
        let related: Vec<&str> = shown.related.iter().map(|label| label.message.as_str()).collect();
        assert_eq!((shown.at.message.as_str(), related), ("also for here", vec!["p", "q", "r, and 8 more"]));
    }
}
