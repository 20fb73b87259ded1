use super::*;
use serde_json::Value as Json;
use std::path::PathBuf;

/// A field as the corpus gives it: several lines are one list (RFC 9110 section 5.3).
fn raw(case: &Json) -> String {
    let lines: Vec<_> = case["raw"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l.as_str().unwrap())
        .collect();
    lines.join(", ")
}

/// Members with the last value of each key, in order of first appearance.
fn members(field: &str) -> Result<Vec<(String, Value)>, Malformed> {
    let mut members: Vec<(String, Value)> = Vec::new();
    dictionary(field.as_bytes(), |key, value| {
        let key = String::from_utf8(key.to_vec()).unwrap();
        match members.iter_mut().find(|member| member.0 == key) {
            Some(member) => member.1 = value,
            None => members.push((key, value)),
        }
    })?;
    Ok(members)
}

/// The corpus's expectation of a member, as far as [`Value`] represents it.
fn expected_value(member: &Json) -> Value {
    match &member[0] {
        Json::Bool(truth) => Value::Boolean(*truth),
        Json::Number(number) => number.as_i64().map_or(Value::Decimal, Value::Integer),
        Json::String(_) => Value::String,
        Json::Array(_) => Value::List,
        object => match object["__type"].as_str().unwrap() {
            "token" => Value::Token,
            "binary" => Value::Bytes,
            "date" => Value::Date,
            "displaystring" => Value::DisplayString,
            other => panic!("unknown type {other}"),
        },
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test finds its data where the environment says"
)]
fn corpora() -> PathBuf {
    let project = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let configured = std::env::var("TRUNKLINE_CORPORA").map(PathBuf::from);
    configured
        .unwrap_or_else(|_| project.join("../shared/corpora"))
        .join("structured-fields")
}

/// Every case of this type in the corpus: file and case.
fn cases(header_type: &str) -> Vec<(String, Json)> {
    let Ok(folder) = std::fs::read_dir(corpora()) else {
        eprintln!("skipped, data missing: {}", corpora().display());
        return Vec::new();
    };
    let mut cases = Vec::new();
    for path in folder.map(|entry| entry.unwrap().path()) {
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let file: Vec<Json> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let of_type = file
                .into_iter()
                .filter(|case| case["header_type"] == header_type);
            cases.extend(of_type.map(|case| (path.display().to_string(), case)));
        }
    }
    assert!(
        !cases.is_empty(),
        "the corpus has no case of type {header_type}"
    );
    cases
}

#[test]
fn every_dictionary_of_the_corpus_is_read_as_expected() {
    for (file, case) in cases("dictionary") {
        let field = raw(&case);
        let read = members(&field);
        if case["must_fail"] == true {
            assert_eq!(read, Err(Malformed), "{file}: {}: {field:?}", case["name"]);
            continue;
        }
        let expected: Vec<_> = case["expected"]
            .as_array()
            .unwrap()
            .iter()
            .map(|member| {
                (
                    member[0].as_str().unwrap().to_owned(),
                    expected_value(&member[1]),
                )
            })
            .collect();
        assert_eq!(read, Ok(expected), "{file}: {}: {field:?}", case["name"]);
    }
}

#[test]
fn every_item_of_the_corpus_is_read_as_a_member() {
    for (file, case) in cases("item") {
        if raw(&case).trim_end_matches(' ').ends_with('\t') {
            continue; // an error behind an item, but OWS behind a member (section 4.2.2)
        }
        let field = format!("key={}", raw(&case).trim_matches(' '));
        let read = members(&field);
        // An item cannot hold a comma that begins another member.
        let valid = read.as_ref().is_ok_and(|members| members.len() == 1);
        let must_fail = case["must_fail"] == true;
        let text = format!("{file}: {}: {field:?}: {read:?}", case["name"]);
        if case["can_fail"] != true {
            assert_eq!(valid, !must_fail, "{text}");
        }
        if valid && !must_fail {
            assert_eq!(
                read.unwrap()[0].1,
                expected_value(&case["expected"]),
                "{text}"
            );
        }
    }
}

#[test]
fn no_prefix_of_a_field_panics() {
    let field = "a=1.5;x=\"\\\"y\", b=(1 \"s\" t;p=:YQ==:);q, c=@-1, d=%\"%c3%bc\", e=?0, *=a/b:c";
    assert_eq!(members(field).unwrap().len(), 6);
    for end in 0..field.len() {
        let _ = members(&field[..end]);
    }
    for byte in 0..=u8::MAX {
        let mut bytes = field.as_bytes().to_vec();
        for at in 0..bytes.len() {
            let before = std::mem::replace(&mut bytes[at], byte);
            let _ = dictionary(&bytes, |_, _| {});
            bytes[at] = before;
        }
    }
}
