//! The builds of `features`.

use super::{names, selections};

#[test]
fn every_feature_but_default_is_built_alone_between_none_and_all() {
    let manifest = "[features]\ndefault = [\"a\"]\na = []\nb = [\"a\"]\n";
    let found = selections(manifest).unwrap();
    let lines: Vec<String> = found.iter().map(|args| args.join(" ")).collect();
    assert_eq!(
        lines,
        [
            "--no-default-features",
            "--no-default-features --features a",
            "--no-default-features --features b",
            "--all-features",
        ]
    );
    assert!(selections("[package]\nname = \"a\"").is_err());
}

#[test]
fn crates_are_counted_once_and_by_their_version() {
    let tree = "a v1.0.0 (/x)\nb v1.0.0\nb v2.0.0\na v1.0.0 (/x) (*)\nb v1.0.0 (*)\n";
    assert_eq!(names(tree), 3);
    assert_eq!(names(""), 0);
}
