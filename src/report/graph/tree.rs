//! The lines of a tree, with every node expanded once.

use std::io::{self, Write};
use std::rc::Rc;

use anstyle::Style;

const QUIET: Style = Style::new().dimmed();

/// The maximum size of a tree in bytes. Each line starts with a part for each of its levels.
const MAX_BYTES: usize = 8 << 20;

/// A node to draw, with a word about its relation to the node above it.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    pub(super) node: usize,
    pub(super) relation: &'static str,
}

/// The text of the nodes of a tree.
pub(super) trait Labels {
    /// The title of a node.
    fn title(&self, node: usize) -> Option<String>;
    /// The notes beside the title, as far as they fit after a number of characters.
    fn notes(&self, node: usize, used: usize) -> String;
    /// The nodes below a node.
    fn below(&self, node: usize) -> Vec<Branch>;
}

/// A pending line with its prefix.
struct Line {
    branch: Branch,
    /// The start of the line, which the lines of one level share.
    before: Rc<str>,
    last: bool,
}

/// Draws trees of `count` nodes.
pub(super) fn draw(tops: &[Branch], count: usize, labels: &impl Labels, out: &mut dyn Write) -> io::Result<()> {
    let mut written = vec![false; count];
    // A stack instead of recursion: the depth of a repository is unbounded.
    let mut waiting = Vec::new();
    push(&mut waiting, tops, &Rc::from(""));
    let mut room = MAX_BYTES;
    while let Some(Line { branch: Branch { node, relation }, before, last }) = waiting.pop() {
        let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let Some(title) = labels.title(node) else { continue };
        let again = written.get(node).copied().unwrap_or_default();
        let lead = format!("{before}{branch}");
        let notes = if again {
            "(see above)".to_owned()
        } else {
            labels.notes(node, lead.chars().count() + title.chars().count() + 2)
        };
        let notes: Vec<&str> = [relation, &notes].into_iter().filter(|note| !note.is_empty()).collect();
        let (gap, notes) = (if notes.is_empty() { "" } else { "  " }, notes.join("; "));
        let Some(rest) = room.checked_sub(lead.len() + title.len() + notes.len()) else {
            return writeln!(out, "… and more: the tree is too large; `--format json` prints the whole graph");
        };
        room = rest;
        writeln!(out, "{lead}{title}{gap}{QUIET}{notes}{QUIET:#}")?;
        if !again {
            written[node] = true;
            push(&mut waiting, &labels.below(node), &format!("{before}{below}").into());
        }
    }
    Ok(())
}

fn push(waiting: &mut Vec<Line>, branches: &[Branch], before: &Rc<str>) {
    for (number, branch) in branches.iter().enumerate().rev() {
        waiting.push(Line { branch: branch.clone(), before: before.clone(), last: number + 1 == branches.len() });
    }
}
