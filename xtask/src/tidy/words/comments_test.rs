use super::{BEGINNINGS, PHRASES, check, comments};
use crate::tidy::tree::Tree;

fn texts(path: &str, text: &str) -> Vec<String> {
    let found = check(&Tree::of(&[(path, text)]));
    found.into_iter().map(|finding| finding.text).collect()
}

#[test]
fn a_doc_comment_or_header_begins_with_no_headless_clause() {
    for word in BEGINNINGS {
        let header = format!("//! {word} answers.");
        let begins = format!("begins with \"{word}\"; begin with a noun or a verb");
        assert_eq!(texts("a.rs", &header)[0], begins, "a module header");
        let doc = format!("fn f() {{}}\n    /// {word} answers.\nfn g() {{}}");
        assert_eq!(texts("a.rs", &doc)[0], begins, "a doc comment");
        let script = format!("// {word} answers.\nimport 'x'");
        for path in ["a.ts", "a.mts", "a.mjs"] {
            assert_eq!(texts(path, &script)[0], begins, "the header of {path}");
        }
        let block = format!("x\n  /**\n   * {word} answers.\n   */\n");
        assert_eq!(texts("a.ts", &block)[0], begins, "a block");
    }
}

#[test]
fn the_header_of_a_file_begins_with_no_question_word() {
    for word in ["Which", "Where", "How", "When"] {
        let begins = format!("begins with \"{word}\"; begin with a noun or a verb");
        assert_eq!(texts("a.rs", &format!("//! {word} it runs.")), [begins]);
        let doc = format!("fn f() {{}}\n/// {word} it runs.\nfn g() {{}}");
        assert_eq!(texts("a.rs", &doc), [""; 0], "a doc comment");
    }
}

#[test]
fn a_comment_within_code_begins_with_no_headless_clause_in_any_language() {
    let begins = "begins with \"What\"; begin with a noun or a verb";
    for path in ["a.rs", "a.ts", "a.mts", "a.mjs", "a.go"] {
        let text = "x\n    // What follows is short.\n";
        assert_eq!(texts(path, text), [begins], "{path}");
    }
    assert_eq!(texts("a.py", "x\n    # What follows.\n"), [begins]);
}

#[test]
fn a_question_may_begin_with_what() {
    assert_eq!(texts("a.rs", "//! What runs? Nothing."), [""; 0]);
    assert_eq!(texts("a.rs", "/// Whole numbers.\n/// Whatever."), [""; 0]);
}

#[test]
fn no_comment_says_that_a_machine_is_informed_like_a_person() {
    for phrase in PHRASES {
        let reports = format!("says \"{phrase}\"; name the part and what it does");
        let text = format!("fn f() {{}}\n// The pool {phrase} it.\n");
        assert_eq!(texts("a.rs", &text), [reports.as_str()]);
        assert_eq!(
            texts("a.py", &format!("# The pool {phrase} it.\n")),
            [reports.as_str()]
        );
        let capital = format!("x\n// Then {}.\n", phrase.to_uppercase());
        assert_eq!(texts("a.mjs", &capital), [reports]);
    }
    assert_eq!(
        texts(
            "a.rs",
            "// `nobody_reads` and nobodyish are words of their own."
        ),
        [""; 0]
    );
}

#[test]
fn a_phrase_is_found_across_the_end_of_a_line_and_strings_are_free() {
    assert_eq!(
        texts("a.rs", "fn f() {}\n// It takes so\n// many.\n").len(),
        1
    );
    assert_eq!(texts("a.rs", "const WHY: &str = \"so many\";"), [""; 0]);
}

#[test]
fn comments_of_different_kinds_are_apart() {
    let text = "//! Header.\n\n/// Doc one,\n/// goes on.\nfn f() {\n    // Why.\n}\n";
    let found = comments(text, "//");
    let seen: Vec<(usize, &str)> = found
        .iter()
        .map(|comment| (comment.line, comment.text.as_str()))
        .collect();
    let expected = [(1, "Header."), (3, "Doc one, goes on."), (6, "Why.")];
    assert_eq!(seen, expected);
}

#[test]
fn documents_have_no_such_phrase_except_records_and_may_begin_as_they_like() {
    let text = "# What\n\nIt takes so\nmany of\nthem.\n\nWhat is left is fine.\n";
    let tree = Tree::of(&[("docs/a.md", text)]);
    let lines: Vec<usize> = check(&tree).iter().map(|finding| finding.line).collect();
    assert_eq!(lines, [3]);
    for record in ["CHANGELOG.md", "docs/measured/a.md"] {
        assert_eq!(texts(record, text), [""; 0], "{record}");
    }
}
