use super::*;

const MIB: u64 = 1024 * 1024;

fn account(budget: &BudgetShare) -> SendAccount {
    SendAccount::shared(budget)
}

#[test]
fn what_is_free_borrows_nothing() {
    let budget = BudgetShare::new(64 * MIB);
    let mut account = account(&budget);
    assert!(!account.follow(SEND_FREE_BYTES as usize / 2));
    assert!(!account.is_exhausted());
    assert_eq!(budget.reserved(), 0);
}

#[test]
fn what_is_borrowed_goes_back_as_bytes_leave() {
    let budget = BudgetShare::new(64 * MIB);
    let mut account = account(&budget);
    assert!(!account.follow(MIB as usize));
    assert!(!account.is_exhausted(), "it borrowed ahead");
    assert!((MIB - SEND_FREE_BYTES..=MIB + STEP_BYTES).contains(&budget.reserved()));
    assert!(!account.follow(100_000));
    assert!(budget.reserved() <= 4 * STEP_BYTES, "{}", budget.reserved());
    assert!(!account.follow(0));
    assert_eq!(budget.reserved(), 0);
}

#[test]
fn a_connection_without_a_budget_has_what_is_free_and_room_again_when_half_of_it_left() {
    let budget = BudgetShare::new(0);
    let mut account = account(&budget);
    let free = SEND_FREE_BYTES as usize;
    assert!(!account.follow(free - 1));
    assert!(!account.is_exhausted());
    assert!(!account.follow(free));
    assert!(account.is_exhausted());
    assert!(!account.follow(free / 2 + 1), "not for every byte");
    assert!(account.is_exhausted());
    assert!(account.follow(free / 2));
    assert!(!account.is_exhausted());
    assert!(!account.follow(0), "said once");
}

#[test]
fn one_connection_gets_a_fifth_of_the_budget_and_each_one_what_is_free() {
    let budget = BudgetShare::new(64 * MIB);
    let mut accounts: Vec<_> = (0..100).map(|_| account(&budget)).collect();
    let mut shares = Vec::new();
    for account in &mut accounts {
        let before = budget.reserved();
        let _ = account.follow(100 * MIB as usize);
        assert!(account.is_exhausted());
        shares.push(budget.reserved() - before);
    }
    assert!(
        shares[0] <= 64 * MIB / 5 && shares[0] > 12 * MIB,
        "{shares:?}"
    );
    assert!(
        shares[10] > MIB,
        "the eleventh finds something too: {shares:?}"
    );
    assert!(budget.reserved() <= 64 * MIB);
    let mut late = account(&budget);
    let _ = late.follow(SEND_FREE_BYTES as usize - 1);
    assert!(!late.is_exhausted(), "a small answer fits what is free");
    // Those that take what waits for them give the others room.
    for account in &mut accounts[1..] {
        let _ = account.follow(0);
    }
    assert_eq!(budget.reserved(), shares[0]);
}

#[test]
fn answers_that_were_given_whole_hold_the_next_request_back() {
    let budget = BudgetShare::new(0);
    let mut account = account(&budget);
    let over = (SEND_FREE_BYTES + SEND_AHEAD_BYTES_MAX) as usize;
    let _ = account.follow(over - 1);
    assert!(!account.is_overrun());
    let _ = account.follow(over);
    assert!(account.is_overrun());
    let _ = account.follow(over - 1);
    assert!(!account.is_overrun());
}

#[test]
fn while_half_of_the_budget_is_free_a_request_waits_for_answers_to_those_that_began_beyond_the_room()
 {
    let budget = BudgetShare::new(64 * MIB);
    let mut one = account(&budget);
    let _ = one.follow(100 * MIB as usize);
    assert!(one.is_overrun());
    let beyond = u64::from(SEND_TURNS_MAX);
    // The answers to the last ones wait; the first is over.
    let waiting = |stream| match stream {
        1 => None,
        stream if stream <= 10 => Some(0),
        _ => Some(1),
    };
    for stream in 1..=10 + beyond {
        assert!(one.begins_beyond(stream, waiting), "{stream}");
    }
    assert!(!one.begins_beyond(99, waiting));
    assert!(one.begins_beyond(99, |stream| waiting(stream).filter(|_| stream > 11)));
    // Others have borrowed the rest.
    let mut others: Vec<_> = (0..4).map(|_| account(&budget)).collect();
    for other in &mut others {
        let _ = other.follow(100 * MIB as usize);
    }
    assert!(!one.begins_beyond(100, |_| None));
}

#[test]
fn while_half_of_the_budget_is_free_streams_beyond_the_turns_borrow_for_a_piece() {
    let budget = BudgetShare::new(64 * MIB);
    let mut one = account(&budget);
    let _ = one.follow(100 * MIB as usize);
    let mut stream = 0;
    while one.room(0, usize::MAX) > 0 {
        let before = budget.reserved();
        let has_turn = one.begin_turn(stream);
        assert_eq!(has_turn, stream < u64::from(SEND_TURNS_MAX));
        let borrowed = if has_turn { 0 } else { STEP_BYTES };
        assert_eq!(budget.reserved(), before + borrowed);
        stream += 1;
    }
    assert!(stream > 100, "{stream}");
    assert_eq!(budget.reserved(), 32 * MIB);
}

#[test]
fn a_connection_that_ends_keeps_nothing() {
    let budget = BudgetShare::new(64 * MIB);
    let mut account = account(&budget);
    let _ = account.follow(MIB as usize);
    assert!(budget.reserved() > 0);
    drop(account);
    assert_eq!(budget.reserved(), 0);
}
