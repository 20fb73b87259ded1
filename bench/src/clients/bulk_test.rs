use super::*;

#[test]
fn a_client_prints_its_bytes_and_seconds() {
    assert_eq!(parse("1024 0.500000\n"), Some((1024, 0.5)));
    for other in ["", "1024", "x 1", "1024 y"] {
        assert_eq!(parse(other), None, "{other:?}");
    }
}

#[test]
fn a_scenario_is_named_by_version_direction_and_count() {
    assert_eq!(scenario("trunkline-h3", "up", 1), "h3 up");
    assert_eq!(scenario("quinn-h3", "up", 64), "h3 up 64");
    assert_eq!(scenario("reqwest-h1", "down", 64), "h1 down 64");
}
