use super::{read, with_table};

const DATA: &str = r#"
[[page]]
path = "p.md"
theirs = "old"
ours = "new"
[[page.row]]
theirs = "`a`"
ours = "`b`"
tests = ["x.rs::holds"]
[[page.row]]
theirs = "`c`"
ours = "none"
note = "never"
"#;

#[test]
fn a_table_replaces_what_stands_between_its_marks_and_nothing_else() {
    let pages = read(DATA).expect("the data parse");
    let before = "# P\n<!-- table: rendered from tables.toml; do not edit by hand -->\nold\n<!-- end table -->\nrest\n";
    let after = with_table(before, &pages[0]).expect("the marks are there");
    assert!(after.starts_with("# P\n<!-- table"), "{after}");
    assert!(after.ends_with("<!-- end table -->\nrest\n"), "{after}");
    assert!(
        after.contains("| `a` | `b` |  |\n| `c` | none | never |\n"),
        "{after}"
    );
    assert!(after.contains("- `x.rs::holds`\n"), "{after}");
    assert_eq!(with_table(&after, &pages[0]).as_ref(), Ok(&after));
}

#[test]
fn a_page_without_its_marks_is_an_error_that_names_it() {
    let pages = read(DATA).expect("the data parse");
    let why = with_table("# P\n", &pages[0]).expect_err("there are no marks");
    assert!(why.contains("p.md"), "{why}");
}
