//! `interop/expected.toml`: cases that we do not pass on purpose, each argued by section.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Suite and transport (`h2spec-tls`), then case, then why it cannot pass.
#[derive(Debug, Default)]
pub(super) struct Expected {
    suites: BTreeMap<String, BTreeMap<String, String>>,
}

impl Expected {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        Self::parse(&text)
    }
    fn parse(text: &str) -> Result<Self, String> {
        let table: toml::Table = text
            .parse()
            .map_err(|why| format!("interop/expected.toml does not parse: {why}"))?;
        let mut expected = Self::default();
        for (suite, cases) in table {
            let toml::Value::Table(cases) = cases else {
                return Err(format!("interop/expected.toml: [{suite}] must be a table"));
            };
            let suite = expected.suites.entry(suite).or_default();
            for (case, reason) in cases {
                match reason.as_str() {
                    Some(reason) if reason.contains("section") => {
                        suite.insert(case, reason.to_owned());
                    }
                    _ => {
                        return Err(format!(
                            "interop/expected.toml: '{case}' needs a reason that names the section"
                        ));
                    }
                }
            }
        }
        Ok(expected)
    }
    /// How many of `failed` are argued.
    pub(super) fn argued(&self, suite: &str, failed: &BTreeSet<String>) -> usize {
        let cases = self.suites.get(suite);
        failed
            .iter()
            .filter(|case| cases.is_some_and(|cases| cases.contains_key(*case)))
            .count()
    }
    /// The differences, a sentence each.
    pub(super) fn compare(&self, suite: &str, failed: &BTreeSet<String>) -> Vec<String> {
        let none = BTreeMap::new();
        let cases = self.suites.get(suite).unwrap_or(&none);
        let failures = failed
            .iter()
            .filter(|case| !cases.contains_key(*case))
            .map(|case| format!("'{case}' fails"));
        let passes = cases
            .keys()
            .filter(|case| !failed.contains(*case))
            .map(|case| format!("'{case}' passes though interop/expected.toml argues otherwise"));
        failures.chain(passes).collect()
    }
}

#[cfg(test)]
#[path = "expected_test.rs"]
mod expected_test;
