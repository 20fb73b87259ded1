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
