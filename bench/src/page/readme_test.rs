use super::*;
use crate::page::figures::Figures;
use std::collections::BTreeSet;

fn run() -> Run {
    let mut figures = Figures::default();
    figures.add(
        "varied h2 TLS same core",
        "trunkline",
        Metric::ServerCpu,
        [0.5, 0.7, 0.6],
    );
    figures.add(
        "varied h2 TLS same core",
        "peer 1.0",
        Metric::ServerCpu,
        [1.25],
    );
    Run {
        figures,
        absent: BTreeSet::new(),
    }
}

#[test]
fn the_table_replaces_what_stood_between_the_marks_and_nothing_else() {
    let readme = format!("# before\n{BEGIN}old\n{END}\n## after\n");
    let written = with_figures(&readme, &run()).expect("it is marked");
    assert!(written.starts_with("# before\n") && written.ends_with(&format!("{END}\n## after\n")));
    assert!(
        written.contains("0.60") && written.contains("peer 1.0"),
        "{written}"
    );
    assert!(!written.contains("old\n"), "{written}");
    let again = with_figures(&written, &run()).expect("the marks are kept");
    assert_eq!(again, written, "writing twice changes nothing");
}

#[test]
fn a_readme_without_marks_is_left_alone() {
    assert!(with_figures("# nothing\n", &run()).is_err());
}
