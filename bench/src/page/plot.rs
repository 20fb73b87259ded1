//! Figures as horizontal bars, one group per scenario, as SVG.

use super::figures::{Figure, Figures, Metric};
use crate::scenario::{Placement, Scenario};
use std::fmt::Write;

const WIDTH: f64 = 860.0;
const BARS_FROM: f64 = 190.0;
/// Behind a bar stands its figure.
const BARS_TO: f64 = 700.0;
const BAR_HEIGHT: f64 = 16.0;
const ROW_HEIGHT: f64 = 22.0;
const TITLE_HEIGHT: f64 = 34.0;
const OURS: &str = "#1f6feb";
const PEERS: &str = "#8c959f";

const SERVER_CPU: (Metric, &str) = (Metric::ServerCpu, "server CPU per request, us");

/// Server CPU per request over HTTP/2 and TLS, on traffic that varies: the chart of README.md.
pub(crate) fn headline(figures: &Figures) -> String {
    bars(figures, &[SERVER_CPU], &[name_of(Scenario::VariedH2Tls)])
}

fn name_of(scenario: Scenario) -> String {
    format!("{} {}", scenario.name(), Placement::SameCore.name())
}

/// Server CPU per request, by scenario.
pub(crate) fn server_cpu(figures: &Figures) -> String {
    let places: Vec<String> = Scenario::ALL
        .iter()
        // Bulk is counted per MiB.
        .filter(|scenario| !scenario.is_bulk())
        .map(|&scenario| name_of(scenario))
        .collect();
    bars(figures, &[SERVER_CPU], &places)
}

/// Metrics as bars, a group per scenario and metric. A group's longest bar fills the width;
/// whiskers run from the smallest to the largest round.
pub(crate) fn bars(figures: &Figures, metrics: &[(Metric, &str)], places: &[String]) -> String {
    let mut body = String::new();
    let mut y = 10.0;
    let groups = places
        .iter()
        .flat_map(|workplace| metrics.iter().map(move |metric| (workplace, metric)));
    for (workplace, &(metric, label)) in groups {
        let bars: Vec<&Figure> = figures
            .all
            .iter()
            .filter(|figure| figure.scenario == *workplace && figure.metric == metric)
            .collect();
        if !bars.is_empty() {
            group(&mut body, &format!("{workplace}: {label}"), &bars, &mut y);
        }
    }
    let height = y + 10.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

fn group(body: &mut String, title: &str, bars: &[&Figure], y: &mut f64) {
    let longest = bars
        .iter()
        .map(|bar| bar.spread.max)
        .fold(f64::MIN_POSITIVE, f64::max);
    let at = |value: f64| BARS_FROM + (BARS_TO - BARS_FROM) * value / longest;
    // Writing to a String does not fail.
    let _ = writeln!(
        body,
        "<text x=\"10\" y=\"{}\" font-weight=\"bold\">{}</text>",
        *y + 20.0,
        escaped(title)
    );
    *y += TITLE_HEIGHT;
    for bar in bars {
        let colour = if bar.subject.starts_with("trunkline") {
            OURS
        } else {
            PEERS
        };
        let (spread, middle) = (bar.spread, *y + BAR_HEIGHT / 2.0);
        let _ = writeln!(
            body,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{BARS_FROM}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR_HEIGHT}\" \
             fill=\"{colour}\"/>\
             <path d=\"M{:.1} {middle:.1}H{:.1}\" stroke=\"#24292f\" stroke-width=\"2\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{:.2}</text>",
            BARS_FROM - 8.0,
            *y + 13.0,
            escaped(&bar.subject),
            at(spread.median) - BARS_FROM,
            at(spread.min),
            at(spread.max),
            at(spread.max) + 8.0,
            *y + 13.0,
            spread.median,
        );
        *y += ROW_HEIGHT;
    }
    *y += 8.0;
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
#[path = "plot_test.rs"]
mod plot_test;
