use super::keys::{KEYS, Key};
use std::fmt::Write as _;

const PAGE: &str = include_str!("../../../../docs/guide/serve-config.md");

/// The rows of the guide's tables.
fn rows() -> String {
    let mut text = String::new();
    for key in KEYS {
        let Key {
            path,
            default,
            meaning,
            ..
        } = key;
        let flag = key.flag.map_or("", |flag| flag);
        let after = if key.is_live { "SIGHUP" } else { "restart" };
        let allowed = key.kind.allowed();
        let flag = if flag.is_empty() {
            String::new()
        } else {
            format!("`{flag}`")
        };
        writeln!(
            text,
            "| `{path}` | {meaning} | {allowed} | `{default}` | {flag} | {after} |"
        )
        .expect("a String");
    }
    text
}

#[test]
fn the_guides_reference_has_every_key_with_its_unit_range_default_flag_and_reload() {
    let rows = rows();
    assert!(
        PAGE.contains(&rows),
        "the rows of docs/guide/serve-config.md must be:\n{rows}"
    );
    let of_keys = PAGE.lines().filter(|line| line.starts_with("| `"));
    assert_eq!(of_keys.count(), KEYS.len());
}
