use super::check;
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

fn found(text: &str) -> usize {
    check(&parse(&Tree::of(&[("core/src/a.rs", text)])).0).len()
}

#[test]
fn a_guard_with_let_is_found_and_other_lets_are_not() {
    assert_eq!(
        found("fn a() { match b { c if let Some(d) = c => d, e => e } }"),
        1
    );
    assert_eq!(
        found("fn a() { match b { c if c > 1 && let Some(d) = c => d, e => e } }"),
        1
    );
    assert_eq!(found("fn a() { match b { c if c > 1 => d, e => e } }"), 0);
    assert_eq!(
        found("fn a() { match b { c => { if let Some(d) = c && d {} } } }"),
        0
    );
    let in_closure = "fn a() { match b { c if c.any(|d| { if let Some(e) = d { e } else { f } }) => g, h => h } }";
    assert_eq!(found(in_closure), 0);
}

#[test]
fn a_macro_of_a_later_compiler_is_found() {
    assert_eq!(found("fn a() { cfg_select! { unix => {} _ => {} } }"), 1);
}
