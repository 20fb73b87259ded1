//! Caddy: Debian's package, whose HTTP/3 is a quic-go of 2022.

use crate::peers::{Endpoints, Peer};
use crate::process::{Cores, Process, find_program, output_of};
use crate::{Certificate, Workplace, free_port};
use std::process::Command;

/// Starts Caddy on HTTP/1.1 to HTTP/3, serving the site and two bytes at `/bytes/2`. What it gets
/// below `/behind` goes on to `behind`, a port of 127.0.0.1, as HTTP/2 with prior knowledge.
///
/// # Errors
/// When it is absent or does not start.
pub fn caddy(
    workplace: &Workplace,
    certificate: &Certificate,
    cores: &Cores,
    behind: Option<u16>,
) -> Result<Peer, String> {
    let program = find_program("caddy", "caddy")?;
    let printed = output_of(Command::new(&program).arg("version"))?;
    let (clear, tls, admin) = (free_port()?, free_port()?, free_port()?);
    let behind = behind.map_or_else(String::new, |port| {
        format!("  handle_path /behind/* {{\n    reverse_proxy h2c://127.0.0.1:{port}\n  }}\n")
    });
    let (folder, site) = (workplace.path().display(), workplace.site());
    let (chain, key) = (certificate.chain.display(), certificate.key.display());
    let serving = format!(
        "  bind 127.0.0.1\n{behind}  respond /bytes/2 ok\n  root * {}\n  file_server\n",
        site.display()
    );
    let text = format!(
        "{{\n  admin 127.0.0.1:{admin}\n  auto_https off\n  \
         default_sni localhost\n  storage file_system {folder}/caddy\n  \
         log {{\n    level WARN\n  }}\n}}\n\
         http://:{clear} {{\n{serving}}}\n\
         https://:{tls} {{\n  tls {chain} {key}\n{serving}}}\n"
    );
    let config = workplace.write("Caddyfile", text)?;
    let mut command = cores.command(&program);
    command.arg("run").arg("--config").arg(config);
    // It keeps nothing outside of the workplace.
    command.env("HOME", workplace.path());
    let log = workplace.path().join("caddy.log");
    let mut process = Process::start(&mut command, &[clear, tls], log)?;
    process.speaks_quic(tls)?;
    Ok(Peer {
        name: format!(
            "Caddy {}",
            printed.split_whitespace().next().unwrap_or_default()
        ),
        endpoints: Endpoints {
            h1: Some(clear),
            // Without this option it uses HTTP/2 under TLS only.
            h2c: clear,
            tls,
        },
        processes: vec![process],
    })
}

/// Makes a Caddy take its configuration anew: it drains what it has and listens with a new server.
///
/// # Errors
/// When it refuses.
pub fn reload_caddy(workplace: &Workplace) -> Result<(), String> {
    let program = find_program("caddy", "caddy")?;
    let mut command = Command::new(program);
    command.args(["reload", "--force", "--config"]);
    command.arg(workplace.path().join("Caddyfile"));
    output_of(command.env("HOME", workplace.path())).map(|_| ())
}
