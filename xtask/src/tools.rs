//! Finds and installs tools. Cargo and Go tools go to `target/tools/bin`, so that nothing outside
//! the project changes; Debian packages are installed only for root.

use crate::{Outcome, root};
use std::path::PathBuf;
use std::process::Command;

/// A tool that is not part of the Rust toolchain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    /// The program's name.
    pub program: &'static str,
    /// Where it comes from.
    pub source: ToolSource,
}

/// Where a tool comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ToolSource {
    /// `cargo install --locked NAME`.
    Cargo(&'static str),
    /// `cargo install --locked --no-default-features --features FEATURES NAME`.
    CargoWith(&'static str, &'static str),
    /// `go install PATH`.
    Go(&'static str),
    /// `apt-get install NAME`.
    Debian(&'static str),
}

pub(crate) const TYPOS: Tool = Tool {
    program: "typos",
    source: ToolSource::Cargo("typos-cli"),
};
pub(crate) const DENY: Tool = Tool {
    program: "cargo-deny",
    source: ToolSource::Cargo("cargo-deny"),
};
pub(crate) const FUZZ: Tool = Tool {
    program: "cargo-fuzz",
    source: ToolSource::Cargo("cargo-fuzz"),
};
/// The Debian package, the bills of materials, and the workflows of a release.
pub(crate) const DEB: Tool = Tool {
    program: "cargo-deb",
    source: ToolSource::Cargo("cargo-deb"),
};
pub(crate) const CYCLONEDX: Tool = Tool {
    program: "cargo-cyclonedx",
    source: ToolSource::Cargo("cargo-cyclonedx"),
};
pub(crate) const ACTIONLINT: Tool = Tool {
    program: "actionlint",
    source: ToolSource::Go("github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"),
};
pub(crate) const DPKG: Tool = debian("dpkg", "dpkg");
pub(crate) const HTTPWG: Tool = Tool {
    program: "httpwg",
    source: ToolSource::Cargo("httpwg-cli"),
};
/// Without its server and its watcher, which take longer to compile than the rest.
pub(crate) const MDBOOK: Tool = Tool {
    program: "mdbook",
    source: ToolSource::CargoWith("mdbook", "search"),
};
pub(crate) const H2SPEC: Tool = Tool {
    program: "h2spec",
    source: ToolSource::Go("github.com/summerwind/h2spec/cmd/h2spec@latest"),
};
pub(crate) const OPENSSL: Tool = debian("openssl", "openssl");
/// Slow heads, bodies and reading, as others try them.
pub(crate) const SLOWHTTPTEST: Tool = debian("slowhttptest", "slowhttptest");
/// Foreign peers of the interop tests; a test whose peer is absent says so and passes.
pub(crate) const PEERS: &[Tool] = &[
    debian("curl", "curl"),
    debian("nghttp", "nghttp2-client"),
    debian("h2load", "nghttp2-client"),
    debian("nghttpd", "nghttp2-server"),
    debian("nginx", "nginx-light"),
    debian("haproxy", "haproxy"),
    debian("tinyproxy", "tinyproxy"),
    debian("microsocks", "microsocks"),
    debian("danted", "dante-server"),
    debian("python3", "python3-venv"),
    debian("chromium", "chromium"),
    OPENSSL,
];

const fn debian(program: &'static str, package: &'static str) -> Tool {
    Tool {
        program,
        source: ToolSource::Debian(package),
    }
}

impl Tool {
    /// The program's path, installed first when it is absent.
    pub(crate) fn ensure(self) -> Result<PathBuf, String> {
        if let Some(path) = self.find() {
            return Ok(path);
        }
        eprintln!("installing {} ({})", self.program, self.how());
        self.install()?;
        self.find()
            .ok_or_else(|| format!("{} is still missing after: {}", self.program, self.how()))
    }
    /// The program's path if it is there.
    pub(crate) fn find(self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::iter::once(tools_dir().join("bin"))
            .chain(std::env::split_paths(&path))
            .map(|dir| dir.join(self.program))
            .find(|file| file.is_file())
    }
    /// The command by which a person gets it.
    pub(crate) fn how(self) -> String {
        match self.source {
            ToolSource::Cargo(name) => format!("cargo install --locked {name}"),
            ToolSource::CargoWith(name, features) => {
                format!("cargo install --locked --no-default-features --features {features} {name}")
            }
            ToolSource::Go(path) => format!("go install {path}"),
            ToolSource::Debian(name) => format!("apt-get install {name}"),
        }
    }
    fn install(self) -> Outcome {
        let mut command = match self.source {
            ToolSource::Cargo(name) => cargo_install(&[name]),
            ToolSource::CargoWith(name, features) => {
                cargo_install(&["--no-default-features", "--features", features, name])
            }
            ToolSource::Go(path) => {
                let mut command = Command::new("go");
                command.args(["install", path]);
                command.env("GOBIN", tools_dir().join("bin"));
                command
            }
            ToolSource::Debian(name) => {
                if !is_root() {
                    return Err(format!(
                        "{} is missing; get it with: sudo {}",
                        self.program,
                        self.how()
                    ));
                }
                let mut command = Command::new("apt-get");
                command.args(["install", "-y", "-q", "--no-install-recommends", name]);
                command.env("DEBIAN_FRONTEND", "noninteractive");
                command.stdout(std::process::Stdio::null());
                command
            }
        };
        run(&mut command)
    }
}

fn cargo_install(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(["install", "--quiet", "--locked", "--root"]);
    command.arg(tools_dir()).args(args);
    command
}

/// Installs what is missing of `tools`; says what it could not install and goes on.
pub(crate) fn ensure_or_report(tools: &[Tool]) {
    let missing: Vec<Tool> = tools
        .iter()
        .copied()
        .filter(|tool| tool.find().is_none())
        .collect();
    if !missing.is_empty() && is_root() {
        // A fresh machine has no package lists; a failure shows in the installs that follow.
        let _ = Command::new("apt-get").args(["update", "-q"]).output();
    }
    let absent: Vec<&str> = missing
        .into_iter()
        .filter(|tool| tool.ensure().is_err())
        .map(|tool| tool.program)
        .collect();
    if !absent.is_empty() {
        eprintln!("going on without {}", absent.join(", "));
    }
}

/// Where tools are installed.
pub(crate) fn tools_dir() -> PathBuf {
    root().join("target").join("tools")
}

/// Where cargo keeps the sources of packages.
pub(crate) fn cargo_home() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| Some(std::env::home_dir()?.join(".cargo")))
}

/// Runs a command in the project's root, its output shown.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let displayed = format!("{command:?}").replace('"', "");
    let status = command
        .current_dir(root())
        .status()
        .map_err(|why| format!("cannot start `{displayed}`: {why}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{displayed}` failed ({status})"))
    }
}

/// A cargo command with `args`. It does not see what the cargo that started us said of this
/// package: build scripts that watch those variables (ring's) would run again, and everything
/// behind them would be built again, with each change between `make` and cargo by hand.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(args);
    for (name, _) in std::env::vars_os() {
        let printed = name.to_string_lossy();
        if printed.starts_with("CARGO_PKG_") || printed.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// `command` with the program and the arguments of `inner` behind its own, in the environment of `inner`.
pub(crate) fn beside<'a>(command: &'a mut Command, inner: &Command) -> &'a mut Command {
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.arg(inner.get_program()).args(inner.get_args())
}

fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}
