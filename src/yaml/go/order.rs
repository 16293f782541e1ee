//! The order of keys: letters after all other characters, numbers by value.

use std::cmp::Ordering;

use crate::yaml::tree::node::Entry;

/// The number of entries up to which insertion sort is faster than merge sort.
const FEW: usize = 12;

/// Sorts entries by key.
///
/// The order is not transitive (`a2` < `a10` < `a1b` < `a2`), so the sort of the standard library may panic. If Go's
/// result depends on its random order of maps, the result here depends on the order of the file.
pub(super) fn sort(entries: &mut [&Entry]) {
    if entries.is_sorted_by(|a, b| less(&a.key, &b.key)) {
        return;
    }
    if entries.len() <= FEW {
        return insert(entries);
    }
    let mut scratch = entries.to_vec();
    merge(entries, &mut scratch);
}

fn insert(entries: &mut [&Entry]) {
    for end in 1..entries.len() {
        let mut at = end;
        while at > 0 && less(&entries[at].key, &entries[at - 1].key) {
            entries.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Sorts `entries` with `scratch`, which contains the same entries.
fn merge<'a>(entries: &mut [&'a Entry], scratch: &mut [&'a Entry]) {
    if entries.len() <= FEW {
        return insert(entries);
    }
    let middle = entries.len() / 2;
    let (left, right) = scratch.split_at_mut(middle);
    let (first, second) = entries.split_at_mut(middle);
    merge(left, first);
    merge(right, second);
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    for entry in entries {
        let from_right = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) => less(&b.key, &a.key),
            (None, _) => true,
            (_, None) => false,
        };
        let next = if from_right { right.next() } else { left.next() };
        if let Some(next) = next {
            *entry = next;
        }
    }
}

/// Returns whether a key precedes another key.
fn less(a: &str, b: &str) -> bool {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    // Two different characters may share their first bytes.
    let same = a.floor_char_boundary(same);
    let (Some((before, a)), Some((_, b))) = (a.split_at_checked(same), b.split_at_checked(same)) else {
        return a.len() < b.len();
    };
    let (Some(first_a), Some(first_b)) = (a.chars().next(), b.chars().next()) else { return a.len() < b.len() };
    match (is_letter(first_a), is_letter(first_b)) {
        (true, true) => return first_a < first_b,
        (false, false) => {}
        (_, b) => return b,
    }
    // A zero inside a number is a digit of the number; a leading zero is not.
    let inside = (first_a == '0' || first_b == '0')
        && before.bytes().rev().take_while(u8::is_ascii_digit).any(|digit| digit != b'0');
    let number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit);
        digits.fold((i64::from(inside), 0), |(value, len), digit| {
            (value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), len + 1)
        })
    };
    let order = number(a).cmp(&number(b)).then(first_a.cmp(&first_b));
    order == Ordering::Less
}

fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { c.is_alphabetic() }
}
