use super::check_against;
use crate::tidy::rust::parse;
use crate::tidy::structure::imports::between_files;
use crate::tidy::tree::Tree;

const ORDER: &[(&str, &[&str])] = &[("engine/src/a", &["low", "high"])];
const LOW: (&str, &str) = ("engine/src/a/low.rs", "pub struct Low;");
const HIGH: (&str, &str) = (
    "engine/src/a/high.rs",
    "use super::low::Low; pub struct High;",
);
const LOW_UP: (&str, &str) = ("engine/src/a/low.rs", "use super::high::High;");

fn found(upward: &[(&str, &str, &str, &str)], files: &[(&str, &str)]) -> Vec<String> {
    let sources = parse(&Tree::of(files)).0;
    let imports = between_files(&sources);
    let found = check_against(ORDER, upward, &sources, &imports);
    found.into_iter().map(|finding| finding.text).collect()
}

#[test]
fn an_import_upward_is_found_and_one_downward_is_free() {
    assert_eq!(found(&[], &[LOW, HIGH]), Vec::<String>::new());
    let up = found(&[], &[LOW_UP, HIGH]);
    assert!(
        up.len() == 1 && up[0].contains("`low` must not import `high`"),
        "{up:?}"
    );
}

#[test]
fn a_listed_import_upward_is_free_and_an_idle_line_of_the_list_is_found() {
    let listed = [("engine/src/a", "low", "high", "a reason")];
    assert_eq!(found(&listed, &[LOW_UP, HIGH]), Vec::<String>::new());
    assert_eq!(found(&listed, &[LOW, HIGH]).len(), 1);
}

#[test]
fn a_file_without_a_row_and_a_row_without_a_file_are_found() {
    let other = ("engine/src/a/other.rs", "");
    assert_eq!(
        found(&[], &[LOW, HIGH, other]),
        ["`other` has no row in the layer table"]
    );
    assert_eq!(
        found(&[], &[LOW]),
        ["the layer table's `high` is not there"]
    );
    let unlisted = [
        ("engine/src/b/c.rs", "use super::d::D;"),
        ("engine/src/b/d.rs", "pub struct D;"),
    ];
    let all = [&[LOW, HIGH][..], &unlisted].concat();
    assert_eq!(
        found(&[], &all),
        ["the folder has no row in the layer table"]
    );
}
