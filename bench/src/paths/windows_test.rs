use super::{BODY_BYTES, bound, rate};

#[test]
fn a_line_of_bytes_and_seconds_is_a_rate() {
    assert_eq!(rate("1000 0.5"), Some(2000.0));
    for line in ["", "1000", "x 1", "1000 0"] {
        assert_eq!(rate(line), None, "{line:?}");
    }
}

#[test]
fn the_bound_is_the_line_less_what_round_trips_cost() {
    let line = 125e6 * 1448.0 / 1500.0;
    let warm = bound(1000, 100, true);
    let seconds = BODY_BYTES as f64 / warm;
    assert!((seconds - 0.1 - BODY_BYTES as f64 / line).abs() < 1e-9);
    let cold = bound(1000, 100, false);
    // Ten rounds from ten segments to a product of 12 MB.
    assert!(cold < warm && cold > warm / 3.0, "{cold} {warm}");
}
