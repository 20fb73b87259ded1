use super::{check_documents, check_sources};
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

fn dead(files: &[(&str, &str)]) -> Vec<String> {
    let tree = Tree::of(files);
    let (sources, _) = parse(&tree);
    check_sources(&tree, &sources)
        .into_iter()
        .map(|finding| finding.path)
        .collect()
}

#[test]
fn a_file_that_no_module_declares_is_found() {
    let files = [
        ("a/src/lib.rs", "mod one;"),
        ("a/src/one.rs", "mod deep;"),
        ("a/src/one/deep.rs", ""),
        ("a/src/two.rs", ""),
        ("a/src/deep.rs", ""),
    ];
    assert_eq!(dead(&files), ["a/src/deep.rs", "a/src/two.rs"]);
}

#[test]
fn path_attributes_and_roots_are_followed() {
    let files = [
        (
            "a/src/main.rs",
            "#[cfg(test)] #[path = \"main_test.rs\"] mod main_test;",
        ),
        ("a/src/main_test.rs", ""),
        ("a/tests/whole.rs", ""),
        ("a/examples/demo.rs", ""),
    ];
    assert_eq!(dead(&files), Vec::<String>::new());
}

#[test]
fn a_module_of_a_file_that_another_crate_takes_by_its_path_is_found() {
    let files = [
        (
            "a/src/lib.rs",
            "#[path = \"../../b/src/part.rs\"] mod part;",
        ),
        ("b/src/lib.rs", "mod part;"),
        (
            "b/src/part.rs",
            "mod inner; #[path = \"part_test.rs\"] mod part_test;",
        ),
        ("b/src/part/inner.rs", ""),
        ("b/src/part_test.rs", ""),
    ];
    assert_eq!(dead(&files), ["b/src/part.rs"]);
}

#[test]
fn a_test_that_is_not_gathered_with_the_others_is_found() {
    let manifest = "autotests = false\n[[test]]\nname = \"all\"\n\n[[test]]\nname = \"apart\"\n";
    let files = [
        ("a/Cargo.toml", manifest),
        (
            "a/tests/all.rs",
            "mod one; #[path = \"deep/main.rs\"] mod deep;",
        ),
        ("a/tests/one.rs", "#[path = \"support/peer.rs\"] mod peer;"),
        ("a/tests/support/peer.rs", ""),
        ("a/tests/deep/main.rs", "mod part;"),
        ("a/tests/deep/part.rs", ""),
        ("a/tests/apart.rs", ""),
        ("a/tests/lost.rs", ""),
    ];
    assert_eq!(dead(&files), ["a/tests/lost.rs"]);
}

#[test]
fn orphans_and_dead_links_between_documents_are_found() {
    let tree = Tree::of(&[
        (
            "README.md",
            "[a](docs/a.md#part) [site](https://example.org) [no](docs/none.md)",
        ),
        ("docs/a.md", "[up](../README.md) [folder](../docs)"),
        ("docs/b.md", ""),
    ]);
    let found = check_documents(&tree);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].text.contains("docs/none.md"));
    assert_eq!(found[1].path, "docs/b.md");
}
