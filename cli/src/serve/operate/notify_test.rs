use super::*;

#[test]
fn the_watchdog_is_for_the_process_that_it_names() {
    let ours = std::process::id().to_string();
    let half_a_second = Some(Duration::from_millis(500));
    assert_eq!(watchdog(Some("500000"), None), half_a_second);
    assert_eq!(watchdog(Some("500000"), Some(&ours)), half_a_second);
    assert_eq!(watchdog(Some("500000"), Some("0")), None);
    for broken in ["", "0", "-1", "soon"] {
        assert_eq!(watchdog(Some(broken), None), None, "{broken}");
    }
    assert_eq!(watchdog(None, None), None);
}
