//! Cases of hostile repositories: no path in a file of a repository leads a command out of it or into `.git`.
//!
//! Each case plants a canary where a pull request must not reach, names it by each field that takes a path, and asks
//! every command. The case of an honest path proves that the canary would be seen.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use checkout::{Answer, CANARY, Checkout, READERS, assert_same, part, write};
use fields::{FIELDS, Field, write_cluster};

mod checkout;
mod fields;
mod fleets;
mod sources;
mod upgrade;

/// A way to name a file or directory: makes what it needs in the directory `apps/<field>` of the checkout and returns
/// the path from there. The targets lie in the directory `outside`, and in `.git`.
type Trick = fn(&Checkout, &Field) -> String;

const TRICKS: &[(&str, Trick)] = &[
    ("a relative link", |checkout, field| {
        link(checkout, field, "link", &format!("../../../outside/{}", field.target));
        "link".to_owned()
    }),
    ("an absolute link", |checkout, field| {
        link(checkout, field, "link", &checkout.outside().join(field.target).display().to_string());
        "link".to_owned()
    }),
    ("a link to a link", |checkout, field| {
        link(checkout, field, "link", "second");
        link(checkout, field, "second", &format!("./.././{}/third", field.name));
        link(checkout, field, "third", &format!("../../../outside/{}", field.target));
        "link".to_owned()
    }),
    ("a directory that is a link", |checkout, field| {
        link(checkout, field, "there", "../../../outside");
        format!("there/{}", field.target)
    }),
    ("a link to the directory above the repository", |checkout, field| {
        link(checkout, field, "up", "../../..");
        format!("up/outside/{}", field.target)
    }),
    ("`..` through a link", |checkout, field| {
        link(checkout, field, "there", "../../../outside/deep");
        format!("there/../{}", field.target)
    }),
    ("`..` through a link, behind a link", |checkout, field| {
        link(checkout, field, "there", "../../../outside/deep");
        link(checkout, field, "link", &format!("there/../{}", field.target));
        "link".to_owned()
    }),
    ("a link that leaves the repository and returns", |checkout, field| {
        link(checkout, field, "link", &format!("../../../outside/back/.git/{}", field.target));
        "link".to_owned()
    }),
    ("`..`", |_, field| format!("../../../outside/{}", field.target)),
    ("`.` and `..` in disorder", |_, field| format!("./a/.././/../x/../../../outside/./{}", field.target)),
    ("an absolute path", |checkout, field| checkout.outside().join(field.target).display().to_string()),
    ("an absolute path with slashes", |checkout, field| {
        format!("//{}", checkout.outside().join(field.target).display())
    }),
    ("a URL of a file", |checkout, field| format!("file://{}", checkout.outside().join(field.target).display())),
    ("a home directory", |_, field| format!("~/{}", field.target)),
    ("backslashes", |_, field| format!("..\\\\..\\\\..\\\\outside\\\\{}", field.target.replace('/', "\\\\"))),
    ("a drive", |_, field| format!("C:\\\\outside\\\\{}", field.target.replace('/', "\\\\"))),
    ("a NUL", |_, field| format!("../../../outside/{}\\0", field.target)),
    ("a place of copies", |_, field| format!("\\0/../../../../outside/{}", field.target)),
    ("bytes of a terminal", |_, field| format!("\\e[2J../../../outside/{}", field.target)),
    ("`.git`", |_, field| format!("../../.git/{}", field.target)),
    ("`.git` behind `..`", |_, field| format!("a/../../../.git/./{}", field.target)),
    ("`.GIT`", |checkout, field| {
        plant(&checkout.root().join(".GIT"));
        format!("../../.GIT/{}", field.target)
    }),
    ("a link to `.git`", |checkout, field| {
        link(checkout, field, "git", "../../.git");
        format!("git/{}", field.target)
    }),
    ("a link into `.git`", |checkout, field| {
        link(checkout, field, "link", &format!("../../.git/{}", field.target));
        "link".to_owned()
    }),
    ("a link to nothing", |checkout, field| {
        link(checkout, field, "link", "../../../nothing");
        "link".to_owned()
    }),
    ("a link to itself", |checkout, field| {
        link(checkout, field, "link", "link");
        "link".to_owned()
    }),
];

fn link(checkout: &Checkout, field: &Field, name: &str, target: &str) {
    checkout.link(&format!("apps/{}/{name}", field.name), target);
}

/// Writes the targets of all fields below a directory.
fn plant(folder: &Path) {
    for (path, text) in FIELDS.iter().flat_map(Field::targets) {
        write(&folder.join(path), &text);
    }
}

/// A checkout with all fields, each of which names its target by a trick.
fn checkout(trick: Trick) -> Checkout {
    let checkout = Checkout::new();
    plant(&checkout.root().join(".git"));
    fs::create_dir(checkout.outside().join("deep")).unwrap();
    symlink("../repo", checkout.outside().join("back")).unwrap();
    write_cluster(&checkout);
    for field in FIELDS {
        let path = trick(&checkout, field);
        field.write(&checkout, &path);
    }
    checkout
}

/// The answers of commands, and those of `kustomize` for fields.
fn builds<'f>(checkout: &Checkout, commands: &[&[&str]], fields: impl IntoIterator<Item = &'f Field>) -> Vec<Answer> {
    let mut answers = checkout.answers(commands);
    for field in fields {
        let folder = format!("apps/{}", field.name);
        answers.push(checkout.run(&["kustomize", &folder, "--load-restrictor", "LoadRestrictionsNone"]));
    }
    answers
}

/// Runs cases side by side: each waits for processes most of the time.
fn side_by_side<T: Sync>(cases: &[T], run: impl Fn(&T) + Sync) {
    std::thread::scope(|scope| {
        for half in cases.chunks(cases.len().div_ceil(4)) {
            let run = &run;
            scope.spawn(move || half.iter().for_each(run));
        }
    });
}

#[test]
fn an_honest_path_is_read_so_the_canaries_would_be_seen() {
    let checkout = checkout(|_, field| match field.name {
        // Its globs have no `..` in them, whatever they lead to.
        "artifact-copy" => format!("shared/{}", field.target),
        _ => format!("../../shared/{}", field.target),
    });
    plant(&checkout.root().join("shared"));
    write(&checkout.root().join("apps/artifact-copy/shared/copied/o.yaml"), &fields::object("artifact-copy"));
    let answers = builds(&checkout, READERS, FIELDS);
    let is_shown = |field: &Field| {
        let own = field.canary();
        let encoded = data_encoding(&own);
        answers.iter().any(|answer| answer.text.contains(&own) || answer.text.contains(&encoded))
    };
    let wrong: Vec<&str> =
        FIELDS.iter().filter(|field| is_shown(field) != field.is_shown).map(|field| field.name).collect();
    assert!(wrong.is_empty(), "shown or not, against expectation: {wrong:?}");
}

/// The part of a text's Base64 that does not depend on what follows; Secrets print it.
fn data_encoding(text: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = text.as_bytes().chunks_exact(3);
    let bits = groups.map(|group| group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)));
    bits.flat_map(|bits| [18, 12, 6, 0].map(|at| char::from(LETTERS[(bits >> at & 63) as usize]))).collect()
}

#[test]
fn no_field_of_a_manifest_leads_out_of_the_repository_or_into_git() {
    let numbered: Vec<_> = TRICKS.iter().enumerate().collect();
    side_by_side(&numbered, |(number, (name, trick))| {
        let checkout = checkout(*trick);
        // `build` and `lint` resolve all fields of the cluster, so each trick meets each field.
        let readers = part(READERS, *number, 4);
        let fields: Vec<&Field> = part(&FIELDS.iter().collect::<Vec<_>>(), *number, 4);
        let missing = builds(&checkout, &readers, fields.iter().copied());
        plant(&checkout.outside());
        let present = builds(&checkout, &readers, fields);
        assert_same(&missing, &present, name);
        let encoded = data_encoding(CANARY);
        for answer in present {
            answer.assert_clean(name);
            assert!(!answer.text.contains(&encoded), "{name}: `{}` prints a canary as Base64", answer.command);
        }
    });
}
