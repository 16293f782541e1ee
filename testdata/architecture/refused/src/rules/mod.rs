//! A macro declares the modules of a folder below this one.

macro_rules! rules {
    ($($module:ident),*) => {
        mod checks {
            $(pub(super) mod $module;)*
        }
    };
}

rules! { missing_prune }
