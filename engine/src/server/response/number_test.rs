//! Heads with one number are treated as equal, so no two may share one.

use super::*;
use std::collections::HashSet;

#[test]
fn no_number_comes_twice_on_one_thread_across_blocks_or_on_two_threads() {
    let take = || -> Vec<_> { (0..BLOCK + 10).filter_map(|_| fresh_number()).collect() };
    let other = std::thread::spawn(take);
    let mut all = take();
    all.extend(other.join().expect("numbering does not panic"));
    let count = all.len();
    assert_eq!(count as u64, 2 * (BLOCK + 10));
    assert_eq!(all.into_iter().collect::<HashSet<_>>().len(), count);
}
