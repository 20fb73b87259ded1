use super::{escaped, picture};
use crate::bench::tally::Tally;
use std::time::Duration;

fn tally(answers: u64) -> Tally {
    let mut tally = Tally::new();
    for number in 1..=answers {
        tally.answer(200, Duration::from_micros(number));
    }
    tally
}

/// The points of the curve.
fn points(svg: &str) -> Vec<(f64, f64)> {
    let (_, rest) = svg.split_once("points=\"").unwrap();
    let (points, _) = rest.split_once('"').unwrap();
    let point = |text: &str| {
        let (x, y) = text.split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    points.split(' ').map(point).collect()
}

#[test]
fn a_curve_goes_right_and_up_and_stays_inside() {
    for answers in [1, 2, 3, 10, 1_000, 100_000] {
        let points = points(&picture(&tally(answers), &[]));
        for pair in points.windows(2) {
            let ((x, y), (next_x, next_y)) = (pair[0], pair[1]);
            assert!(x <= next_x && y >= next_y, "{answers}: {points:?}");
        }
        for (x, y) in &points {
            assert!((60.0..=700.0).contains(x), "{answers}: {points:?}");
            assert!((60.0..=260.0).contains(y), "{answers}: {points:?}");
        }
    }
}

#[test]
fn no_percentile_is_shown_that_so_few_answers_do_not_have() {
    let svg = picture(&tally(100), &[]);
    assert!(svg.contains("99 %"), "{svg}");
    assert!(!svg.contains("99.9 %"), "{svg}");
}

#[test]
fn nothing_that_was_said_becomes_markup() {
    assert_eq!(
        escaped("<a href=\"x\">&"),
        "&lt;a href=&quot;x&quot;&gt;&amp;"
    );
}

#[test]
fn an_earlier_run_has_a_curve_of_its_own_in_the_same_picture() {
    let earlier = [(0.0, 0.5), (50.0, 7.0), (99.9999, 9.0)];
    let svg = picture(&tally(100), &earlier);
    assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
    let (_, second) = svg.split_once("</text>\n<polyline").unwrap();
    for (x, y) in points(second.split_once("\n<polyline").unwrap().1) {
        assert!(
            (60.0..=700.0).contains(&x) && (60.0..=260.0).contains(&y),
            "{svg}"
        );
    }
}
