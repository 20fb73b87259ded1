use super::{Feedback, InstructionBounds, TableInstruction, handle_pieces};
use crate::error::Violation;

fn bounds(literal_bytes_max: usize) -> InstructionBounds {
    InstructionBounds {
        literal_bytes_max,
        inserted: 3,
    }
}

#[test]
fn feedback_comes_back_for_every_stream_id_and_in_any_pieces() {
    let sent = [
        Feedback::Acknowledged(0),
        Feedback::Cancelled(4),
        Feedback::Inserted(1),
        Feedback::Acknowledged((1 << 62) - 1),
        Feedback::Cancelled(1 << 40),
        Feedback::Inserted(64),
    ];
    let mut bytes = Vec::new();
    for feedback in sent {
        feedback.put(&mut bytes);
    }
    for size in 1..=bytes.len() {
        let mut received = Vec::new();
        let mut pending = Vec::new();
        for piece in bytes.chunks(size) {
            handle_pieces(&mut pending, piece, |input| {
                let feedback = Feedback::take(input)?;
                received.extend(feedback);
                Ok(feedback.is_some())
            })
            .unwrap();
        }
        assert_eq!(received, sent, "in pieces of {size}");
        assert!(pending.is_empty());
    }
}

#[test]
fn an_incomplete_instruction_is_left_alone() {
    // Insert with static name 0 and a value of 3 bytes.
    let whole = [0xc0, 0x03, b'a', b'b', b'c'];
    for len in 0..whole.len() {
        let mut input = &whole[..len];
        assert!(
            TableInstruction::take(&mut input, bounds(100))
                .unwrap()
                .is_none()
        );
        assert_eq!(input.len(), len);
    }
    let mut input = &whole[..];
    assert!(
        TableInstruction::take(&mut input, bounds(100))
            .unwrap()
            .is_some()
    );
    assert!(input.is_empty());
}

#[test]
fn a_literal_that_no_table_could_hold_is_not_waited_for() {
    for start in [&[0xc0, 0x0b][..], &[0x4b], &[0x41, b'a', 0x0b]] {
        let mut input = start;
        assert!(matches!(
            TableInstruction::take(&mut input, bounds(10)),
            Err(Violation::CompressionInvalid)
        ));
        let mut input = start;
        assert!(matches!(
            TableInstruction::take(&mut input, bounds(11)),
            Ok(None)
        ));
    }
}

#[test]
fn an_index_of_no_entry_is_an_error_before_the_value_comes() {
    // Static rows 98 and 99, entries 2 and 3 of three.
    for (start, is_valid) in [
        (&[0xff, 35][..], true),
        (&[0xff, 36], false),
        (&[0x82], true),
        (&[0x83], false),
    ] {
        let mut input = start;
        let taken = TableInstruction::take(&mut input, bounds(100));
        assert_eq!(matches!(taken, Ok(None)), is_valid, "{start:?}");
        assert_eq!(taken.is_err(), !is_valid);
    }
}
