use super::*;

/// The seconds after which a peer that takes `bytes` each second is given up, and the rule that it broke.
fn ends_after(
    side: Side,
    timeouts: &Timeouts,
    bytes: u64,
    scarce_from: u64,
) -> Option<(u64, Violation)> {
    let mut stall = WriteStall::default();
    stall.start(u64::from(u32::MAX) - 3);
    let mut look_at = 0;
    for second in 1..1_000 {
        let waiting = Waiting {
            side,
            timeouts,
            written: u64::from(u32::MAX) - 3 + bytes * second,
        };
        let look = waiting.look()?.as_secs();
        if stall.has_progress(&waiting) {
            stall.start(waiting.written);
            look_at = second;
        } else if second >= look_at + look {
            look_at = second;
            if let Err(violation) = stall.look(&waiting, second >= scarce_from) {
                return Some((second, violation));
            }
        }
    }
    None
}

const NEVER: u64 = u64::MAX;

#[test]
fn a_client_may_pause_for_minutes_and_has_half_a_minute_where_a_server_is_scarce() {
    let timeouts = Timeouts::default();
    let server = |bytes, scarce_from| ends_after(Side::Server, &timeouts, bytes, scarce_from);
    assert_eq!(server(0, NEVER), Some((300, Violation::WriteStalled)));
    assert_eq!(
        server(1, NEVER),
        Some((300, Violation::RateTooLow)),
        "a drip"
    );
    assert_eq!(server(1_024, NEVER), None);
    assert_eq!(server(0, 0), Some((30, Violation::WriteStalled)));
    assert_eq!(server(1, 0), Some((30, Violation::RateTooLow)));
    assert_eq!(server(1_024, 0), None);
    assert_eq!(
        server(0, 100),
        Some((120, Violation::WriteStalled)),
        "at the next look"
    );
}

#[test]
fn thirty_kibibytes_in_five_minutes_are_progress() {
    let timeouts = Timeouts::default();
    let server = |bytes, scarce_from| ends_after(Side::Server, &timeouts, bytes, scarce_from);
    assert_eq!(server(103, NEVER), None);
    assert_eq!(server(102, NEVER), Some((300, Violation::RateTooLow)));
}

#[test]
fn one_byte_is_progress_of_a_clients_server() {
    let timeouts = Timeouts::default();
    let client = |bytes| ends_after(Side::Client, &timeouts, bytes, NEVER);
    assert_eq!(client(1), None);
    assert_eq!(client(0), Some((300, Violation::WriteStalled)));
}

#[test]
fn a_stall_shorter_than_that_of_a_scarce_server_stays_as_it_is() {
    let short = Timeouts::default().with_write_stall(Some(Duration::from_secs(5)));
    for scarce_from in [0, NEVER] {
        let ends = ends_after(Side::Server, &short, 0, scarce_from);
        assert_eq!(ends, Some((5, Violation::WriteStalled)));
    }
    let none = Timeouts::default().with_write_stall(None);
    assert_eq!(ends_after(Side::Server, &none, 0, 0), None);
    let same = Timeouts::default().with_scarce_stall(None);
    let ends = ends_after(Side::Server, &same, 0, 0);
    assert_eq!(ends, Some((300, Violation::WriteStalled)));
}
