use super::*;

/// A window after which the thread has used this share of a processor.
fn after(load: &Load, now: &mut Instant, used: &mut Duration, percent: u32) {
    *now += WINDOW;
    *used += WINDOW * percent / 100;
    load.look(*now, || *used);
}

fn begun() -> (Load, Instant, Duration) {
    let (now, used) = (Instant::now(), Duration::from_secs(7));
    (Load::new(now, used), now, used)
}

#[test]
fn connections_begin_here_until_the_thread_has_used_most_of_a_processor() {
    let (load, mut now, mut used) = begun();
    after(&load, &mut now, &mut used, HEAVY_PERCENT_MIN - 1);
    assert!(!load.leaves());
    after(&load, &mut now, &mut used, HEAVY_PERCENT_MIN);
    assert!(load.leaves());
    after(&load, &mut now, &mut used, LIGHT_PERCENT_MAX);
    assert!(load.leaves(), "less, and not much less");
    after(&load, &mut now, &mut used, LIGHT_PERCENT_MAX - 1);
    assert!(!load.leaves());
}

#[test]
fn a_burst_of_connections_is_left_to_the_other_thread_before_its_load_is_measured() {
    let (load, mut now, mut used) = begun();
    for _ in 0..BEGUN_MAX {
        assert!(!load.leaves());
    }
    assert!(load.leaves());
    assert!(load.leaves());
    after(&load, &mut now, &mut used, 10);
    assert!(!load.leaves(), "they did little");
}

#[test]
fn connections_that_come_one_by_one_and_do_little_all_begin_here() {
    let (load, mut now, mut used) = begun();
    for _ in 0..100 {
        for _ in 0..BEGUN_MAX {
            assert!(!load.leaves());
        }
        after(&load, &mut now, &mut used, 5);
    }
}

#[test]
fn a_window_that_is_not_over_says_nothing_and_is_not_measured() {
    let (load, now, _) = begun();
    load.look(now + WINDOW - Duration::from_nanos(1), || unreachable!());
    assert!(!load.leaves());
}

#[test]
fn a_long_rest_counts_with_the_window_that_it_is_part_of() {
    let (load, mut now, mut used) = begun();
    after(&load, &mut now, &mut used, 100);
    assert!(load.leaves());
    now += Duration::from_secs(3600);
    load.look(now, || used);
    assert!(!load.leaves());
}
