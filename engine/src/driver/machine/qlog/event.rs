//! Events as JSON, by the names of draft-ietf-quic-qlog-h3-events in the form that qvis reads: `http:frame_created`,
//! version 0.3. Frames of HTTP/2 are the same events; types that HTTP/3 has not keep the names of RFC 9113.

use super::file::RECORD_SEPARATOR;
use std::fmt::Write;
use trunkline_core::http::Fields;
use trunkline_core::http::trace::{Contents, Direction, TraceEvent, TracedFrame};

/// Values of these fields let a reader of the file act as their user.
const SECRET: [&[u8]; 4] = [
    b"authorization",
    b"proxy-authorization",
    b"cookie",
    b"set-cookie",
];

/// The identifier of a setting, its name in RFCs, and in `parameters_set` where it has one.
type SettingName = (u64, &'static str, Option<&'static str>);

/// Settings of HTTP/2 (RFC 9113 section 6.5.2, RFC 8441, RFC 9218).
const HTTP2_SETTINGS: [SettingName; 8] = [
    (
        0x1,
        "SETTINGS_HEADER_TABLE_SIZE",
        Some("max_table_capacity"),
    ),
    (0x2, "SETTINGS_ENABLE_PUSH", Some("push_allowed")),
    (
        0x3,
        "SETTINGS_MAX_CONCURRENT_STREAMS",
        Some("max_concurrent_streams"),
    ),
    (
        0x4,
        "SETTINGS_INITIAL_WINDOW_SIZE",
        Some("initial_window_size"),
    ),
    (0x5, "SETTINGS_MAX_FRAME_SIZE", Some("max_frame_size")),
    (
        0x6,
        "SETTINGS_MAX_HEADER_LIST_SIZE",
        Some("max_field_section_size"),
    ),
    (
        0x8,
        "SETTINGS_ENABLE_CONNECT_PROTOCOL",
        Some("enable_connect_protocol"),
    ),
    (0x9, "SETTINGS_NO_RFC7540_PRIORITIES", None),
];

/// Settings of HTTP/3 (RFC 9114 section 7.2.4.1, RFC 9204 section 5, RFC 9220, RFC 9297).
const HTTP3_SETTINGS: [SettingName; 5] = [
    (
        0x1,
        "SETTINGS_QPACK_MAX_TABLE_CAPACITY",
        Some("max_table_capacity"),
    ),
    (
        0x6,
        "SETTINGS_MAX_FIELD_SECTION_SIZE",
        Some("max_field_section_size"),
    ),
    (
        0x7,
        "SETTINGS_QPACK_BLOCKED_STREAMS",
        Some("blocked_streams_count"),
    ),
    (
        0x8,
        "SETTINGS_ENABLE_CONNECT_PROTOCOL",
        Some("enable_connect_protocol"),
    ),
    (0x33, "SETTINGS_H3_DATAGRAM", Some("h3_datagram")),
];

/// Appends the records of `event`.
pub(super) fn put(
    event: &TraceEvent<'_>,
    is_http2: bool,
    time: f32,
    group: &str,
    out: &mut String,
) {
    match event {
        TraceEvent::Frame(frame) => {
            let name = match frame.direction {
                Direction::Sent => "frame_created",
                Direction::Received => "frame_parsed",
            };
            put_record(name, time, group, out, |out| {
                put_frame(frame, is_http2, out)
            });
            if let Contents::Settings { ack: false, values } = frame.contents {
                put_record("parameters_set", time, group, out, |out| {
                    put_parameters(frame.direction, values, is_http2, out);
                });
            }
        }
        TraceEvent::StreamType {
            direction,
            stream,
            kind,
        } => put_record("stream_type_set", time, group, out, |out| {
            let owner = owner(*direction);
            let name = match kind {
                0 => "control",
                1 => "push",
                2 => "qpack_encode",
                3 => "qpack_decode",
                _ => "unknown",
            };
            // `new` is what earlier drafts called it.
            let _ = write!(
                out,
                "\"stream_id\":{stream},\"owner\":\"{owner}\",\"stream_type\":\"{name}\",\
                 \"stream_type_value\":{kind},\"new\":\"{name}\""
            );
        }),
    }
}

fn put_record(
    name: &str,
    time: f32,
    group: &str,
    out: &mut String,
    data: impl FnOnce(&mut String),
) {
    let _ = write!(
        out,
        "{RECORD_SEPARATOR}{{\"time\":{time},\"name\":\"http:{name}\",\"data\":{{"
    );
    data(out);
    let _ = writeln!(out, "}},\"group_id\":\"{group}\"}}");
}

fn owner(direction: Direction) -> &'static str {
    match direction {
        Direction::Sent => "local",
        Direction::Received => "remote",
    }
}

fn put_frame(frame: &TracedFrame<'_>, is_http2: bool, out: &mut String) {
    let (stream, bytes) = (frame.stream, frame.bytes);
    // `byte_length` is what earlier drafts called it, and qvis reads it.
    let _ = write!(
        out,
        "\"stream_id\":{stream},\"length\":{bytes},\"byte_length\":{bytes},\"frame\":{{\"frame_type\":"
    );
    match frame.contents {
        Contents::Data => out.push_str("\"data\""),
        Contents::Headers(fields) => put_section("headers", fields, out),
        Contents::Continuation(fields) => put_section("continuation", fields, out),
        Contents::Priority => out.push_str("\"priority\""),
        Contents::ResetStream { code } => {
            let _ = write!(out, "\"reset_stream\",\"error_code\":{code}");
        }
        Contents::Settings { ack, values } => put_settings(ack, values, is_http2, out),
        Contents::PushPromise => out.push_str("\"push_promise\""),
        Contents::Ping { ack } => {
            let _ = write!(out, "\"ping\",\"ack\":{ack}");
        }
        Contents::Goaway { id, code } => {
            let _ = write!(out, "\"goaway\",\"id\":{id}");
            if let Some(code) = code {
                let _ = write!(out, ",\"error_code\":{code}");
            }
        }
        Contents::WindowUpdate { increment } => {
            let _ = write!(out, "\"window_update\",\"increment\":{increment}");
        }
        Contents::CancelPush { id } => {
            let _ = write!(out, "\"cancel_push\",\"push_id\":{id}");
        }
        Contents::MaxPushId { id } => {
            let _ = write!(out, "\"max_push_id\",\"push_id\":{id}");
        }
        Contents::PriorityUpdate { id, value } => {
            let _ = write!(
                out,
                "\"priority_update\",\"target_stream_type\":\"request\",\"prioritized_element_id\":{id},\
                 \"priority_field_value\":"
            );
            put_text(value, out);
        }
        Contents::Reserved => out.push_str("\"reserved\""),
        Contents::Unknown { kind } => {
            let _ = write!(
                out,
                "\"unknown\",\"frame_type_value\":{kind},\"raw_frame_type\":{kind}"
            );
        }
    }
    if frame.ends {
        out.push_str(",\"stream_end\":true");
    }
    out.push('}');
}

fn put_section(kind: &str, fields: Option<&Fields>, out: &mut String) {
    let _ = write!(out, "\"{kind}\",\"headers\":[");
    for (n, field) in fields.into_iter().flat_map(Fields::iter).enumerate() {
        out.push_str(if n == 0 { "{\"name\":" } else { ",{\"name\":" });
        put_text(field.name, out);
        out.push_str(",\"value\":");
        let is_secret = field.sensitive || SECRET.contains(&field.name);
        put_text(if is_secret { b"(secret)" } else { field.value }, out);
        out.push('}');
    }
    out.push(']');
}

fn setting_name(id: u64, is_http2: bool) -> Option<&'static SettingName> {
    let names: &[SettingName] = if is_http2 {
        &HTTP2_SETTINGS
    } else {
        &HTTP3_SETTINGS
    };
    names.iter().find(|(known, _, _)| *known == id)
}

fn put_settings(ack: bool, values: &[(u64, u64)], is_http2: bool, out: &mut String) {
    out.push_str("\"settings\",");
    if ack {
        out.push_str("\"ack\":true,");
    }
    out.push_str("\"settings\":[");
    for (n, &(id, value)) in values.iter().enumerate() {
        let comma = if n == 0 { "" } else { "," };
        let _ = match setting_name(id, is_http2) {
            Some((_, name, _)) => write!(out, "{comma}{{\"name\":\"{name}\",\"value\":{value}}}"),
            None => write!(
                out,
                "{comma}{{\"name\":\"unknown\",\"name_bytes\":{id},\"value\":{value}}}"
            ),
        };
    }
    out.push(']');
}

fn put_parameters(from: Direction, values: &[(u64, u64)], is_http2: bool, out: &mut String) {
    let _ = write!(out, "\"owner\":\"{}\"", owner(from));
    for &(id, value) in values {
        if let Some((_, _, Some(name))) = setting_name(id, is_http2) {
            let _ = write!(out, ",\"{name}\":{value}");
        }
    }
}

/// Appends a text of JSON. Values of fields are bytes (RFC 9110 section 5.5): what is not UTF-8 is replaced.
fn put_text(text: &[u8], out: &mut String) {
    out.push('"');
    for char in String::from_utf8_lossy(text).chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\0'..='\x1f' | '\x7f' => {
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out.push('"');
}
