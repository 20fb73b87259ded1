//! `make conform`: runs foreign suites, and our own for HTTP/3, against our server, and compares
//! with `interop/expected.toml`. A failed case without a reason there fails the run; so does one
//! that passes although a reason is given, so that the list stays true.

mod expected;
mod h2spec;
mod h3;
mod httpwg;
mod server;
mod tls_pipe;

use crate::{Outcome, root, tools};
use expected::Expected;
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// The findings of a suite.
struct Suite {
    /// `h2spec`, `httpwg` or `h3`.
    name: &'static str,
    passed: usize,
    total: usize,
    /// Ids of the cases that did not pass.
    failed: BTreeSet<String>,
}

/// One line of the table: a suite over a transport, and how it compares.
struct Row {
    transport: &'static str,
    suite: Suite,
    argued: usize,
    unexpected: Vec<String>,
}

/// Runs every suite over TLS and cleartext, and that of HTTP/3 over QUIC. With an address and `tls` or `clear`, runs them
/// against that server instead of our own.
pub(crate) fn conform(args: &[String]) -> Outcome {
    let expected = Expected::read(&root().join("interop/expected.toml"))?;
    tools::H2SPEC.ensure()?;
    tools::HTTPWG.ensure()?;
    let mut rows = Vec::new();
    if let [address, transport] = args {
        let address = address
            .parse()
            .map_err(|_| format!("'{address}' is not an address such as 127.0.0.1:8080"))?;
        let tls = match transport.as_str() {
            "tls" => true,
            "clear" => false,
            other => return Err(format!("'{other}' is neither tls nor clear")),
        };
        against(address, tls, &expected, &mut rows)?;
    } else {
        server::build()?;
        for tls in [true, false] {
            let server = server::start(tls)?;
            against(server.address, tls, &expected, &mut rows)?;
        }
        rows.push(row("quic", h3::run()?, &expected));
    }
    print(&rows);
    write_csv(&rows)?;
    let unexpected: usize = rows.iter().map(|row| row.unexpected.len()).sum();
    match unexpected {
        0 => Ok(()),
        count => Err(format!(
            "{count} cases differ from interop/expected.toml (listed above)"
        )),
    }
}

fn against(address: SocketAddr, tls: bool, expected: &Expected, rows: &mut Vec<Row>) -> Outcome {
    let transport = if tls { "tls" } else { "cleartext" };
    for suite in [h2spec::run(address, tls)?, httpwg::run(address, tls)?] {
        rows.push(row(transport, suite, expected));
    }
    Ok(())
}

fn row(transport: &'static str, suite: Suite, expected: &Expected) -> Row {
    let key = format!("{}-{transport}", suite.name);
    let unexpected = expected.compare(&key, &suite.failed);
    let argued = expected.argued(&key, &suite.failed);
    Row {
        transport,
        suite,
        argued,
        unexpected,
    }
}

fn print(rows: &[Row]) {
    println!(
        "{:<10} {:<10} {:>7} {:>6} {:>7}",
        "suite", "transport", "passed", "of", "argued"
    );
    for row in rows {
        let Suite {
            name,
            passed,
            total,
            ..
        } = &row.suite;
        println!(
            "{name:<10} {:<10} {passed:>7} {total:>6} {:>7}",
            row.transport, row.argued
        );
    }
    for row in rows {
        for failed in &row.unexpected {
            println!("{} over {}: {failed}", row.suite.name, row.transport);
        }
    }
}

fn write_csv(rows: &[Row]) -> Outcome {
    let mut text = "scenario,subject,metric,unit,median,min,max\n".to_owned();
    for row in rows {
        let metrics = [
            ("passed", row.suite.passed),
            ("total", row.suite.total),
            ("argued", row.argued),
        ];
        for (metric, value) in metrics {
            let scenario = format!("{} {}", row.suite.name, row.transport);
            text += &format!("{scenario},trunkline,{metric},cases,{value},{value},{value}\n");
        }
    }
    let folder = root().join("bench/out");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("conform.csv"), text))
        .map_err(|why| format!("cannot write bench/out/conform.csv: {why}"))
}
