use super::{CLOSED_MAX, StreamIds};
use crate::h2::stream_state::ClosedHow;

#[test]
fn how_a_stream_ended_is_remembered() {
    let mut ids = StreamIds::new();
    for (id, how) in [
        (1, ClosedHow::Ended),
        (3, ClosedHow::ResetByPeer),
        (5, ClosedHow::ResetByUs),
    ] {
        ids.accept(id);
        assert_eq!(ids.closed(id), None, "it is live");
        ids.close(id, how);
        assert_eq!(ids.closed(id), Some(how));
    }
    assert_eq!(ids.closed(7), None, "it is idle");
    assert_eq!(ids.closed(4), None, "it is no id of ours");
}

#[test]
fn the_last_ids_are_remembered_and_older_ones_forgotten() {
    let mut ids = StreamIds::new();
    let last = 2 * 1000 - 1;
    for id in (1..=last).step_by(2) {
        ids.accept(id);
        ids.close(id, ClosedHow::ResetByUs);
    }
    let oldest = last - 2 * (CLOSED_MAX as u32 - 1);
    for id in (oldest..=last).step_by(2) {
        assert_eq!(ids.closed(id), Some(ClosedHow::ResetByUs), "id {id}");
    }
    assert_eq!(ids.closed(oldest - 2), None);
    assert_eq!(ids.closed(1), None);
}
