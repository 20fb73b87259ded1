use super::between_marks;

#[test]
fn only_what_stands_between_the_marks_of_the_command_is_replaced() {
    let page = "a\n<!-- table: make x -->\nold\n<!-- end of table -->\nb\n\
                <!-- table: make y -->\nkept\n<!-- end of table -->\n";
    let new = between_marks(page, "make x", "new\n").unwrap();
    assert_eq!(new, page.replace("old", "new"));
    assert!(between_marks(page, "make z", "new\n").is_none());
    assert!(between_marks("<!-- table: make x -->\n", "make x", "").is_none());
}
