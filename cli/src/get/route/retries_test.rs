use super::*;

fn options(retry: u32) -> RetryOptions {
    RetryOptions {
        retry: Some(retry),
        retry_delay: None,
        retry_max_time: None,
        retry_all_errors: false,
        retry_connrefused: false,
    }
}

fn busy(retry_after: &str) -> Response<()> {
    let response = Response::builder().status(503);
    let response = response.header(RETRY_AFTER, retry_after);
    response.body(()).expect("a response")
}

#[test]
fn a_pause_is_the_servers_or_the_flags_and_grows_without_either() {
    let options = options(9);
    let mut tries = options.tries();
    let second = Duration::from_secs(1);
    assert_eq!(tries.behind_response(&busy("1")), Some(second));
    let past = "Sun, 06 Nov 1994 08:49:37 GMT";
    assert_eq!(tries.behind_response(&busy(past)), Some(Duration::ZERO));
    let grown = tries.behind_response(&busy("")).expect("one is left");
    assert!(
        PAUSES[0] * 2 <= grown && grown <= PAUSES[0] * 4,
        "{grown:?}"
    );
    let fixed = RetryOptions {
        retry_delay: Some(second * 3),
        ..self::options(1)
    };
    assert_eq!(fixed.tries().behind_response(&busy("")), Some(second * 3));
}

#[test]
fn no_try_follows_the_last_one_nor_a_pause_that_leads_beyond_the_bound() {
    let once = options(1);
    let mut tries = once.tries();
    assert!(tries.behind_response(&busy("0")).is_some());
    assert_eq!(tries.behind_response(&busy("0")), None);
    let bounded = RetryOptions {
        retry_max_time: Some(Duration::from_secs(60)),
        ..options(9)
    };
    let mut tries = bounded.tries();
    assert_eq!(tries.behind_response(&busy("61")), None);
    assert!(tries.behind_response(&busy("1")).is_some());
    assert_eq!(options(9).tries().behind_response(&busy("601")), None);
}

#[test]
fn failures_that_can_pass_are_tried_again_and_all_of_them_if_so_asked() {
    let failures = [7, 28, 52, 60, 22, 2, 23, 65];
    let tried = |options: &RetryOptions| {
        failures.map(|code| {
            let failure = Failure::new(code, "");
            options.tries().behind_failure(&failure).is_some()
        })
    };
    assert_eq!(
        tried(&options(1)),
        [true, true, true, false, false, false, false, false]
    );
    let all = RetryOptions {
        retry_all_errors: true,
        ..options(1)
    };
    assert_eq!(
        tried(&all),
        [true, true, true, true, true, false, false, false]
    );
}
