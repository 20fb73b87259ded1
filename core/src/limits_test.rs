use super::*;

#[test]
fn the_defaults_are_the_constants() {
    let limits = Limits::default();
    assert_eq!(limits.field_count_max, FIELD_COUNT_MAX);
    assert_eq!(limits.field_section_bytes_max, FIELD_SECTION_BYTES_MAX);
    assert_eq!(limits.header_block_bytes_max, HEADER_BLOCK_BYTES_MAX);
    assert_eq!(limits.concurrent_streams_max, CONCURRENT_STREAMS_MAX);
    assert_eq!(limits.head_bytes_max, HEAD_BYTES_MAX);
    assert_eq!(
        limits.pipelining, 1,
        "never raised by a setting of another version"
    );
}

#[test]
fn the_defaults_fit_together() {
    let limits = Limits::default();
    let windows = Windows::default();
    assert!(limits.running_handlers_max >= limits.concurrent_streams_max);
    assert!(limits.target_bytes_max < limits.head_bytes_max);
    assert!(
        limits.resets.burst >= limits.concurrent_streams_max,
        "a tab that closes is no flood"
    );
    // Unread streams must leave room for one that is read.
    let unread = u64::from(windows.stream_initial) * u64::from(limits.concurrent_streams_max);
    assert!(unread < u64::from(windows.connection));
    assert!(windows.stream_initial <= windows.stream_max);
    assert!(u64::from(windows.stream_max) <= windows.memory_budget);
}

#[test]
fn a_header_block_of_default_size_needs_no_more_continuations_than_allowed() {
    // RFC 9113 section 4.2: every peer may send frames of 16,384 bytes.
    let frames = HEADER_BLOCK_BYTES_MAX.div_ceil(16_384);
    assert!(frames as u32 <= 1 + CONTINUATIONS_MAX);
}

#[test]
fn every_phase_has_a_deadline_by_default() {
    let timeouts = Timeouts::default();
    let phases = [
        timeouts.handshake,
        timeouts.settings,
        timeouts.head,
        timeouts.body_idle,
        timeouts.write_stall,
        timeouts.stream_stall,
        timeouts.scarce_stall,
        timeouts.idle,
        timeouts.half_closed,
    ];
    assert!(
        phases
            .iter()
            .all(|phase| phase.is_some_and(|time| !time.is_zero()))
    );
    assert_eq!(
        timeouts.age_max, None,
        "a drain costs gRPC clients what they were about to send"
    );
}

/// The number, or word, of a default: as its documentation and as `Debug` have it.
fn bare(text: &str) -> String {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    match digits.is_empty() {
        true => text
            .trim_matches(|letter: char| !letter.is_alphanumeric())
            .to_owned(),
        false => digits,
    }
}

#[test]
fn the_documentation_of_each_field_says_its_default() {
    let printed = format!(
        "{:?} {:?} {:?}",
        Limits::default(),
        Timeouts::default(),
        Windows::default()
    );
    let files = [
        include_str!("limits.rs"),
        include_str!("limits/timeouts.rs"),
        include_str!("limits/windows.rs"),
    ];
    // Each table up to its end.
    let fields_of = files.iter().filter_map(|text| {
        let (_, table) = text.split_once("crate::options! {")?;
        table.split("\n}").next()
    });
    let (mut documentation, mut fields) = (String::new(), 0);
    for line in fields_of.flat_map(str::lines) {
        let line = line.trim();
        if let Some(words) = line.strip_prefix("///") {
            documentation += words;
            continue;
        }
        let field = line
            .strip_prefix("pub ")
            .and_then(|rest| rest.split_once(": "));
        if let Some((name, _)) = field.filter(|(name, _)| !name.contains([' ', '('])) {
            let text = documentation.rsplit_once("Default ");
            let (_, text) = text.unwrap_or_else(|| panic!("{name} has no default"));
            let stated = text.split([';', '.', ':']).next().unwrap_or(text);
            let stated = stated.split(", ").next().unwrap_or(stated);
            let (_, value) = printed.split_once(&format!(" {name}: ")).unwrap();
            let mut ends = value.match_indices(", ").map(|(at, _)| at);
            let is_next = |at: &usize| !value[at + 2..].starts_with("per_second");
            let end = ends.find(is_next).unwrap_or(value.len());
            let end = end.min(value.find(" }").unwrap_or(end).max(1));
            assert_eq!(bare(stated), bare(&value[..end]), "{name}: {text}");
            fields += 1;
        }
        documentation.clear();
    }
    assert_eq!(fields, 46);
}
