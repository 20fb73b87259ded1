use super::*;

/// The answers in each row.
fn rows(latencies: &Histogram<u64>) -> Vec<u64> {
    let lines = distribution(latencies);
    let counts = lines.iter().skip(1).filter_map(|line| {
        let count = line.split_whitespace().nth(1)?;
        count.parse().ok()
    });
    counts.collect()
}

fn of(times: impl Iterator<Item = u64>) -> Histogram<u64> {
    let mut latencies = Histogram::new_with_bounds(1, 60_000_000, 3).expect("bounds");
    for time in times {
        latencies.record(time).expect("within the bounds");
    }
    latencies
}

#[test]
fn each_answer_is_in_one_row_of_the_distribution() {
    // Times that the histogram takes for one, for several to a row, and apart.
    for (from, answers) in [(1_000_000, 400), (50_000, 3000), (10, 500)] {
        let rows = rows(&of(from..from + answers));
        assert_eq!(rows.len() as u64, ROWS + 1);
        assert_eq!(rows.iter().sum::<u64>(), answers, "{from}: {rows:?}");
    }
}

#[test]
fn the_last_row_of_the_distribution_has_the_slowest_in_a_hundred() {
    let rows = rows(&of((1..=1000).map(|number| 100 * number)));
    let (within, above) = (&rows[..10], rows[10]);
    assert!(above <= 10, "{rows:?}");
    assert!(
        within.iter().all(|count| (90..=110).contains(count)),
        "{rows:?}"
    );
}
