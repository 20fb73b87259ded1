use super::*;

#[test]
fn every_pair_has_a_row_of_its_own() {
    let mut rows: Vec<_> = PAIRS.iter().map(|(.., name, what)| (name, what)).collect();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), PAIRS.len());
}
