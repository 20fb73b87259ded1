use super::DecoderTable;
use crate::http::FieldName;

fn named(name: &str) -> FieldName<'_> {
    FieldName::Bytes(name.as_bytes())
}

/// Room for three entries of 34 bytes.
fn table_of_three() -> DecoderTable {
    let mut table = DecoderTable::new();
    table.set_capacity(3 * 34);
    table
}

#[test]
fn indices_are_absolute_and_never_come_back() {
    let mut table = table_of_three();
    for name in ["a", "b", "c", "d", "e"] {
        assert!(table.insert(named(name), b"1", 0));
    }
    assert_eq!(table.inserted(), 5);
    for absolute in [0, 1, 5, 6, u64::MAX] {
        assert!(table.get(absolute).is_none(), "{absolute}");
    }
    for (absolute, name) in [(2, "c"), (3, "d"), (4, "e")] {
        assert_eq!(table.get(absolute).unwrap().0.as_bytes(), name.as_bytes());
        assert_eq!(table.find_name(named(name), u64::MAX), Some(absolute));
    }
    table.set_capacity(0);
    assert_eq!(table.inserted(), 5, "eviction does not count back");
    assert!(table.get(4).is_none());
}

#[test]
fn an_entry_larger_than_the_table_changes_nothing() {
    let mut table = table_of_three();
    assert!(table.insert(named("a"), b"1", 0));
    let before = table.generation();
    assert!(!table.insert(named("b"), &[b'x'; 70], 0));
    assert_eq!((table.generation(), table.inserted()), (before, 1));
    assert!(table.insert(named("b"), &[b'x'; 69], 0), "exactly as large");
    assert_eq!(table.size(), 3 * 34);
}

#[test]
fn a_search_below_an_index_passes_over_newer_twins() {
    let mut table = table_of_three();
    for _ in 0..3 {
        assert!(table.insert(named("a"), b"1", 9));
    }
    assert_eq!(table.find(named("a"), b"1", 9, u64::MAX), Some(2));
    assert_eq!(table.find(named("a"), b"1", 9, 2), Some(1));
    assert_eq!(table.find(named("a"), b"1", 9, 1), Some(0));
    assert_eq!(table.find(named("a"), b"1", 9, 0), None);
    assert_eq!(table.find_name(named("a"), 2), Some(1));
    assert_eq!(table.find_name(named("b"), 2), None);
}

#[test]
fn what_an_insertion_would_push_out_is_known_before() {
    let mut table = table_of_three();
    assert_eq!(table.lowest_after(34), 0);
    for _ in 0..4 {
        assert!(table.insert(named("a"), b"1", 0));
    }
    assert_eq!(table.lowest_after(0), 1);
    assert_eq!(table.lowest_after(1), 2);
    assert_eq!(table.lowest_after(34), 2);
    assert_eq!(table.lowest_after(35), 3);
    assert_eq!(table.lowest_after(1000), 4, "all of them");
}
