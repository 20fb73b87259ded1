//! The builds of `features`.

use super::{COMBINATIONS, is_newer, names, selections};

#[test]
fn every_feature_but_default_is_built_alone_then_the_combinations_between_none_and_all() {
    let manifest = "[features]\ndefault = [\"a\"]\na = []\nb = [\"a\"]\n";
    let found = selections(manifest).unwrap();
    let lines: Vec<String> = found.iter().map(|args| args.join(" ")).collect();
    let (first, rest) = lines.split_at(3);
    assert_eq!(
        first,
        [
            "--no-default-features",
            "--no-default-features --features a",
            "--no-default-features --features b",
        ]
    );
    assert_eq!(rest.len(), COMBINATIONS.len() + 1);
    assert!(rest[0].ends_with(COMBINATIONS[0]));
    assert_eq!(rest[rest.len() - 1], "--all-features");
    assert!(selections("[package]\nname = \"a\"").is_err());
}

#[test]
fn crates_are_counted_once_and_by_their_version() {
    let tree = "a v1.0.0 (/x)\nb v1.0.0\nb v2.0.0\na v1.0.0 (/x) (*)\nb v1.0.0 (*)\n";
    assert_eq!(names(tree), 3);
    assert_eq!(names(""), 0);
}

#[test]
fn a_compiler_is_newer_by_its_numbers_and_not_by_its_text() {
    for (needed, newer) in [
        ("1.88", false),
        ("1.88.0", false),
        ("1.9", false),
        ("1.88.1", true),
        ("1.100", true),
        ("2", true),
    ] {
        assert_eq!(is_newer(needed, "1.88"), newer, "{needed}");
    }
}
