//! The measured servers in JavaScript, and how each is started.

use crate::load::Target;
use crate::scenario::Scenario;
use crate::subject::root;
use std::path::{Path, PathBuf};
use trunkline_interop::{Certificate, Cores, Process, Workplace, free_port};

/// Bytes of the file that [`Form::File`] sends.
const FILE_BYTES: usize = 64 << 10;

/// Whose server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Trunkline,
    Node,
    Bun,
}

/// The API that a handler is written against, and the form of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `stream.respond` and `stream.end`.
    Core,
    /// `response.end` with the whole body.
    End,
    /// `writeHead`, then `end`.
    Head,
    /// `writeHead`, two times `write`, `end`.
    Pieces,
    /// The stream of a file of [`FILE_BYTES`] piped into the response.
    File,
    /// A web handler that makes a `Response`.
    Fetch,
    /// One that gives the same `Response` again.
    Static,
    Fastify,
    Express,
}

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeSubject {
    pub(crate) whose: Whose,
    pub(crate) form: Form,
}

const fn subject(whose: Whose, form: Form) -> NodeSubject {
    NodeSubject { whose, form }
}

impl Form {
    /// The word that `server.mjs` takes, and its name in tables.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Core => ("core", "core"),
            Self::End => ("end", "compat end"),
            Self::Head => ("head", "compat writeHead + end"),
            Self::Pieces => ("pieces", "compat three writes"),
            Self::File => ("file", "compat file of 64 KiB"),
            Self::Fetch => ("serve", "serve"),
            Self::Static => ("static", "serve static"),
            Self::Fastify => ("fastify", "Fastify"),
            Self::Express => ("express", "Express"),
        }
    }
}

impl NodeSubject {
    pub(crate) const ALL: [Self; 17] = [
        subject(Whose::Trunkline, Form::Core),
        subject(Whose::Trunkline, Form::End),
        subject(Whose::Trunkline, Form::Head),
        subject(Whose::Trunkline, Form::Pieces),
        subject(Whose::Trunkline, Form::File),
        subject(Whose::Trunkline, Form::Fetch),
        subject(Whose::Trunkline, Form::Static),
        subject(Whose::Trunkline, Form::Fastify),
        subject(Whose::Trunkline, Form::Express),
        subject(Whose::Node, Form::Core),
        subject(Whose::Node, Form::End),
        subject(Whose::Node, Form::Head),
        subject(Whose::Node, Form::Pieces),
        subject(Whose::Node, Form::File),
        subject(Whose::Node, Form::Fastify),
        subject(Whose::Node, Form::Express),
        subject(Whose::Bun, Form::Fetch),
    ];

    /// Its name in tables; Node's own two modules are one server here, by the scenario.
    pub(crate) fn name(self, scenario: Scenario) -> String {
        let (_, form) = self.form.words();
        let whose = match self.whose {
            Whose::Trunkline => "trunkline",
            Whose::Node if scenario.is_h1() => "node:http",
            Whose::Node => "node:http2",
            Whose::Bun => "Bun",
        };
        format!("{whose} {form}")
    }

    /// Whether there is such a server: the core API has no HTTP/1.1, Express 5 hangs on node:http2,
    /// and neither has HTTP/3.
    pub(crate) fn speaks(self, scenario: Scenario) -> bool {
        match (self.whose, self.form) {
            (Whose::Node, _) if scenario.is_h3() => false,
            (_, Form::Core) => !scenario.is_h1(),
            (Whose::Node, Form::Express) => scenario.is_h1(),
            // HTTP/2 in the clear is nothing that it has.
            (Whose::Bun, _) => scenario != Scenario::H2c,
            _ => true,
        }
    }

    /// Starts it for `scenario`.
    ///
    /// # Errors
    /// When it does not start, in one sentence.
    pub(crate) fn start(
        self,
        context: &NodeSubjectContext,
        scenario: Scenario,
    ) -> Result<RunningNodeSubject, String> {
        let program = match self.whose {
            Whose::Bun => context.bun.as_ref().map_err(Clone::clone)?,
            Whose::Trunkline | Whose::Node => &context.node,
        };
        let (name, port) = (self.name(scenario), free_port()?);
        let (form, _) = self.form.words();
        let whose = match self.whose {
            Whose::Trunkline => "trunkline",
            Whose::Node => "node",
            Whose::Bun => "bun",
        };
        let protocol = match (scenario.is_h1(), scenario.is_h3()) {
            (true, _) => "h1",
            (_, true) => "h3",
            _ => "h2",
        };
        let mut command = Cores::Any.command(program);
        command.arg(folder().join("server.mjs"));
        command.args([whose, form, protocol, &port.to_string()]);
        if scenario.is_tls() {
            command.arg(&context.certificate.chain);
            command.arg(&context.certificate.key);
        }
        // Checks that frameworks leave out in production are not measured.
        command.env("NODE_ENV", "production");
        let answer_bytes = match self.form {
            Form::File => FILE_BYTES as u64,
            _ => 1024,
        };
        if self.form == Form::File {
            let file = context.workplace.path().join("file.txt");
            std::fs::write(&file, vec![b'x'; FILE_BYTES])
                .map_err(|why| format!("cannot write {}: {why}", file.display()))?;
            command.env("BENCH_FILE", file);
        }
        let log = format!("{}.log", name.replace([' ', ':'], "-"));
        let process = Process::start(&mut command, &[port], context.workplace.path().join(log))?;
        let target = Target {
            scenario,
            program: context.program.clone(),
            port,
            path: "/bytes/1024",
            answer_bytes,
            list: None,
            family: vec![process.id()],
            requests_per_connection_max: None,
        };
        Ok(RunningNodeSubject {
            name,
            target,
            _process: process,
        })
    }
}

/// A subject that runs.
pub(crate) struct RunningNodeSubject {
    pub(crate) name: String,
    pub(crate) target: Target,
    _process: Process,
}

/// The parts that every start needs.
pub(crate) struct NodeSubjectContext {
    pub(crate) workplace: Workplace,
    pub(crate) certificate: Certificate,
    pub(crate) node: PathBuf,
    /// Or why it is absent.
    pub(crate) bun: Result<PathBuf, String>,
    /// Our own program, which makes the load over HTTP/3; empty where that is not measured.
    pub(crate) program: PathBuf,
}

/// Where the servers' program and packages lie.
pub(crate) fn folder() -> PathBuf {
    root().join("bench/peers/node-server")
}

/// A package's version there.
pub(crate) fn version(package: &str) -> String {
    let file = folder().join("node_modules").join(package);
    installed_version(&file).unwrap_or_else(|| "of unknown version".to_owned())
}

fn installed_version(package: &Path) -> Option<String> {
    let text = std::fs::read_to_string(package.join("package.json")).ok()?;
    let json: serde_json::Value = serde_json::from_str(&text).ok()?;
    json["version"].as_str().map(str::to_owned)
}
