use super::{OPEN_FIELDS_MAX, SAME_BODIES_MAX, check};
use crate::tidy::Finding;
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

const RULES: &str = "| RFC 9110 | rule | place | test |\n|---|---|---|---|\n\
                     | 6 | order | `a.rs::step` | `a_test.rs::it_holds` |\n";
const PLACES: [(&str, &str); 2] = [
    ("a.rs", "fn step<T>(it: T) {\n}\n"),
    ("a_test.rs", "#[test]\nfn it_holds() {\n}\n"),
];

fn findings(files: &[(&str, &str)]) -> Vec<Finding> {
    let files: Vec<(&str, &str)> = PLACES.iter().chain(files).copied().collect();
    let tree = Tree::of(&files);
    check(&tree, &parse(&tree).0)
}

fn conn(fields: usize) -> String {
    let fields: String = (0..fields)
        .map(|index| format!("    pub(super) field{index}: u8,\n"))
        .collect();
    format!("pub struct Conn {{\n{fields}}}\n")
}

#[test]
fn one_open_field_more_than_allowed_is_found() {
    for (path, most) in OPEN_FIELDS_MAX {
        let rules = ("docs/exchange.md", RULES);
        assert_eq!(findings(&[rules, (path, &conn(*most))]), vec![]);
        let found = findings(&[rules, (path, &conn(most + 1))]);
        assert_eq!(found.len(), 1, "{path}: {found:?}");
    }
}

#[test]
fn bodies_that_both_versions_have_are_counted_and_those_of_traits_are_not() {
    let functions = |count: usize, extra: &str| -> String {
        let all: String = (0..count)
            .map(|index| format!("    fn f{index}() {{\n        call({index});\n    }}\n"))
            .collect();
        format!(
            "impl Conn {{\n{all}}}\nimpl T for Conn {{\n    fn own() {{\n        call();\n    }}\n}}\n{extra}"
        )
    };
    let found = |count: usize| {
        let other = "fn other() {\n    differs();\n}\n";
        let text = functions(count, "fn other() {\n    call();\n}\n");
        let more = functions(count, other);
        let files = [
            ("docs/exchange.md", RULES),
            ("core/src/h2/a.rs", text.as_str()),
            ("core/src/h3/b.rs", more.as_str()),
        ];
        findings(&files).len()
    };
    assert_eq!((found(SAME_BODIES_MAX), found(SAME_BODIES_MAX + 1)), (0, 1));
}

#[test]
fn a_rule_whose_function_or_test_is_gone_is_found() {
    let gone = RULES.replace("::step", "::stop");
    assert_eq!(findings(&[("docs/exchange.md", &gone)]).len(), 1);
    let untested = RULES.replace("`a_test.rs::it_holds`", "none");
    assert_eq!(findings(&[("docs/exchange.md", &untested)]).len(), 1);
    assert_eq!(findings(&[]).len(), 1, "the document is missing");
}
