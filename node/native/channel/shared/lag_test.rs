use super::*;

fn sample(lag: &RingLag, series: &str) -> f64 {
    let text = lag.to_openmetrics();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    let line = line.unwrap_or_else(|| panic!("no {series} in {text}"));
    line.parse().expect("a number")
}

#[test]
fn each_wake_up_is_counted_once_when_javascript_comes() {
    let lag = RingLag::new();
    lag.drained();
    assert_eq!(
        sample(&lag, "trunkline_ring_lag_seconds_count"),
        0.0,
        "it came unasked"
    );
    lag.woken();
    lag.woken();
    assert_eq!(sample(&lag, "trunkline_ring_lag_seconds_count"), 0.0);
    lag.drained();
    lag.drained();
    assert_eq!(sample(&lag, "trunkline_ring_lag_seconds_count"), 1.0);
}

#[test]
fn a_wait_is_in_the_buckets_from_its_own_on() {
    let lag = RingLag::new();
    lag.count(2_000_000);
    lag.count(20_000_000_000);
    for (bound, count) in [
        ("0.001", 0.0),
        ("0.0025", 1.0),
        ("10.0", 1.0),
        ("+Inf", 2.0),
    ] {
        let series = format!("trunkline_ring_lag_seconds_bucket{{le=\"{bound}\"}}");
        assert_eq!(sample(&lag, &series), count, "{bound}");
    }
    assert_eq!(sample(&lag, "trunkline_ring_lag_seconds_sum"), 20.002);
}
