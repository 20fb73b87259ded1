use super::*;

#[test]
fn what_a_server_said_is_used_once() {
    let memory = EarlyMemory::default();
    let slot = memory.slot("a.test", 443);
    assert_eq!(slot.take(), None);
    slot.note(Settings::default(), Duration::from_millis(7));
    assert_eq!(memory.slot("a.test", 444).take(), None);
    assert_eq!(memory.slot("b.test", 443).take(), None);
    let remembered = slot.take().unwrap();
    assert_eq!(remembered.settings, Settings::default());
    assert_eq!(remembered.round_trip, Duration::from_millis(7));
    assert_eq!(slot.take(), None);
}

#[test]
fn so_many_servers_are_remembered_and_no_more() {
    let memory = EarlyMemory::default();
    for number in 0..2000 {
        memory
            .slot("a.test", number)
            .note(Settings::default(), Duration::ZERO);
        memory
            .slot("a.test", number)
            .note(Settings::default(), Duration::ZERO);
    }
    assert_eq!(memory.slot("a.test", 0).lock().len(), SERVERS_MAX);
    assert!(memory.slot("a.test", 1999).take().is_some());
}
