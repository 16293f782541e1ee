//! SemVer ranges, such as `1.x` and `>=1.2 <2`, as Flux reads them.
//!
//! Source: `constraints.go` of `github.com/Masterminds/semver/v3`, which source-controller, helm-controller,
//! image-reflector-controller and Flux Operator use. `testdata/oracles/semver` records the answers of this library.
//! Crates for ranges follow Cargo or npm, which differ in hyphens, commas, wildcards and prereleases.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::version::{Version, compare_prereleases};

/// The maximum length of a range that the library accepts, in bytes.
const MAX_LENGTH: usize = 512;
/// The maximum number of alternatives that the library accepts.
const MAX_ALTERNATIVES: usize = 32;

/// The regular expression of a version in a constraint, which may have wildcards. It has nine groups.
const VERSION: &str = r"v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?";
const OPERATORS: &str = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^";
/// The white space that `\s` matches in Go's regular expressions.
const SPACE: &str = r"[\t\n\f\r ]";

/// The regular expressions of the library. The order of alternatives in an expression matters for some texts.
struct Expressions {
    /// A hyphen range: `1.2 - 1.4`.
    hyphen: Regex,
    /// A whole alternative.
    alternative: Regex,
    /// One constraint within an alternative.
    find: Regex,
    /// A whole constraint.
    constraint: Regex,
}

static EXPRESSIONS: LazyLock<Expressions> = LazyLock::new(|| {
    let new = |pattern: String| Regex::new(&pattern).expect("the expression is constant");
    let (s, v, o) = (SPACE, VERSION, OPERATORS);
    Expressions {
        hyphen: new(format!("{s}*({v}){s}+-{s}+({v}){s}*")),
        alternative: new(format!("^({s}*({o}){s}*({v}){s}*)((?:{s}+|,{s}*)({o}){s}*({v}){s}*)*$")),
        find: new(format!("({o}){s}*({v})")),
        constraint: new(format!("^{s}*({o}){s}*({v}){s}*$")),
    }
});

/// A range of versions: alternatives, separated by `||`.
#[derive(Debug, Clone)]
pub struct Range {
    alternatives: Vec<Alternative>,
}

/// Constraints that must all hold.
#[derive(Debug, Clone)]
struct Alternative {
    constraints: Vec<Constraint>,
    /// Whether the version of a constraint is a prerelease. If not, the alternative matches no prereleases.
    has_prerelease: bool,
}

#[derive(Debug, Clone)]
struct Constraint {
    operator: Operator,
    version: Version,
    wildcard: Wildcard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Tilde,
    Caret,
}

/// The first part of a version that is missing or a wildcard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wildcard {
    None,
    Major,
    Minor,
    Patch,
}

impl Range {
    /// Reads a range; `None` if the library rejects it.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let text = rewrite_hyphens(text);
        let alternatives: Vec<&str> = text.split("||").collect();
        if alternatives.len() > MAX_ALTERNATIVES {
            return None;
        }
        let alternatives = alternatives.into_iter().map(Alternative::parse).collect::<Option<_>>()?;
        Some(Self { alternatives })
    }

    /// Returns whether a version is in the range.
    pub fn contains(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|one| one.contains(version))
    }

    /// Returns whether the range has no upper bound: an alternative contains every sufficiently late version.
    pub fn is_unbounded(&self) -> bool {
        self.contains(&latest())
    }

    /// Returns whether the range has neither a lower nor an upper bound.
    pub fn is_unrestricted(&self) -> bool {
        // This is the earliest version after 0.0.0. A range with this version, such as `>0.0.0`, has no lower bound.
        let earliest = Version { prerelease: "0".into(), ..Version::release(0, 0, 1) };
        self.alternatives.iter().any(|one| one.contains(&latest()) && one.allows(&earliest))
    }

    /// Returns the versions that bound the range. Wildcards count as zero.
    pub fn bounds(&self) -> impl Iterator<Item = &Version> {
        self.alternatives.iter().flat_map(|one| &one.constraints).map(|constraint| &constraint.version)
    }
}

fn latest() -> Version {
    Version::release(u64::MAX, 0, 0)
}

/// Rewrites `1.2 - 1.4` as `>= 1.2, <= 1.4`.
fn rewrite_hyphens(text: &str) -> String {
    let mut rewritten = text.to_string();
    for groups in EXPRESSIONS.hyphen.captures_iter(text) {
        // The first version is group 1, and the second version starts ten groups later.
        let (Some(found), Some(from), Some(to)) = (groups.get(0), groups.get(1), groups.get(11)) else { continue };
        let range = format!(">= {}, <= {} ", from.as_str(), to.as_str());
        rewritten = rewritten.replacen(found.as_str(), &range, 1);
    }
    rewritten
}

impl Alternative {
    fn parse(text: &str) -> Option<Self> {
        if !EXPRESSIONS.alternative.is_match(text) {
            return None;
        }
        let constraints = EXPRESSIONS.find.find_iter(text).map(|found| Constraint::parse(found.as_str()));
        let constraints = constraints.collect::<Option<Vec<_>>>()?;
        let has_prerelease = constraints.iter().any(|constraint| constraint.version.is_prerelease());
        Some(Self { constraints, has_prerelease })
    }

    fn contains(&self, version: &Version) -> bool {
        (self.has_prerelease || !version.is_prerelease()) && self.allows(version)
    }

    /// Returns whether the constraints hold, regardless of prereleases.
    fn allows(&self, version: &Version) -> bool {
        self.constraints.iter().all(|constraint| constraint.allows(version))
    }
}

impl Constraint {
    fn parse(text: &str) -> Option<Self> {
        let groups = EXPRESSIONS.constraint.captures(text)?;
        let group = |number: usize| groups.get(number).map_or("", |group| group.as_str());
        let operator = match group(1) {
            "!=" => Operator::NotEqual,
            ">" => Operator::Greater,
            ">=" | "=>" => Operator::GreaterOrEqual,
            "<" => Operator::Less,
            "<=" | "=<" => Operator::LessOrEqual,
            "~" | "~>" => Operator::Tilde,
            "^" => Operator::Caret,
            _ => Operator::Equal,
        };
        let (major, minor, patch, prerelease) = (group(3), group(4), group(5), group(6));
        let is_open = |part: &str| matches!(part.strip_prefix('.').unwrap_or(part), "x" | "X" | "*" | "");
        let (wildcard, version) = if is_open(major) {
            (Wildcard::Major, format!("0.0.0{prerelease}"))
        } else if is_open(minor) {
            (Wildcard::Minor, format!("{major}.0.0{prerelease}"))
        } else if is_open(patch) {
            (Wildcard::Patch, format!("{major}{minor}.0{prerelease}"))
        } else {
            (Wildcard::None, group(2).to_string())
        };
        Some(Self { operator, version: Version::parse(&version)?, wildcard })
    }

    fn allows(&self, version: &Version) -> bool {
        let bound = &self.version;
        match self.operator {
            Operator::Equal if self.wildcard == Wildcard::None => version.cmp(bound).is_eq(),
            Operator::Equal | Operator::Tilde => self.allows_tilde(version),
            Operator::NotEqual => self.allows_not_equal(version),
            Operator::Greater => match self.wildcard {
                Wildcard::Minor => version.major > bound.major,
                Wildcard::Patch => (version.major, version.minor) > (bound.major, bound.minor),
                // With a wildcard as the major version, a later major version is sufficient.
                Wildcard::Major => version.major > 0 || version > bound,
                Wildcard::None => version > bound,
            },
            Operator::GreaterOrEqual => version >= bound,
            Operator::Less => version < bound,
            Operator::LessOrEqual => match self.wildcard {
                Wildcard::None => version <= bound,
                Wildcard::Minor => version.major <= bound.major,
                Wildcard::Major | Wildcard::Patch => (version.major, version.minor) <= (bound.major, bound.minor),
            },
            Operator::Caret => self.allows_caret(version),
        }
    }

    fn allows_not_equal(&self, version: &Version) -> bool {
        let bound = &self.version;
        match self.wildcard {
            Wildcard::None | Wildcard::Major => version.cmp(bound).is_ne(),
            Wildcard::Minor => version.major != bound.major,
            Wildcard::Patch => {
                (version.major, version.minor) != (bound.major, bound.minor)
                    || compare_prereleases(&version.prerelease, &bound.prerelease).is_ne()
            }
        }
    }

    /// Evaluates a tilde: `~1.2.3` allows later patch versions, and `~1` allows later minor versions.
    fn allows_tilde(&self, version: &Version) -> bool {
        let bound = &self.version;
        let is_zero = (bound.major, bound.minor, bound.patch) == (0, 0, 0);
        // The library reads `~0.0.0` as any version, since it does not distinguish `~0.0.0` from a major wildcard.
        let is_any = is_zero && matches!(self.wildcard, Wildcard::None | Wildcard::Major);
        version >= bound
            && (is_any
                || version.major == bound.major && (version.minor == bound.minor || self.wildcard == Wildcard::Minor))
    }

    /// Evaluates a caret: later versions with the same first non-zero number.
    fn allows_caret(&self, version: &Version) -> bool {
        let bound = &self.version;
        if version < bound || version.major != bound.major {
            return false;
        }
        if bound.major > 0 || self.wildcard == Wildcard::Minor {
            return true;
        }
        if version.minor != bound.minor {
            return false;
        }
        bound.minor > 0 || self.wildcard == Wildcard::Patch || version.patch == bound.patch
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Questions {
        ranges: Vec<String>,
        versions: Vec<String>,
    }

    #[derive(Deserialize)]
    struct Answers {
        versions_read: String,
        ranges: Vec<Option<String>>,
        order: Vec<String>,
    }

    fn recorded() -> (Questions, Answers) {
        let questions = include_str!("../../testdata/oracles/semver/questions.json");
        let answers = include_str!("../../testdata/oracles/semver/answers.json");
        (serde_json::from_str(questions).unwrap(), serde_json::from_str(answers).unwrap())
    }

    #[test]
    fn versions_agree_with_the_library_of_flux() {
        let (questions, answers) = recorded();
        let versions: Vec<Option<Version>> = questions.versions.iter().map(|text| Version::parse(text)).collect();
        let read = |version: &Option<Version>| if version.is_some() { 'x' } else { '!' };
        assert_eq!(versions.iter().map(read).collect::<String>(), answers.versions_read);
        let versions: Vec<Version> = versions.into_iter().flatten().collect();
        assert_eq!(versions.len(), answers.order.len());
        for (version, expected) in versions.iter().zip(&answers.order) {
            let letter = |other: &Version| match version.cmp(other) {
                Ordering::Less => '<',
                Ordering::Equal => '=',
                Ordering::Greater => '>',
            };
            assert_eq!(versions.iter().map(letter).collect::<String>(), *expected, "{version:?}");
        }
    }

    #[test]
    fn ranges_agree_with_the_library_of_flux() {
        let (questions, answers) = recorded();
        assert_eq!(questions.ranges.len(), answers.ranges.len());
        let versions: Vec<Version> = questions.versions.iter().filter_map(|text| Version::parse(text)).collect();
        let mut wrong = Vec::new();
        for (text, expected) in questions.ranges.iter().zip(&answers.ranges) {
            let letter = |range: &Range, version: &Version| if range.contains(version) { 'x' } else { '.' };
            let range = Range::parse(text);
            let answer = range.map(|range| versions.iter().map(|version| letter(&range, version)).collect::<String>());
            if answer != *expected {
                wrong.push(format!("{text:?}\n  here:    {answer:?}\n  library: {expected:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), questions.ranges.len(), wrong.join("\n"));
    }

    #[test]
    fn a_range_without_an_end_is_unbounded() {
        let is = |text: &str| Range::parse(text).is_some_and(|range| range.is_unbounded());
        for range in [
            "*",
            "x",
            ">=1.0.0",
            ">1",
            ">= 1.0",
            "1.x || >=3",
            ">=1.0.0-0",
            "!=2.0.0",
            ">=1, !=1.5",
            "*-0",
            "~*",
            "~0.0.0",
        ] {
            assert!(is(range), "{range}");
        }
        for range in
            ["1.2.3", "1.x", "^1.2", "~1", ">=1 <2", ">= 1.0, < 2.0", "1.0 - 2.0", "<=3", "${v}", "^*", "1.x ||"]
        {
            assert!(!is(range), "{range}");
        }
    }

    #[test]
    fn a_range_without_bounds_is_unrestricted() {
        let is = |text: &str| Range::parse(text).is_some_and(|range| range.is_unrestricted());
        for range in ["*", "x", "x.x.x", ">=0", ">= 0.0.0", ">=0.0.0-0", ">0.0.0", "1.x || *", "*-0", "~x", "!=1.0.0"] {
            assert!(is(range), "{range}");
        }
        for range in
            ["1.x", "^1.0", ">=1.0.0", "0.x", "~0.1", ">=0.0.0 <2", "5.0.x", ">0", ">=0.0.1", "* - 5", "", "^*"]
        {
            assert!(!is(range), "{range}");
        }
    }
}
