use super::changes;

#[test]
fn a_line_that_is_in_one_listing_alone_is_a_change() {
    let kept = "pub fn a()\npub fn b()\n";
    assert!(changes(kept, kept).is_empty());
    assert_eq!(
        changes(kept, "pub fn b()\npub fn c()\n"),
        ["-pub fn a()", "+pub fn c()"]
    );
    assert_eq!(changes("", "pub fn a()\n"), ["+pub fn a()"]);
}
