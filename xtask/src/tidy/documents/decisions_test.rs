use super::check;
use crate::tidy::tree::Tree;

const PAGE: &str = "\n\n## Context\n\n## Options\n\n## Decision\n\n## Cost\n";

#[test]
fn a_page_of_the_form_is_accepted_and_any_other_is_found() {
    let first = format!("# 1. A{PAGE}");
    let tree = Tree::of(&[("docs/decisions/0001-a.md", &first)]);
    assert!(check(&tree).is_empty());

    let heading = format!("# A page without its number{PAGE}");
    let order = "# 2. B\n\n## Question\n\n## Decision\n\n## Why\n";
    let tree = Tree::of(&[
        ("docs/decisions/0001-a.md", &heading),
        ("docs/decisions/0003-b.md", order),
    ]);
    let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "docs/decisions/0001-a.md:1: its heading must begin with `# 1. `",
            "docs/decisions/0003-b.md:0: its name must begin with the next number, 0002",
            "docs/decisions/0003-b.md:0: its sections must be Context, Options, Decision, and Cost or Measured behind them",
        ]
    );
}
