use super::{Drain, DrainStep};
use crate::error::{Closed, H2Code, Violation};
use crate::http::Side;

#[test]
fn a_server_drains_in_two_steps_and_serves_what_crossed_the_first() {
    let mut drain = Drain::new();
    assert!(drain.takes_exchanges() && !drain.ignores(1 << 62));
    assert_eq!(drain.begin(Side::Server), Some(DrainStep::Announce));
    assert_eq!(drain.begin(Side::Server), None, "it has begun");
    assert!(drain.is_announced() && !drain.ignores(7) && !drain.takes_exchanges());
    assert_eq!(drain.conclude(8), 8);
    assert!(drain.is_final() && drain.ignores(8) && !drain.ignores(7));
    assert_eq!(
        drain.end(Side::Server),
        None,
        "earlier ones may be on their way"
    );
    assert!(drain.settle() && !drain.settle());
    assert_eq!(drain.end(Side::Server), Some(Closed::Drained));
}

#[test]
fn a_client_drains_at_once() {
    let mut drain = Drain::new();
    assert_eq!(drain.begin(Side::Client), Some(DrainStep::Stop));
    assert_eq!(drain.begin(Side::Client), None);
    assert_eq!(drain.end(Side::Client), Some(Closed::Drained));
}

#[test]
fn a_warning_goes_on_and_is_never_taken_back() {
    let mut drain = Drain::new();
    assert_eq!(drain.warn(9), 9);
    assert_eq!(drain.warn(11), 9, "nothing is taken back");
    assert_eq!(drain.warn(5), 5);
    assert!(drain.ignores(5) && !drain.ignores(4));
    assert_eq!(drain.end(Side::Server), None, "the connection goes on");
    assert_eq!(drain.begin(Side::Server), Some(DrainStep::Conclude));
    assert_eq!(drain.conclude(9), 5);
    assert_eq!(drain.warn(7), 5);
    assert!(drain.is_final());
}

#[test]
fn what_a_peer_gave_up_it_cannot_take_back() {
    let mut drain = Drain::new();
    assert_eq!(drain.take_goaway(9, H2Code::NO_ERROR), Ok(true));
    assert_eq!(drain.take_goaway(5, H2Code::CANCEL), Ok(false));
    let back = drain.take_goaway(6, H2Code::NO_ERROR);
    assert_eq!(back, Err(Violation::GoawayIdIncreased));
    assert!(drain.is_unprocessed(5, Side::Client) && !drain.is_unprocessed(4, Side::Client));
    assert!(
        !drain.is_unprocessed(5, Side::Server),
        "a client opens them"
    );
    let ends = Some(Closed::ByPeer(H2Code::CANCEL));
    assert_eq!(
        (drain.end(Side::Client), drain.end(Side::Server)),
        (ends, None)
    );
}
