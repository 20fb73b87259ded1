use super::*;

const MIB: u64 = 1024 * 1024;

#[test]
fn it_is_twice_the_congestion_window_between_its_bounds() {
    let budget_share = BudgetShare::new(64 * MIB);
    let mut window = SendWindow::new(budget_share.share());
    assert_eq!(window.follow(12_000), None);
    assert_eq!(window.follow(MIB / 2), None, "it is that wide");
    assert_eq!(window.follow(3 * MIB - 100), Some(6 * MIB));
    assert_eq!(window.follow(3 * MIB - 200), None, "by steps");
    assert_eq!(window.follow(100 * MIB), Some(16 * MIB));
    assert_eq!(budget_share.reserved(), 15 * MIB);
    assert_eq!(window.follow(u64::MAX), None);
    assert_eq!(window.follow(0), Some(MIB));
    assert_eq!(budget_share.reserved(), 0);
}

#[test]
fn it_borrows_a_quarter_of_what_is_left_and_stays_when_nothing_is() {
    let budget_share = BudgetShare::new(16 * MIB);
    let mut others = budget_share.share();
    let mut window = SendWindow::new(budget_share.share());
    assert_eq!(window.follow(100 * MIB), Some(5 * MIB));
    assert_eq!(u64::from(others.reserve(u32::MAX)), 12 * MIB);
    assert_eq!(window.follow(100 * MIB), None);
    assert_eq!(window.follow(0), Some(MIB));
    assert_eq!(budget_share.reserved(), 12 * MIB, "what the others have");
}
