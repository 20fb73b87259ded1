use super::*;
use serde_json::json;

fn state(requests: u64, time_ms: u64) -> Value {
    json!({
        "kind": "server", "version": "0.1.0", "process": 7, "time_ms": time_ms, "draining": false,
        "counts": { "requests": requests, "open": 1, "connections_open": 1, "connections": 3, "bytes_in": 2048, "bytes_out": 0 },
        "responses": { "2xx": 5, "4xx": 0, "5xx": 9 }, "waits": { "handler": 1 }, "violations": {},
        "connections": [{
            "peer": "127.0.0.1:5000", "version": "2",
            "streams": [{
                "id": 1, "age_ms": 1500, "wait": "handler", "received_bytes": 0, "sent_bytes": 0,
                "method": "GET", "target": "/\u{1b}[31mred",
            }],
        }],
    })
}

#[test]
fn a_state_becomes_counts_with_rates_and_a_line_for_each_exchange() {
    let text = shown(&state(300, 3000), Some(&state(100, 1000)), 40);
    assert!(
        text.starts_with("trunkline server 0.1.0, process 7\n"),
        "{text}"
    );
    assert!(
        text.contains("requests 300 (100/s), open 1, connections 1 of 3, in 2 KiB"),
        "{text}"
    );
    assert!(text.contains("responses: 5xx 9, 2xx 5\n"), "{text}");
    let line = text.lines().last().expect("a line");
    for part in ["127.0.0.1:5000", "1500", "handler", "GET /"] {
        assert!(line.contains(part), "{line}");
    }
}

#[test]
fn a_hostile_target_does_not_command_the_terminal() {
    let text = shown(&state(1, 1), None, 40);
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert!(text.contains("/\u{fffd}[31mred"), "{text}");
}

#[test]
fn lines_beyond_the_screen_are_counted() {
    let mut many = state(1, 1);
    let stream = many["connections"][0]["streams"][0].clone();
    many["connections"][0]["streams"] = json!(vec![stream; 100]);
    let text = shown(&many, None, 20);
    assert_eq!(text.lines().count(), 20 - 1);
    assert!(text.ends_with(" more\n"), "{text}");
    assert_eq!(
        shown(&many, None, usize::MAX).matches("handler").count(),
        101
    );
}
