use super::{EXCEPTIONS, check, check_left_over};
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

fn found(files: &[(&str, &str)]) -> Vec<String> {
    let sources = parse(&Tree::of(files)).0;
    let idle = |text: &String| !text.contains("exception");
    check(&sources)
        .into_iter()
        .map(|finding| finding.text)
        .filter(idle)
        .collect()
}

/// Files `f00.rs` and on.
fn files(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("core/src/a/f{number:02}.rs"))
        .collect()
}

#[test]
fn thirteen_entries_are_too_many_and_a_folder_of_a_file_is_no_entry_of_its_own() {
    let paths = files(12);
    let mut tree: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
    tree.push(("core/src/a/f00/part.rs", ""));
    assert_eq!(found(&tree), Vec::<String>::new());
    tree.push(("core/src/a/f00_test.rs", ""));
    assert_eq!(
        found(&tree),
        ["12.5 entries; at most 12 (a test counts half)"]
    );
    tree.push(("core/src/a/f01_test.rs", ""));
    assert_eq!(
        found(&tree),
        ["13 entries; at most 12 (a test counts half)"]
    );
}

#[test]
fn paths_and_globs_of_the_module_above_are_found_outside_tests() {
    let path = |text| found(&[("core/src/a.rs", text), ("core/src/x.rs", "")]).len();
    for text in [
        "#[path = \"x.rs\"] mod b;",
        "use super::*;",
        "mod m { use super::super::*; }",
    ] {
        assert_eq!(path(text), 1, "{text}");
    }
    for text in [
        "#[cfg(test)] #[path = \"x.rs\"] mod b;",
        "#[cfg(all(test, unix))] #[path = \"x.rs\"] mod b;",
        "#[cfg(test)] mod m { use super::*; }",
        "use super::names::*;",
    ] {
        assert_eq!(path(text), 0, "{text}");
    }
    assert_eq!(found(&[("core/src/a_test.rs", "use super::*;")]).len(), 0);
    assert_eq!(
        found(&[
            ("sanitize/src/lib.rs", "#[path = \"x.rs\"] mod b;"),
            ("sanitize/src/x.rs", "")
        ])
        .len(),
        0
    );
}

#[test]
fn a_path_to_a_file_that_is_not_there_is_found_and_so_is_one_in_a_module_of_the_file() {
    let file = "fuzz/fuzz_targets/a.rs";
    let there = ("node/native/b/c.rs", "");
    let of = |text| found(&[(file, text), there]);
    assert_eq!(
        of("#[path = \"../../node/native/b/c.rs\"] mod c;"),
        Vec::<String>::new()
    );
    let moved = of("#[path = \"../../node/native/c.rs\"] mod c;");
    assert_eq!(
        moved,
        ["`#[path]` names node/native/c.rs, which does not exist"]
    );
    let nested = of("mod b { #[path = \"../../../node/native/b/c.rs\"] mod c; }");
    assert!(
        nested.len() == 1 && nested[0].contains("put it at the top"),
        "{nested:?}"
    );
}

#[test]
fn each_exception_has_its_reason_and_an_idle_one_is_found() {
    assert!(EXCEPTIONS.iter().all(|(_, reason)| !reason.is_empty()));
    let small = parse(&Tree::of(&[("core/src/h2/frame/data.rs", "")])).0;
    let idle = check(&small);
    assert!(
        idle.iter()
            .any(|finding| finding.text.contains("remove it")),
        "{idle:?}"
    );
}

#[test]
fn a_file_that_a_profiler_left_is_found_and_one_of_its_kind_by_name_alone_is_not() {
    let tree = Tree::of(&[
        ("node/test/isolate-0x1-v8.log", ""),
        ("core/src/log.rs", ""),
        ("docs/catalog", ""),
    ]);
    let found = check_left_over(&tree);
    let paths: Vec<&str> = found.iter().map(|finding| finding.path.as_str()).collect();
    assert_eq!(paths, ["node/test/isolate-0x1-v8.log"]);
}
