//! Turns a parser's error about options into the sentence of an error of ours: the option, its value, and what is
//! allowed.

/// `option`: its path, as `tls.cert`, or `.` for all of them. `why`: serde's message.
pub(super) fn sentence(option: &str, why: &str) -> String {
    let why = without_place(why);
    let parsed = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|start| why.strip_prefix(start)?.split_once(", expected "));
    if let Some((value, expected)) = parsed {
        let option = if option == "." {
            "the argument"
        } else {
            option
        };
        return format!(
            "{option} is {}; it must be {}",
            given(value),
            allowed(expected)
        );
    }
    if let Some((name, others)) = why
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.split_once("`, expected "))
    {
        // The path ends with the unknown name itself.
        let owner = option.strip_suffix(name).unwrap_or(option);
        let owner = owner.trim_end_matches('.');
        let has = if owner.is_empty() {
            "there is".to_owned()
        } else {
            format!("{owner} has")
        };
        let names = others.replace("one of ", "").replace('`', "");
        return format!("{has} no option {name}; known are {names}");
    }
    match option {
        "." => why.to_owned(),
        _ => format!("{option}: {why}"),
    }
}

/// The line and column of a text that no user has written.
fn without_place(why: &str) -> &str {
    why.rfind(" at line ").map_or(why, |at| &why[..at])
}

/// A value in the words of JavaScript.
fn given(value: &str) -> String {
    match value {
        "map" => "an object".into(),
        "sequence" => "an array".into(),
        "unit value" => "null".into(),
        _ => {
            let kinds = ["integer ", "floating point ", "boolean ", "string "];
            let kind = kinds.iter().find_map(|kind| value.strip_prefix(kind));
            kind.unwrap_or(value).replace('`', "")
        }
    }
}

/// The type that serde expected, in the words of JavaScript.
fn allowed(expected: &str) -> String {
    match expected {
        "a boolean" => "true or false".into(),
        "a string" => "a string".into(),
        "a sequence" => "an array".into(),
        "a map" => "an object".into(),
        "u16" => format!("an integer from 0 to {}", u16::MAX),
        "u32" => format!("an integer from 0 to {}", u32::MAX),
        "u64" | "usize" => "an integer of at least 0".into(),
        "i32" | "i64" => "an integer".into(),
        "f32" | "f64" => "a number".into(),
        _ if expected.starts_with("struct ") => "an object".into(),
        _ => expected.replace('`', ""),
    }
}

#[cfg(test)]
#[path = "wrong_option_test.rs"]
mod wrong_option_test;
