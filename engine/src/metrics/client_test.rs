use super::*;
use crate::error::ErrorKind;
use crate::metrics::exposition::exposition_test::parse;

#[test]
fn the_series_of_a_client_are_at_most_five_hundred_whatever_is_counted() {
    let all = || ErrorKind::NAMES.map(|name| (name, 1)).to_vec();
    let metrics = ClientMetrics {
        failures: all(),
        connect_failures: all(),
        ..ClientMetrics::default()
    };
    let families = parse(&metrics.to_openmetrics());
    let series: usize = families.values().map(|family| family.samples.len()).sum();
    assert!((200..=500).contains(&series), "{series}");
}

#[test]
fn waits_are_summed_over_origins_by_their_reason() {
    let pool = PoolMetrics::of(&[]);
    assert_eq!(pool, PoolMetrics::default());
    let names: std::collections::HashSet<_> =
        WaitReason::ALL.into_iter().map(WaitReason::name).collect();
    assert_eq!(names.len(), WaitReason::ALL.len());
}
