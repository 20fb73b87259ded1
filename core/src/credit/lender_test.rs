use super::*;

#[test]
fn no_more_is_lent_than_there_is() {
    let mut lender = Lender::new(100);
    assert_eq!(lender.lease(60), 60);
    assert_eq!(lender.lease(60), 40);
    assert_eq!(lender.lease(60), 0);
    assert_eq!((lender.lent(), lender.total()), (100, 100));
    lender.give_back(30);
    assert_eq!(lender.lease(60), 30);
}

#[test]
fn connections_share_one_budget() {
    let mut one = Lender::new(100);
    let mut other = one.share();
    assert_eq!(one.lease(70), 70);
    assert_eq!(other.lease(70), 30, "only what the first has left");
    assert_eq!((one.lent(), other.lent()), (100, 100));
    one.give_back(70);
    assert_eq!(other.lease(100), 70);
}

#[test]
fn a_connection_that_dies_keeps_nothing() {
    let one = Lender::new(100);
    let mut other = one.share();
    assert_eq!(other.lease(80), 80);
    drop(other);
    assert_eq!(one.lent(), 0);
}
