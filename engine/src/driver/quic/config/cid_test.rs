use super::*;
use crate::driver::quic::config::quic_lb::QuicLb;

#[test]
fn a_packet_with_either_header_leads_to_the_worker_whose_id_it_has() {
    let steering = Steering::new(b"key", 0, 4, None);
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
            &Steering::new(b"key", generation, 4096, None)
                .ids_of(worker)
                .generate_cid(),
        );
        short
    };
    for ours in 0..16 {
        let steering = Steering::new(b"key", ours, 2, None);
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
    let steering = Steering::new(b"key", 0, 2, None);
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
    let (ours, theirs) = (
        Steering::new(b"ours", 0, 2, None),
        Steering::new(b"theirs", 0, 2, None),
    );
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
    let mut cids = Steering::new(b"key", 0, 1, None).ids_of(0);
    let tails: std::collections::BTreeSet<Vec<u8>> = (0..100)
        .map(|_| cids.generate_cid()[RANDOM_BYTES..].to_vec())
        .collect();
    assert!(tails.len() > 80, "{} tails of 100", tails.len());
}

#[test]
fn an_id_for_load_balancers_names_the_server_to_them_and_generation_and_worker_to_us() {
    let settings = QuicLb::new([0xed, 0x79, 0x3a]).nonce_bytes(9).rotation(2);
    let clear = Steering::new(b"key", 5, 3, Some(settings.encoder().unwrap()));
    let encrypted = settings.key([7; 16]).encoder().unwrap();
    let encrypted = Steering::new(b"key", 5, 3, Some(encrypted));
    for (steering, is_clear) in [(&clear, true), (&encrypted, false)] {
        for worker in 0..3 {
            let id = steering.ids_of(worker).generate_cid();
            // The first octet says the configuration, and the length less one.
            assert_eq!((id.len(), id[0]), (15, 2 << 5 | 14));
            assert_eq!(id[1..4] == [0xed, 0x79, 0x3a], is_clear);
            let mut short = vec![0x40];
            short.extend_from_slice(&id);
            assert_eq!(steering.owner_of(&short), Some(CidOwner::Worker(worker)));
            let mut long = vec![0xe0, 0, 0, 0, 1, 15];
            long.extend_from_slice(&id);
            assert_eq!(steering.owner_of(&long), Some(CidOwner::Worker(worker)));
            assert!(steering.ids_of(worker).validate(&id).is_ok());
            let next = Steering::new(b"key", 6, 3, steering.balanced.clone());
            let other = CidOwner::OtherProcess {
                generation: 5,
                worker,
            };
            assert_eq!(next.owner_of(&short), Some(other));
        }
    }
}

#[test]
fn ids_for_load_balancers_are_never_the_same() {
    for settings in [
        QuicLb::new([1]),
        QuicLb::new([1]).key([7; 16]),
        QuicLb::new([1; 8]).key([7; 16]),
    ] {
        let steering = Steering::new(b"key", 0, 1, Some(settings.encoder().unwrap()));
        let mut cids = steering.ids_of(0);
        let ids: std::collections::BTreeSet<Vec<u8>> =
            (0..1000).map(|_| cids.generate_cid().to_vec()).collect();
        assert_eq!(ids.len(), 1000);
    }
}
