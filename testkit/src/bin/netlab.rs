//! `netlab`: a long, slow or lossy network on this machine, for one command or until taken down.
//!
//! ```text
//! netlab run --delay-ms 50 --rate-mbit 1000 -- sh -c \
//!   'ip netns exec $NETLAB_CLIENT_NS ping -c 3 $NETLAB_SERVER_IP'
//! eval "$(netlab up --delay-ms 50)"; ...; netlab down $NETLAB_NAME
//! ```

#[cfg(target_os = "linux")]
mod linux {
    use clap::{Args, Parser, Subcommand};
    use nix::sys::signal::{SigSet, Signal, kill};
    use nix::unistd::Pid;
    use std::io::{self, BufRead, BufReader, Read, Write};
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, ExitCode, ExitStatus, Stdio, id};
    use std::time::Duration;
    use trunkline_testkit::netlab::{Lab, PathSettings, Settings};

    /// Two network namespaces joined by a path with delay, rate, loss and reordering.
    ///
    /// Needs root, /dev/net/tun and `ip`. A command finds NETLAB_CLIENT_NS, NETLAB_SERVER_NS and
    /// the addresses NETLAB_CLIENT_IP, NETLAB_SERVER_IP (and _IP6) in its environment.
    #[derive(Parser)]
    #[command(name = "netlab")]
    struct Arguments {
        #[command(subcommand)]
        action: Action,
    }

    #[derive(Subcommand)]
    enum Action {
        /// Build a network, run a command, remove the network; exits as the command does.
        Run {
            #[command(flatten)]
            options: Options,
            /// The command and its arguments.
            #[arg(last = true, required = true)]
            command: Vec<String>,
        },
        /// Build a network and leave it; prints its variables for `eval`.
        Up {
            #[command(flatten)]
            options: Options,
        },
        /// Remove a network that `up` left.
        Down {
            /// NETLAB_NAME, as `up` printed it.
            name: String,
        },
        /// Holds a network until it is ended; `up` starts it.
        #[command(hide = true)]
        Hold {
            #[command(flatten)]
            options: Options,
        },
    }

    #[derive(Args)]
    struct Options {
        /// How long a packet travels one way, in milliseconds; the round trip is twice this.
        #[arg(long, default_value_t = 0.0)]
        delay_ms: f64,
        /// Megabits per second in each direction, IP heads included. Default: unbounded.
        #[arg(long)]
        rate_mbit: Option<f64>,
        /// The share of packets that get lost, 0 to 1.
        #[arg(long, default_value_t = 0.0)]
        loss: f64,
        /// The share of packets that those behind overtake, 0 to 1.
        #[arg(long, default_value_t = 0.0)]
        reorder: f64,
        /// How much later such a packet arrives, in milliseconds.
        #[arg(long, default_value_t = 5.0)]
        reorder_by_ms: f64,
        /// KiB that may wait to leave. Default: one round trip at the rate, at least 256.
        #[arg(long)]
        queue_kib: Option<u64>,
        /// The seed of loss and reordering.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Bytes of the largest packet.
        #[arg(long, default_value_t = 1500)]
        mtu: u32,
        /// TCP's congestion control. Default: the machine's.
        #[arg(long)]
        congestion: Option<String>,
    }

    impl Options {
        fn settings(&self) -> Result<Settings, String> {
            let time = |name: &str, ms: f64| {
                Duration::try_from_secs_f64(ms / 1000.0)
                    .map_err(|_| format!("{name} is {ms}; it must be from 0 to 60000"))
            };
            Ok(Settings {
                path: PathSettings {
                    delay: time("delay-ms", self.delay_ms)?,
                    rate: self.rate_mbit.map(|mbit| (mbit * 1e6) as u64),
                    loss: self.loss,
                    reorder: self.reorder,
                    reorder_by: time("reorder-by-ms", self.reorder_by_ms)?,
                    queue_bytes: self.queue_kib.map(|kib| kib * 1024),
                    seed: self.seed,
                },
                mtu: self.mtu,
                congestion: self.congestion.clone(),
                ..Settings::default()
            })
        }
    }

    pub(super) fn main() -> ExitCode {
        let done = match Arguments::parse().action {
            Action::Run { options, command } => run(&options, &command),
            Action::Up { .. } => up().map(|()| ExitCode::SUCCESS),
            Action::Down { name } => down(&name).map(|()| ExitCode::SUCCESS),
            Action::Hold { options } => hold(&options).map(|()| ExitCode::SUCCESS),
        };
        done.unwrap_or_else(|sentence| {
            eprintln!("netlab: {sentence}");
            ExitCode::FAILURE
        })
    }

    /// Signals that must not leave a network behind, and the end of the command.
    fn awaited() -> SigSet {
        let mut signals = SigSet::empty();
        for signal in [
            Signal::SIGINT,
            Signal::SIGTERM,
            Signal::SIGHUP,
            Signal::SIGCHLD,
        ] {
            signals.add(signal);
        }
        signals
    }

    fn run(options: &Options, command: &[String]) -> Result<ExitCode, String> {
        let (program, arguments) = command.split_first().ok_or("no command is given")?;
        let lab = Lab::build(&options.settings()?)?;
        let signals = awaited();
        signals.thread_block().map_err(|error| error.to_string())?;
        let mut to_run = Command::new(program);
        to_run.args(arguments).envs(lab.variables());
        // SAFETY: between fork and exec only sigprocmask is called, which is async-signal-safe.
        unsafe {
            to_run.pre_exec(|| SigSet::all().thread_unblock().map_err(io::Error::from));
        }
        let mut child = to_run
            .spawn()
            .map_err(|error| format!("cannot run `{program}`: {error}"))?;
        let status = follow(&mut child, &signals)?;
        // 128 + signal is what shells say.
        let code = status.code().unwrap_or_else(|| {
            use std::os::unix::process::ExitStatusExt;
            128 + status.signal().unwrap_or(0)
        });
        Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
    }

    /// Waits for the command's end and hands it the signals that come meanwhile.
    fn follow(child: &mut Child, signals: &SigSet) -> Result<ExitStatus, String> {
        loop {
            let ended = child.try_wait().map_err(|error| error.to_string())?;
            if let Some(status) = ended {
                return Ok(status);
            }
            let signal = signals.wait().map_err(|error| error.to_string())?;
            if signal != Signal::SIGCHLD {
                let _ = kill(Pid::from_raw(child.id().cast_signed()), signal);
            }
        }
    }

    /// Starts `hold` with the same options and waits for its first lines.
    fn up() -> Result<(), String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let options = std::env::args().skip(2);
        let mut holder = Command::new(program)
            .arg("hold")
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // Not ours: a reader of our output's end must not wait for the relay's.
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot start the relay: {error}"))?;
        let lines = holder
            .stdout
            .take()
            .map(BufReader::new)
            .ok_or("no output")?;
        let mut displayed = Vec::new();
        for line in lines.lines() {
            let line = line.map_err(|error| error.to_string())?;
            if line.is_empty() {
                println!("{}", displayed.join("\n"));
                return Ok(());
            }
            displayed.push(line);
        }
        let mut sent = String::new();
        if let Some(mut errors) = holder.stderr.take() {
            let _ = errors.read_to_string(&mut sent);
        }
        let _ = holder.wait();
        Err(sent.trim().trim_start_matches("netlab: ").to_owned())
    }

    fn hold(options: &Options) -> Result<(), String> {
        let signals = awaited();
        signals.thread_block().map_err(|error| error.to_string())?;
        let lab = Lab::build(&options.settings()?)?;
        let mut out = io::stdout();
        let mut lines = format!("export NETLAB_NAME=netlab-{}\n", id());
        for (name, value) in lab.variables() {
            lines.push_str(&format!("export {name}={value}\n"));
        }
        writeln!(out, "{lines}").map_err(|error| error.to_string())?;
        loop {
            match signals.wait() {
                Ok(Signal::SIGCHLD) => {}
                _ => return Ok(()),
            }
        }
    }

    fn down(name: &str) -> Result<(), String> {
        let wrong = || format!("`{name}` is no network of netlab; it is named `netlab-<number>`");
        let process: i32 = name
            .strip_prefix("netlab-")
            .and_then(|number| number.parse().ok())
            .ok_or_else(wrong)?;
        let command = std::fs::read_to_string(format!("/proc/{process}/comm"))
            .map_err(|_| format!("`{name}` is not up"))?;
        if command.trim() != "netlab" {
            return Err(wrong());
        }
        let process = Pid::from_raw(process);
        kill(process, Signal::SIGTERM).map_err(|error| format!("cannot end `{name}`: {error}"))?;
        // It is another process's child: its end shows only in that it is no more.
        for _ in 0..500 {
            if kill(process, None).is_err() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(format!("`{name}` did not end within 5 s"))
    }
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("netlab: only Linux has the network namespaces that this needs");
    std::process::exit(1);
}
