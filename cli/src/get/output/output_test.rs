use super::*;

#[test]
fn a_server_chooses_a_name_and_no_folder() {
    let name = |text| name_in(text).map(|path| path.display().to_string());
    for (given, expected) in [
        ("attachment; filename=\"a b.txt\"", Some("a b.txt")),
        ("attachment; FileName=x", Some("x")),
        ("attachment; size=3; filename=x", Some("x")),
        ("attachment; filename=\"../../etc/passwd\"", Some("passwd")),
        ("attachment; filename=\"C:\\dir\\x.txt\"", Some("x.txt")),
        ("attachment; filename=\"..\"", None),
        ("attachment; filename=\"a/\"", None),
        ("attachment; filename=\"a\u{1}b\"", None),
        ("attachment", None),
        ("filename=x", Some("x")),
    ] {
        assert_eq!(name(given).as_deref(), expected, "{given}");
    }
}
