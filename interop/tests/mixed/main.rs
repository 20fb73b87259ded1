//! Exchanges of random kinds beside each other, by each of our servers and clients, and by hyper's with them:
//! lengths on both sides of every bound, handlers that read all, a part or nothing, and answer before or behind
//! that, bodies that fail, clients that read slowly or leave, servers that drain. Each exchange ends, and those
//! that nothing breaks are whole.
//!
//! `TRUNKLINE_MIXED_EXCHANGES` is the number of exchanges of each test, `TRUNKLINE_MIXED_SEED` the seed of the first
//! run and `TRUNKLINE_MIXED_RUNS` the number of runs, of which each has the seed behind that of the last.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod callbacks;
mod clients;
mod content;
mod dice;
mod exchange;
mod handler;
mod loss;
mod plan;
mod records;
mod servers;
mod source;
mod way;

use clients::AnyClient;
use dice::Dice;
use exchange::{Outcome, Rules};
use plan::Plan;
use records::Records;
use servers::{Form, Running};
use std::future::Future;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use trunkline::client::InspectLimits;
use trunkline_interop::{Certificate, Workplace};
use way::Way;

const EXCHANGES: u64 = 60;
const AT_ONCE: usize = 16;
/// An exchange that has not ended by then hangs.
const HANGS: Duration = Duration::from_secs(60);

/// An attempt to connect to a server that has drained, over UDP, does not learn that it has.
const CONNECT_DRAINED: Duration = Duration::from_secs(2);

/// Whose client it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Ours,
    Hyper,
}

/// The client, the server and the version of a test.
#[derive(Clone, Copy, Debug)]
struct Setting {
    client: Whose,
    form: Form,
    way: Way,
    /// The server drains while requests come.
    drains: bool,
}

/// A run under way.
struct Run {
    setting: Setting,
    seed: u64,
    port: u16,
    server: Option<trunkline::server::Inspector>,
    client: AnyClient,
    records: Arc<Records>,
    is_draining: AtomicBool,
    next: AtomicU64,
    /// Half of the exchanges have begun.
    half: Notify,
    exchanges: u64,
}

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name);
    text.map_or(default, |text| text.parse().expect("a number"))
}

fn mixed(client: Whose, form: Form, way: Way, drains: bool) {
    let setting = Setting {
        client,
        form,
        way,
        drains,
    };
    let first = number("TRUNKLINE_MIXED_SEED", 1);
    for seed in first..first + number("TRUNKLINE_MIXED_RUNS", 1) {
        eprintln!("{setting:?}, seed {seed}");
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(run(setting, seed));
    }
}

async fn run(setting: Setting, seed: u64) {
    let Setting {
        form, way, drains, ..
    } = setting;
    let workplace = Workplace::new().unwrap();
    let certificate = Certificate::write(workplace.path()).unwrap();
    let mut dice = Dice::new(seed);
    let records = Arc::<Records>::default();
    let at = Arc::clone(&records);
    let Running {
        port,
        inspector,
        drain,
    } = servers::start(form, way, at, &certificate, &mut dice).await;
    let port = match way {
        Way::H3Lossy => loss::relay(port, dice.clone()).await,
        _ => port,
    };
    let client = match setting.client {
        Whose::Ours => {
            let connect = if drains { CONNECT_DRAINED } else { HANGS };
            AnyClient::ours(way, &certificate, &mut dice, connect)
        }
        Whose::Hyper => AnyClient::hyper(way, &certificate),
    };
    let exchanges = number("TRUNKLINE_MIXED_EXCHANGES", EXCHANGES);
    let run = Arc::new(Run {
        setting,
        seed,
        port,
        server: inspector,
        client,
        records,
        is_draining: AtomicBool::new(false),
        next: AtomicU64::new(0),
        half: Notify::new(),
        exchanges,
    });
    let mut tasks = JoinSet::new();
    for _ in 0..AT_ONCE {
        tasks.spawn(exchange_until_over(Arc::clone(&run)));
    }
    let mut drain = Some(drain);
    let mut draining = None;
    if drains {
        run.half.notified().await;
        run.is_draining.store(true, Ordering::SeqCst);
        draining = drain.take().map(tokio::spawn);
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    // hyper tells a reader that goes on behind the response of the end of a body only with that of the connection.
    if form != Form::Hyper {
        run.all_is_over().await;
    }
    let drained = async {
        match draining {
            Some(draining) => draining.await.unwrap(),
            None => drain.take().unwrap().await,
        }
    };
    within(&run, "the drain", drained).await;
}

async fn exchange_until_over(run: Arc<Run>) {
    loop {
        let id = run.next.fetch_add(1, Ordering::SeqCst);
        if id >= run.exchanges {
            return;
        }
        if id == run.exchanges / 2 {
            run.half.notify_one();
        }
        // The plan of an exchange is the same in each run with its seed.
        let mut dice = Dice::new(run.seed << 32 | id);
        let plan = Plan::new(id, run.setting.way.is_h1(), &mut dice);
        let plan = Arc::new(plan);
        run.records.open(&plan);
        let url = run.setting.way.url(run.port, id);
        let what = format!("exchange {id}: {plan:#?}");
        let outcome = within(&run, &what, exchange::play(&run.client, &plan, &url)).await;
        let wrong = run.judge(&plan, &outcome);
        if let Some(wrong) = wrong {
            let (seen, outcome) = (run.records.seen(id), format!("{outcome:#?}"));
            run.fail(&format!("{wrong}\n{what}\n{seen:?}\n{outcome}"))
                .await;
        }
        if matches!(outcome, Outcome::Failed(_)) && run.is_draining.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// The outcome of a future that ends.
async fn within<T>(run: &Run, what: &str, future: impl Future<Output = T>) -> T {
    let hangs = Duration::from_secs(number("TRUNKLINE_MIXED_HANGS", HANGS.as_secs()));
    match tokio::time::timeout(hangs, future).await {
        Ok(outcome) => outcome,
        Err(_) => run.fail(&format!("it hangs: {what}")).await,
    }
}

impl Run {
    fn judge(&self, plan: &Plan, outcome: &Outcome) -> Option<String> {
        let our_client = self.setting.client == Whose::Ours;
        let rules = Rules {
            is_h1: self.setting.way.is_h1(),
            our_client,
            ours_both: our_client && self.setting.form != Form::Hyper,
            is_draining: self.is_draining.load(Ordering::SeqCst),
        };
        exchange::judge(plan, outcome, &self.records.seen(plan.id), rules)
    }
    /// No handler and nothing that one has started is left.
    async fn all_is_over(&self) {
        let over = async {
            while !self.records.still_open().is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        if tokio::time::timeout(HANGS, over).await.is_err() {
            let left = self.records.still_open();
            self.fail(&format!("left at handlers: {left:#?}")).await;
        }
    }
    /// Says all there is to know and ends the test.
    async fn fail(&self, what: &str) -> ! {
        let client = self.client.describe().await;
        let server = match &self.server {
            Some(server) => format!("{:#?}", server.inspect(InspectLimits::default()).await),
            None => String::new(),
        };
        let Self { setting, seed, .. } = self;
        let report =
            format!("client: {client}\nserver: {server}\n{setting:?}, seed {seed}: {what}");
        // The output of a test is lost where the process ends with it.
        let _ = writeln!(std::io::stderr(), "{report}");
        // A task alone would let the others go on.
        std::process::exit(101);
    }
}

macro_rules! tests {
    ($($name:ident: $client:ident $form:ident $way:ident $drains:literal;)*) => {
        $(#[test]
        fn $name() {
            mixed(Whose::$client, Form::$form, Way::$way, $drains);
        })*
    };
}

tests! {
    exchanges_by_serve_over_h1: Ours Serve H1 false;
    exchanges_by_serve_over_h1_tls: Ours Serve H1Tls false;
    exchanges_by_serve_over_h2c: Ours Serve H2c false;
    exchanges_by_serve_over_h2_tls: Ours Serve H2Tls false;
    exchanges_by_serve_over_h3: Ours Serve H3 false;
    exchanges_by_workers_over_h1: Ours Workers H1 false;
    exchanges_by_workers_over_h1_tls: Ours Workers H1Tls false;
    exchanges_by_workers_over_h2c: Ours Workers H2c false;
    exchanges_by_workers_over_h2_tls: Ours Workers H2Tls false;
    exchanges_by_workers_over_h3: Ours Workers H3 false;
    exchanges_by_callbacks_over_h1: Ours Callbacks H1 false;
    exchanges_by_callbacks_over_h1_tls: Ours Callbacks H1Tls false;
    exchanges_by_callbacks_over_h2c: Ours Callbacks H2c false;
    exchanges_by_callbacks_over_h2_tls: Ours Callbacks H2Tls false;
    exchanges_by_callbacks_over_h3: Ours Callbacks H3 false;
    exchanges_over_a_lossy_path_by_serve: Ours Serve H3Lossy false;
    exchanges_over_a_lossy_path_by_workers: Ours Workers H3Lossy false;
    exchanges_over_a_lossy_path_by_callbacks: Ours Callbacks H3Lossy false;
    exchanges_of_hypers_client_by_serve_over_h1: Hyper Serve H1 false;
    exchanges_of_hypers_client_by_serve_over_h2_tls: Hyper Serve H2Tls false;
    exchanges_of_hypers_client_by_workers_over_h1_tls: Hyper Workers H1Tls false;
    exchanges_of_hypers_client_by_workers_over_h2c: Hyper Workers H2c false;
    exchanges_of_hypers_client_by_callbacks_over_h1: Hyper Callbacks H1 false;
    exchanges_of_hypers_client_by_callbacks_over_h2c: Hyper Callbacks H2c false;
    exchanges_by_hyper_over_h1: Ours Hyper H1 false;
    exchanges_by_hyper_over_h1_tls: Ours Hyper H1Tls false;
    exchanges_by_hyper_over_h2c: Ours Hyper H2c false;
    exchanges_by_hyper_over_h2_tls: Ours Hyper H2Tls false;
    a_drain_of_serve_over_h1: Ours Serve H1 true;
    a_drain_of_serve_over_h2_tls: Ours Serve H2Tls true;
    a_drain_of_serve_over_h3: Ours Serve H3 true;
    a_drain_of_workers_over_h1_tls: Ours Workers H1Tls true;
    a_drain_of_workers_over_h2c: Ours Workers H2c true;
    a_drain_of_workers_over_h3: Ours Workers H3 true;
    a_drain_of_callbacks_over_h1: Ours Callbacks H1 true;
    a_drain_of_callbacks_over_h2c: Ours Callbacks H2c true;
    a_drain_of_callbacks_over_h3: Ours Callbacks H3 true;
}
