use super::*;
use std::net::{IpAddr, Ipv4Addr};

const RATE: Rate = Rate {
    burst: 3,
    per_second: 2,
};

fn address(number: u32) -> Address {
    Address::of(IpAddr::V4(Ipv4Addr::from(number)))
}

fn shedder(settings: Shedding) -> Rc<Shedder> {
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
        shedder.lag.set(lag);
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
    let behind = runtime.block_on(async {
        let mut measures = std::pin::pin!(Rc::clone(&shedder).measure());
        let begins = std::future::ready(());
        tokio::select! { biased; () = &mut measures => {}, () = begins => {} }
        // The thread is busy for twice the interval.
        let until = Instant::now() + 2 * LAG_INTERVAL;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let measured = async {
            while shedder.lag.get().is_zero() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! { biased; () = &mut measures => {}, () = measured => {} }
        shedder.lag.get()
    });
    assert!(behind >= LAG_INTERVAL / 2, "{behind:?}");
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

#[test]
fn the_addresses_that_are_counted_are_bounded_and_quiet_ones_give_way() {
    let now = Instant::now();
    let rates = AddressRates::new(now);
    for number in 0..ADDRESSES_MAX as u32 {
        assert!(rates.charge(address(number), RATE, now));
    }
    let (new, burst_later) = (address(u32::MAX), now + Duration::from_secs(2));
    // All of them are busy: the new one is not limited.
    for _ in 0..10 {
        assert!(rates.charge(new, RATE, now));
    }
    let counted = || rates.0.lock().unwrap().budgets.len();
    assert_eq!(counted(), ADDRESSES_MAX);
    assert!(rates.charge(new, RATE, burst_later));
    assert_eq!(counted(), 1);
}
