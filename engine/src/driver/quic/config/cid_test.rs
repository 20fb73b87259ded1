use super::*;

#[test]
fn a_packet_with_either_header_leads_to_the_worker_whose_id_it_has() {
    let steering = Steering::new(b"key", 0, 4);
    for worker in 0..4 {
        let id = steering.ids_of(worker).generate_cid();
        let mut short = vec![0x40];
        short.extend_from_slice(&id);
        assert_eq!(steering.owner_of(&short), Some(CidOwner::Worker(worker)));
        let mut long = vec![0xe0, 0, 0, 0, 1, 8];
        long.extend_from_slice(&id);
        assert_eq!(steering.owner_of(&long), Some(CidOwner::Worker(worker)));
        assert!(steering.ids_of(worker).validate(&id).is_ok());
    }
}

#[test]
fn an_id_names_its_generation_and_worker_to_every_process_with_the_key() {
    let packet = |generation, worker| {
        let mut short = vec![0x40];
        short.extend_from_slice(
            &Steering::new(b"key", generation, 4096)
                .ids_of(worker)
                .generate_cid(),
        );
        short
    };
    for ours in 0..16 {
        let steering = Steering::new(b"key", ours, 2);
        for generation in 0..16 {
            for worker in [0, 1, 2, 4095] {
                let expected = match generation == ours {
                    true => (worker < 2).then_some(CidOwner::Worker(worker)),
                    false => Some(CidOwner::OtherProcess { generation, worker }),
                };
                let packet = packet(generation, worker);
                assert_eq!(steering.owner_of(&packet), expected);
                // A connection of a process that has ended is reset.
                let id = ConnectionId::new(&packet[1..]);
                assert_eq!(steering.ids_of(0).validate(&id).is_ok(), worker < 2);
            }
        }
    }
}

#[test]
fn a_packet_cut_anywhere_belongs_to_nobody_and_never_panics() {
    let steering = Steering::new(b"key", 0, 2);
    let id = steering.ids_of(1).generate_cid();
    let mut long = vec![0xe0, 0, 0, 0, 1, 8];
    long.extend_from_slice(&id);
    for cut in 0..long.len() {
        assert_eq!(steering.owner_of(&long[..cut]), None);
    }
    let mut short = vec![0x40];
    short.extend_from_slice(&id);
    for cut in 0..short.len() {
        assert_eq!(steering.owner_of(&short[..cut]), None);
    }
}

#[test]
fn foreign_ids_are_hardly_ever_taken_for_ours() {
    let (ours, theirs) = (Steering::new(b"ours", 0, 2), Steering::new(b"theirs", 0, 2));
    let mut cids = theirs.ids_of(0);
    let taken = (0..2000)
        .filter(|_| ours.ids_of(0).validate(&cids.generate_cid()).is_ok())
        .count();
    assert!(
        taken < 10,
        "32 of 65,536 are expected, {taken} of 2,000 were taken"
    );
}

#[test]
fn ids_of_one_worker_have_nothing_in_common_to_see() {
    let mut cids = Steering::new(b"key", 0, 1).ids_of(0);
    let tails: std::collections::BTreeSet<Vec<u8>> = (0..100)
        .map(|_| cids.generate_cid()[RANDOM_BYTES..].to_vec())
        .collect();
    assert!(tails.len() > 80, "{} tails of 100", tails.len());
}
