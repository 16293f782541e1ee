//! serde names functions in strings.

pub struct Node {
    #[serde(default = "crate::disk::root")]
    root: String,
}
