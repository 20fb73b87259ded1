//! Measures load generators: h2load and `trunkline bench` against our own server, in turn.

use crate::load::{Generator, Round, round, round_by};
use crate::machine;
use crate::page::figures::{Figures, Metric};
use crate::page::report::{spread, table, thousands};
use crate::scenario::{Placement, Scenario};
use crate::server::publish;
use crate::subject::{Subject, SubjectContext, build};
use trunkline_interop::{Certificate, Cores, Workplace};

/// The scenarios that both generators support.
const SCENARIOS: [Scenario; 4] = [
    Scenario::H2Tls,
    Scenario::H2c,
    Scenario::H1Tls,
    Scenario::H1,
];
const GENERATORS: [(Generator, &str); 2] = [
    (Generator::Ours, "trunkline bench"),
    (Generator::H2load, "h2load"),
];

/// Flags of `generators`.
#[derive(clap::Args)]
pub(crate) struct GeneratorsOptions {
    /// Rounds of each generator.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Write the page into `docs/measured` too.
    #[arg(long)]
    docs: bool,
}

/// Measures, prints the table and writes it to `bench/out/`.
pub(crate) fn run(options: &GeneratorsOptions) -> Result<(), String> {
    let cores = machine::cores();
    let programs = build()?;
    let workplace = Workplace::new()?;
    let context = SubjectContext {
        certificate: Certificate::write(workplace.path())?,
        workplace,
        cores: cores.first().map_or(Cores::Any, |&core| Cores::One(core)),
        programs,
    };
    let mut figures = Figures::default();
    for scenario in SCENARIOS {
        measure(&mut figures, options.rounds, &context, scenario, &cores)?;
    }
    let page = page(&figures);
    println!("{page}");
    let files = [
        ("bench-generators.csv", figures.csv()),
        ("bench-generators.md", page),
    ];
    publish(&files, options.docs)
}

fn measure(
    figures: &mut Figures,
    rounds: u32,
    context: &SubjectContext,
    scenario: Scenario,
    cores: &[usize],
) -> Result<(), String> {
    let server = Subject::Trunkline.start(context, scenario)?;
    let server = server.ok_or_else(|| format!("our server does not speak {}", scenario.name()))?;
    let (warm_up, requests) = scenario.counts(false);
    round(&server.target, warm_up, &Cores::Any)?;
    let load_cores = Placement::TwoCores.load_cores(cores);
    eprintln!("{}: {rounds} rounds", scenario.name());
    let mut received = GENERATORS.map(|_| Vec::new());
    for _ in 0..rounds {
        for ((generator, _), received) in GENERATORS.into_iter().zip(&mut received) {
            received.push(round_by(generator, &server.target, requests, &load_cores)?);
        }
    }
    for ((_, name), received) in GENERATORS.into_iter().zip(&received) {
        let mut add = |metric, value: fn(&Round) -> f64| {
            figures.add(scenario.name(), name, metric, received.iter().map(value));
        };
        add(Metric::LoadCpu, |round| round.load_us);
        add(Metric::Rate, |round| round.units_per_second);
        add(Metric::ServerCpu, |round| round.server_us);
    }
    Ok(())
}

fn page(figures: &Figures) -> String {
    let mut text = String::from(
        "# Load generators, measured beside each other\n\n\
         Our server on one processor, the generator on another; 1 KiB per response, `-c 4 -m 100` \
         (h2), `-c 50 -m 1` (h1). The generators take turns. CPU is user and kernel time of the \
         generator's process, its start and its handshakes included. Median (smallest to largest); \
         differences below 20 % mean nothing.\n\n",
    );
    text.push_str(&machine::describe_as_list());
    text.push('\n');
    let rows: Vec<Vec<String>> = SCENARIOS
        .iter()
        .flat_map(|scenario| GENERATORS.map(|(_, name)| (scenario.name(), name)))
        .map(|(scenario, name)| {
            let get = |metric| figures.get(scenario, name, metric);
            vec![
                scenario.to_owned(),
                name.to_owned(),
                spread(get(Metric::LoadCpu), 2),
                get(Metric::Rate).map_or(String::new(), thousands),
                spread(get(Metric::ServerCpu), 2),
            ]
        })
        .collect();
    let head = [
        "protocol",
        "generator",
        "its CPU us/request",
        "1,000/s",
        "the server's us/request",
    ];
    table(&mut text, "CPU per request", &head, &rows);
    text
}
