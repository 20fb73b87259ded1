use super::*;

#[test]
fn a_rate_is_a_number_of_bytes_with_a_unit_of_curls() {
    for (text, bytes) in [
        ("0", 0),
        ("100", 100),
        ("2k", 2048),
        ("1M", 1 << 20),
        ("3G", 3 << 30),
        ("7B", 7),
    ] {
        assert_eq!(rate(text), Ok(bytes), "{text}");
    }
    for bad in [
        "",
        "k",
        "-1",
        "1x",
        "1kk",
        "99999999999999999999",
        "99999999999G",
    ] {
        assert!(rate(bad).is_err(), "{bad}");
    }
}

#[test]
fn bytes_are_due_at_their_rate() {
    let mut pace = Pace::new(Some(1000));
    pace.bytes = 2500;
    assert_eq!(
        pace.due(NonZeroU64::new(1000).unwrap()),
        Duration::from_millis(2500)
    );
    assert!(Pace::new(Some(0)).rate.is_none() && Pace::new(None).rate.is_none());
}
