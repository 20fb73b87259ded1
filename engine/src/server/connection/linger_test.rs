use super::*;

/// A wait in which the peer sends before each look for `sends_for`; how long it lasts.
fn lasts(sends_for: Duration, is_upload: bool, drains_at: Option<Duration>) -> Duration {
    let begin = Instant::now();
    let mut linger = Linger::new(begin, false);
    let mut now = begin + linger.first();
    loop {
        if let Some(at) = drains_at
            && now - begin >= at
            && let Some(wait) = linger.drain()
        {
            now += wait;
        }
        linger.came = now - begin <= sends_for;
        match linger.look(now, is_upload) {
            Some(wait) => now += wait,
            None => return now - begin,
        }
    }
}

#[test]
fn a_client_that_goes_on_with_its_upload_is_waited_for_until_it_is_silent_or_half_a_minute_is_over()
{
    let seconds = Duration::from_secs;
    assert_eq!(lasts(seconds(0), true, None), LINGER);
    assert_eq!(lasts(seconds(10), true, None), seconds(12));
    assert_eq!(lasts(seconds(29), true, None), LINGER_UPLOAD_MAX);
    assert_eq!(lasts(seconds(3600), true, None), LINGER_UPLOAD_MAX);
}

#[test]
fn a_peer_whose_bytes_are_no_upload_or_cost_scarce_connections_is_waited_for_for_two_seconds() {
    assert_eq!(lasts(Duration::from_secs(3600), false, None), LINGER);
}

#[test]
fn a_server_that_begins_to_drain_does_not_wait_for_uploads() {
    let (hour, at) = (Duration::from_secs(3600), Duration::from_secs(10));
    assert_eq!(lasts(hour, true, Some(at)), at + LINGER_DRAINING);
    assert_eq!(Linger::new(Instant::now(), true).first(), LINGER_DRAINING);
}
