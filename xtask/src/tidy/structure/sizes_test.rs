use super::{Exception, check};
use crate::tidy::Finding;
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

fn findings(path: &str, text: &str, exceptions: &[Exception]) -> Vec<Finding> {
    check(&parse(&Tree::of(&[(path, text)])).0, exceptions)
}

fn function(lines: usize) -> String {
    // The signature's line and the closing brace count.
    format!("fn long() {{\n{}}}\n", "call();\n".repeat(lines - 2))
}

#[test]
fn a_function_of_71_lines_is_found_and_one_of_70_is_not() {
    assert_eq!(findings("a/src/x.rs", &function(70), &[]), vec![]);
    let found = findings("a/src/x.rs", &function(71), &[]);
    assert_eq!(found.len(), 1);
    assert!(found[0].text.contains("`long` has 71"), "{found:?}");
}

#[test]
fn methods_count_and_comments_do_not() {
    let method = format!("impl T {{\n{}}}\n", function(71));
    assert_eq!(findings("a/src/x.rs", &method, &[]).len(), 1);
    let remarks = format!("fn f() {{\n{}}}\n", "// why\n\n".repeat(80));
    assert_eq!(findings("a/src/x.rs", &remarks, &[]), vec![]);
}

#[test]
fn a_file_of_401_lines_is_found_unless_it_is_test_code() {
    let text = "const A: u8 = 1;\n".repeat(401);
    assert_eq!(findings("a/src/x.rs", &text, &[]).len(), 1);
    assert_eq!(findings("a/src/x_test.rs", &text, &[]), vec![]);
    assert_eq!(findings("a/tests/x.rs", &text, &[]), vec![]);
    let inline = format!("#[cfg(test)]\nmod t {{\n{text}}}\n");
    assert_eq!(findings("a/src/x.rs", &inline, &[]), vec![]);
}

#[test]
fn an_exception_raises_the_bound_and_an_idle_one_is_found() {
    let exception = [Exception {
        what: "a/src/x.rs::long",
        lines_max: 90,
        reason: "one total match",
    }];
    assert_eq!(findings("a/src/x.rs", &function(90), &exception), vec![]);
    assert_eq!(findings("a/src/x.rs", &function(91), &exception).len(), 1);
    assert_eq!(findings("a/src/x.rs", &function(70), &exception).len(), 1);
}
