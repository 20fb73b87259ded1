use super::*;
use crate::server::observe::counters::MetricsReader;
use std::net::{IpAddr, Ipv4Addr};
use trunkline_core::budget::Rate;

const RATE: Rate = Rate {
    burst: 3,
    per_second: 2,
};

fn address(number: u32) -> Address {
    Address::of(IpAddr::V4(Ipv4Addr::from(number)))
}

fn shedder(settings: Shedding) -> Arc<Shedder> {
    let budget = Arc::new(BudgetShare::new(1000));
    Shedder::new(&settings, &budget, &AddressRates::new(Instant::now())).expect("something is on")
}

#[test]
fn by_default_no_request_is_refused() {
    let budget = Arc::new(BudgetShare::new(0));
    assert!(
        Shedder::new(
            &Shedding::default(),
            &budget,
            &AddressRates::new(Instant::now())
        )
        .is_none()
    );
}

#[test]
fn an_address_has_its_burst_and_then_its_rate_and_another_address_its_own() {
    let shedder = shedder(Shedding::default().with_requests_per_address(Some(RATE)));
    let now = Instant::now();
    for _ in 0..3 {
        assert_eq!(shedder.sheds(Some(address(1)), now), None);
    }
    assert_eq!(shedder.sheds(Some(address(1)), now), Some(Shed::Address));
    assert_eq!(shedder.sheds(Some(address(2)), now), None);
    // A Unix socket has no address.
    assert_eq!(shedder.sheds(None, now), None);
    let later = now + Duration::from_millis(500);
    assert_eq!(shedder.sheds(Some(address(1)), later), None);
    assert_eq!(shedder.sheds(Some(address(1)), later), Some(Shed::Address));
    assert_eq!(Shed::Address.status(), 429);
}

#[test]
fn a_worker_that_is_behind_refuses_until_it_is_not() {
    let most = Duration::from_millis(300);
    let shedder = shedder(Shedding::default().with_lag_max(Some(most)));
    let now = Instant::now();
    for (lag, shed) in [
        (Duration::ZERO, None),
        (most, None),
        (most + Duration::from_millis(1), Some(Shed::Lag)),
        (Duration::from_millis(1), None),
    ] {
        shedder.set_lag(lag);
        assert_eq!(shedder.sheds(Some(address(1)), now), shed, "{lag:?}");
        assert_eq!(shedder.sheds(None, now), shed, "{lag:?}");
    }
    assert_eq!(Shed::Lag.status(), 503);
}

#[test]
fn the_lag_is_what_keeps_the_thread_from_its_timers() {
    let shedder = shedder(Shedding::default().with_lag_max(Some(Duration::from_millis(1))));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let counters = Arc::<Counters>::default();
    let behind = runtime.block_on(async {
        let mut measures = std::pin::pin!(measure(
            Some(Arc::clone(&shedder)),
            Arc::clone(&counters),
            |_| Duration::ZERO
        ));
        let begins = std::future::ready(());
        tokio::select! { biased; () = &mut measures => {}, () = begins => {} }
        // The thread is busy for twice the interval.
        let until = Instant::now() + 2 * MEASURE_INTERVAL;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let measured = async {
            while shedder.lag().is_zero() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! { biased; () = &mut measures => {}, () = measured => {} }
        shedder.lag()
    });
    assert!(behind >= MEASURE_INTERVAL / 2, "{behind:?}");
    // The metrics have it, too.
    let reader = MetricsReader {
        workers: vec![counters],
        windows: Vec::new(),
        sending: Vec::new(),
        timelines: Vec::new(),
        process_memory_max: None,
    };
    let lag = reader.read().worker_lag;
    assert_eq!((lag.count(), lag.sum()), (1, behind));
}

#[test]
fn a_server_that_holds_more_than_its_share_for_clients_that_do_not_read_refuses() {
    let mut budget = BudgetShare::new(1000);
    let shared = Arc::new(budget.share());
    let settings = Shedding::default().with_send_budget_percent_max(Some(80));
    let now = Instant::now();
    let shedder = Shedder::new(&settings, &shared, &AddressRates::new(now)).expect("it is on");
    assert_eq!(budget.reserve(800), 800);
    assert_eq!(shedder.sheds(None, now), None);
    assert_eq!(budget.reserve(1), 1);
    assert_eq!(shedder.sheds(None, now), Some(Shed::Memory));
    drop(budget);
    assert_eq!(shedder.sheds(None, now), None);
    assert_eq!(Shed::Memory.status(), 503);
}

/// The answer of a shedder once it has measured something.
fn measured(shedder: &Arc<Shedder>, behind: Duration) -> Option<Shed> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let measures = measure(Some(Arc::clone(shedder)), Arc::default(), move |_| behind);
        let _ = tokio::time::timeout(3 * MEASURE_INTERVAL, measures).await;
        shedder.sheds(None, Instant::now())
    })
}

#[test]
fn what_answers_for_a_worker_may_be_behind_in_its_place() {
    let most = Duration::from_secs(60 * 60);
    let shedder = shedder(Shedding::default().with_lag_max(Some(most)));
    assert_eq!(measured(&shedder, most), None);
    let more = most + Duration::from_millis(1);
    assert_eq!(measured(&shedder, more), Some(Shed::Lag));
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_larger_than_it_may_be_refuses() {
    let small = Shedding::default().with_process_memory_max(Some(1 << 20));
    let shed = measured(&shedder(small), Duration::ZERO);
    assert_eq!(shed, Some(Shed::Process));
    assert_eq!(Shed::Process.status(), 503);
    let large = Shedding::default().with_process_memory_max(Some(1 << 40));
    assert_eq!(measured(&shedder(large), Duration::ZERO), None);
}

#[test]
fn an_address_that_has_moved_more_than_its_burst_waits_until_it_has_drained() {
    let shedder = shedder(Shedding::default().with_bytes_per_address(Some(RATE)));
    let now = Instant::now();
    shedder.moved(address(1), 3, now);
    assert_eq!(shedder.sheds(Some(address(1)), now), None);
    shedder.moved(address(1), 5, now);
    let shed = Some(Shed::Bytes { seconds: 3 });
    assert_eq!(shedder.sheds(Some(address(1)), now), shed);
    assert_eq!(shedder.sheds(Some(address(2)), now), None);
    let later = now + Duration::from_secs(2);
    let shed = Some(Shed::Bytes { seconds: 1 });
    assert_eq!(shedder.sheds(Some(address(1)), later), shed);
    let drained = now + Duration::from_millis(2500);
    assert_eq!(shedder.sheds(Some(address(1)), drained), None);
    assert_eq!(Shed::Bytes { seconds: 1 }.status(), 429);
}

#[test]
fn an_address_waits_for_a_minute_at_most_however_much_it_has_moved() {
    let shedder = shedder(Shedding::default().with_bytes_per_address(Some(RATE)));
    let now = Instant::now();
    shedder.moved(address(1), u64::MAX, now);
    let shed = Some(Shed::Bytes { seconds: 60 });
    assert_eq!(shedder.sheds(Some(address(1)), now), shed);
    let later = now + Duration::from_secs(60);
    assert_eq!(shedder.sheds(Some(address(1)), later), None);
}
