//! fleet.yaml, what it includes, its layout, and what is written.

use std::fs;
use std::path::Path;

use super::checkout::{CANARY, Checkout, part, write};

const CLUSTER: &str = "name: east\nenvironment: production\nruntimeInfo: {DOMAIN: CANARY.example.com}\n";

/// A checkout with a fleet of one cluster, whose file is included, and a layout.
fn checkout() -> Checkout {
    let checkout = Checkout::new();
    checkout.write(
        "fleet.yaml",
        "apiVersion: fleetwright.dev/v1alpha1\nkind: Fleet\nname: small\nlayout: ./layout\nrepository: {url: \
         https://git.example.com/fleet.git}\ninclude: {clusters: [parts/**]}\nenvironments: {production: {}}\ntenants:\n\
         - {name: platform, role: platform, source: {name: platform, url: https://git.example.com/platform.git}, \
         components: [{name: ingress, path: ./ingress}]}\n",
    );
    checkout.write("layout/layout.yaml", "defaults: {cluster: {path: \"clusters/{{ cluster.name }}\"}}\n");
    checkout.write(
        "layout/clusters/[cluster]/info.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: info, namespace: flux-system}\ndata:\n  DOMAIN: \
         {{ cluster.runtimeInfo.DOMAIN }}\n  \n{% include \"_partials/text\" %}\n",
    );
    checkout.write("layout/_partials/text", "  text: plain\n");
    checkout.write("parts/east.yaml", &CLUSTER.replace("CANARY", "east"));
    plant(&checkout.outside());
    plant(&checkout.root().join(".git"));
    checkout
}

fn plant(folder: &Path) {
    write(&folder.join("parts/east.yaml"), &CLUSTER.replace("CANARY", &format!("{CANARY}-included")));
    write(&folder.join("layout/_partials/text"), &format!("  text: {CANARY}-partial\n"));
    write(&folder.join("layout/layout.yaml"), &format!("{CANARY}: [\n"));
    write(&folder.join("layout/clusters/[cluster]/info.yaml"), &format!("text: {CANARY}-template\n"));
    write(&folder.join("lock"), &format!("{CANARY}-lock\n"));
}

/// Runs a part of the commands, and `render`, which reads everything.
fn assert_clean(checkout: &Checkout, name: &str, number: usize) {
    let commands = part(COMMANDS, number, 4);
    for answer in checkout.answers(&[&["render"]]).into_iter().chain(checkout.answers(&commands)) {
        answer.assert_clean(name);
    }
}

/// Every command that reads a fleet.
const COMMANDS: &[&[&str]] = &[
    &["render", "--check"],
    &["render", "--explain-values"],
    &["render"],
    &["render", "-o", "out"],
    &["lint", "--format", "github"],
    &["lint", "--fleet", "fleet.yaml", "clusters"],
    &["build"],
    &["access", "flux-system"],
];

/// Replaces a file or directory of a checkout by a link.
fn relink(checkout: &Checkout, path: &str, target: &Path) {
    let full = checkout.root().join(path);
    if full.is_dir() {
        fs::remove_dir_all(&full).unwrap();
    } else if full.exists() {
        fs::remove_file(&full).unwrap();
    }
    checkout.link(path, target);
}

/// What a render may neither read nor write, from each place that a link may stand at.
fn targets(checkout: &Checkout, path: &str) -> Vec<std::path::PathBuf> {
    let up = "../".repeat(path.matches('/').count());
    let beside = [format!("{up}../outside/{path}"), format!("{up}.git/{path}")];
    beside.into_iter().map(Into::into).chain([checkout.outside().join(path)]).collect()
}

#[test]
fn an_honest_fleet_is_rendered_with_what_it_includes() {
    let checkout = checkout();
    for (path, expected) in [("parts/east.yaml", "included"), ("layout/_partials/text", "partial")] {
        fs::copy(checkout.outside().join(path), checkout.root().join(path)).unwrap();
        let answer = checkout.run(&["render", "--check"]);
        assert!(answer.text.contains(&format!("{CANARY}-{expected}")), "{}", answer.text);
    }
}

#[test]
fn no_link_in_the_place_of_an_input_is_followed_out() {
    for path in [
        "parts/east.yaml",
        "parts",
        "layout",
        "layout/layout.yaml",
        "layout/_partials",
        "layout/_partials/text",
        "layout/clusters",
        "layout/clusters/[cluster]/info.yaml",
    ] {
        for index in 0..3 {
            let checkout = checkout();
            let target = targets(&checkout, path).remove(index);
            relink(&checkout, path, &target);
            let name = format!("{path} -> {}", target.display());
            assert_clean(&checkout, &name, path.len() + index);
            checkout.assert_nothing_was_copied(&name);
        }
    }
}

#[test]
fn no_path_in_a_fleet_leads_out() {
    for (number, (from, to)) in [
        ("parts/**", "../outside/parts/*"),
        ("parts/**", ".git/parts/*"),
        ("parts/**", "a/../.git/parts/*"),
        ("parts/**", ".GIT/parts/*"),
        ("parts/**", "**/parts/*"),
        ("parts/**", "{..,x}/outside/parts/*"),
        ("parts/**", "[.][.]/outside/parts/*"),
        ("parts/**", "\\\\.\\\\./outside/parts/*"),
        ("parts/**", "/proc/self/cwd/../outside/parts/*"),
        ("./layout", "./../outside/layout"),
        ("./layout", "./.git/layout"),
        ("./layout", "./a/../.git/layout"),
        ("./layout", "./layout/../../outside/layout"),
        ("./layout", "./.GIT/layout"),
        ("./layout", "/proc/self/cwd/../outside/layout"),
        ("./layout", "../outside/layout"),
    ]
    .into_iter()
    .enumerate()
    {
        let checkout = checkout();
        plant(&checkout.root().join(".GIT"));
        let text = fs::read_to_string(checkout.root().join("fleet.yaml")).unwrap();
        checkout.write("fleet.yaml", &text.replace(from, &format!("\"{to}\"").replace("\"[", "[").replace("]\"", "]")));
        assert_clean(&checkout, to, number);
    }
}

#[test]
fn no_template_includes_a_file_out_of_its_layout() {
    for (number, name) in [
        "../outside/layout/_partials/text",
        "../../outside/layout/_partials/text",
        "../.git/config",
        "_partials/../../.git/config",
        "/proc/self/cwd/../outside/lock",
        "_partials/out",
    ]
    .into_iter()
    .enumerate()
    {
        let checkout = checkout();
        checkout.link("layout/_partials/out", "../../../outside/lock");
        let path = "layout/clusters/[cluster]/info.yaml";
        let text = fs::read_to_string(checkout.root().join(path)).unwrap();
        checkout.write(path, &text.replace("_partials/text", name));
        assert_clean(&checkout, name, number);
        checkout.assert_nothing_was_copied(name);
    }
}

/// The state of everything that a render must not touch.
fn untouchable(checkout: &Checkout) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    fn walk(folder: &Path, files: &mut Vec<(std::path::PathBuf, Vec<u8>)>) {
        let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            match fs::symlink_metadata(&path).unwrap() {
                metadata if metadata.is_dir() => {
                    files.push((path.clone(), Vec::new()));
                    walk(&path, files);
                }
                metadata if metadata.is_file() => files.push((path.clone(), fs::read(&path).unwrap())),
                _ => {}
            }
        }
    }
    let mut files = Vec::new();
    walk(&checkout.outside(), &mut files);
    walk(&checkout.root().join(".git"), &mut files);
    files
}

const LOCK: &str = ".fleetwright.lock";

#[test]
fn nothing_is_written_or_removed_through_a_link() {
    for path in
        ["clusters", "clusters/east", "clusters/east/info.yaml", LOCK, ".fleetwright.tmp", "out", "out/clusters"]
    {
        for index in 0..3 {
            for is_rendered in [false, true] {
                let checkout = checkout();
                let render: &[&str] = if path.starts_with("out") { &["render", "-o", "out"] } else { &["render"] };
                if is_rendered {
                    assert_eq!(checkout.run(render).code, Some(0));
                }
                for folder in [checkout.outside(), checkout.root().join(".git")] {
                    write(&folder.join("clusters/east/info.yaml"), &format!("text: {CANARY}\n"));
                    write(&folder.join("out/clusters/east/info.yaml"), &format!("text: {CANARY}\n"));
                    write(&folder.join(LOCK), &format!("{CANARY}\n"));
                    write(&folder.join(".fleetwright.tmp/x"), CANARY);
                }
                let target = targets(&checkout, path).remove(index);
                relink(&checkout, path, &target);
                let before = untouchable(&checkout);
                let name = format!("{path} -> {}, rendered before: {is_rendered}", target.display());
                // `east` has a file to write. With `west` instead, a file of `east` is to be removed.
                for cluster in if is_rendered { &["east", "west"][..] } else { &["east"] } {
                    let text = CLUSTER.replace("CANARY", cluster).replace("name: east", &format!("name: {cluster}"));
                    checkout.write("parts/east.yaml", &text);
                    checkout.run(render).assert_clean(&name);
                    checkout.run(&[render, &["--force"]].concat()).assert_clean(&name);
                    checkout.assert_nothing_was_copied(&name);
                    assert!(before == untouchable(&checkout), "{name}: a file outside or in .git was changed");
                }
            }
        }
    }
}

#[test]
fn no_layout_writes_out_of_the_repository() {
    for place in [
        "../outside/written",
        ".git/hooks",
        ".GIT/hooks",
        "a/../.git/hooks",
        "/tmp/fleetwright-written",
        "link",
        "git/hooks",
        "git~1/hooks",
        ".git./hooks",
        "..\\\\outside\\\\written",
    ] {
        let checkout = checkout();
        checkout.link("link", "../outside");
        checkout.link("git", ".git");
        let folders = format!("folders: {{\"clusters/[cluster]\": \"{place}\"}}\n");
        checkout.write("layout/layout.yaml", &folders);
        let before = untouchable(&checkout);
        for arguments in [&["render"][..], &["render", "--force"], &["render", "--check"]] {
            checkout.run(arguments).assert_clean(place);
        }
        assert!(before == untouchable(&checkout), "{place}: a file outside or in .git was changed");
        for path in ["git~1", ".git."] {
            assert!(!checkout.root().join(path).exists(), "{place} is Git's own on some file systems");
        }
        assert!(!Path::new("/tmp/fleetwright-written").exists());
    }
}

#[test]
fn a_forged_lock_file_removes_nothing_outside() {
    let checkout = checkout();
    assert_eq!(checkout.run(&["render"]).code, Some(0));
    let lock = fs::read_to_string(checkout.root().join(LOCK)).unwrap();
    // The digest is right: only the place protects the file.
    let ours = fs::read_to_string(checkout.root().join("clusters/east/info.yaml")).unwrap();
    for folder in [checkout.outside(), checkout.root().join(".git"), checkout.root().join(".GIT")] {
        write(&folder.join("victim"), &ours);
    }
    let before = untouchable(&checkout);
    checkout.link("link", "../outside");
    checkout.link("git", ".git");
    for path in ["../outside/victim", ".git/victim", "link/victim", "git/victim", ".GIT/victim"] {
        checkout.write(LOCK, &lock.replace("clusters/east/info.yaml", path));
        for arguments in [&["render", "--check"][..], &["render"], &["render", "--force"]] {
            checkout.run(arguments).assert_clean(path);
        }
        assert!(before == untouchable(&checkout), "{path}: a file outside or in .git was changed");
    }
}
