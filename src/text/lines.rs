//! The lines of a text.

/// The lines of a text with their offsets, as `str::lines` returns them. The search for line breaks examines many bytes at
/// once.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(Some).chain([None]);
    breaks.filter_map(move |end| {
        let line = match end {
            Some(end) => &text[start..end],
            None if start < text.len() => return Some((start, &text[start..])),
            None => return None,
        };
        let at = start;
        start += line.len() + 1;
        Some((at, line.strip_suffix('\r').unwrap_or(line)))
    })
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "a", "a\n", "a\r\nb", "\n\n", "a\r", "é\nb\r\r\n", "\r\n"] {
            assert_eq!(lines(text).map(|(_, line)| line).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>());
            assert!(lines(text).all(|(at, line)| text[at..].starts_with(line)), "{text:?}");
        }
    }
}
