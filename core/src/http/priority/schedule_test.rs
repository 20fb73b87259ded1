//! Every rule in a sentence, then long random runs against a slow and simple schedule.

use super::Schedule;
use crate::http::priority::Priority;

fn priority(urgency: u8, incremental: bool) -> Priority {
    Priority {
        urgency,
        incremental,
    }
}

/// Takes `turns` turns in which every stream has always more to send.
fn turns(schedule: &mut Schedule, turns: usize) -> Vec<u32> {
    (0..turns)
        .map(|_| {
            let key = schedule.choose().expect("something is queued");
            schedule.took_turn(key);
            key
        })
        .collect()
}

#[test]
fn nothing_is_chosen_from_an_empty_schedule() {
    let mut schedule = Schedule::new();
    assert_eq!(schedule.choose(), None);
    assert_eq!(schedule.pop(), None);
    assert!(schedule.is_empty());
}

#[test]
fn the_lowest_urgency_goes_first_whatever_the_order_of_arrival() {
    let mut schedule = Schedule::new();
    for (key, urgency) in [(0, 7), (1, 3), (2, 0), (3, 4)] {
        schedule.push(key, priority(urgency, false));
    }
    let order: Vec<_> = std::iter::from_fn(|| schedule.pop()).collect();
    assert_eq!(order, [2, 1, 3, 0]);
    assert!(schedule.is_empty());
}

#[test]
fn streams_that_are_not_incremental_go_one_after_another() {
    let mut schedule = Schedule::new();
    schedule.push(4, priority(3, false));
    schedule.push(2, priority(3, false));
    assert_eq!(
        turns(&mut schedule, 3),
        [4, 4, 4],
        "the first until it is done"
    );
    assert!(schedule.remove(4));
    assert_eq!(turns(&mut schedule, 2), [2, 2]);
}

#[test]
fn incremental_streams_take_turns() {
    let mut schedule = Schedule::new();
    for key in 0..3 {
        schedule.push(key, priority(3, true));
    }
    assert_eq!(turns(&mut schedule, 7), [0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn an_incremental_stream_gives_way_to_a_sequential_one_after_one_turn() {
    let mut schedule = Schedule::new();
    schedule.push(0, priority(3, true));
    schedule.push(1, priority(3, false));
    assert_eq!(turns(&mut schedule, 3), [0, 1, 1]);
    schedule.remove(1);
    assert_eq!(turns(&mut schedule, 2), [0, 0]);
}

#[test]
fn a_more_urgent_stream_overtakes_at_the_next_turn() {
    let mut schedule = Schedule::new();
    schedule.push(0, priority(3, false));
    assert_eq!(turns(&mut schedule, 1), [0]);
    schedule.push(1, priority(1, false));
    assert_eq!(turns(&mut schedule, 1), [1]);
    schedule.remove(1);
    assert_eq!(turns(&mut schedule, 1), [0], "and it goes on where it was");
}

#[test]
fn reprioritise_moves_a_stream_to_the_end_of_its_new_urgency() {
    let mut schedule = Schedule::new();
    schedule.push(0, priority(3, false));
    schedule.push(1, priority(3, false));
    schedule.push(2, priority(1, false));
    schedule.reprioritise(0, priority(1, false));
    let order: Vec<_> = std::iter::from_fn(|| schedule.pop()).collect();
    assert_eq!(order, [2, 0, 1]);
}

#[test]
fn reprioritise_within_an_urgency_keeps_the_place() {
    let mut schedule = Schedule::new();
    schedule.push(0, priority(3, false));
    schedule.push(1, priority(3, false));
    schedule.reprioritise(0, priority(3, true));
    assert_eq!(turns(&mut schedule, 3), [0, 1, 1], "but now it takes turns");
}

#[test]
fn a_stream_that_is_not_queued_is_neither_removed_nor_reprioritised() {
    let mut schedule = Schedule::new();
    assert!(!schedule.remove(5));
    schedule.reprioritise(5, priority(0, false));
    schedule.took_turn(5);
    assert!(schedule.is_empty());
    schedule.push(5, priority(0, false));
    assert!(schedule.remove(5));
    assert!(!schedule.remove(5));
    assert_eq!(schedule.len(), 0);
}

#[test]
fn a_stream_pushed_twice_is_queued_once_in_its_first_place() {
    let mut schedule = Schedule::new();
    schedule.push(0, priority(3, false));
    schedule.push(1, priority(3, false));
    schedule.push(0, priority(3, false));
    assert_eq!(schedule.len(), 2);
    let order: Vec<_> = std::iter::from_fn(|| schedule.pop()).collect();
    assert_eq!(order, [0, 1]);
}

#[test]
fn an_urgency_above_seven_counts_as_seven() {
    let mut schedule = Schedule::new();
    schedule.push(0, priority(255, false));
    schedule.push(1, priority(7, false));
    schedule.push(2, priority(6, false));
    let order: Vec<_> = std::iter::from_fn(|| schedule.pop()).collect();
    assert_eq!(order, [2, 0, 1]);
}

#[test]
fn memory_goes_back_only_while_nothing_is_queued() {
    let mut schedule = Schedule::new();
    schedule.push(9, Priority::default());
    schedule.release();
    assert_eq!(schedule.pop(), Some(9));
    schedule.release();
    assert_eq!(schedule.links.capacity(), 0);
    schedule.push(3, Priority::default());
    assert_eq!(schedule.pop(), Some(3));
}

/// The rules over one vector in order of arrival.
#[derive(Default)]
struct Plain(Vec<(u32, Priority)>);

impl Plain {
    fn position(&self, key: u32) -> Option<usize> {
        self.0.iter().position(|&(queued, _)| queued == key)
    }
    fn push(&mut self, key: u32, priority: Priority) {
        if self.position(key).is_none() {
            self.0.push((key, priority));
        }
    }
    fn remove(&mut self, key: u32) -> bool {
        let position = self.position(key);
        position.map(|at| self.0.remove(at)).is_some()
    }
    fn choose(&self) -> Option<u32> {
        let urgency = |&&(_, priority): &&(u32, Priority)| priority.urgency.min(7);
        // `min_by_key` takes the first of equals: the one that arrived first.
        self.0.iter().min_by_key(urgency).map(|&(key, _)| key)
    }
    fn took_turn(&mut self, key: u32) {
        if let Some(at) = self.position(key)
            && self.0[at].1.incremental
        {
            let entry = self.0.remove(at);
            self.0.push(entry);
        }
    }
    fn reprioritise(&mut self, key: u32, priority: Priority) {
        if let Some(at) = self.position(key) {
            if self.0[at].1.urgency.min(7) == priority.urgency.min(7) {
                self.0[at].1 = priority;
            } else {
                self.0.remove(at);
                self.0.push((key, priority));
            }
        }
    }
}

#[test]
fn long_random_runs_agree_with_the_plain_schedule() {
    for seed in 1..=20_u64 {
        let mut state = seed;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut schedule = Schedule::new();
        let mut plain = Plain::default();
        for step in 0..5_000 {
            let key = random(40) as u32;
            let new_priority = priority(random(10) as u8, random(2) == 0);
            match random(6) {
                0 | 1 => {
                    schedule.push(key, new_priority);
                    plain.push(key, new_priority);
                }
                2 => assert_eq!(schedule.remove(key), plain.remove(key)),
                3 => {
                    schedule.reprioritise(key, new_priority);
                    plain.reprioritise(key, new_priority);
                }
                4 => {
                    if let Some(key) = plain.choose() {
                        schedule.took_turn(key);
                        plain.took_turn(key);
                    }
                }
                _ => {
                    let popped = plain.choose();
                    popped.map(|key| plain.remove(key));
                    assert_eq!(schedule.pop(), popped);
                }
            }
            assert_eq!(
                schedule.choose(),
                plain.choose(),
                "seed {seed}, step {step}"
            );
            assert_eq!(schedule.len() as usize, plain.0.len());
            assert_eq!(schedule.is_empty(), plain.0.is_empty());
            assert_eq!(schedule.contains(key), plain.position(key).is_some());
        }
    }
}
