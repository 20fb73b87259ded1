use super::*;

#[test]
fn every_pair_has_a_row_of_its_own() {
    let mut rows: Vec<_> = PAIRS
        .iter()
        .map(|pair| (pair.subject, pair.calls))
        .collect();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), PAIRS.len());
}

#[test]
fn every_pair_has_a_server() {
    for pair in &PAIRS {
        let has_one = SERVERS.iter().any(|(name, ..)| *name == pair.server);
        assert!(has_one, "{}", pair.server);
    }
}
