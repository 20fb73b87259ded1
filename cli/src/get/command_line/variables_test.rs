use super::*;

fn with(given: &[&str]) -> Variables {
    let mut variables = Variables::default();
    for text in given {
        variables.set(text).expect(text);
    }
    variables
}

#[test]
fn names_in_braces_stand_for_variables_and_functions_are_applied_from_left_to_right() {
    let variables = with(&[
        "a=x",
        "b_1= y z \n",
        "quoted=\"1\"\t\u{fc}\n",
        "a=last",
        "none=",
    ]);
    for (text, expected) in [
        ("", ""),
        ("{{a}}", "last"),
        ("1{{a}}2{{b_1:trim}}3", "1last2y z3"),
        ("{{b_1:url}}", "%20y%20z%20%0A"),
        ("{{b_1:trim:url:b64}}", "eSUyMHo="),
        ("{{b_1:b64:64dec}}", " y z \n"),
        ("{{b_1:64dec:trim}}", "[64dec-fail]"),
        ("{{quoted:json}}", "\\\"1\\\"\\t\u{fc}\\n"),
        ("{{none:json}}{{none}}{{unset}}{{unset:b64}}", ""),
        ("\\{{a}} {{a}}", "{{a}} last"),
        ("{a} {{ a}} {{}} {{a-b}}", "{a} {{ a}} {{}} {{a-b}}"),
    ] {
        assert_eq!(variables.expand(text).expect(text), expected, "{text}");
    }
    for text in ["{{a", "{{a:upper}}", "{{a:}}"] {
        assert!(variables.expand(text).is_err(), "{text}");
    }
}

#[test]
fn a_variable_is_a_file_a_part_of_one_or_of_the_environment() {
    let path = std::env::temp_dir().join(format!("trunkline-variable-{}", std::process::id()));
    std::fs::write(&path, b"0123\xff\0").expect("a file");
    let path = path.to_str().expect("UTF-8");
    let part = |range: &str| {
        let variables = with(&[&format!("v@{path}{range}")]);
        variables.expand("{{v}}").map_err(|failure| failure.code())
    };
    assert_eq!(part(";[1-2]").as_deref(), Ok("12"));
    assert_eq!(part(";[0-0]").as_deref(), Ok("0"));
    assert_eq!(part(";[9-]").as_deref(), Ok(""));
    // No UTF-8, and a byte that no argument has.
    assert_eq!((part(";[3-4]"), part(";[5-]")), (Err(2), Err(2)));
    let all = with(&[&format!("v@{path}")]);
    assert_eq!(all.expand("{{v:url}}").expect("a text"), "0123%FF%00");
    let home = std::env::var("PATH").expect("it is set");
    assert_eq!(with(&["%PATH"]).expand("{{PATH}}").expect("a text"), home);
    let variables = with(&["%NO_SUCH_VARIABLE=else"]);
    assert_eq!(
        variables.expand("{{NO_SUCH_VARIABLE}}").expect("a text"),
        "else"
    );
    for (given, code) in [
        ("%NO_SUCH_VARIABLE", 2),
        ("", 2),
        ("=x", 2),
        ("a-b=x", 2),
        ("name", 2),
        ("v@/no/such/file", 26),
    ] {
        let failure = Variables::default().set(given).expect_err(given);
        assert_eq!(failure.code(), code, "{given}");
    }
    std::fs::remove_file(path).expect("it was made here");
}
