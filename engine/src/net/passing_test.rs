use super::*;
use std::io::{Read, Write};
use std::os::fd::AsFd;

#[test]
fn more_descriptors_than_one_message_holds_come_in_their_order_between_other_bytes() {
    let (mut ours, mut theirs) = UnixStream::pair().expect("a pair");
    let pairs: Vec<_> = (0..2 * PER_MESSAGE + 3)
        .map(|_| UnixStream::pair().expect("a pair"))
        .collect();
    let sent: Vec<_> = pairs.iter().map(|(a, _)| a.as_fd()).collect();
    ours.write_all(b"before\n").expect("it takes bytes");
    send(&ours, &sent).expect("they are sent");
    ours.write_all(b"behind\n").expect("it takes bytes");
    let mut line = [0; 7];
    theirs.read_exact(&mut line).expect("it came");
    assert_eq!(&line, b"before\n");
    let received = receive(&theirs, sent.len()).expect("they came");
    theirs.read_exact(&mut line).expect("it came");
    assert_eq!(&line, b"behind\n");
    for (number, (descriptor, (_, other))) in received.into_iter().zip(&pairs).enumerate() {
        let mut stream = UnixStream::from(descriptor);
        stream.write_all(&[number as u8]).expect("it is the same");
        let mut byte = [0];
        (&*other).read_exact(&mut byte).expect("it came");
        assert_eq!(byte, [number as u8]);
    }
}

#[test]
fn bytes_without_descriptors_and_an_end_are_errors() {
    let (mut ours, theirs) = UnixStream::pair().expect("a pair");
    ours.write_all(b"x").expect("it takes bytes");
    let kind = |result: io::Result<_>| result.err().map(|error: io::Error| error.kind());
    assert_eq!(
        kind(receive(&theirs, 1).map(|_| ())),
        Some(io::ErrorKind::InvalidData)
    );
    drop(ours);
    assert_eq!(
        kind(receive(&theirs, 1).map(|_| ())),
        Some(io::ErrorKind::UnexpectedEof)
    );
}
