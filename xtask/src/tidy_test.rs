use super::findings;
use super::tree::Tree;

#[test]
fn the_project_is_tidy() {
    let tree = Tree::read(&crate::root()).expect("the project's root");
    let found: Vec<String> = findings(&tree).iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
