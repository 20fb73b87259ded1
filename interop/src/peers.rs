//! The foreign servers: their configuration and how they are started.

use crate::process::{Cores, Process, find_go, find_program, output_of};
use crate::{Certificate, Workplace, free_port};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Connections that a peer must be able to hold.
const CONNECTIONS_MAX: u32 = 19_000;

/// Where a peer listens on 127.0.0.1.
#[derive(Clone, Copy, Debug)]
pub struct Endpoints {
    /// HTTP/1.1 in the clear; `None` if the peer does not speak it.
    pub h1: Option<u16>,
    /// HTTP/2 with prior knowledge.
    pub h2c: u16,
    /// TLS; the version is chosen by ALPN.
    pub tls: u16,
}

/// A foreign server that runs. Cleartext and TLS may be two processes.
#[derive(Debug)]
pub struct Peer {
    /// Its name and version, as its own program says.
    pub name: String,
    /// Where it listens.
    pub endpoints: Endpoints,
    /// Its processes; the last one serves TLS.
    pub processes: Vec<Process>,
}

/// nginx in one process, serving the site; `PUT /dav/..` stores, up to 32 MiB. `settings` goes
/// into the `http` block.
///
/// # Errors
/// When it is absent or does not start.
pub fn nginx(
    workplace: &Workplace,
    certificate: &Certificate,
    cores: &Cores,
    settings: &str,
) -> Result<Peer, String> {
    let program = find_program("nginx", "nginx-light")?;
    let printed = output_of(Command::new(&program).arg("-v"))?;
    let (h1, h2c, tls) = (free_port()?, free_port()?, free_port()?);
    let folder = workplace.path().display();
    let (chain, key) = (certificate.chain.display(), certificate.key.display());
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path {folder}/nginx_{name};\n"))
        .concat();
    let text = format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log stderr warn;\n\
         events {{ worker_connections {CONNECTIONS_MAX}; }}\n\
         http {{\n{temporary}{settings}\n\
         access_log off;\n  default_type text/plain;\n\
         keepalive_timeout 600s;\n  http2_max_concurrent_streams 1000;\n\
         server {{\n    listen 127.0.0.1:{h1};\n    listen 127.0.0.1:{h2c} http2;\n\
         listen 127.0.0.1:{tls} ssl http2;\n    ssl_certificate {chain};\n\
         ssl_certificate_key {key};\n    ssl_protocols TLSv1.2 TLSv1.3;\n\
         root {folder}/site;\n\
         location /dav/ {{ dav_methods PUT; create_full_put_path on; \
         client_max_body_size 32m; }}\n  }}\n}}\n"
    );
    let config = workplace.write("nginx.conf", text)?;
    let mut command = cores.command(&program);
    command
        .arg("-c")
        .arg(config)
        .arg("-p")
        .arg(workplace.path());
    let process = Process::start(
        &mut command,
        &[h1, h2c, tls],
        workplace.path().join("nginx.log"),
    )?;
    Ok(Peer {
        name: format!("nginx {}", version_after(&printed, "nginx/")),
        endpoints: Endpoints {
            h1: Some(h1),
            h2c,
            tls,
        },
        processes: vec![process],
    })
}

/// h2o with one thread, serving the site.
///
/// # Errors
/// When it is absent or does not start.
pub fn h2o(
    workplace: &Workplace,
    certificate: &Certificate,
    cores: &Cores,
) -> Result<Peer, String> {
    let program = find_program("h2o", "h2o")?;
    let printed = output_of(Command::new(&program).arg("--version"))?;
    let (clear, tls) = (free_port()?, free_port()?);
    // As root it would switch to an unprivileged user, who may not read the workplace.
    let user = match output_of(Command::new("id").arg("-u"))?.trim() {
        "0" => "user: root\n",
        _ => "",
    };
    let text = format!(
        "{user}num-threads: 1\nmax-connections: {CONNECTIONS_MAX}\n\
         http1-request-timeout: 600\nhttp2-idle-timeout: 600\n\
         listen:\n  host: 127.0.0.1\n  port: {clear}\n\
         listen:\n  host: 127.0.0.1\n  port: {tls}\n  ssl:\n    certificate-file: {}\n    \
         key-file: {}\n\
         hosts:\n  default:\n    paths:\n      /:\n        file.dir: {}\n\
         file.mime.setdefaulttype: text/plain\n",
        certificate.chain.display(),
        certificate.key.display(),
        workplace.site().display(),
    );
    let config = workplace.write("h2o.conf", text)?;
    let mut command = cores.command(&program);
    command.arg("-c").arg(config);
    let process = Process::start(
        &mut command,
        &[clear, tls],
        workplace.path().join("h2o.log"),
    )?;
    Ok(Peer {
        name: format!("h2o {}", version_after(&printed, "version ")),
        endpoints: Endpoints {
            h1: Some(clear),
            h2c: clear,
            tls,
        },
        processes: vec![process],
    })
}

/// nghttpd with one thread, serving the site; two processes, one per transport. `flags` are its
/// own, for example `--echo-upload` or `--trailer`.
///
/// # Errors
/// When it is absent or does not start.
pub fn nghttpd(
    workplace: &Workplace,
    certificate: &Certificate,
    cores: &Cores,
    flags: &[&str],
) -> Result<Peer, String> {
    let program = find_program("nghttpd", "nghttp2-server")?;
    let printed = output_of(Command::new(&program).arg("--version"))?;
    let (clear, tls) = (free_port()?, free_port()?);
    let start = |port: u16, log: &str| {
        let mut command = cores.command(&program);
        command.args(["--address", "127.0.0.1", "--max-concurrent-streams", "1000"]);
        command.args(flags).arg("--htdocs").arg(workplace.site());
        if port == clear {
            command.arg("--no-tls").arg(port.to_string());
        } else {
            command
                .arg(port.to_string())
                .arg(&certificate.key)
                .arg(&certificate.chain);
        }
        Process::start(&mut command, &[port], workplace.path().join(log))
    };
    Ok(Peer {
        name: format!("nghttpd {}", version_after(&printed, "nghttp2/")),
        endpoints: Endpoints {
            h1: None,
            h2c: clear,
            tls,
        },
        processes: vec![
            start(clear, "nghttpd-clear.log")?,
            start(tls, "nghttpd-tls.log")?,
        ],
    })
}

/// Builds the Go program in `source` (a folder with `main.go` and `go.mod`, standard library
/// only) and starts it with `-clear`, `-tls`, `-cert` and `-key`.
///
/// # Errors
/// When Go is absent or too old, or the program does not build or start.
pub fn go_program(
    workplace: &Workplace,
    certificate: &Certificate,
    cores: &Cores,
    source: &Path,
) -> Result<Peer, String> {
    let (go, version) = find_go()?;
    let program: PathBuf = workplace.path().join("go-server");
    let mut build = Command::new(&go);
    build
        .current_dir(source)
        .args(["build", "-o"])
        .arg(&program)
        .arg(".");
    // The Go that is installed, never one fetched for the purpose.
    build.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-mod=mod");
    output_of(&mut build)?;
    let (clear, tls) = (free_port()?, free_port()?);
    let mut command = cores.command(&program);
    command.args([
        "-clear",
        &format!("127.0.0.1:{clear}"),
        "-tls",
        &format!("127.0.0.1:{tls}"),
    ]);
    command
        .arg("-cert")
        .arg(&certificate.chain)
        .arg("-key")
        .arg(&certificate.key);
    let process = Process::start(&mut command, &[clear, tls], workplace.path().join("go.log"))?;
    Ok(Peer {
        name: format!("Go {version}"),
        endpoints: Endpoints {
            h1: Some(clear),
            h2c: clear,
            tls,
        },
        processes: vec![process],
    })
}

/// The word of `printed` behind `mark`; empty if there is none.
fn version_after<'a>(printed: &'a str, mark: &str) -> &'a str {
    let rest = printed.split_once(mark).map_or("", |(_, rest)| rest);
    rest.split_whitespace().next().unwrap_or_default()
}
