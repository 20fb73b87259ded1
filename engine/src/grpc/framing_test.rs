//! Boundaries of messages.

use super::Framing;

#[test]
fn a_body_is_within_a_message_but_at_its_boundaries() {
    // An empty message, one of three bytes that is compressed, one of 258.
    let mut body = vec![0, 0, 0, 0, 0];
    body.extend([1, 0, 0, 0, 3, 7, 7, 7]);
    body.extend([0, 0, 0, 1, 2]);
    body.extend([9; 258]);
    let boundaries = [0, 5, 13, 276];
    for end in 0..=body.len() {
        for split in 0..=end {
            let mut framing = Framing::default();
            framing.advance(&body[..split]);
            framing.advance(&body[split..end]);
            assert_eq!(
                framing.is_within_message(),
                !boundaries.contains(&end),
                "{split} of {end}"
            );
        }
    }
}
