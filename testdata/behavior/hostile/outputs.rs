//! No output leads out of the repository through a link.

use std::fs;
use std::os::unix::fs::symlink;

use super::Repository;
use super::hidden::git;

#[test]
fn an_output_is_not_written_through_a_link_that_leads_out() {
    let repository = Repository::new();
    git(&repository, &["init", "-q"]);
    let outside = repository.folder.path().join("outside");
    fs::write(&outside, "precious").unwrap();
    symlink(&outside, repository.root().join("report.json")).unwrap();
    symlink(repository.folder.path().join("new"), repository.root().join("dangling.json")).unwrap();
    symlink(repository.folder.path(), repository.root().join("up")).unwrap();
    symlink(".git/config", repository.root().join("settings.json")).unwrap();
    for path in ["report.json", "dangling.json", "up/outside", "up/new", "settings.json"] {
        let answer = repository.run(&["lint", "--format", &format!("json={path}")]);
        assert_eq!(answer.code, 2, "{path}: {}", answer.text());
        assert!(answer.err.contains("leads out of its repository"), "{path}: {}", answer.text());
        let answer = repository.run(&["lint", "--baseline", path, "--write-baseline"]);
        assert_eq!(answer.code, 2, "{path}: {}", answer.text());
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
    assert!(!repository.folder.path().join("new").exists());
    assert!(fs::read_to_string(repository.root().join(".git/config")).unwrap().contains("[core]"));
    symlink("clusters", repository.root().join("inside")).unwrap();
    assert_eq!(repository.run(&["lint", "--format", "json=inside/report.json"]).code, 0);
    assert!(repository.root().join("clusters/report.json").exists());
}
