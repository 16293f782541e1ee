//! Text output of the rights of accounts: a table for each binding of each account.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::Style;

use super::description::{AccessReport, describe_means, describe_reach};
use crate::rbac::{Access, Actor, DefinedIn, Escape, Grant, GrantedRole, Impersonation, PermissionRow};
use crate::report::printable::one_line;
use crate::report::result::display_path;
use crate::yaml::Name;

const HEADING: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();

/// The maximum number of listed clusters; other clusters are counted.
const CLUSTERS_SHOWN: usize = 8;
/// The width at which lists of resources wrap.
const WIDTH: usize = 110;
/// The maximum width of a column; a longer cell shifts its own line only.
const WIDEST: usize = 44;

/// The verbs that are abbreviated as `read`.
const READ: [&str; 3] = ["get", "list", "watch"];
/// The verbs that are abbreviated as `write`.
const WRITE: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];

pub(super) fn write(all: &[AccessReport<'_>], root: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut short = false;
    for (number, one) in all.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        head(one, out)?;
        for access in &one.accounts {
            short |= account(access, root, out)?;
        }
        for escape in &one.escapes {
            chain(escape, root, out)?;
        }
        for why in &one.unseen {
            writeln!(out, "\n{QUIET}cannot be checked: {}{QUIET:#}", line(why))?;
        }
    }
    if short {
        let (read, write) = (READ.join(", "), WRITE.join(", "));
        writeln!(out, "\n{QUIET}read: {read}; write: {write}{QUIET:#}")?;
    }
    Ok(())
}

fn head(one: &AccessReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let clusters: Vec<String> =
        one.clusters.iter().filter(|name| !name.is_empty()).take(CLUSTERS_SHOWN).map(ToString::to_string).collect();
    let more = one.clusters.len().saturating_sub(CLUSTERS_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let word = if one.clusters.len() == 1 { "cluster" } else { "clusters" };
    let namespaces = one.namespaces.join(", ");
    let subject = match &one.tenant {
        Some(tenant) => format!("tenant {tenant}: {namespaces}"),
        None => format!("namespace {namespaces}"),
    };
    let on = if clusters.is_empty() { String::new() } else { format!(", on {word} {}{more}", clusters.join(", ")) };
    writeln!(out, "{HEADING}{}{HEADING:#}", line(&format!("{subject}{on}")))
}

/// Writes the rights of an account, and returns whether verbs were abbreviated.
fn account(access: &Access<'_>, root: &str, out: &mut dyn Write) -> io::Result<bool> {
    writeln!(out, "\n{HEADING}{}{HEADING:#}", line(&access.account.to_string()))?;
    let (basic, own): (Vec<&GrantedRole<'_>>, Vec<&GrantedRole<'_>>) =
        access.granted.iter().partition(|given| is_basic(given));
    if own.is_empty() {
        writeln!(out, "  no binding references it")?;
    }
    let mut short = false;
    for given in own {
        short |= binding(given, root, out)?;
    }
    if !basic.is_empty() {
        writeln!(out, "  {QUIET}and the rights of every account: review its own rights, discover the API{QUIET:#}")?;
    }
    if !access.impersonations.is_empty() {
        writeln!(out, "  may act as")?;
    }
    let mut written: BTreeSet<String> = BTreeSet::new();
    // An account that may act as any user needs no list of other accounts.
    let reaches_any_user = access.impersonations.iter().any(|way| way.to == Actor::AnyUser);
    for way in access.impersonations.iter().filter(|way| !reaches_any_user || way.to == Actor::AnyUser) {
        let who = way.to.to_string();
        if written.insert(who.clone()) {
            writeln!(out, "    {}", line(&who))?;
            for same in access.impersonations.iter().filter(|other| other.to == way.to) {
                write_way(same, root, out)?;
            }
        }
    }
    Ok(short)
}

/// Returns whether Kubernetes ships the binding for all users.
fn is_basic(given: &GrantedRole<'_>) -> bool {
    given.subject.is_everybody() && matches!(given.binding.place, DefinedIn::Shipped(_))
}

fn binding(given: &GrantedRole<'_>, root: &str, out: &mut dyn Write) -> io::Result<bool> {
    let scope = match &*given.binding.namespace {
        "" => "in the whole cluster".to_owned(),
        namespace => format!("in namespace {namespace}"),
    };
    writeln!(out, "  {}", line(&scope))?;
    let through = if given.subject.account().is_some() { String::new() } else { format!(" for {}", given.subject) };
    let by = format!("{}{through}", given.binding.reference());
    writeln!(out, "    by {}  {QUIET}{}{QUIET:#}", line(&by), place(&given.binding.place, root))?;
    match given.role {
        Some(role) => {
            writeln!(out, "    to {}  {QUIET}{}{QUIET:#}", line(&given.binding.role_name()), place(&role.place, root))?;
        }
        None => writeln!(out, "    to {}, which the cluster does not receive", line(&given.binding.role_name()))?,
    }
    let rows: Vec<[String; 3]> = given.rows.iter().map(cells).collect();
    table(&rows, out)?;
    Ok(given.rows.iter().any(|row| verbs(&row.verbs) != row.verbs.join(", ")))
}

fn cells(row: &PermissionRow) -> [String; 3] {
    let group = match row.group.as_deref() {
        None => "paths".to_owned(),
        Some("") => "core".to_owned(),
        Some("*") => "all groups".to_owned(),
        Some(group) => group.to_owned(),
    };
    let what: Vec<&str> = row.resources.iter().map(|name| if &**name == "*" { "all" } else { name }).collect();
    let names = if row.names.is_empty() { String::new() } else { format!(" named {}", row.names.join(", ")) };
    [group, format!("{}{names}", what.join(", ")), verbs(&row.verbs)]
}

/// Joins verbs; abbreviates a complete set of reading or writing verbs.
fn verbs(all: &[Name]) -> String {
    let has = |wanted: &[&str]| wanted.iter().all(|verb| all.iter().any(|own| &**own == *verb));
    let (reads, writes) = (has(&READ), has(&WRITE));
    let rest =
        all.iter().map(|verb| &**verb).filter(|verb| !(reads && READ.contains(verb) || writes && WRITE.contains(verb)));
    let words = ["read"].into_iter().filter(|_| reads).chain(["write"].into_iter().filter(|_| writes)).chain(rest);
    let words: Vec<&str> = words.map(|word| if word == "*" { "everything" } else { word }).collect();
    words.join(", ")
}

fn table(rows: &[[String; 3]], out: &mut dyn Write) -> io::Result<()> {
    let width = |column: usize| {
        let widths = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        widths.max().unwrap_or_default().min(WIDEST)
    };
    let (first, second) = (width(0), width(2));
    let indent = 6 + first + 2 + second + 2;
    for [group, what, verbs] in rows {
        let mut lines = wrapped(what, WIDTH.saturating_sub(indent).max(20)).into_iter();
        let (group, verbs) = (line(group), line(verbs));
        writeln!(out, "      {group:first$}  {verbs:second$}  {}", lines.next().unwrap_or_default())?;
        for further in lines {
            writeln!(out, "{:indent$}{further}", "")?;
        }
    }
    Ok(())
}

/// Wraps a list after its commas.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line(text).split_inclusive(", ") {
        match lines.last_mut() {
            Some(last) if last.chars().count() + word.trim_end().chars().count() <= width => last.push_str(word),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

fn write_way(way: &Impersonation<'_>, root: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "      by {}", describe_means(way.method))?;
    // Several rules of one role may be necessary.
    let mut pairs: Vec<[String; 2]> = Vec::new();
    for pair in way.grants.iter().map(|grant| grant_lines(grant, root)) {
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    for line in pairs.iter().flatten() {
        writeln!(out, "        {line}")?;
    }
    if let Some(policy) = way.forbidden_by {
        let place = format!("{}:{}", display_path(root, policy.place.file()), policy.place.position().line);
        writeln!(out, "        {} may forbid it  {QUIET}{place}{QUIET:#}", line(&policy.reference.to_string()))?;
    }
    Ok(())
}

/// Returns a line for the binding and a line for the role with the matching rule.
fn grant_lines(grant: &Grant<'_>, root: &str) -> [String; 2] {
    let role = line(&grant.from.reference());
    let gathered = if std::ptr::eq(grant.role, grant.from) {
        String::new()
    } else {
        format!(", aggregated by {}", line(&grant.role.reference()))
    };
    let of_rule = match &grant.rule.place {
        Some(span) => place(&DefinedIn::Written(span.clone()), root),
        None => place(&grant.from.place, root),
    };
    let of_binding = place(&grant.binding.place, root);
    [
        format!("{}  {QUIET}{of_binding}{QUIET:#}", line(&grant.binding.reference())),
        format!("{role}{gathered}  {QUIET}{of_rule}{QUIET:#}"),
    ]
}

fn chain(escape: &Escape<'_>, root: &str, out: &mut dyn Write) -> io::Result<()> {
    let word = if escape.doubt.is_some() { "may lead" } else { "leads" };
    let doubt = escape.doubt.as_ref().filter(|_| escape.chain.forbidden_by().is_none());
    let escape = &escape.chain;
    let to = line(&describe_reach(&escape.end));
    writeln!(out, "\n{HEADING}{} {word} out of the namespaces, to {to}{HEADING:#}", line(&escape.from.to_string()))?;
    if let Some(doubt) = doubt {
        writeln!(out, "  {}", line(&format!("which {doubt}")))?;
    }
    for step in &escape.steps {
        writeln!(out, "  {} may act as {}", line(&step.who.to_string()), line(&step.to.to_string()))?;
        write_way(&step.by, root, out)?;
    }
    if let crate::rbac::ChainEnd::Bindings(bindings) = &escape.end {
        for binding in bindings {
            let (name, role) = (line(&binding.reference()), line(&binding.role_name()));
            writeln!(out, "  {name} grants {role}  {QUIET}{}{QUIET:#}", place(&binding.place, root))?;
        }
    }
    Ok(())
}

fn place(place: &DefinedIn, root: &str) -> String {
    match place {
        DefinedIn::Written(span) => {
            format!("{}:{}", display_path(root, span.file()).replace('\n', "\u{FFFD}"), span.position().line)
        }
        DefinedIn::Shipped(by) => format!("shipped with {by}"),
    }
}

fn line(text: &str) -> String {
    one_line(text)
}
