use super::*;

#[test]
fn a_duration_counts_in_its_bucket_and_in_all_above_it() {
    let counting = Counting::default();
    for (micros, times) in [(0, 1), (100, 1), (101, 2), (10_000_000, 1), (10_000_001, 3)] {
        counting.count(
            Bucket::of(Duration::from_micros(micros)),
            times,
            Writers::One,
        );
    }
    let mut read = Histogram::default();
    counting.add_to(&mut read);
    let cumulative: Vec<_> = read.cumulative().collect();
    assert_eq!(cumulative.len(), BOUNDS.len());
    assert_eq!(cumulative[0], (Duration::from_micros(100), 2));
    assert_eq!(cumulative[1], (Duration::from_micros(250), 4));
    assert_eq!(cumulative[18], (Duration::from_secs(10), 5));
    assert_eq!(read.count(), 8);
    let micros = 100 + 2 * 101 + 10_000_000 + 3 * 10_000_001;
    assert_eq!(read.sum(), Duration::from_micros(micros));
}

#[test]
fn bounds_ascend() {
    assert!(BOUNDS.windows(2).all(|two| two[0] < two[1]));
}

#[test]
fn no_count_of_several_threads_is_lost() {
    let (counting, bucket) = (Counting::default(), Bucket::of(Duration::from_micros(1)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50_000 {
                    counting.count(bucket, 1, Writers::Many);
                }
            });
        }
    });
    let mut read = Histogram::default();
    counting.add_to(&mut read);
    assert_eq!(read.count(), 200_000);
}
