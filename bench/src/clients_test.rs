use super::*;

#[test]
fn a_client_prints_its_amount_and_seconds() {
    assert_eq!(parse("1024 0.500000\n"), Some((1024, 0.5)));
    for other in ["", "1024", "x 1", "1024 y"] {
        assert_eq!(parse(other), None, "{other:?}");
    }
}
