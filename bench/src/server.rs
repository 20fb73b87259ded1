//! Measures servers: every subject runs, and each round visits all of them in turn, so that a
//! disturbance of the machine affects all alike.

mod idle;
pub(crate) mod node;
mod writes;

use crate::load::usage::resident_kib;
use crate::load::{Round, round};
use crate::machine;
use crate::page::figures::{Figures, Metric};
use crate::page::runs::{BULK_METRICS, IDLE_COUNTS, Run, idle_scenario};
use crate::page::{docs, plot, readme, report};
use crate::scenario::{
    BULK_ANSWERS, BULK_BYTES, FILE_BYTES, Placement, Scenario, VARIED_TARGETS, varied_bytes,
};
use crate::subject::{Running, Subject, SubjectContext, build, install, root};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use trunkline_interop::{Certificate, Cores, Workplace, find_program, output_of};

/// Files beside those connections.
const OTHER_FILES: u64 = 1_000;
/// Requests of the round that strace counts.
const COUNTED_REQUESTS: u64 = 5_000;

/// Seconds per GiB in a microsecond per MiB.
const S_PER_GIB: f64 = 1024.0 / 1e6;

/// Flags of `server`.
#[derive(clap::Args)]
pub(crate) struct ServerOptions {
    /// Few and short rounds: what the figures are about, not what they are.
    #[arg(long)]
    quick: bool,
    /// Rounds of each subject; default 7, or 3 with --quick and of bulk.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// Subjects to measure, by a comma: trunkline, serve, bun, h2o, nghttpd, hyper, nginx, go,
    /// quinn-h3, quic-go, caddy.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Scenarios to measure, by a comma: h2-TLS, h2c, h1, h1-TLS, h3, h3-one-by-one,
    /// streamed-h2-TLS, streamed-h1, streamed-h3, file-h2-TLS, file-h1, file-h3, bulk-h1-TLS, bulk-h2-TLS,
    /// bulk-h3 (1 GiB in one answer), bulk-h1-TLS-64, bulk-h2-TLS-64, bulk-h3-64 (in 64 answers at once).
    #[arg(long, value_delimiter = ',')]
    scenarios: Vec<String>,
    /// Write the short table into README.md too.
    #[arg(long)]
    readme: bool,
    /// Leave out the idle connections.
    #[arg(long)]
    no_memory: bool,
    /// Only the idle connections.
    #[arg(long)]
    no_load: bool,
}

/// Measures, prints the tables and writes them to `bench/out/`.
pub(crate) fn run(options: &ServerOptions) -> Result<(), String> {
    install_packages();
    let mut subjects = chosen(&options.only)?;
    let mut run = Run {
        figures: Figures::default(),
        absent: BTreeSet::new(),
    };
    if subjects.contains(&Subject::Bun)
        && let Err(why) = install("bun", "bun")
    {
        run.report(&format!("Bun is not measured: {why}"));
        subjects.retain(|subject| *subject != Subject::Bun);
    }
    let cores = machine::cores();
    if cores.len() < 2 {
        run.report("There is one processor: \"two cores\" is the same core here.");
    }
    let most = IDLE_COUNTS.iter().max().copied().unwrap_or(0) as u64;
    idle::allow_open_files(most + OTHER_FILES)?;
    let programs = build()?;
    let workplace = Workplace::new()?;
    let file = workplace.site().join("file.txt");
    fs::write(&file, vec![b'x'; FILE_BYTES])
        .map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
    write_bulk(&workplace.site().join("bulk"))?;
    write_varied(&workplace.site().join("varied"))?;
    let certificate = Certificate::write(workplace.path())?;
    let server_cores = cores.first().map_or(Cores::Any, |&core| Cores::One(core));
    let context = SubjectContext {
        workplace,
        certificate,
        cores: server_cores,
        programs,
    };
    for scenario in chosen_scenarios(&options.scenarios)? {
        if !options.no_load {
            run.measure_load(options, &subjects, &context, scenario, &cores);
        }
        if !options.no_memory && matches!(scenario, Scenario::H2Tls | Scenario::H2c) {
            run.measure_memory(&subjects, &context, scenario);
        }
    }
    write_out(&run)?;
    if options.readme {
        let path = root().join("README.md");
        let cannot = |error| format!("{} cannot be used: {error}", path.display());
        let text = fs::read_to_string(&path).map_err(cannot)?;
        fs::write(&path, readme::with_figures(&text, &run)?).map_err(cannot)?;
        docs::write("measured/headline.svg", &plot::headline(&run.figures))?;
    }
    Ok(())
}

impl Run {
    /// One sentence, shown at once and kept for the report.
    fn report(&mut self, sentence: &str) {
        if self.absent.insert(sentence.to_owned()) {
            eprintln!("{sentence}");
        }
    }

    fn start(
        &mut self,
        subject: Subject,
        context: &SubjectContext,
        scenario: Scenario,
    ) -> Option<Running> {
        match subject.start(context, scenario) {
            Ok(running) => running,
            Err(why) => {
                self.report(&format!("{} is not measured: {why}", subject.word()));
                None
            }
        }
    }

    fn measure_load(
        &mut self,
        options: &ServerOptions,
        subjects: &[Subject],
        context: &SubjectContext,
        scenario: Scenario,
        cores: &[usize],
    ) {
        let few = options.quick || scenario.is_bulk();
        let rounds = options.rounds.unwrap_or(if few { 3 } else { 7 });
        let (warm_up, requests) = scenario.counts(options.quick);
        let mut running = Vec::new();
        for &subject in subjects {
            let Some(started) = self.start(subject, context, scenario) else {
                continue;
            };
            match round(&started.target, warm_up, &Cores::Any) {
                Ok(_) => running.push(started),
                Err(why) => {
                    let name = &started.name;
                    self.report(&format!(
                        "{name} is not measured on {}: {why}",
                        scenario.name()
                    ));
                }
            }
        }
        for placement in [Placement::SameCore, Placement::TwoCores] {
            eprintln!("{}, {}: {rounds} rounds", scenario.name(), placement.name());
            let load_cores = placement.load_cores(cores);
            let mut received: Vec<Vec<Round>> = running.iter().map(|_| Vec::new()).collect();
            for _ in 0..rounds {
                for (running, received) in running.iter().zip(&mut received) {
                    match round(&running.target, requests, &load_cores) {
                        Ok(figures) => received.push(figures),
                        Err(why) => self.report(&format!(
                            "{} lost a round of {}: {why}",
                            running.name,
                            scenario.name()
                        )),
                    }
                }
            }
            let workplace = format!("{} {}", scenario.name(), placement.name());
            for (running, received) in running.iter().zip(&received) {
                self.add_rounds(scenario, &workplace, &running.name, received);
                let kib = resident_kib(&running.target.family) as f64;
                self.figures
                    .add(&workplace, &running.name, Metric::Resident, [kib / 1024.0]);
                if scenario.is_bulk() {
                    continue;
                }
                let folder = context.workplace.path();
                match writes::per_response(&running.target, COUNTED_REQUESTS, &load_cores, folder) {
                    Ok(calls) => {
                        self.figures
                            .add(&workplace, &running.name, Metric::Writes, [calls]);
                    }
                    Err(why) => self.report(&format!(
                        "{} has no count of write calls on {}: {why}",
                        running.name,
                        scenario.name()
                    )),
                }
            }
        }
    }

    fn add_rounds(&mut self, scenario: Scenario, workplace: &str, name: &str, rounds: &[Round]) {
        // In bulk a unit is a MiB.
        let ([server_cpu, load_cpu, rate], factor) = match scenario.is_bulk() {
            false => ([Metric::ServerCpu, Metric::LoadCpu, Metric::Rate], 1.0),
            true => (BULK_METRICS, S_PER_GIB),
        };
        let server = rounds.iter().map(|round| round.server_us * factor);
        self.figures.add(workplace, name, server_cpu, server);
        let load = rounds.iter().map(|round| round.load_us * factor);
        self.figures.add(workplace, name, load_cpu, load);
        let units = rounds.iter().map(|round| round.units_per_second);
        self.figures.add(workplace, name, rate, units);
    }

    /// Each subject by itself, fresh: memory that a load left behind is not a connection's.
    fn measure_memory(
        &mut self,
        subjects: &[Subject],
        context: &SubjectContext,
        scenario: Scenario,
    ) {
        eprintln!("{}: idle connections", scenario.name());
        for &subject in subjects {
            let Some(running) = self.start(subject, context, scenario) else {
                continue;
            };
            match idle::growth_kib(&running.target, &context.certificate.der, &IDLE_COUNTS) {
                Ok(growth) => {
                    for (count, kib) in IDLE_COUNTS.iter().zip(growth) {
                        let workplace = idle_scenario(scenario, *count);
                        self.figures
                            .add(&workplace, &running.name, Metric::IdleMemory, [kib]);
                    }
                }
                Err(why) => {
                    let name = &running.name;
                    let scenario = scenario.name();
                    self.report(&format!("{name} has no idle figure on {scenario}: {why}"));
                }
            }
        }
    }
}

/// The files that file servers send as bulk: holes, so that they cost no disk.
fn write_bulk(folder: &Path) -> Result<(), String> {
    let write = |bytes: u64| {
        fs::create_dir_all(folder)?;
        fs::File::create(folder.join(bytes.to_string()))?.set_len(bytes)
    };
    [BULK_BYTES, BULK_BYTES / BULK_ANSWERS]
        .into_iter()
        .try_for_each(write)
        .map_err(|error| format!("{} cannot be written: {error}", folder.display()))
}

/// The files that file servers send to the varied load.
fn write_varied(folder: &Path) -> Result<(), String> {
    let write = |target: u64| {
        fs::create_dir_all(folder)?;
        let text = vec![b'x'; varied_bytes(target) as usize];
        fs::write(folder.join(target.to_string()), text)
    };
    (0..VARIED_TARGETS)
        .try_for_each(write)
        .map_err(|error| format!("{} cannot be written: {error}", folder.display()))
}

fn chosen(only: &[String]) -> Result<Vec<Subject>, String> {
    if only.is_empty() {
        return Ok(Subject::ALL.to_vec());
    }
    let find = |word: &String| {
        let found = Subject::ALL
            .into_iter()
            .find(|subject| subject.word() == word);
        let words = Subject::ALL.map(Subject::word).join(", ");
        found.ok_or_else(|| format!("no subject '{word}'; there are: {words}"))
    };
    only.iter().map(find).collect()
}

fn chosen_scenarios(named: &[String]) -> Result<Vec<Scenario>, String> {
    if named.is_empty() {
        return Ok(Scenario::ALL.to_vec());
    }
    let word = |scenario: Scenario| scenario.name().replace(' ', "-");
    let find = |name: &String| {
        let found = Scenario::ALL
            .into_iter()
            .find(|scenario| word(*scenario) == *name);
        let words = Scenario::ALL.map(word).join(", ");
        found.ok_or_else(|| format!("no scenario '{name}'; there are: {words}"))
    };
    named.iter().map(find).collect()
}

/// Installs what is missing of the Debian packages, as root; otherwise each absent peer will say
/// which package has it.
fn install_packages() {
    let programs = [
        ("h2load", "nghttp2-client"),
        ("nghttpd", "nghttp2-server"),
        ("nginx", "nginx-light"),
        ("h2o", "h2o"),
        ("caddy", "caddy"),
        ("strace", "strace"),
    ];
    let missing: Vec<&str> = programs
        .into_iter()
        .filter(|(program, package)| find_program(program, package).is_err())
        .map(|(_, package)| package)
        .collect();
    let is_root = output_of(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if missing.is_empty() || !is_root {
        return;
    }
    eprintln!("installing {}", missing.join(", "));
    let mut update = Command::new("apt-get");
    let mut install = Command::new("apt-get");
    install
        .args(["install", "-y", "-q", "--no-install-recommends"])
        .args(missing);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    let done = output_of(update.args(["update", "-q"])).and_then(|_| output_of(&mut install));
    if let Err(why) = done {
        eprintln!("going on without them: {why}");
    }
}

fn write_out(run: &Run) -> Result<(), String> {
    let tables = report::tables(run);
    println!("{tables}");
    write_files(&[
        ("bench-server.csv", run.figures.csv()),
        ("bench-server.md", report::page(run, &tables)),
        ("bench-server.svg", plot::server_cpu(&run.figures)),
    ])
}

/// [`write_files`], and with `docs` into `docs/measured/` too.
pub(crate) fn publish(files: &[(&str, String)], docs: bool) -> Result<(), String> {
    if docs {
        for (name, text) in files {
            docs::write(&format!("measured/{name}"), text)?;
        }
    }
    write_files(files)
}

/// Writes files to `bench/out/` and says on stderr where they are.
pub(crate) fn write_files(files: &[(&str, String)]) -> Result<(), String> {
    let folder = root().join("bench/out");
    fs::create_dir_all(&folder)
        .map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text)
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        eprintln!("bench/out/{name}");
    }
    Ok(())
}
