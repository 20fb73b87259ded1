use super::retry::*;
use crate::error::{Closed, H2Code, TransportEnd, Violation};
use crate::http::Reset;
use crate::http::event::ResetBy;
use crate::limits::UNUSED_CONNECTIONS_MAX;
use std::time::Duration;

const REFUSED: Loss = Loss {
    cause: Cause::Refused { below_limit: false },
    tries: 1,
    replayable: true,
    idempotent: false,
};

#[test]
fn the_table_of_retry_classes() {
    use RetryClass::{Harmless, Never, Unprocessed};
    let lost = Loss {
        cause: Cause::Lost { reused: true },
        idempotent: true,
        ..REFUSED
    };
    let table = [
        ("a refused POST is unprocessed", REFUSED, true, Unprocessed),
        (
            "a body of which a part was read is gone",
            Loss {
                replayable: false,
                ..REFUSED
            },
            true,
            Never,
        ),
        (
            "what a GOAWAY left out is unprocessed",
            Loss {
                cause: Cause::GoneAway,
                ..REFUSED
            },
            false,
            Unprocessed,
        ),
        (
            "a GET lost on a used connection, allowed",
            lost,
            true,
            Harmless,
        ),
        (
            "a GET lost on a used connection, not allowed",
            lost,
            false,
            Never,
        ),
        (
            "a POST lost on a used connection",
            Loss {
                idempotent: false,
                ..lost
            },
            true,
            Never,
        ),
        (
            "a GET lost on a fresh connection",
            Loss {
                cause: Cause::Lost { reused: false },
                ..lost
            },
            true,
            Never,
        ),
        (
            "a GET behind a response that was not complete",
            Loss {
                cause: Cause::Behind,
                ..lost
            },
            false,
            Harmless,
        ),
        (
            "a POST behind a response that was not complete",
            Loss {
                cause: Cause::Behind,
                idempotent: false,
                ..lost
            },
            true,
            Never,
        ),
        (
            "a GET whose connection we ended",
            Loss {
                cause: Cause::Abandoned,
                ..lost
            },
            false,
            Harmless,
        ),
        (
            "a POST whose connection we ended",
            Loss {
                cause: Cause::Abandoned,
                idempotent: false,
                ..lost
            },
            true,
            Never,
        ),
        (
            "a GET that failed otherwise",
            Loss {
                cause: Cause::Failed,
                ..lost
            },
            true,
            Never,
        ),
    ];
    for (sentence, loss, lost_too, class) in table {
        assert_eq!(classify(&loss, lost_too), class, "{sentence}");
    }
}

#[test]
fn nothing_but_the_word_of_the_peer_makes_a_request_unprocessed() {
    let codes = (0..=0x10).map(H2Code);
    let ends = [
        TransportEnd::InOrder,
        TransportEnd::Ragged,
        TransportEnd::Failed,
    ];
    let closed = [
        Closed::Idle,
        Closed::Drained,
        Closed::ByUs(Violation::HeadInvalid),
    ]
    .into_iter()
    .chain(ends.map(Closed::Transport))
    .chain(codes.clone().map(Closed::ByPeer));
    let causes = [ResetBy::Us(Violation::HeadInvalid)]
        .into_iter()
        .chain(codes.map(ResetBy::Peer))
        .chain(closed.map(ResetBy::Connection));
    let mut seen = 0;
    for by in causes {
        for (unprocessed, behind, reused, idempotent, lost_too) in every_combination() {
            let reset = Reset {
                by,
                unprocessed,
                behind,
            };
            let loss = Loss {
                cause: Cause::of(&reset, reused, true),
                idempotent,
                ..REFUSED
            };
            let class = classify(&loss, lost_too);
            let case = format!("{reset:?} {loss:?}");
            assert_eq!(class == RetryClass::Unprocessed, unprocessed, "{case}");
            assert!(
                idempotent || unprocessed || class == RetryClass::Never,
                "{case}"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, (1 + 17 + 3 + 3 + 17) * 32);
}

fn every_combination() -> impl Iterator<Item = (bool, bool, bool, bool, bool)> {
    (0..32).map(|bits| {
        let bit = |at: u32| bits >> at & 1 > 0;
        (bit(0), bit(1), bit(2), bit(3), bit(4))
    })
}

#[test]
fn what_is_to_come_over_http_1_1_comes_again_only_if_that_is_harmless() {
    let required = |unprocessed, idempotent| {
        let cause = Cause::Http1Required { unprocessed };
        classify(
            &Loss {
                cause,
                idempotent,
                ..REFUSED
            },
            false,
        )
    };
    assert_eq!(required(false, false), RetryClass::Never, "a POST");
    assert_eq!(required(false, true), RetryClass::Harmless, "a GET");
    assert_eq!(
        required(true, false),
        RetryClass::Unprocessed,
        "a POST that a GOAWAY left out"
    );
}

#[test]
fn a_request_behind_others_is_sent_again_as_often_as_a_connection_ends_in_front_of_it() {
    let mut budget = RetryBudget::default();
    for tries in 1..=2 * RETRY_BURST {
        let loss = Loss {
            cause: Cause::Behind,
            tries,
            idempotent: true,
            ..REFUSED
        };
        let retry = budget.decide(&loss, false, u32::MAX);
        assert_eq!(retry, Retry::After(Duration::ZERO));
    }
}

#[test]
fn the_first_retry_is_at_once_and_the_next_two_pause() {
    let mut budget = RetryBudget::default();
    let mut decide = |tries, random| budget.decide(&Loss { tries, ..REFUSED }, false, random);
    assert_eq!(decide(1, u32::MAX), Retry::After(Duration::ZERO));
    assert_eq!(decide(2, 0), Retry::After(RETRY_PAUSE / 2));
    assert_eq!(decide(3, 0), Retry::After(RETRY_PAUSE));
    assert_eq!(decide(4, 0), Retry::No(NoRetry::Tries));
    for random in [0, 1, u32::MAX / 2, u32::MAX] {
        let Retry::After(pause) = decide(2, random) else {
            panic!("the second retry is allowed");
        };
        assert!(
            pause >= RETRY_PAUSE / 2 && pause <= RETRY_PAUSE,
            "{pause:?}"
        );
    }
}

#[test]
fn retries_stay_within_a_burst_and_a_tenth_of_the_traffic() {
    let mut budget = RetryBudget::default();
    let mut retried = 0;
    for _ in 0..10_000 {
        budget.earn();
        if budget.decide(&REFUSED, false, 0) != Retry::No(NoRetry::Budget) {
            retried += 1;
        }
    }
    assert!(retried <= RETRY_BURST + 1_000, "{retried}");
    assert!(retried >= 1_000, "{retried}");
}

#[test]
fn what_was_never_sent_costs_nothing_and_a_goaway_nothing_once() {
    let mut budget = RetryBudget::default();
    let gone = Loss {
        cause: Cause::GoneAway,
        ..REFUSED
    };
    for _ in 0..10 * RETRY_BURST {
        assert_eq!(budget.decide(&gone, false, 0), Retry::After(Duration::ZERO));
    }
    let again = Loss { tries: 2, ..gone };
    for _ in 0..RETRY_BURST {
        assert_ne!(budget.decide(&again, false, 0), Retry::No(NoRetry::Budget));
    }
    assert_eq!(budget.decide(&again, false, 0), Retry::No(NoRetry::Budget));
    let never = Loss {
        cause: Cause::NeverSent {
            unused: false,
            tunnel: true,
        },
        tries: 9,
        ..REFUSED
    };
    assert_eq!(
        budget.decide(&never, false, 0),
        Retry::After(Duration::ZERO)
    );
}

#[test]
fn a_request_that_no_connection_lives_long_enough_for_meets_four_of_them_with_pauses_between() {
    let mut budget = RetryBudget::default();
    let unsent = |tries| Loss {
        cause: Cause::NeverSent {
            unused: true,
            tunnel: false,
        },
        tries,
        ..REFUSED
    };
    let after = [1, 2, 3].map(|tries| budget.decide(&unsent(tries), false, 0));
    let half = RETRY_PAUSE / 2;
    assert_eq!(
        after,
        [Duration::ZERO, half, 2 * half].map(Retry::After),
        "with the least pauses that are drawn"
    );
    assert_eq!(UNUSED_CONNECTIONS_MAX, 4);
    assert_eq!(
        budget.decide(&unsent(4), false, 0),
        Retry::No(NoRetry::Tries)
    );
    // The first is free, and all others draw on the budget of the origin.
    for _ in 2..RETRY_BURST {
        assert_ne!(
            budget.decide(&unsent(2), false, 0),
            Retry::No(NoRetry::Budget)
        );
    }
    assert_eq!(
        budget.decide(&unsent(2), false, 0),
        Retry::No(NoRetry::Budget)
    );
    assert_eq!(
        budget.decide(&unsent(1), false, 0),
        Retry::After(Duration::ZERO)
    );
}

#[test]
fn a_tunnel_that_ends_before_it_is_used_is_asked_for_once() {
    let ended = Loss {
        cause: Cause::NeverSent {
            unused: true,
            tunnel: true,
        },
        ..REFUSED
    };
    let decided = RetryBudget::default().decide(&ended, true, 0);
    assert_eq!(decided, Retry::No(NoRetry::Tries));
}

#[test]
fn what_says_less_the_second_time_costs_nothing_and_waits_for_nothing() {
    let mut budget = RetryBudget::default();
    for cause in [Cause::TooEarly, Cause::ExpectationFailed] {
        let loss = Loss { cause, ..REFUSED };
        for _ in 0..10 * RETRY_BURST {
            assert_eq!(budget.decide(&loss, false, 0), Retry::After(Duration::ZERO));
        }
        let gone = Loss {
            replayable: false,
            ..loss
        };
        assert_eq!(budget.decide(&gone, false, 0), Retry::No(NoRetry::Class));
    }
}

#[test]
fn a_misdirected_request_gets_one_more_connection() {
    let mut budget = RetryBudget::default();
    let misdirected = Loss {
        cause: Cause::Misdirected,
        ..REFUSED
    };
    assert_eq!(
        budget.decide(&misdirected, false, 0),
        Retry::After(Duration::ZERO)
    );
    let again = Loss {
        tries: 2,
        ..misdirected
    };
    assert_eq!(budget.decide(&again, false, 0), Retry::No(NoRetry::Tries));
}
