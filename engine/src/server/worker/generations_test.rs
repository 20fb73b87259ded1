use super::*;

fn process(generation: u8) -> (Predecessor, UnixDatagram) {
    let (reads, takes) = UnixDatagram::pair().expect("a pair");
    let workers = Arc::from([takes]);
    let predecessor = Predecessor {
        generation,
        workers,
    };
    (predecessor, reads)
}

fn after(generations: &[u8]) -> Result<u8, Error> {
    with_ids_of(8, generations)
}

/// After servers whose ids have 8 bytes.
fn with_ids_of(bytes: usize, generations: &[u8]) -> Result<u8, Error> {
    let (_, released) = watch::channel(true);
    let inherited = QuicInheritance {
        key: [1; KEY_BYTES],
        id_bytes: 8,
        predecessors: generations.iter().map(|it| process(*it).0).collect(),
        released,
    };
    Generations::after(inherited, bytes).map(|generations| generations.generation)
}

#[test]
fn a_server_has_a_generation_that_none_before_it_has() {
    assert_eq!(after(&[0]).ok(), Some(1));
    assert_eq!(after(&[1, 0]).ok(), Some(2));
    assert_eq!(after(&[2, 1]).ok(), Some(0));
    let all: Vec<u8> = (0..GENERATIONS).collect();
    assert_eq!(after(&all[1..]).ok(), Some(0));
    let refused = after(&all).expect_err("none is left");
    assert!(refused.to_string().contains("16 servers before this one"));
}

#[test]
fn a_server_whose_ids_have_another_length_is_refused() {
    let refused = with_ids_of(19, &[0]).expect_err("ids of the one before cannot be read");
    let text = refused.to_string();
    assert!(
        text.contains("19 bytes here, and 8 at the server"),
        "{text}"
    );
}

#[test]
fn a_process_is_gone_when_its_last_worker_reads_no_more() {
    let (before, reads) = process(3);
    assert!(before.is_alive());
    drop(reads);
    assert!(!before.is_alive());
}
