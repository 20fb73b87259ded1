use super::*;

#[test]
fn no_more_is_reserved_than_there_is() {
    let mut budget_share = BudgetShare::new(100);
    assert_eq!(budget_share.reserve(60), 60);
    assert_eq!(budget_share.reserve(60), 40);
    assert_eq!(budget_share.reserve(60), 0);
    assert_eq!((budget_share.reserved(), budget_share.total()), (100, 100));
    budget_share.give_back(30);
    assert_eq!(budget_share.reserve(60), 30);
}

#[test]
fn connections_share_one_budget() {
    let mut one = BudgetShare::new(100);
    let mut other = one.share();
    assert_eq!(one.reserve(70), 70);
    assert_eq!(other.reserve(70), 30, "only what the first has left");
    assert_eq!((one.reserved(), other.reserved()), (100, 100));
    one.give_back(70);
    assert_eq!(other.reserve(100), 70);
}

#[test]
fn a_connection_that_dies_keeps_nothing() {
    let one = BudgetShare::new(100);
    let mut other = one.share();
    assert_eq!(other.reserve(80), 80);
    drop(other);
    assert_eq!(one.reserved(), 0);
}
