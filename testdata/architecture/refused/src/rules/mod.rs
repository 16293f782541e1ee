//! A macro declares the modules of this folder.

macro_rules! rules {
    ($($module:ident),*) => { $(mod $module;)* };
}

rules! { missing_prune }
