use super::check;
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

fn count(files: &[(&str, &str)]) -> usize {
    let tree = Tree::of(files);
    check(&tree, &parse(&tree).0).len()
}

#[test]
fn a_type_name_that_two_files_of_a_crate_define_is_refused() {
    let one = ("a/src/x.rs", "pub(super) struct Slots;");
    assert_eq!(count(&[one]), 0);
    assert_eq!(count(&[one, ("a/src/y.rs", "enum Slots {}")]), 1);
    assert_eq!(
        count(&[one, ("b/src/y.rs", "pub struct Slots;")]),
        0,
        "another crate"
    );
    assert_eq!(
        count(&[one, ("a/src/bin/z/y.rs", "struct Slots;")]),
        0,
        "a program"
    );
    assert_eq!(
        count(&[one, ("a/tests/y.rs", "struct Slots;")]),
        0,
        "a test"
    );
}

#[test]
fn private_types_and_the_twins_of_versions_may_share_a_name() {
    assert_eq!(
        count(&[
            ("a/src/x.rs", "struct State;"),
            ("a/src/y.rs", "struct State;")
        ]),
        0
    );
    assert_eq!(
        count(&[
            ("a/src/x.rs", "pub struct Conn;"),
            ("a/src/y.rs", "pub struct Conn;")
        ]),
        0
    );
}

#[test]
fn a_metaphor_is_refused_in_every_kind_of_name() {
    let text = "mod desk; enum Lane { Told } struct A { seat: u8 } const SEATS: u8 = 1;
        fn hear(lender: u8) { let glance = 1; }";
    assert_eq!(count(&[("a/src/x.rs", text)]), 8);
    assert_eq!(
        count(&[(
            "a/src/x.rs",
            "struct Line; fn line() {} const POST: u8 = 1;"
        )]),
        1
    );
}

#[test]
fn a_sentence_may_say_what_a_field_says() {
    assert_eq!(
        count(&[(
            "a/src/x.rs",
            "fn a_body_is_as_long_as_content_length_says() {}"
        )]),
        0
    );
    assert_eq!(count(&[("a/src/x.rs", "fn says() {}")]), 1);
}

#[test]
fn the_glossary_is_short_used_and_of_one_sentence_each() {
    let code = ("a/src/x.rs", "struct Quota;\nfn quota() {}");
    let page = |text: &'static str| [("CONTRIBUTING.md", text), code];
    assert_eq!(
        count(&page(
            "## Glossary\n\n- **quota**: Bytes that we may send.\n"
        )),
        0
    );
    assert_eq!(
        count(&page(
            "## Glossary\n\n- **quota**: Bytes. That we may send.\n"
        )),
        1
    );
    assert_eq!(
        count(&page(
            "## Glossary\n\n- **turnip**: Bytes that we may send.\n"
        )),
        1
    );
    assert_eq!(count(&page("## Glossary\n")), 1);
}
