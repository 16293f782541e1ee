//! Uses a name that its neighbour re-exports: the edge leads to the file that defines it.

pub(in crate::engine) struct State {
    jobs: Vec<super::super::build::Job>,
}
