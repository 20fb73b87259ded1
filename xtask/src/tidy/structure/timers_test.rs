use super::check;
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

fn found(path: &str, text: &str) -> usize {
    check(&parse(&Tree::of(&[(path, text)])).0).len()
}

#[test]
fn a_timer_of_tokios_is_found_outside_of_the_module_of_timers() {
    let path = "engine/src/a.rs";
    assert_eq!(found(path, "use tokio::time::Sleep;"), 1);
    assert_eq!(found(path, "use tokio::time::{Instant, timeout};"), 1);
    assert_eq!(found(path, "fn a() { tokio::time::sleep_until(b); }"), 1);
    assert_eq!(found(path, "use tokio::time::Instant;"), 0);
    assert_eq!(found(path, "use crate::driver::timer::sleep;"), 0);
    assert_eq!(
        found("engine/src/driver/timer.rs", "use tokio::time::Sleep;"),
        0
    );
    assert_eq!(found("cli/src/a.rs", "use tokio::time::Sleep;"), 0);
}
