use super::{FILE, check};
use crate::tidy::tree::Tree;

fn count(entry: &str, done_min: usize) -> usize {
    let text = format!(
        "done_min = {done_min}\n[[requirement]]\nrfc = \"9113\"\nsection = \"6.9\"\nrule = \"zero\"\n{entry}"
    );
    let tree = Tree::of(&[(FILE, &text), ("a_test.rs", "fn zero() {}")]);
    check(&tree).len()
}

#[test]
fn a_done_rule_needs_its_test() {
    assert_eq!(count("state = \"done\"\ntest = \"a_test.rs::zero\"", 1), 0);
    assert_eq!(count("state = \"done\"\ntest = \"a_test.rs::gone\"", 1), 1);
    assert_eq!(count("state = \"done\"", 1), 1);
}

#[test]
fn what_is_not_done_needs_a_reason_and_other_states_are_refused() {
    assert_eq!(count("state = \"not-applicable\"", 0), 1);
    assert_eq!(count("state = \"todo\"", 0), 1);
    assert_eq!(
        count("state = \"not-applicable\"\nbecause = \"no push\"", 0),
        0
    );
    assert_eq!(count("state = \"perhaps\"", 0), 1);
}

#[test]
fn coverage_that_drops_is_found() {
    assert_eq!(count("state = \"todo\"\nbecause = \"late\"", 0), 0);
    assert_eq!(count("state = \"todo\"\nbecause = \"late\"", 1), 1);
}

#[test]
fn a_rule_that_stands_twice_is_found() {
    let again = "state = \"todo\"\nbecause = \"late\"\n[[requirement]]\nrfc = \"9113\"\n\
                 section = \"6.9\"\nrule = \"zero\"\nstate = \"todo\"\nbecause = \"late\"";
    assert_eq!(count(again, 0), 1);
}
