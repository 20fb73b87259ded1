//! `packaging/trunkline.service`: each line against what the server does, and the server under it, run by systemd itself where that can be run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");
/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two polls of the manager, each of which starts two processes.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The restrictions of the unit, and why the server does without it.
const FORBIDS: [(&str, &str, &str); 21] = [
    (
        "CapabilityBoundingSet",
        "CAP_NET_BIND_SERVICE",
        "binds ports below 1024, and needs no other right of root's",
    ),
    ("LockPersonality", "yes", "never calls personality()"),
    ("MemoryDenyWriteExecute", "yes", "makes no code at run time"),
    ("NoNewPrivileges", "yes", "starts no program but itself"),
    (
        "PrivateDevices",
        "yes",
        "reads random numbers by getrandom()",
    ),
    ("PrivateTmp", "yes", "writes no temporary file"),
    (
        "ProcSubset",
        "pid",
        "reads of /proc what is of its own process",
    ),
    ("ProtectClock", "yes", "reads the clock alone"),
    (
        "ProtectControlGroups",
        "yes",
        "is in its group, and changes none",
    ),
    ("ProtectHome", "yes", "serves no home folder"),
    ("ProtectHostname", "yes", "sets no name of the host"),
    ("ProtectKernelLogs", "yes", "reads no log of the kernel"),
    ("ProtectKernelModules", "yes", "loads no module"),
    (
        "ProtectKernelTunables",
        "yes",
        "the settings of the kernel are the operator's",
    ),
    ("ProtectProc", "invisible", "looks at no other process"),
    (
        "ProtectSystem",
        "strict",
        "writes in the folders of the unit alone",
    ),
    ("RemoveIPC", "yes", "has no IPC object of System V"),
    (
        "RestrictAddressFamilies",
        "AF_INET AF_INET6 AF_UNIX",
        "TCP, UDP and the sockets of the admin address, of --upgrade and of the manager",
    ),
    ("RestrictNamespaces", "yes", "makes no namespace"),
    ("RestrictRealtime", "yes", "asks for no realtime scheduling"),
    (
        "SystemCallArchitectures",
        "native",
        "is one program of one architecture",
    ),
];
/// The rest of `[Service]`.
const OTHERS: [&str; 19] = [
    "AmbientCapabilities",
    "ExecStart",
    "Group",
    "KillMode",
    "LimitNOFILE",
    "LogsDirectory",
    "NotifyAccess",
    "Restart",
    "RestartSec",
    "RuntimeDirectory",
    "SystemCallErrorNumber",
    "SystemCallFilter",
    "SystemCallFilter",
    "TimeoutStopSec",
    "Type",
    "Type",
    "UMask",
    "User",
    "WatchdogSec",
];

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging")
}

/// The lines of `[Service]`: names and values, with continued lines as one.
fn service() -> Vec<(String, String)> {
    let text = fs::read_to_string(packaging().join("trunkline.service")).expect("a unit");
    let text = text.replace("\\\n", " ");
    let section = text.split("\n[Service]\n").nth(1).expect("a service");
    let section = section.split("\n[").next().expect("its lines");
    let lines = section
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let pairs = lines.map(|line| line.split_once('=').expect("a name and a value"));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The arguments of `ExecStart`.
fn arguments() -> Vec<String> {
    let lines = service();
    let (_, command) = lines
        .iter()
        .find(|(name, _)| name == "ExecStart")
        .expect("a command");
    command.split_whitespace().map(str::to_owned).collect()
}

fn value_of(flag: &str) -> String {
    let arguments = arguments();
    let at = arguments
        .iter()
        .position(|it| it == flag)
        .unwrap_or_else(|| panic!("{flag} is not in the unit"));
    arguments[at + 1].clone()
}

#[test]
fn every_line_of_the_unit_is_one_that_this_table_knows() {
    let mut found: Vec<_> = service();
    found.sort();
    let by_name: BTreeMap<_, _> = found
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    for (name, value, why) in FORBIDS {
        assert_eq!(by_name.get(name), Some(&value), "{name}: the server {why}");
    }
    let mut names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
    let mut expected: Vec<_> = FORBIDS
        .iter()
        .map(|(name, ..)| *name)
        .chain(OTHERS)
        .collect();
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

#[test]
fn what_the_server_of_the_unit_writes_is_in_the_folders_that_the_unit_makes() {
    let lines = service();
    let folder = |name: &str| {
        let (_, value) = lines.iter().find(|(it, _)| it == name).expect("a line");
        value.clone()
    };
    let runtime = format!("/run/{}/", folder("RuntimeDirectory"));
    let logs = format!("/var/log/{}/", folder("LogsDirectory"));
    assert!(value_of("--admin").starts_with(&format!("unix:{runtime}")));
    assert!(value_of("--upgrade").starts_with(&runtime));
    assert!(value_of("--access-log").starts_with(&logs));
    // The log that logrotate renames is this one, and the folder of the keys the one that the package makes.
    let rotated = fs::read_to_string(packaging().join("trunkline.logrotate")).expect("a file");
    assert!(rotated.contains(&value_of("--access-log")), "{rotated}");
    let made = fs::read_to_string(packaging().join("trunkline.tmpfiles")).expect("a file");
    assert!(
        made.contains("/etc/trunkline ") && value_of("--tls-key").starts_with("/etc/trunkline/")
    );
}

#[test]
fn the_manager_waits_longer_for_the_end_than_the_drain_takes() {
    let lines = service();
    let number = |text: &str| text.parse::<u64>().expect("seconds");
    let (_, timeout) = lines
        .iter()
        .find(|(name, _)| name == "TimeoutStopSec")
        .expect("a line");
    assert!(number(timeout) > number(&value_of("--drain-delay")) + number(&value_of("--drain")));
}

#[test]
fn systemd_knows_every_line_of_the_unit() {
    let unit = packaging().join("trunkline.service");
    let verified = Command::new("systemd-analyze")
        .arg("verify")
        .arg(&unit)
        .output();
    let Ok(verified) = verified else {
        println!("skipped: there is no systemd-analyze");
        return;
    };
    let text = String::from_utf8_lossy(&verified.stderr).into_owned();
    // The program is not installed here, and systemd before 253 takes the line above that of notify-reload.
    let known = [
        "/usr/bin/trunkline is not executable",
        "Failed to parse service type, ignoring: notify-reload",
    ];
    let of_unit = text
        .lines()
        .filter(|line| line.contains("trunkline.service"));
    let wrong: Vec<_> = of_unit
        .filter(|line| !known.iter().any(|it| line.contains(it)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Starts systemd as process 1 of namespaces of its own, with the unit, its user, a certificate and a file to serve.
const MANAGER: &str = r#"
set -e
mount -t tmpfs tmpfs /run
umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/systemd/system/trunkline.service.d /run/lock /run/etc
cp -a /etc/. /run/etc && mount --bind /run/etc /etc
for folder in /opt /srv /var/log; do mount -t tmpfs tmpfs $folder; done
cp "$PROGRAM" /opt/trunkline
mkdir /srv/www && echo hello > /srv/www/a.txt
systemd-sysusers "$PACKAGING/trunkline.sysusers"
install -d -o root -g trunkline -m 0750 /etc/trunkline
install -o root -g trunkline -m 0640 "$FILES/cert.pem" "$FILES/key.pem" /etc/trunkline
cd /run/systemd/system
sed 's|/usr/bin/trunkline|/opt/trunkline|' "$PACKAGING/trunkline.service" > trunkline.service
printf '[Unit]\nDefaultDependencies=no\n[Service]\nWatchdogSec=20\nStandardOutput=append:/run/output\nStandardError=append:/run/output\n' > trunkline.service.d/test.conf
printf '[Unit]\nDefaultDependencies=no\nAllowIsolate=yes\nWants=trunkline.service\n' > stand.target
export container=other SYSTEMD_LOG_LEVEL=${LEVEL:-info} SYSTEMD_LOG_TARGET=console
exec /lib/systemd/systemd --system --unit=stand.target --show-status=0
"#;
/// A control group of its own, which the manager takes for the root.
const GROUP: &str = r#"
set -e
root=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
group="$root$(sed -n 's/^0:://p' /proc/self/cgroup)/trunkline-unit-$$"
mkdir "$group"
echo "$group" > "$FILES/group"
echo $$ > "$group/cgroup.procs"
exec unshare --fork --kill-child --pid --mount --cgroup --net --uts --ipc --mount-proc sh -c "$0"
"#;

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

/// systemd with the unit.
struct Systemd {
    outer: Child,
    inner: String,
    files: crate::served::Folder,
}

impl Systemd {
    /// `None`: it cannot be run here, for the reason that is printed.
    fn start() -> Option<Self> {
        let needed = [
            "unshare",
            "nsenter",
            "findmnt",
            "systemd-sysusers",
            "systemctl",
        ];
        let has = |name: &&str| {
            ["/bin", "/usr/bin", "/sbin", "/usr/sbin"]
                .iter()
                .any(|folder| Path::new(folder).join(name).exists())
        };
        if !is_root() || !Path::new("/lib/systemd/systemd").exists() || !needed.iter().all(has) {
            println!(
                "skipped: systemd in namespaces of its own takes root, systemd and util-linux"
            );
            return None;
        }
        let files = crate::served::Folder::new("unit");
        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a key");
        files.file("cert.pem", signed.cert.pem().as_bytes());
        files.file("key.pem", signed.signing_key.serialize_pem().as_bytes());
        let mut command = Command::new("sh");
        command
            .args(["-c", GROUP, MANAGER])
            .env("PROGRAM", BINARY)
            .env("PACKAGING", packaging())
            .env("FILES", files.path());
        let log = fs::File::create(files.0.join("log")).expect("a file");
        let outer = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file"))
            .stderr(log)
            .spawn()
            .expect("a shell");
        let mut manager = Self {
            outer,
            inner: String::new(),
            files,
        };
        let until = Instant::now() + PATIENCE;
        while !manager.is_up() {
            if manager.outer.try_wait().expect("a child").is_some() {
                println!("skipped: systemd cannot be run here: {}", manager.log());
                return None;
            }
            assert!(
                Instant::now() < until,
                "systemd does not come up: {}",
                manager.log()
            );
            thread::sleep(POLL_INTERVAL);
        }
        Some(manager)
    }
    fn log(&self) -> String {
        fs::read_to_string(self.files.0.join("log")).unwrap_or_default()
    }
    /// Whether process 1 of the namespace answers.
    fn is_up(&mut self) -> bool {
        let outer = self.outer.id();
        let Ok(children) = fs::read_to_string(format!("/proc/{outer}/task/{outer}/children"))
        else {
            return false;
        };
        self.inner = children.trim().to_owned();
        !self.inner.is_empty()
            && self
                .run(&["systemctl", "show", "--property=Version"])
                .status
                .success()
    }
    /// Runs a command beside the server.
    fn run(&self, command: &[&str]) -> Output {
        let enter = [
            "--target",
            &self.inner,
            "--mount",
            "--net",
            "--pid",
            "--cgroup",
            "--",
        ];
        Command::new("nsenter")
            .args(enter)
            .args(command)
            .output()
            .expect("nsenter")
    }
    fn text(&self, command: &[&str]) -> String {
        let output = self.run(command);
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert!(
            output.status.success(),
            "{command:?}: {text} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        text
    }
    fn property(&self, name: &str) -> String {
        self.text(&[
            "systemctl",
            "show",
            "trunkline",
            "--value",
            "--property",
            name,
        ])
    }
    fn output(&self) -> String {
        self.text(&["cat", "/run/output"])
    }
    /// Shown when an assertion fails. The status of a service that does not run is no success.
    fn state(&self) -> String {
        let status = self.run(&["systemctl", "status", "--no-pager", "trunkline"]);
        format!(
            "{}\n{}",
            String::from_utf8_lossy(&status.stdout),
            self.output()
        )
    }
    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(
                Instant::now() < until,
                "{what} does not come: {}",
                self.state()
            );
            thread::sleep(POLL_INTERVAL);
        }
    }
    fn serves_every_version(&self) {
        for version in ["--http1.1", "--http2", "--http3-only"] {
            assert_eq!(
                self.text(&[
                    "/opt/trunkline",
                    "get",
                    "--insecure",
                    version,
                    "https://localhost/a.txt"
                ]),
                "hello",
                "{version}"
            );
        }
    }
    /// Whether the server's own view of the files lets root write, who is held by nothing else.
    fn refuses_writes(&self, server: &str) {
        // A process that cannot be entered refuses everything.
        self.text(&["nsenter", "--target", server, "--mount", "--", "true"]);
        for (file, expected) in [
            ("/etc/a", false),
            ("/srv/www/a", false),
            ("/opt/a", false),
            ("/run/trunkline/a", true),
            ("/var/log/trunkline/a", true),
        ] {
            let inside = self.run(&[
                "nsenter",
                "--target",
                server,
                "--mount",
                "--",
                "sh",
                "-c",
                "true > $0 && rm $0",
                file,
            ]);
            assert_eq!(
                inside.status.success(),
                expected,
                "{file}: {}\n{}",
                String::from_utf8_lossy(&inside.stderr),
                self.state()
            );
        }
    }
    fn is_restricted(&self, server: &str) {
        let status = self.text(&["cat", &format!("/proc/{server}/status")]);
        let bind_service = format!("{:016x}", 1 << 10);
        for (name, expected) in [
            ("NoNewPrivs", "1"),
            ("Seccomp", "2"),
            ("CapEff", &bind_service),
            ("CapBnd", &bind_service),
        ] {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{name}:")));
            assert_eq!(line.map(str::trim), Some(expected), "{name}");
        }
    }
}

impl Drop for Systemd {
    fn drop(&mut self) {
        let _ = self.outer.kill();
        let _ = self.outer.wait();
        let Ok(group) = fs::read_to_string(self.files.0.join("group")) else {
            return;
        };
        // The kernel removes the processes of a namespace behind the end of its first.
        let until = Instant::now() + Duration::from_secs(10);
        while Path::new(group.trim()).exists() && Instant::now() < until {
            let _ = Command::new("find")
                .args([
                    group.trim(),
                    "-depth",
                    "-type",
                    "d",
                    "-exec",
                    "rmdir",
                    "{}",
                    ";",
                ])
                .output();
        }
    }
}

#[test]
fn under_systemd_with_every_restriction_the_server_serves_reloads_is_replaced_and_drains() {
    let Some(manager) = Systemd::start() else {
        return;
    };
    manager.until("the start", || manager.property("ActiveState") == "active");
    manager.serves_every_version();
    let first = manager.property("MainPID");
    manager.refuses_writes(&first);
    manager.is_restricted(&first);
    let state = manager.text(&[
        "/opt/trunkline",
        "top",
        "--once",
        "unix:/run/trunkline/admin",
    ]);
    assert!(state.starts_with("trunkline server "), "{state}");

    manager.text(&[
        "systemctl",
        "kill",
        "--signal=HUP",
        "--kill-whom=main",
        "trunkline",
    ]);
    manager.until("the reload", || {
        manager.output().contains("were read again")
    });
    manager.serves_every_version();

    manager.text(&[
        "systemctl",
        "kill",
        "--signal=USR2",
        "--kill-whom=main",
        "trunkline",
    ]);
    manager.until("the next process", || manager.property("MainPID") != first);
    let next = manager.property("MainPID");
    manager.until("the end of the one before", || {
        !manager.run(&["kill", "-0", &first]).status.success()
    });
    manager.serves_every_version();
    manager.refuses_writes(&next);
    manager.is_restricted(&next);
    // The watchdog goes on: without its messages systemd ends the service after twenty seconds, which is long enough for a busy machine. The first of
    // the two changes may be a message of the process before.
    for _ in 0..2 {
        let last = manager.property("WatchdogTimestampMonotonic");
        manager.until("the watchdog", || {
            manager.property("WatchdogTimestampMonotonic") != last
        });
    }
    assert_eq!(
        (manager.property("MainPID"), manager.property("NRestarts")),
        (next, "0".to_owned())
    );

    manager.text(&["systemctl", "stop", "trunkline"]);
    let ended = ["Result", "ExecMainStatus", "ActiveState"].map(|name| manager.property(name));
    assert_eq!(
        ended,
        ["success", "0", "inactive"],
        "{}\n{}",
        manager.log(),
        manager.output()
    );
    let output = manager.output();
    assert!(!output.contains("warning"), "{output}");
    let lines = manager.text(&["cat", "/var/log/trunkline/access.log"]);
    assert_eq!(lines.lines().count(), 9, "{lines}");
}
