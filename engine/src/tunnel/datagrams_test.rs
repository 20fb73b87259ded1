use super::*;
use std::future::Future;
use std::pin::pin;

fn pair(size_max: Option<usize>) -> (DatagramInlet, Datagrams) {
    DatagramInlet::new(&Arc::default(), StreamId(0), size_max)
}

fn receive(datagrams: &Datagrams) -> Poll<Option<Bytes>> {
    let mut cx = Context::from_waker(Waker::noop());
    pin!(datagrams.receive()).poll(&mut cx)
}

#[test]
fn beyond_the_bound_the_oldest_goes_and_is_counted_in_both_directions() {
    let (inlet, datagrams) = pair(Some(100));
    for number in 0..DATAGRAMS_MAX as u8 + 2 {
        inlet.push(Bytes::copy_from_slice(&[number]));
        datagrams.send(vec![number]).unwrap();
    }
    assert_eq!(datagrams.dropped(), 4);
    assert_eq!(receive(&datagrams), Poll::Ready(Some(vec![2].into())));
    let sent = inlet.take();
    assert_eq!((sent.len(), &sent[0][..]), (DATAGRAMS_MAX, &[2][..]));
    assert_eq!(inlet.take().len(), 0, "nothing goes out twice");
}

#[test]
fn what_does_not_fit_into_a_packet_is_refused_with_what_does() {
    let (inlet, datagrams) = pair(None);
    let error = datagrams.send("x").unwrap_err().to_string();
    assert!(error.contains("has not said"), "{error}");
    inlet.resize(Some(3));
    assert_eq!(datagrams.size_max(), Some(3));
    datagrams.send("abc").unwrap();
    let error = datagrams.send("abcd").unwrap_err().to_string();
    assert!(error.contains("4 bytes; at most 3"), "{error}");
}

#[test]
fn who_waits_learns_of_the_end_after_what_came_before() {
    let (inlet, datagrams) = pair(Some(100));
    assert_eq!(receive(&datagrams), Poll::Pending);
    inlet.push("last".into());
    drop(inlet);
    assert_eq!(receive(&datagrams), Poll::Ready(Some("last".into())));
    assert_eq!(receive(&datagrams), Poll::Ready(None));
    assert!(datagrams.send("late").is_err());
}
