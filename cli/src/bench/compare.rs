//! The results of an earlier run, out of its JSON, beside those of this one.

use super::report::{Outcome, PERCENTILES};
use crate::failure::Failure;
use serde_json::Value;
use std::path::Path;

/// An earlier run.
#[derive(Debug)]
pub(super) struct Earlier {
    json: Value,
    curve: Vec<(f64, f64)>,
}

impl Earlier {
    /// Reads a file that `--json` has written.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let refuse = |why: &dyn std::fmt::Display| {
            let path = path.display();
            Failure::usage(format_args!(
                "--compare {path} is not what --json writes: {why}"
            ))
        };
        let text = std::fs::read(path).map_err(|error| refuse(&error))?;
        let json: Value = serde_json::from_slice(&text).map_err(|error| refuse(&error))?;
        if json.get("requests_per_s").and_then(Value::as_f64).is_none() {
            return Err(refuse(&"it has no requests_per_s"));
        }
        let pair = |pair: &Value| Some((pair.get(0)?.as_f64()?, pair.get(1)?.as_f64()?));
        let curve = json.get("curve").and_then(Value::as_array);
        let curve = curve.map_or_else(Vec::new, |points| points.iter().filter_map(pair).collect());
        Ok(Self { json, curve })
    }

    /// Percentiles and their latencies in milliseconds; none of a run that was written by an older version.
    pub(super) fn curve(&self) -> &[(f64, f64)] {
        &self.curve
    }

    /// Both runs and the change from the earlier one.
    pub(super) fn table(&self, outcome: &Outcome) -> String {
        let number = |name: &str| self.json.get(name).and_then(Value::as_f64);
        let latency = |name: &str| self.json.get("latency_ms")?.get(name)?.as_f64();
        let mut rows = vec![
            ("requests/s", number("requests_per_s"), outcome.per_second()),
            (
                "our CPU, us",
                number("cpu_us_per_request"),
                outcome.cpu_us_per_request(),
            ),
        ];
        for (name, percent) in PERCENTILES {
            rows.push((name, latency(name), outcome.tally.latency_ms(percent)));
        }
        let title = format!(
            "  {:<13} {:>12} {:>12} {:>9}",
            "compared", "before", "now", "change"
        );
        let row = |(name, before, now): (&str, Option<f64>, f64)| {
            let change = before.filter(|before| *before > 0.0);
            let change = change.map(|before| (now / before - 1.0) * 100.0);
            let change = change.map_or("-".to_owned(), |percent| format!("{percent:+.1} %"));
            let before = before.map_or("-".to_owned(), |before| format!("{before:.3}"));
            format!("  {name:<13} {before:>12} {now:>12.3} {change:>9}")
        };
        let rows: Vec<String> = [title]
            .into_iter()
            .chain(rows.into_iter().map(row))
            .collect();
        rows.join("\n")
    }
}
