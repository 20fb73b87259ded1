use crate::pool::{Decision, OriginView, WaitReason, decide};

const COLD: OriginView = OriginView {
    waiting: 1,
    waiting_max: 2000,
    roomiest: None,
    kept_free: false,
    probe_is_late: false,
    connections: 0,
    suspects: 0,
    attempts: 0,
    connections_max: 16,
    sockets_left: 100,
    per_connection: None,
    expected: 0,
    failing: false,
    backing_off: false,
};

#[test]
fn the_table_of_decisions() {
    use Decision::{Open, Refuse, Wait};
    use WaitReason::{Attempt, BackOff, Capacity, Settings, Sockets};
    let table: &[(&str, OriginView, Decision)] = &[
        (
            "a cold origin opens one attempt, whoever waits",
            OriginView {
                waiting: 1000,
                ..COLD
            },
            Open(1),
        ),
        (
            "while the attempt runs, everybody waits for it",
            OriginView {
                waiting: 1000,
                attempts: 1,
                ..COLD
            },
            Wait(Attempt),
        ),
        (
            "where every open connection is silent, that is the reason",
            OriginView {
                suspects: 1,
                attempts: 1,
                per_connection: Some(100),
                ..COLD
            },
            Wait(WaitReason::Silence),
        ),
        (
            "a silent connection beside one that is full is no reason",
            OriginView {
                suspects: 1,
                connections: 1,
                attempts: 1,
                per_connection: Some(100),
                ..COLD
            },
            Wait(Attempt),
        ),
        (
            "a silent connection counts neither against the bound nor as a place to wait at",
            OriginView {
                suspects: 16,
                per_connection: Some(100),
                ..COLD
            },
            Open(1),
        ),
        (
            "an attempt that takes too long gets a second one",
            OriginView {
                attempts: 1,
                probe_is_late: true,
                ..COLD
            },
            Open(1),
        ),
        (
            "two attempts are enough to ask",
            OriginView {
                attempts: 2,
                probe_is_late: true,
                ..COLD
            },
            Wait(Attempt),
        ),
        (
            "what is kept for more urgent requests is not taken",
            OriginView {
                kept_free: true,
                per_connection: Some(10),
                ..COLD
            },
            Wait(WaitReason::Reserve),
        ),
        (
            "a connection that has not told its limit is waited for",
            OriginView {
                waiting: 1000,
                connections: 1,
                ..COLD
            },
            Wait(Settings),
        ),
        (
            "one exchange per connection: as many attempts as requests",
            OriginView {
                waiting: 7,
                connections: 1,
                per_connection: Some(1),
                ..COLD
            },
            Open(7),
        ),
        (
            "attempts under way are counted on",
            OriginView {
                waiting: 7,
                attempts: 5,
                per_connection: Some(1),
                ..COLD
            },
            Open(2),
        ),
        (
            "attempts never exceed what waits",
            OriginView {
                waiting: 3,
                attempts: 3,
                per_connection: Some(1),
                ..COLD
            },
            Wait(Attempt),
        ),
        (
            "many per connection: demand over the limit, rounded up",
            OriginView {
                waiting: 901,
                connections: 1,
                per_connection: Some(100),
                ..COLD
            },
            Open(10),
        ),
        (
            "room that comes is counted on",
            OriginView {
                waiting: 150,
                connections: 2,
                per_connection: Some(100),
                expected: 100,
                ..COLD
            },
            Open(1),
        ),
        (
            "the bound holds",
            OriginView {
                waiting: 1999,
                connections: 1,
                connections_max: 4,
                per_connection: Some(100),
                ..COLD
            },
            Open(3),
        ),
        (
            "at the bound, wait for room",
            OriginView {
                waiting: 9,
                connections: 4,
                connections_max: 4,
                per_connection: Some(1),
                ..COLD
            },
            Wait(Capacity),
        ),
        (
            "at the bound with attempts, wait for them",
            OriginView {
                waiting: 9,
                connections: 3,
                attempts: 1,
                connections_max: 4,
                per_connection: Some(1),
                ..COLD
            },
            Wait(Attempt),
        ),
        (
            "the client's sockets are bounded too",
            OriginView {
                waiting: 9,
                sockets_left: 2,
                per_connection: Some(1),
                ..COLD
            },
            Open(2),
        ),
        (
            "no socket left",
            OriginView {
                sockets_left: 0,
                ..COLD
            },
            Wait(Sockets),
        ),
        (
            "after a failure the next attempt waits for its time",
            OriginView {
                backing_off: true,
                ..COLD
            },
            Wait(BackOff),
        ),
        (
            "a peer that allows nothing gets no second connection",
            OriginView {
                waiting: 9,
                connections: 1,
                per_connection: Some(0),
                ..COLD
            },
            Wait(Capacity),
        ),
        (
            "a peer that allowed nothing is asked again when no connection is left",
            OriginView {
                per_connection: Some(0),
                ..COLD
            },
            Open(1),
        ),
        (
            "after a failure one attempt at a time",
            OriginView {
                waiting: 9,
                failing: true,
                per_connection: Some(1),
                ..COLD
            },
            Open(1),
        ),
        (
            "after a failure the one attempt is waited for",
            OriginView {
                waiting: 9,
                failing: true,
                attempts: 1,
                per_connection: Some(1),
                ..COLD
            },
            Wait(Attempt),
        ),
        (
            "no place to wait",
            OriginView {
                waiting: 2001,
                ..COLD
            },
            Refuse,
        ),
    ];
    for (sentence, view, expected) in table {
        assert_eq!(decide(view), *expected, "{sentence}");
    }
}

#[test]
fn every_wait_reason_has_words_of_its_own() {
    for (at, reason) in WaitReason::ALL.iter().enumerate() {
        assert!(!reason.text().is_empty());
        for other in &WaitReason::ALL[at + 1..] {
            assert_ne!(reason.text(), other.text());
        }
    }
}
