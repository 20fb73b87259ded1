use super::*;

#[test]
fn a_client_prints_its_requests_and_seconds() {
    assert_eq!(parse("50000 0.500000\n"), Some((50_000, 0.5)));
    for other in ["", "50000", "x 1", "50000 y"] {
        assert_eq!(parse(other), None, "{other:?}");
    }
}

#[test]
fn every_pair_has_a_row_of_its_own() {
    let mut rows: Vec<_> = PAIRS.iter().map(|(.., name, what)| (name, what)).collect();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), PAIRS.len());
}
