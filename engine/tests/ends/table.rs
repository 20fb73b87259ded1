//! The tables of `docs/ends.md`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use trunkline::{Error, ErrorKind, Retry};

/// The rows of a process that is killed begin so.
const DEATH: &str = "SIGKILL";

/// The cell of an outcome with an error: its kind behind a colon. Every exchange of the tables was
/// written, and none of their errors says that it was not processed.
pub(crate) fn named(outcome: &str, error: &Error) -> String {
    let kind = match error.kind() {
        ErrorKind::TransportClosed => "transport",
        ErrorKind::ConnectionClosed(_) => "closed",
        ErrorKind::StreamReset(_) => "reset",
        ErrorKind::Violation(_) => "violation",
        ErrorKind::Timeout => "timeout",
        kind => panic!("no word for {kind:?}"),
    };
    let word = match error.retry() {
        Retry::OnlyIfIdempotent => "",
        Retry::Safe => ", unprocessed",
        Retry::Never => ", never again",
    };
    format!("{outcome}: {kind}{word}")
}

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
    /// Every cell was asked for, but those of processes that die, which have a test of their own.
    pub(crate) fn assert_all_read(&self) {
        let deaths = self.cells.keys().filter(|(end, _)| end.starts_with(DEATH));
        assert_eq!(
            self.read.borrow().len() + deaths.count(),
            self.cells.len(),
            "cells without a case"
        );
    }
    /// Every cell of a process that dies was asked for.
    pub(crate) fn assert_deaths_read(&self) {
        let deaths = self.cells.keys().filter(|(end, _)| end.starts_with(DEATH));
        assert_eq!(
            self.read.borrow().len(),
            deaths.count(),
            "cells without a case"
        );
    }
}
