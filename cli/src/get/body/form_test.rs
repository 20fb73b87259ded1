use super::*;

fn part(content: Content, media_type: Option<&str>, file_name: Option<&str>) -> FormPart {
    FormPart {
        name: "a".to_owned(),
        content,
        media_type: media_type.map(str::to_owned),
        file_name: file_name.map(str::to_owned),
    }
}

#[test]
fn files_between_commas_are_parts_of_one_name() {
    let file = |path: &str, media_type, name| part(Content::File(path.into()), media_type, name);
    for (given, expected) in [
        ("a=@f,g", vec![file("f", None, None), file("g", None, None)]),
        (
            "a=@f;type=text/x,g;filename=h, i ",
            vec![
                file("f", Some("text/x"), None),
                file("g", None, Some("h")),
                file("i", None, None),
            ],
        ),
        (
            r#"a=@"f,g"x,h"#,
            vec![file("f,g", None, None), file("h", None, None)],
        ),
        (r#"a=@f;filename="p,q""#, vec![file("f", None, Some("p,q"))]),
        (
            "a=<f,g",
            vec![part(Content::TextOf("f,g".into()), None, None)],
        ),
        ("a=b,c", vec![part(Content::Text("b,c".into()), None, None)]),
    ] {
        assert_eq!(FormPart::parse(given).expect(given), expected, "{given}");
    }
    FormPart::parse("a=@f,").expect_err("it names no second file");
}

#[test]
fn a_part_is_a_text_a_file_or_the_text_of_one() {
    let text = |text: &str| Content::Text(text.to_owned());
    for (given, expected) in [
        ("a=b", part(text("b"), None, None)),
        ("a=", part(text(""), None, None)),
        ("a=b; c;d", part(text("b; c;d"), None, None)),
        (
            r#"a="b;type=\"q\"";type=d"#,
            part(text("b;type=\"q\""), Some("d"), None),
        ),
        (r#"a=@"f;g""#, part(Content::File("f;g".into()), None, None)),
        ("a=b=c;type=d", part(text("b=c"), Some("d"), None)),
        ("a=@f", part(Content::File("f".into()), None, None)),
        ("a= b ", part(text("b"), None, None)),
        ("a=\" b \"", part(text(" b "), None, None)),
        ("a= @b ;type= c ", part(text("@b"), Some("c"), None)),
        (
            "a=@ f ;type=text/x; charset=y;filename= g",
            part(
                Content::File("f".into()),
                Some("text/x; charset=y"),
                Some("g"),
            ),
        ),
        ("a=<f", part(Content::TextOf("f".into()), None, None)),
        (
            "a=@f;type=text/x;filename=g",
            part(Content::File("f".into()), Some("text/x"), Some("g")),
        ),
    ] {
        assert_eq!(FormPart::parse(given).expect(given), [expected], "{given}");
    }
    for given in [
        "a",
        "a=@",
        "a=(b",
        "a=(;type=multipart/mixed",
        "a=b;type=",
        "a=@f;x",
        "a=@f;mode=1",
        "a=@\"\"",
    ] {
        let refusal = FormPart::parse(given).expect_err(given).to_string();
        assert!(refusal.contains(&format!("{given:?}")), "{refusal}");
    }
}
