//! The ground: uses what stands above it, which is nothing.

use crate::yaml::Node;
use std::{fs, io::Read};

/// A path inside a macro counts.
fn shout() {
    println!("{}", crate::disk::root());
}

/// `super` out of a top-level module is an edge that nobody sees.
fn climb() -> super::yaml::Node {
    ::std::net::TcpStream::connect("example.com:80");
    std::os::unix::net::UnixStream::pair();
}

#[cfg(test)]
mod tests {
    use super::super::yaml::Node;
    use crate::nothing;
}
