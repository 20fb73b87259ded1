use super::*;

const MIB: u64 = 1024 * 1024;

#[test]
fn it_is_twice_the_congestion_window_between_its_bounds() {
    let mut lender = Lender::new(64 * MIB);
    let mut window = SendWindow::new();
    assert_eq!(window.follow(12_000, &mut lender), None);
    assert_eq!(window.follow(MIB / 2, &mut lender), None, "it is that wide");
    assert_eq!(window.follow(3 * MIB - 100, &mut lender), Some(6 * MIB));
    assert_eq!(window.follow(3 * MIB - 200, &mut lender), None, "by steps");
    assert_eq!(window.follow(100 * MIB, &mut lender), Some(16 * MIB));
    assert_eq!(lender.lent(), 15 * MIB);
    assert_eq!(window.follow(u64::MAX, &mut lender), None);
    assert_eq!(window.follow(0, &mut lender), Some(MIB));
    assert_eq!(lender.lent(), 0);
}

#[test]
fn it_borrows_a_quarter_of_what_is_left_and_stays_when_nothing_is() {
    let mut lender = Lender::new(16 * MIB);
    let mut others = lender.share();
    let mut window = SendWindow::new();
    assert_eq!(window.follow(100 * MIB, &mut lender), Some(5 * MIB));
    assert_eq!(u64::from(others.lease(u32::MAX)), 12 * MIB);
    assert_eq!(window.follow(100 * MIB, &mut lender), None);
    assert_eq!(window.follow(0, &mut lender), Some(MIB));
    assert_eq!(lender.lent(), 12 * MIB, "what the others have");
}
