//! Measures servers in JavaScript, on one Node.js. Each round visits all subjects in turn; every
//! round takes about the same time, so expensive subjects get fewer requests.

use crate::load::usage::{first_thread_ns, resident_kib};
use crate::load::{Round, round};
use crate::machine;
use crate::page::figures::{Figures, Metric};
use crate::page::node;
use crate::page::runs::{NODE_SCENARIOS, NodePlacement, NodeRun};
use crate::scenario::Scenario;
use crate::server::publish;
use crate::subject::node::{NodeSubject, NodeSubjectContext, RunningNodeSubject};
use crate::subject::{build, install};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use trunkline_interop::{Certificate, Cores, Workplace, output_of};

/// Requests after which it is known how fast a subject is.
const FIRST_REQUESTS: u64 = 2_000;
/// Requests of a round, at least and at most.
const REQUESTS: std::ops::RangeInclusive<u64> = 2_000..=500_000;
/// Seconds of warm-up and of each round: the compilers of JavaScript take a while.
const SECONDS: [f64; 2] = [3.0, 1.0];
const QUICK_SECONDS: [f64; 2] = [1.0, 0.4];

/// Flags of `node-server`.
#[derive(clap::Args)]
pub(crate) struct NodeServerOptions {
    /// Few and short rounds: what the figures are about, not what they are.
    #[arg(long)]
    quick: bool,
    /// Rounds of each subject; default 7, or 3 with --quick.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// Subjects whose name in the tables contains one of these words, by a comma; default: all.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Scenarios to measure, by a comma.
    #[arg(long, value_delimiter = ',', default_values_t = NODE_SCENARIOS.map(word))]
    scenarios: Vec<String>,
    /// Where server and load run, by a comma.
    #[arg(long, value_delimiter = ',', default_values_t = [NodePlacement::SameCore, NodePlacement::AnyCore], value_enum)]
    placements: Vec<NodePlacement>,
    /// The Node.js of all servers but Bun's; default: the one that `bench/peers/node-server` has.
    #[arg(long)]
    node: Option<PathBuf>,
    /// Write the page into `docs/measured` too.
    #[arg(long)]
    docs: bool,
    /// Write the figures as JSON to stdout, and nothing else there.
    #[arg(long)]
    json: bool,
}

fn word(scenario: Scenario) -> String {
    scenario.name().replace(' ', "-")
}

/// Measures, prints the tables and writes them to `bench/out/`.
pub(crate) fn run(options: &NodeServerOptions) -> Result<(), String> {
    let scenarios = chosen(&options.scenarios)?;
    let installed = install("node-server", "node")?;
    let workplace = Workplace::new()?;
    let context = NodeSubjectContext {
        certificate: Certificate::write(workplace.path())?,
        workplace,
        node: options.node.clone().unwrap_or(installed),
        bun: install("bun", "bun"),
        program: match scenarios.iter().any(|scenario| scenario.is_h3()) {
            true => build()?.join("trunkline"),
            // Not needed for this form.
            false => PathBuf::new(),
        },
    };
    let mut run = NodeRun {
        figures: Figures::default(),
        absent: BTreeSet::new(),
    };
    let load_before = machine::load_average();
    for scenario in scenarios {
        run.measure(options, &context, scenario)?;
    }
    let tables = node::tables(&run.figures);
    let page = node::page(&run, &context, &load_before, &tables);
    let files = [
        ("bench-node-server.csv", run.figures.csv()),
        ("bench-node-server.md", page),
    ];
    if options.json {
        println!("{:#}", run.figures.json());
    } else {
        println!("{tables}");
    }
    publish(&files, options.docs)
}

impl NodeRun {
    /// One sentence, shown at once and kept for the page.
    fn report(&mut self, sentence: String) {
        eprintln!("{sentence}");
        self.absent.insert(sentence);
    }

    fn measure(
        &mut self,
        options: &NodeServerOptions,
        context: &NodeSubjectContext,
        scenario: Scenario,
    ) -> Result<(), String> {
        let seconds = if options.quick {
            QUICK_SECONDS
        } else {
            SECONDS
        };
        let rounds = options.rounds.unwrap_or(if options.quick { 3 } else { 7 });
        let running = self.start(options, context, scenario, seconds);
        for &placement in &options.placements {
            let cores = match placement {
                NodePlacement::SameCore => first_core(),
                NodePlacement::AnyCore => Cores::Any,
            };
            eprintln!("{}, {}: {rounds} rounds", scenario.name(), placement.name());
            for (subject, _) in &running {
                put_on(&cores, subject)?;
            }
            let mut received: Vec<Vec<(Round, f64)>> = running.iter().map(|_| Vec::new()).collect();
            for _ in 0..rounds {
                for ((subject, requests), received) in running.iter().zip(&mut received) {
                    match measured(subject, *requests, &cores) {
                        Ok(figures) => received.push(figures),
                        Err(why) => {
                            let (name, scenario) = (&subject.name, scenario.name());
                            self.report(format!("{name} lost a round of {scenario}: {why}"));
                        }
                    }
                }
            }
            let workplace = format!("{} {}", scenario.name(), placement.name());
            for ((subject, _), received) in running.iter().zip(&received) {
                self.add(&workplace, subject, received);
            }
        }
        Ok(())
    }

    /// Starts all that speak it, warmed up, each with the requests of a round.
    fn start(
        &mut self,
        options: &NodeServerOptions,
        context: &NodeSubjectContext,
        scenario: Scenario,
        [warm_up, each]: [f64; 2],
    ) -> Vec<(RunningNodeSubject, u64)> {
        let mut running = Vec::new();
        for subject in NodeSubject::ALL {
            let name = subject.name(scenario);
            let is_asked = |word: &String| name.contains(word.as_str());
            let is_left_out = !options.only.is_empty() && !options.only.iter().any(is_asked);
            if !subject.speaks(scenario) || is_left_out {
                continue;
            }
            eprintln!("{}: {name}", scenario.name());
            let warmed = subject.start(context, scenario).and_then(|started| {
                let count = |rate: f64, seconds: f64| {
                    let count = (rate * seconds) as u64;
                    count.clamp(*REQUESTS.start(), *REQUESTS.end())
                };
                let first = round(&started.target, FIRST_REQUESTS, &Cores::Any)?;
                let requests = count(first.units_per_second, warm_up);
                let warm = round(&started.target, requests, &Cores::Any)?;
                Ok((started, count(warm.units_per_second, each)))
            });
            match warmed {
                Ok(warmed) => running.push(warmed),
                Err(why) => {
                    let scenario = scenario.name();
                    self.report(format!("{name} is not measured on {scenario}: {why}"));
                }
            }
        }
        running
    }

    fn add(&mut self, workplace: &str, subject: &RunningNodeSubject, rounds: &[(Round, f64)]) {
        let (name, figures) = (&subject.name, &mut self.figures);
        let values = |value: fn(&(Round, f64)) -> f64| rounds.iter().map(value);
        let server = values(|(round, _)| round.server_us);
        figures.add(workplace, name, Metric::ServerCpu, server);
        figures.add(
            workplace,
            name,
            Metric::ScriptCpu,
            values(|(_, script)| *script),
        );
        figures.add(
            workplace,
            name,
            Metric::LoadCpu,
            values(|(round, _)| round.load_us),
        );
        let rate = values(|(round, _)| round.units_per_second);
        figures.add(workplace, name, Metric::Rate, rate);
        let kib = resident_kib(&subject.target.family) as f64;
        figures.add(workplace, name, Metric::Resident, [kib / 1024.0]);
    }
}

/// One round, and the microseconds of JavaScript's thread per request.
fn measured(
    subject: &RunningNodeSubject,
    requests: u64,
    cores: &Cores,
) -> Result<(Round, f64), String> {
    let script = || {
        subject
            .target
            .family
            .first()
            .map_or(0, |&id| first_thread_ns(id))
    };
    let before = script();
    let figures = round(&subject.target, requests, cores)?;
    let script_us = (script() - before) as f64 / 1000.0 / requests as f64;
    Ok((figures, script_us))
}

fn first_core() -> Cores {
    machine::cores()
        .first()
        .map_or(Cores::Any, |&core| Cores::One(core))
}

/// Moves all threads of a subject that runs.
fn put_on(cores: &Cores, subject: &RunningNodeSubject) -> Result<(), String> {
    let list = match cores {
        Cores::One(core) => core.to_string(),
        Cores::Any => {
            let all: Vec<String> = machine::cores().iter().map(usize::to_string).collect();
            all.join(",")
        }
    };
    for id in &subject.target.family {
        let mut command = Command::new("taskset");
        command.args(["--all-tasks", "--cpu-list", "--pid", &list, &id.to_string()]);
        output_of(&mut command)?;
    }
    Ok(())
}

fn chosen(words: &[String]) -> Result<Vec<Scenario>, String> {
    let find = |name: &String| {
        let found = NODE_SCENARIOS
            .into_iter()
            .find(|&scenario| word(scenario) == *name);
        let words = NODE_SCENARIOS.map(word).join(", ");
        found.ok_or_else(|| format!("no scenario '{name}'; there are: {words}"))
    };
    words.iter().map(find).collect()
}
