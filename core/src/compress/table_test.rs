use super::Table;
use crate::http::{FieldName, Token};
use std::collections::VecDeque;

fn named(name: &str) -> FieldName<'_> {
    FieldName::Bytes(name.as_bytes())
}

#[test]
fn an_entry_counts_its_name_its_value_and_32_bytes() {
    let mut table = Table::new(4096);
    table.insert(named("x-a"), b"12345", 0);
    assert_eq!(table.size(), 3 + 5 + 32);
    table.insert(FieldName::Token(Token::STATUS), b"201", 0);
    assert_eq!(table.size(), 40 + 7 + 3 + 32, "a token counts as its name");
}

#[test]
fn the_oldest_entries_go_first_and_only_as_many_as_needed() {
    let mut table = Table::new(3 * 34);
    for name in ["a", "b", "c"] {
        table.insert(named(name), b"1", 0);
    }
    assert_eq!(table.len(), 3, "exactly full is not too full");
    table.insert(named("d"), b"1", 0);
    assert_eq!(table.len(), 3);
    assert_eq!(table.find_name(named("a"), 0), None);
    assert_eq!(table.find_name(named("b"), 0), Some(2));
    assert_eq!(table.find_name(named("d"), 0), Some(0));
}

#[test]
fn every_insertion_eviction_and_resize_is_a_new_generation_and_nothing_else_is() {
    let mut table = Table::new(100);
    let empty = table.generation();
    table.resize(90);
    assert_ne!(table.generation(), empty, "other entries fit");
    let empty = table.generation();
    table.insert(named("a"), b"1", 0);
    let one = table.generation();
    assert_ne!(one, empty);
    assert_eq!(table.find_name(named("a"), 0), Some(0));
    assert_eq!(table.generation(), one);
    table.resize(0);
    assert_ne!(table.generation(), one);
    assert_eq!(table.len(), 0);
}

#[test]
fn a_search_compares_more_than_the_print() {
    let mut table = Table::new(4096);
    table.insert(named("a"), b"1", 7);
    assert_eq!(table.find(named("a"), b"1", 7, 0), Some(0));
    assert_eq!(table.find(named("a"), b"2", 7, 0), None);
    assert_eq!(table.find(named("b"), b"1", 7, 0), None);
    assert_eq!(table.find(FieldName::Token(Token::AGE), b"1", 7, 0), None);
}

#[test]
fn a_long_run_agrees_with_a_plain_list_and_stays_small() {
    let mut table = Table::new(1000);
    let mut list: VecDeque<(String, Vec<u8>)> = VecDeque::new();
    let mut state = 42_u64;
    for _ in 0..20_000 {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let draw = (state >> 40) as usize;
        if draw.is_multiple_of(97) {
            table.resize(draw % 1001);
        }
        let name = "n".repeat(draw % 13 + 1);
        let value = vec![draw as u8; (draw >> 8) % 300];
        table.insert(named(&name), &value, 0);
        list.push_front((name, value));
        let mut size = 0;
        let max = table.bytes_max();
        let fitting = list
            .iter()
            .take_while(|(name, value)| {
                size += name.len() + value.len() + 32;
                size <= max
            })
            .count();
        list.truncate(fitting);
        assert_eq!(table.len(), list.len());
        for (index, (name, value)) in list.iter().enumerate() {
            let (found, bytes) = table.get(index).unwrap();
            assert_eq!((found.as_bytes(), bytes), (name.as_bytes(), &value[..]));
        }
        assert_eq!(table.get(list.len()).map(|(_, value)| value), None);
        assert!(table.arena_len() <= 2 * 1000 + 400);
    }
}
