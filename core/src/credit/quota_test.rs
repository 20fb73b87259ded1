use super::*;

#[test]
fn what_is_granted_can_be_spent() {
    let mut quota = Quota::new(10);
    quota.spend(7);
    assert_eq!((quota.available(), quota.used()), (3, 7));
    quota.grant(5).unwrap();
    assert_eq!(quota.available(), 8);
}

#[test]
fn a_window_may_fall_below_zero_and_comes_back() {
    let mut quota = Quota::new(100);
    quota.spend(90);
    quota.adjust(-50).unwrap();
    assert_eq!((quota.available(), quota.balance()), (0, -40));
    quota.grant(40).unwrap();
    assert_eq!(
        quota.available(),
        0,
        "RFC 9113 section 6.9.2: not before it is positive"
    );
    quota.grant(1).unwrap();
    assert_eq!(quota.available(), 1);
}

#[test]
fn no_window_exceeds_its_maximum() {
    let mut quota = Quota::new(1);
    quota.grant(WINDOW_MAX - 1).unwrap();
    assert_eq!(quota.grant(1), Err(Overflow));
    assert_eq!(
        quota.available(),
        WINDOW_MAX,
        "a refused grant changes nothing"
    );
    quota.spend(10);
    quota.grant(10).unwrap();
    assert_eq!(quota.adjust(1), Err(Overflow));
    assert_eq!(quota.adjust(i64::MAX), Err(Overflow));
    assert_eq!(quota.available(), WINDOW_MAX);
}

#[test]
fn no_sequence_of_settings_overflows() {
    let mut quota = Quota::new(0);
    for _ in 0..100 {
        quota.adjust(i64::MIN / 2).unwrap();
    }
    assert_eq!(quota.available(), 0);
}
