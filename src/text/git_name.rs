//! Names that file systems treat as `.git`.

/// The characters that the file systems of macOS ignore when they compare names.
const IGNORED: [(char, char); 4] =
    [('\u{200c}', '\u{200f}'), ('\u{202a}', '\u{202e}'), ('\u{206a}', '\u{206f}'), ('\u{feff}', '\u{feff}')];

/// Returns whether any file system treats a name as `.git`, by the rules of Git itself.
pub fn is_git_name(name: &str) -> bool {
    if !name.starts_with(['.', 'g', 'G']) && name.is_ascii() {
        return false;
    }
    let is_ignored = |c: char| IGNORED.iter().any(|(first, last)| (*first..=*last).contains(&c));
    let name: String = name.chars().filter(|c| !is_ignored(*c)).collect();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}
