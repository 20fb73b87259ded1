//! The table as a picture: share of the path over the round trip, one panel per rate.

use super::{Cell, POLICIES, RATES_MBIT, ROUND_TRIPS_MS};
use std::fmt::Write as _;

const PANEL_WIDTH: f64 = 260.0;
const PANEL_HEIGHT: f64 = 200.0;
const MARGIN: f64 = 50.0;
/// Colours that people who see no red tell apart too (Okabe and Ito).
const COLOURS: [&str; 5] = ["#999999", "#e69f00", "#56b4e9", "#009e73", "#d55e00"];

/// The picture as SVG.
pub fn svg(cells: &[Cell]) -> String {
    let width = MARGIN + RATES_MBIT.len() as f64 * (PANEL_WIDTH + MARGIN);
    let height = PANEL_HEIGHT + 3.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (number, mbit) in RATES_MBIT.into_iter().enumerate() {
        let left = MARGIN + number as f64 * (PANEL_WIDTH + MARGIN);
        panel(&mut out, left, mbit, cells);
    }
    for (number, (policy, colour)) in POLICIES.into_iter().zip(COLOURS).enumerate() {
        let (x, y) = (MARGIN + number as f64 * 150.0, height - 18.0);
        let name = policy.name();
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"18\" height=\"4\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"{y}\">{name}</text>",
            y - 6.0,
            x + 24.0
        );
    }
    out.push_str("</svg>\n");
    out
}

fn panel(out: &mut String, left: f64, mbit: u64, cells: &[Cell]) {
    let bottom = MARGIN + PANEL_HEIGHT;
    let step = PANEL_WIDTH / (ROUND_TRIPS_MS.len() - 1) as f64;
    let _ = writeln!(
        out,
        "<text x=\"{left}\" y=\"{}\" font-weight=\"bold\">{mbit} Mb/s: share of the line, by round trip</text>",
        MARGIN - 20.0
    );
    for percent in [0, 25, 50, 75, 100] {
        let y = bottom - PANEL_HEIGHT * f64::from(percent) / 100.0;
        let _ = writeln!(
            out,
            "<line x1=\"{left}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"#dddddd\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{percent}%</text>",
            left + PANEL_WIDTH,
            left - 4.0,
            y + 4.0
        );
    }
    for (number, round_trip) in ROUND_TRIPS_MS.into_iter().enumerate() {
        let x = left + number as f64 * step;
        let y = bottom + 16.0;
        let _ = writeln!(
            out,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{round_trip} ms</text>"
        );
    }
    for (policy, colour) in POLICIES.into_iter().zip(COLOURS) {
        let of = |cell: &&Cell| cell.mbit == mbit && cell.policy == policy;
        let points: Vec<String> = cells
            .iter()
            .filter(of)
            .enumerate()
            .map(|(number, cell)| {
                let x = left + number as f64 * step;
                let y = bottom - PANEL_HEIGHT * cell.share().min(1.0);
                format!("{x:.1},{y:.1}")
            })
            .collect();
        let points = points.join(" ");
        let _ = writeln!(
            out,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
    }
}
