//! The tables of `docs/ends.md`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The expectations, by the end and the position at which it comes.
pub(crate) struct Table {
    cells: BTreeMap<(String, String), String>,
    read: RefCell<BTreeSet<(String, String)>>,
}

impl Table {
    /// The table under this heading.
    pub(crate) fn under(heading: &str) -> Self {
        let page = include_str!("../../../docs/ends.md");
        let section = page
            .split("\n## ")
            .find(|section| section.lines().next() == Some(heading))
            .unwrap_or_else(|| panic!("no section {heading}"));
        let mut rows = section.lines().filter(|line| line.starts_with('|'));
        let cells_of = |line: &str| -> Vec<String> {
            let cells = line.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().to_owned()).collect()
        };
        let places = cells_of(rows.next().expect("a table has a head"));
        let mut cells = BTreeMap::new();
        for row in rows.skip(1) {
            let row = cells_of(row);
            assert_eq!(row.len(), places.len(), "{row:?}");
            for (place, cell) in places.iter().zip(&row).skip(1) {
                cells.insert((row[0].clone(), place.clone()), cell.clone());
            }
        }
        Self {
            cells,
            read: RefCell::default(),
        }
    }
    /// The expectation of a cell.
    pub(crate) fn cell(&self, end: &str, place: &str) -> &str {
        let key = (end.to_owned(), place.to_owned());
        let cell = self.cells.get(&key);
        self.read.borrow_mut().insert(key);
        cell.unwrap_or_else(|| panic!("no cell for {end:?} {place:?}"))
    }
    /// Every cell was asked for.
    pub(crate) fn assert_all_read(&self) {
        assert_eq!(
            self.read.borrow().len(),
            self.cells.len(),
            "cells without a case"
        );
    }
}
