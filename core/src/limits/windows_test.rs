use super::*;

#[test]
fn a_stream_over_quic_is_as_wide_as_its_path_and_a_hundred_of_a_short_one_fit_a_connection() {
    const MIB: u32 = 1024 * 1024;
    let windows = Windows::default();
    let over = |millis| windows.quic_stream_over(Some(Duration::from_millis(millis)), 0);
    assert_eq!(windows.quic_stream_over(None, 0), 16 * MIB, "unknown");
    assert_eq!([0, 1, 2].map(over), [QUIC_STREAM_WINDOW_BYTES_MIN; 3]);
    assert_eq!(over(20), 3_200_000);
    assert_eq!(over(100), 16_000_000);
    assert_eq!(over(10_000), 16 * MIB);
    let displayed = windows.quic_stream_over(Some(Duration::from_millis(1)), 2 * MIB);
    assert_eq!(displayed, 2 * MIB);
    // The state that a connection reaches (`handle_blocked`), against a hundred and the one that is read.
    let window = u64::from(windows.connection) + windows.memory_budget / 2;
    assert!(101 * u64::from(QUIC_STREAM_WINDOW_BYTES_MIN) <= window);
    let fixed = Windows::fixed(MIB, 4 * MIB);
    assert_eq!(fixed.quic_stream_over(Some(Duration::ZERO), 0), MIB);
    let narrow = Windows {
        stream_max: 128 * 1024,
        ..Windows::default()
    };
    assert_eq!(narrow.quic_stream_over(Some(Duration::ZERO), 0), 128 * 1024);
}
