use super::*;

const MUTANT: &str = r#"
[[mutant]]
property = "two and two"
broken = "five"
file = "a.rs"
was = "2 + 2"
is = "5"
"#;

fn printed(list: &str, code: &str) -> Vec<String> {
    let found = check(&Tree::of(&[(LIST, list), ("a.rs", code)]));
    found.into_iter().map(|finding| finding.text).collect()
}

#[test]
fn a_mutant_finds_what_it_replaces_once() {
    assert_eq!(printed(MUTANT, "2 + 2"), [""; 0]);
    for (code, count) in [("2+2", "0 times"), ("2 + 2 == 2 + 2", "2 times")] {
        let printed = printed(MUTANT, code);
        assert!(
            printed.len() == 1 && printed[0].contains(count),
            "{printed:?}"
        );
    }
}

#[test]
fn a_list_that_is_incomplete_or_missing_is_a_finding() {
    let incomplete = MUTANT.replace("broken", "x");
    assert!(printed(&incomplete, "2 + 2")[0].contains("`broken`"));
    assert!(printed("", "")[0].contains("[[mutant]]"));
    assert_eq!(check(&Tree::default())[0].text, "is missing");
}
