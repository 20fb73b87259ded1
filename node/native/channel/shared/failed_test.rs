use super::*;
use trunkline::TrustedPeers;

#[test]
fn the_last_errors_have_timelines_and_older_ones_none() {
    let mut failed = FailedRequests::default();
    for number in 0..KEPT_MAX as u64 + 2 {
        let error = TrustedPeers::parse([format!("no address {number}")]);
        assert_eq!(failed.keep(error.expect_err("it is none")), number);
    }
    assert_eq!(failed.kept.len(), KEPT_MAX);
    let last = KEPT_MAX as u64 + 1;
    for (number, is_kept) in [
        (0, false),
        (1, false),
        (2, true),
        (last, true),
        (last + 1, false),
    ] {
        let timeline = failed.timeline(number);
        assert_eq!(timeline.is_some(), is_kept, "{number}");
        assert!(timeline.is_none_or(|it| it.contains(&format!("no address {number}"))));
    }
}
