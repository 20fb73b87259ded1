use super::race::{ATTEMPT_DELAY, ATTEMPT_DELAY_MAX, ATTEMPT_DELAY_MIN, Race, RaceStep};
use RaceStep::{Connect, Done, Failed, Wait};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const A4: &str = "192.0.2.1:443";
const B4: &str = "192.0.2.2:443";
const C4: &str = "192.0.2.3:443";
const A6: &str = "[2001:db8::1]:443";
const B6: &str = "[2001:db8::2]:443";

fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

fn start() -> Instant {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    #[allow(
        clippy::disallowed_methods,
        reason = "one point to count virtual time from"
    )]
    *START.get_or_init(Instant::now)
}

fn race(addresses: &[&str]) -> Race {
    let addresses: Vec<SocketAddr> = addresses.iter().map(|address| at(address)).collect();
    Race::new(&addresses, ATTEMPT_DELAY)
}

/// The order in which addresses are tried when none ever answers.
fn order(addresses: &[&str]) -> Vec<String> {
    let mut race = race(addresses);
    let mut now = start();
    let mut tried = Vec::new();
    loop {
        match race.poll(now) {
            Connect(address) => tried.push(address.to_string()),
            Wait(Some(until)) => now = until,
            Wait(None) => return tried,
            step => panic!("{step:?}"),
        }
    }
}

#[test]
fn families_take_turns_beginning_with_the_resolvers_first() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("one address", &[A4], &[A4]),
        ("six first", &[A6, B6, A4, B4], &[A6, A4, B6, B4]),
        ("four first", &[A4, B4, A6], &[A4, A6, B4]),
        ("one family only", &[A4, B4, C4], &[A4, B4, C4]),
        ("more of the second", &[A6, A4, B4, C4], &[A6, A4, B4, C4]),
        ("a repeated address", &[A4, A4, A6, A4], &[A4, A6]),
    ];
    for (sentence, addresses, expected) in table {
        assert_eq!(order(addresses), *expected, "{sentence}");
    }
}

#[test]
fn attempts_that_end_before_the_delays_are_over_begin_closer_together() {
    let of = |limit: Option<u64>| {
        let mut race = race(&[A4, B4, C4]).within(limit.map(Duration::from_millis));
        assert_eq!(race.poll(start()), Connect(at(A4)));
        match race.poll(start()) {
            Wait(Some(until)) => until - start(),
            step => panic!("{step:?}"),
        }
    };
    assert_eq!(of(None), ATTEMPT_DELAY);
    assert_eq!(of(Some(10_000)), ATTEMPT_DELAY);
    assert_eq!(of(Some(300)), Duration::from_millis(100));
    assert_eq!(of(Some(1)), ATTEMPT_DELAY_MIN);
    let nowhere = Race::new(&[], ATTEMPT_DELAY).within(Some(ATTEMPT_DELAY));
    assert_eq!({ nowhere }.poll(start()), Failed);
}

#[test]
fn the_second_attempt_begins_after_the_delay_and_not_before() {
    let mut race = race(&[A6, A4]);
    let due = start() + ATTEMPT_DELAY;
    assert_eq!(race.poll(start()), Connect(at(A6)));
    assert_eq!(race.poll(start()), Wait(Some(due)));
    let early = due - Duration::from_nanos(1);
    assert_eq!(race.poll(early), Wait(Some(due)));
    assert_eq!(race.poll(due), Connect(at(A4)));
    assert_eq!(race.poll(due), Wait(None), "both run, nothing else to try");
}

#[test]
fn a_failure_starts_the_next_at_once() {
    let mut race = race(&[A6, A4, B6]);
    assert_eq!(race.poll(start()), Connect(at(A6)));
    race.handle_failed();
    assert_eq!(race.poll(start()), Connect(at(A4)));
    let due = start() + ATTEMPT_DELAY;
    assert_eq!(race.poll(start()), Wait(Some(due)), "it has its own delay");
}

#[test]
fn a_late_failure_of_the_first_hurries_the_third() {
    let mut race = race(&[A6, A4, B6]);
    race.poll(start());
    let due = start() + ATTEMPT_DELAY;
    assert_eq!(race.poll(due), Connect(at(A4)));
    let later = due + Duration::from_millis(1);
    race.handle_failed();
    assert_eq!(race.poll(later), Connect(at(B6)));
}

#[test]
fn it_has_failed_when_the_last_attempt_has() {
    let mut race = race(&[A6, A4]);
    race.poll(start());
    race.handle_failed();
    race.poll(start());
    assert_eq!(race.poll(start()), Wait(None));
    race.handle_failed();
    assert_eq!(race.poll(start()), Failed);
}

#[test]
fn without_an_address_it_has_failed_before_it_began() {
    assert_eq!(race(&[]).poll(start()), Failed);
}

#[test]
fn a_winner_ends_it_while_others_wait_and_run() {
    let mut race = race(&[A6, A4, B6]);
    race.poll(start());
    race.poll(start() + ATTEMPT_DELAY);
    race.handle_connected();
    assert_eq!(race.poll(start() + ATTEMPT_DELAY * 9), Done);
}

#[test]
fn a_delay_out_of_bounds_is_brought_in() {
    for (asked, used) in [
        (Duration::ZERO, ATTEMPT_DELAY_MIN),
        (Duration::from_secs(60), ATTEMPT_DELAY_MAX),
    ] {
        let mut race = Race::new(&[at(A4), at(B4)], asked);
        race.poll(start());
        assert_eq!(race.poll(start()), Wait(Some(start() + used)));
    }
}
