//! Renders the outcome as an HTML page in one file: the table, and the distribution of latencies.

use super::Plan;
use super::compare::Earlier;
use super::report::{Outcome, table, write};
use super::tally::Tally;
use crate::failure::Failure;
use std::fmt::Write;
use std::path::Path;

/// Where the curve has its points, in per cent of the answers. Each step right leaves a tenth of the
/// answers above it: the tail is what people feel, and a linear axis has no room for it.
const POINTS: [f64; 14] = [
    0.0, 25.0, 50.0, 75.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999, 99.9999,
];
/// Those that get a line and a word.
const MARKS: [f64; 6] = [0.0, 90.0, 99.0, 99.9, 99.99, 99.999];
/// Pixels of the picture, and of what is left of and under the curve.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 320.0;
const MARGIN: f64 = 60.0;
/// Lines across the picture.
const LINES: u32 = 5;

/// Writes the same as a page for browsers.
pub(crate) fn write_html(
    plan: &Plan,
    outcome: &Outcome,
    earlier: Option<&Earlier>,
    path: &Path,
) -> Result<(), Failure> {
    write(path, &page(plan, outcome, earlier))
}

/// HTML.
fn page(plan: &Plan, outcome: &Outcome, earlier: Option<&Earlier>) -> String {
    let title = escaped(&plan.target.uri.to_string());
    let mut text = table(plan, outcome);
    if let Some(earlier) = earlier {
        text.push('\n');
        text.push_str(&earlier.table(outcome));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>trunkline bench {title}</title>\n\
         <style>body {{ font: 15px system-ui, sans-serif; margin: 2em; color-scheme: light dark }}</style>\n\
         <h1>trunkline bench</h1>\n<pre>{}</pre>\n<h2>Latency by percentile, ms</h2>\n{}</html>\n",
        escaped(&text),
        picture(&outcome.tally, earlier.map_or(&[], Earlier::curve)),
    )
}

/// Words of peers and users stand in the table.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A percentile rarer than one answer in all of them has no latency of its own.
fn last_percent(tally: &Tally) -> f64 {
    100.0 - 100.0 / tally.answered.max(2) as f64
}

/// Percentiles and their latencies in milliseconds.
pub(crate) fn curve(tally: &Tally) -> Vec<(f64, f64)> {
    let last = last_percent(tally);
    POINTS
        .into_iter()
        .filter(|percent| *percent <= last)
        .chain([last])
        .map(|percent| (percent, tally.latency_ms(percent)))
        .collect()
}

/// SVG: the curve of this run, and in another colour that of an earlier one.
fn picture(tally: &Tally, earlier: &[(f64, f64)]) -> String {
    let last = last_percent(tally);
    let displayed = |percent: &f64| *percent <= last;
    let earlier = earlier.iter().filter(|(percent, _)| displayed(percent));
    let nines = |percent: f64| -(1.0 - percent / 100.0).log10();
    let slowest = earlier.clone().map(|(_, ms)| *ms);
    let most = slowest.fold(tally.latency_ms(100.0).max(f64::MIN_POSITIVE), f64::max);
    let x = |percent: f64| MARGIN + nines(percent) / nines(last) * (WIDTH - 2.0 * MARGIN);
    let y = |ms: f64| HEIGHT - MARGIN - ms / most * (HEIGHT - 2.0 * MARGIN);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" font-size=\"12\" fill=\"currentColor\" stroke=\"none\">\n"
    );
    // Writing to a String does not fail.
    for line in 0..=LINES {
        let ms = most * f64::from(line) / f64::from(LINES);
        let (y, end) = (y(ms), WIDTH - MARGIN);
        let _ = writeln!(
            svg,
            "<path d=\"M{MARGIN} {y:.1}H{end}\" stroke=\"gray\" stroke-width=\"0.5\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{ms:.3}</text>",
            MARGIN - 6.0,
            y + 4.0
        );
    }
    for percent in MARKS.iter().filter(|percent| displayed(percent)) {
        let (x, bottom) = (x(*percent), HEIGHT - MARGIN);
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {MARGIN}V{bottom}\" stroke=\"gray\" stroke-width=\"0.5\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{percent} %</text>",
            bottom + 18.0
        );
    }
    let point = |(percent, ms): &(f64, f64)| format!("{:.1},{:.1}", x(*percent), y(*ms));
    let now: Vec<String> = curve(tally).iter().map(point).collect();
    let before: Vec<String> = earlier.map(point).collect();
    for (points, colour) in [(now, "steelblue"), (before, "darkorange")] {
        if !points.is_empty() {
            let points = points.join(" ");
            let _ = writeln!(
                svg,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
            );
        }
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
#[path = "page_test.rs"]
mod page_test;
