use super::*;
use std::collections::BTreeMap;

/// The documentation of the options in TypeScript: the stated default by the option's name.
fn documented(interface: &str) -> BTreeMap<String, String> {
    let source = include_str!("../../src/server/bounds.ts");
    let start = source.find(&format!("export interface {interface} {{"));
    let body = &source[start.expect("the interface is there")..];
    let body = &body[..body.find("\n}").expect("it ends")];
    let mut defaults = BTreeMap::new();
    let mut default = String::new();
    for line in body.lines() {
        if let Some((_, stated)) = line.split_once("Default: ") {
            let end = stated
                .find(". ")
                .or(stated.find(".*/"))
                .unwrap_or(stated.len());
            default = stated[..end]
                .trim_end_matches([' ', '*', '/', '.'])
                .to_owned();
        }
        if let Some((name, _)) = line.trim().split_once("?: ") {
            defaults.insert(name.to_owned(), std::mem::take(&mut default));
        }
    }
    defaults
}

fn rate(rate: Rate) -> String {
    format!("{} at once, {} per second", rate.burst, rate.per_second)
}

/// In milliseconds; 0: never.
fn time(time: Option<Duration>) -> String {
    time.map_or(0, |time| time.as_millis()).to_string()
}

/// The documented bound of a number that the engine leaves unbounded.
fn unbounded<N: Into<u64>>(default: N, text: &str) -> String {
    let default = default.into();
    assert!(default == u64::MAX || default == u64::from(u32::MAX));
    text.to_owned()
}

fn compare(interface: &str, defaults: &[(&str, String)]) {
    let engine: BTreeMap<String, String> = defaults
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    assert_eq!(documented(interface), engine);
    let group = interface.to_lowercase();
    for (name, value) in defaults {
        let number: Result<u64, _> = value.parse();
        let value = match (number, value.as_str()) {
            (Ok(number), _) => serde_json::json!(number),
            (_, "true") => serde_json::json!(true),
            (_, text) if text.contains(" at once, ") => {
                serde_json::json!({ "burst": 1, "perSecond": 1 })
            }
            _ => serde_json::json!(1),
        };
        let ask = serde_json::json!({ group.clone(): { *name: value } });
        let read: Result<ListenAsk, _> = serde_json::from_value(ask);
        assert!(read.is_ok(), "{group}.{name}: {:?}", read.err());
    }
}

#[test]
fn limits_have_the_names_and_defaults_that_their_documentation_states() {
    let limits = Limits::default();
    compare(
        "Limits",
        &[
            ("fieldCountMax", limits.field_count_max.to_string()),
            (
                "headerTableBytesMax",
                limits.header_table_bytes_max.to_string(),
            ),
            (
                "encoderTableBytesMax",
                limits.encoder_table_bytes_max.to_string(),
            ),
            (
                "fieldSectionBytesMax",
                limits.field_section_bytes_max.to_string(),
            ),
            (
                "headerBlockBytesMax",
                limits.header_block_bytes_max.to_string(),
            ),
            ("continuationsMax", limits.continuations_max.to_string()),
            (
                "concurrentStreamsMax",
                limits.concurrent_streams_max.to_string(),
            ),
            (
                "runningHandlersMax",
                limits.running_handlers_max.to_string(),
            ),
            ("requestStreamsMax", limits.request_streams_max.to_string()),
            (
                "requestHandlersMax",
                limits.request_handlers_max.to_string(),
            ),
            (
                "streamErrorsMax",
                unbounded(
                    limits.stream_errors_max,
                    "`resets` and `glitches` bound them",
                ),
            ),
            (
                "refusedStreamsMax",
                unbounded(limits.refused_streams_max, "`resets` bounds them"),
            ),
            (
                "queuedBytesMax",
                unbounded(limits.queued_bytes_max, "send buffers bound them"),
            ),
            (
                "settingsPerFrameMax",
                unbounded(
                    limits.settings_per_frame_max,
                    "32 with the API of node:http2, otherwise the size of a frame bounds them",
                ),
            ),
            ("resets", rate(limits.resets)),
            ("glitches", rate(limits.glitches)),
            ("pings", rate(limits.pings)),
            ("outboxBytesMax", limits.outbox_bytes_max.to_string()),
            (
                "sendBufferBytesMax",
                limits.send_buffer_bytes_max.to_string(),
            ),
            (
                "requestsPerConnectionMax",
                limits.requests_per_connection_max.to_string(),
            ),
            ("headBytesMax", limits.head_bytes_max.to_string()),
            ("targetBytesMax", limits.target_bytes_max.to_string()),
            (
                "chunkExtensionBytesMax",
                limits.chunk_extension_bytes_max.to_string(),
            ),
            (
                "interimResponsesMax",
                limits.interim_responses_max.to_string(),
            ),
        ],
    );
}

#[test]
fn timeouts_have_the_names_and_defaults_that_their_documentation_states() {
    let timeouts = Timeouts::default();
    compare(
        "Timeouts",
        &[
            ("handshake", time(timeouts.handshake)),
            ("settings", time(timeouts.settings)),
            ("head", time(timeouts.head)),
            ("firstRequest", time(timeouts.first_request)),
            ("bodyIdle", time(timeouts.body_idle)),
            ("writeStall", time(timeouts.write_stall)),
            ("streamStall", time(timeouts.stream_stall)),
            ("scarceStall", time(timeouts.scarce_stall)),
            ("idle", time(timeouts.idle)),
            ("halfClosed", time(timeouts.half_closed)),
            ("ageMax", time(timeouts.age_max)),
            ("rateMin", timeouts.rate_min.to_string()),
            ("rateGrace", time(Some(timeouts.rate_grace))),
        ],
    );
}

#[test]
fn windows_have_the_names_and_defaults_that_their_documentation_states() {
    let windows = Windows::default();
    compare(
        "Windows",
        &[
            ("streamInitial", windows.stream_initial.to_string()),
            ("streamMax", windows.stream_max.to_string()),
            ("connection", windows.connection.to_string()),
            ("memoryBudget", windows.memory_budget.to_string()),
            ("sendBudget", windows.send_budget.to_string()),
            ("auto", windows.auto.to_string()),
        ],
    );
}
