use super::*;

#[test]
fn what_a_server_said_is_used_once() {
    let memory = EarlyMemory::default();
    let place = memory.place("a.test", 443);
    assert_eq!(place.take(), None);
    place.note(Settings::default(), Duration::from_millis(7));
    assert_eq!(memory.place("a.test", 444).take(), None);
    assert_eq!(memory.place("b.test", 443).take(), None);
    let remembered = place.take().unwrap();
    assert_eq!(remembered.settings, Settings::default());
    assert_eq!(remembered.round_trip, Duration::from_millis(7));
    assert_eq!(place.take(), None);
}

#[test]
fn so_many_servers_are_remembered_and_no_more() {
    let memory = EarlyMemory::default();
    for number in 0..2000 {
        memory
            .place("a.test", number)
            .note(Settings::default(), Duration::ZERO);
        memory
            .place("a.test", number)
            .note(Settings::default(), Duration::ZERO);
    }
    assert_eq!(memory.place("a.test", 0).lock().len(), SERVERS_MAX);
    assert!(memory.place("a.test", 1999).take().is_some());
}
