use crate::calls::read;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "only parsed")]
struct Options {
    host: Option<String>,
    port: Option<u16>,
    backlog: Option<u32>,
    connections_max: Option<usize>,
    fd: Option<i32>,
    http3: Option<bool>,
    ratio: Option<f64>,
    trusted: Option<Vec<String>>,
    names: Option<HashMap<String, String>>,
    tls: Option<TlsOptions>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only parsed")]
struct TlsOptions {
    cert: String,
}

fn refused(text: &str) -> String {
    let Value::Object(refusal) = read::<Options>(text).unwrap_err() else {
        panic!("a refusal is an object");
    };
    refusal["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_value_of_another_type_is_refused_with_its_options_name_and_what_is_allowed() {
    let cases = [
        (r#"{"host":5}"#, "host is 5; it must be a string"),
        (r#"{"host":{}}"#, "host is an object; it must be a string"),
        (r#"{"host":["a"]}"#, "host is an array; it must be a string"),
        (
            r#"{"port":70000}"#,
            "port is 70000; it must be an integer from 0 to 65535",
        ),
        (
            r#"{"backlog":-1}"#,
            "backlog is -1; it must be an integer from 0 to 4294967295",
        ),
        (
            r#"{"backlog":1.5}"#,
            "backlog is 1.5; it must be an integer from 0 to 4294967295",
        ),
        (
            r#"{"connectionsMax":"x"}"#,
            r#"connectionsMax is "x"; it must be an integer of at least 0"#,
        ),
        (r#"{"fd":true}"#, "fd is true; it must be an integer"),
        (
            r#"{"http3":"yes"}"#,
            r#"http3 is "yes"; it must be true or false"#,
        ),
        (r#"{"ratio":"x"}"#, r#"ratio is "x"; it must be a number"#),
        (
            r#"{"trusted":"10.0.0.0/8"}"#,
            r#"trusted is "10.0.0.0/8"; it must be an array"#,
        ),
        (r#"{"trusted":[5]}"#, "trusted[0] is 5; it must be a string"),
        (r#"{"names":5}"#, "names is 5; it must be an object"),
        (r#"{"tls":5}"#, "tls is 5; it must be an object"),
        (
            r#"{"tls":{"cert":5}}"#,
            "tls.cert is 5; it must be a string",
        ),
        ("5", "the argument is 5; it must be an object"),
    ];
    for (text, sentence) in cases {
        assert_eq!(refused(text), sentence, "{text}");
    }
}

#[test]
fn an_unknown_option_is_refused_with_those_that_are_known() {
    assert_eq!(
        refused(r#"{"tls":{"chain":""}}"#),
        "tls has no option chain; known are cert"
    );
    let of_all = refused(r#"{"hots":""}"#);
    assert!(
        of_all.starts_with("there is no option hots; known are host, port"),
        "{of_all}"
    );
}

#[test]
fn no_message_has_the_place_in_a_text_that_no_user_wrote() {
    let cases = [
        r#"{"host":5}"#,
        r#"{"tls":{}}"#,
        r#"{"port":"#,
        "",
        r#"{"hots":1}"#,
        r#"{"port":1e400}"#,
    ];
    for text in cases {
        let message = refused(text);
        assert!(
            !message.contains("line") && !message.contains("column"),
            "{message}"
        );
    }
}
