use super::*;

#[test]
fn a_scenario_is_named_by_version_direction_and_count() {
    assert_eq!(scenario("trunkline-h3", "up", 1), "h3 up");
    assert_eq!(scenario("quinn-h3", "up", 64), "h3 up 64");
    assert_eq!(scenario("reqwest-h1", "down", 64), "h1 down 64");
}
