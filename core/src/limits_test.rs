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
    // Streams that nobody reads must leave room for the one that somebody does.
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
        timeouts.idle,
        timeouts.age_max,
    ];
    assert!(
        phases
            .iter()
            .all(|phase| phase.is_some_and(|time| !time.is_zero()))
    );
}
