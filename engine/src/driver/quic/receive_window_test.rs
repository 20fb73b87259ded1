use super::*;

#[test]
fn a_window_falls_by_what_was_read_and_rises_at_once() {
    let mut window = QuicReceiveWindow::default();
    assert_eq!(window.narrow(10), None, "nothing was asked for");
    assert_eq!(window.set(1_000, 100), Some(1_000));
    assert_eq!(
        window.set(400, 100),
        None,
        "it is owed until something is read"
    );
    assert_eq!(window.narrow(500), Some(500));
    assert_eq!(window.narrow(500), Some(400));
    assert_eq!(window.narrow(500), None);
    assert_eq!(window.set(900, 100), Some(900));
}

#[test]
fn a_window_that_falls_and_rises_again_unread_is_granted_once() {
    let mut window = QuicReceiveWindow::default();
    assert_eq!(window.set(1_000, 100), Some(1_000));
    for _ in 0..3 {
        assert_eq!(window.set(100, 100), None);
        assert_eq!(window.set(1_000, 100), None, "the peer has it");
    }
    assert_eq!(window.set(100, 100), None);
    assert_eq!(window.narrow(300), Some(700));
    assert_eq!(window.set(800, 100), Some(800));
    assert_eq!(window.narrow(usize::MAX), None, "nothing is owed any more");
}
