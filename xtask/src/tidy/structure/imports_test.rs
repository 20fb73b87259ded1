use super::{between_files, check, circles};
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

fn edges(files: &[(&str, &str)]) -> Vec<String> {
    let (sources, broken) = parse(&Tree::of(files));
    assert!(broken.is_empty(), "{broken:?}");
    let imports = between_files(&sources);
    let pairs = imports.iter().filter_map(super::FileImport::siblings);
    pairs
        .map(|pair| format!("{}: {} > {}", pair.folder, pair.from, pair.to))
        .collect()
}

#[test]
fn an_import_is_found_however_it_is_written() {
    for text in [
        "use crate::a::b::Thing;",
        "use super::b::Thing;",
        "use super::{b::{self, Thing}};",
        "fn f() -> super::b::Thing { todo!() }",
        "mod part { use super::super::b::Thing; }",
    ] {
        let files = [
            ("engine/src/a/b.rs", "pub struct Thing;"),
            ("engine/src/a/c.rs", text),
        ];
        let found = edges(&files);
        assert!(
            found.contains(&"engine/src/a: c > b".to_owned()),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_name_that_a_module_passes_on_is_followed_to_its_file() {
    let passed_by = ["pub use b::Thing;", "use b::Thing;", "pub use b::*;"];
    for text in passed_by {
        let files = [
            ("engine/src/a.rs", text),
            ("engine/src/a/b.rs", "pub struct Thing;"),
            ("engine/src/a/c.rs", "use super::Thing;"),
        ];
        assert_eq!(edges(&files), ["engine/src/a: c > b"], "{text}");
    }
}

#[test]
fn tests_and_imports_of_the_module_above_join_no_siblings() {
    let files = [
        ("engine/src/a.rs", "pub struct Above;"),
        (
            "engine/src/a/b.rs",
            "use super::Above; #[cfg(test)] mod t { use super::super::c::T; }",
        ),
        ("engine/src/a/c.rs", "pub struct T;"),
        ("engine/src/a/c_test.rs", "use crate::a::b::X;"),
    ];
    assert!(edges(&files).is_empty());
}

#[test]
fn a_circle_through_three_files_is_one_and_a_line_is_none() {
    let line = [
        ("engine/src/a/b.rs", "use super::c::C; pub struct B;"),
        ("engine/src/a/c.rs", "use super::d::D; pub struct C;"),
        ("engine/src/a/d.rs", "pub struct D;"),
    ];
    let found = |files: &[(&str, &str)]| circles(&between_files(&parse(&Tree::of(files)).0));
    assert_eq!(found(&line), []);
    let mut circle = line;
    circle[2].1 = "use super::b::B; pub struct D;";
    let names = ["b", "c", "d"].map(str::to_owned).to_vec();
    assert_eq!(found(&circle), [("engine/src/a".to_owned(), names)]);
}

#[test]
fn a_circle_in_any_crate_is_refused_once_for_each_pair_of_files() {
    for folder in ["core/src/a", "testkit/src/a", "cli/src/a"] {
        let b = format!("{folder}/b.rs");
        let c = format!("{folder}/c.rs");
        let files = [
            (b.as_str(), "use super::c::{C, D}; pub struct B;"),
            (c.as_str(), "use super::b::B; pub struct C; pub struct D;"),
        ];
        let found = check(&between_files(&parse(&Tree::of(&files)).0));
        let found: Vec<&str> = found
            .iter()
            .filter(|finding| finding.line > 0)
            .map(|finding| finding.path.as_str())
            .collect();
        assert_eq!(found, [b.as_str(), c.as_str()]);
    }
}
