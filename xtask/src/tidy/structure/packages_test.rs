use super::check;
use crate::tidy::tree::Tree;

fn found(section: &str, version: &str) -> usize {
    let text = format!("{{\n  \"{section}\": {{\n    \"a\": \"{version}\"\n  }}\n}}\n");
    check(&Tree::of(&[("node/package.json", &text)])).len()
}

#[test]
fn a_range_of_versions_is_found_where_packages_are_installed() {
    for range in [
        "^1.2.3",
        "~1.2.3",
        "1",
        "1.2",
        "*",
        ">=1.2.3",
        "npm:b@^1.2.3",
    ] {
        assert_eq!(found("dependencies", range), 1, "{range}");
    }
    for exact in ["1.2.3", "npm:@b/c@1.2.3", "file:.."] {
        assert_eq!(found("optionalDependencies", exact), 0, "{exact}");
    }
    assert_eq!(found("peerDependencies", "^8.18.0"), 0);
}
