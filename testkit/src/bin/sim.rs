//! `make sim SEEDS=1000 START=0`: runs a number of simulated worlds.

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

fn main() -> std::process::ExitCode {
    let began = std::time::Instant::now();
    let mut lasted = std::time::Duration::ZERO;
    let (mut worlds, mut answered, mut failed, mut steps) = (0_u64, 0, 0, 0);
    let mut broken = Vec::new();
    for seed in trunkline_testkit::sim::seeds(number("START", 0), number("SEEDS", 1000)) {
        worlds += 1;
        let Ok(summary) = std::panic::catch_unwind(|| trunkline_testkit::sim::run(seed)) else {
            broken.push(seed);
            continue;
        };
        lasted += summary.lasted;
        answered += summary.answered;
        failed += summary.failed;
        steps += summary.steps;
    }
    println!(
        "{worlds} worlds, {answered} requests answered, {failed} ended otherwise, {steps} steps; \
         {:.0} s of theirs in {:.1} s of ours",
        lasted.as_secs_f64(),
        began.elapsed().as_secs_f64()
    );
    if broken.is_empty() {
        return std::process::ExitCode::SUCCESS;
    }
    eprintln!("{} worlds failed: seeds {broken:?}", broken.len());
    std::process::ExitCode::FAILURE
}
