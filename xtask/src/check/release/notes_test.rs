use super::section;

const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.2.0 (2026-12-01)\n\n### Rust\n\n- second\n\n## 0.1.0\n\n- first\n\n## 0.0.1 (2026-01-01)\n";

#[test]
fn a_section_ends_where_the_next_version_begins() {
    assert_eq!(section(CHANGELOG, None).unwrap(), "- new\n");
    let second = section(CHANGELOG, Some("0.2.0")).unwrap();
    assert_eq!(second, "### Rust\n\n- second\n");
}

#[test]
fn a_version_without_a_date_without_text_or_without_a_section_is_refused() {
    let undated = section(CHANGELOG, Some("0.1.0")).unwrap_err();
    assert!(undated.contains("`## 0.1.0 (YEAR-MONTH-DAY)`"), "{undated}");
    let empty = section(CHANGELOG, Some("0.0.1")).unwrap_err();
    assert!(empty.contains("is empty"), "{empty}");
    assert!(section(CHANGELOG, Some("0.2")).is_err());
}
