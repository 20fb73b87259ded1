use super::*;

#[test]
fn a_number_that_is_taken_twice_is_not_given_to_two_bodies() {
    let mut bodies = Bodies::default();
    let first = bodies.put(Bytes::from_static(b"first"));
    assert_eq!(bodies.take(first), "first");
    assert_eq!(bodies.take(first), "", "it is free");
    let second = bodies.put(Bytes::from_static(b"second"));
    let third = bodies.put(Bytes::from_static(b"third"));
    assert_ne!(second, third);
    assert_eq!(bodies.take(second), "second");
    assert_eq!(bodies.take(third), "third");
    assert_eq!(bodies.take(9), "", "no such number was given");
}
