use super::{check, words};
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

fn count(path: &str, text: &str) -> usize {
    let tree = Tree::of(&[(path, text)]);
    check(&tree, &parse(&tree).0).len()
}

#[test]
fn banned_words_are_found_in_files_folders_modules_and_types() {
    assert_eq!(count("a/src/string_utils.rs", ""), 1);
    assert_eq!(count("a/common/x.rs", ""), 1);
    assert_eq!(count("a/src/x.rs", "mod helpers;"), 1);
    assert_eq!(count("a/src/x.rs", "struct PoolInner;"), 1);
    assert_eq!(
        count(
            "a/src/x.rs",
            "fn f() { enum ConnectionManager {} } trait Misc {} type Util = u8;"
        ),
        3
    );
}

#[test]
fn words_that_only_contain_a_banned_one_are_free() {
    assert_eq!(count("a/src/utility_pole.rs", "struct Winner;"), 0);
}

#[test]
fn a_name_is_cut_at_underscores_dashes_and_capitals() {
    assert_eq!(words("pool_inner"), ["pool", "inner"]);
    assert_eq!(words("PoolInner"), ["pool", "inner"]);
    assert_eq!(words("H2Conn"), ["h2", "conn"]);
}
