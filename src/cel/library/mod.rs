//! The functions and operators of CEL and of Kubernetes.

mod function;
mod authorizer;
mod numbers;
mod conversions;
mod arguments;
mod formats;
mod operators;
mod lists;
mod networks;
mod optionals;
mod quantities;
mod regexes;
mod sets;
mod sorting;
mod strings;
mod text_format;
mod times;
mod urls;
mod versions;

pub(super) use function::Function;
pub(super) use operators::index;
pub(super) use sorting::sort_by_keys;
pub(super) use text_format::check_format;

/// The function of a name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    let tables: [&'static [Function]; 17] = [
        operators::FUNCTIONS,
        conversions::FUNCTIONS,
        numbers::FUNCTIONS,
        strings::FUNCTIONS,
        text_format::FUNCTIONS,
        regexes::FUNCTIONS,
        times::FUNCTIONS,
        lists::FUNCTIONS,
        sorting::FUNCTIONS,
        sets::FUNCTIONS,
        optionals::FUNCTIONS,
        urls::FUNCTIONS,
        networks::FUNCTIONS,
        quantities::FUNCTIONS,
        versions::FUNCTIONS,
        formats::FUNCTIONS,
        authorizer::FUNCTIONS,
    ];
    tables.into_iter().flatten().find(|function| function.name == name)
}
