use super::{check_kinds, check_limits, check_paths, check_promises, check_rows, check_tests};
use crate::tidy::tree::Tree;

const HEAD: &str = "| id | promise | test |\n|---|---|---|\n";

#[test]
fn a_path_of_the_where_is_table_that_does_not_exist_is_found() {
    let table = "## Where is ...?\n\n| q | place |\n|---|---|\n| a | `core/src/h2/frame/*.rs` -> `gone.rs` |\n\n## Else\n| `not_checked.rs` |\n";
    let tree = Tree::of(&[
        ("ARCHITECTURE.md", table),
        ("core/src/h2/frame/data.rs", ""),
    ]);
    let found = check_paths(&tree);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].text.contains("gone.rs"));
    assert_eq!(found[0].line, 5);
}

#[test]
fn a_document_without_the_table_is_found() {
    assert_eq!(
        check_paths(&Tree::of(&[("ARCHITECTURE.md", "# Shape")])).len(),
        1
    );
}

#[test]
fn an_attack_needs_a_row_and_a_test_that_exists_or_todo() {
    let text = format!(
        "{HEAD}| 1 | two gates | `a.rs::in_flight` |\n| 2 | one session | todo |\n| 3 | x | `a.rs::gone` |\n| 4 | x | |\n"
    );
    let tree = Tree::of(&[("p.md", &text), ("a.rs", "#[test]\nfn in_flight() {}\n")]);
    let ids: Vec<String> = ["1", "2", "3", "4", "5"].map(str::to_owned).to_vec();
    let found = check_tests(&tree, "p.md", &ids);
    let texts: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "3: `a.rs` has no function `gone`",
            "4 names no test and is not marked `todo`",
            "0 rows for 5; there must be one",
        ]
    );
}

#[test]
fn a_promise_needs_one_entry_and_tests_that_exist_or_todo() {
    let text = r#"
[[section]]
letter = "C"
title = "Gates"
[[section.promise]]
id = "C1"
text = "Two gates"
tests = ["a.rs::in_flight"]
[[section.promise]]
id = "C2"
text = "One session"
todo = "all of it"
[[section.promise]]
id = "C3"
text = "Gone"
tests = ["a.rs::gone"]
[[section.promise]]
id = "C4"
text = "Bare"
"#;
    let tree = Tree::of(&[
        ("docs/promises.toml", text),
        ("a.rs", "#[test]\nfn in_flight() {}\n"),
    ]);
    let ids: Vec<String> = ["C1", "C2", "C3", "C4", "C5"].map(str::to_owned).to_vec();
    let found = check_promises(&tree, &ids);
    let texts: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "0 entries for C5; there must be one",
            "C3: `a.rs` has no function `gone`",
            "C4 names no test and has no `todo`",
        ]
    );
}

#[test]
fn a_limit_that_is_not_in_the_limits_is_found() {
    let text = format!("{HEAD}| 1 | `RESETS` and `idle` and `NOTHING` | todo |\n");
    let tree = Tree::of(&[
        ("docs/attacks.md", &text),
        (
            "core/src/limits.rs",
            "pub const RESETS: Rate = R;\npub idle: u8,",
        ),
    ]);
    let found = check_limits(&tree);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].text.contains("NOTHING"));
}

#[test]
fn every_path_in_the_prose_of_the_architecture_exists() {
    let text = "Read `core/src/lib.rs`, then\n`core/src/gone.rs`; call `open`.\n## Where is it?\n\n| q | place |\n|---|---|\n| a | `core/src/lib.rs` |\n";
    let tree = Tree::of(&[("ARCHITECTURE.md", text), ("core/src/lib.rs", "")]);
    let found: Vec<String> = check_paths(&tree).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        ["ARCHITECTURE.md:2: `core/src/gone.rs` does not exist"]
    );
}

#[test]
fn a_row_for_those_who_come_from_elsewhere_needs_tests_that_exist_or_no_counterpart() {
    let text = r#"
[[page]]
path = "p.md"
theirs = "a"
ours = "b"
[[page.row]]
theirs = "held"
ours = "x"
tests = ["a.rs::in_flight", "b.test.mjs::one answer"]
[[page.row]]
theirs = "absent"
ours = "none"
[[page.row]]
theirs = "bare"
ours = "y"
[[page.row]]
theirs = "gone"
ours = "z"
tests = ["b.test.mjs::two answers"]
"#;
    let tree = Tree::of(&[
        ("docs/guide/from/tables.toml", text),
        ("a.rs", "#[test]\nfn in_flight() {}\n"),
        ("b.test.mjs", "test('one answer for all', () => {})\n"),
    ]);
    let texts: Vec<String> = check_rows(&tree).into_iter().map(|it| it.text).collect();
    assert_eq!(
        texts,
        [
            "p.md, bare y: names no test",
            "p.md, gone z: `b.test.mjs` has no test `two answers`",
        ]
    );
}

#[test]
fn a_kind_of_errors_needs_an_anchor_on_the_page_of_troubleshooting() {
    let errors = "const NAMES: [&'static str; 2] = [\n    \"tls\",\n    \"timeout\",\n];\n";
    let tree = Tree::of(&[
        ("engine/src/error.rs", errors),
        (
            "docs/guide/how-to/troubleshooting.md",
            "| <a id=\"rust-tls\"></a>`tls` | a |\n",
        ),
    ]);
    let found = check_kinds(&tree);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].text.contains("rust-timeout"), "{found:?}");
}
