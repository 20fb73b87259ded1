use super::keys::ValueKind;
use super::*;
use crate::serve::config::{Settled, example};
use clap::{Args as _, FromArgMatches as _};
use std::time::Duration;

/// The options without any flag.
fn defaults() -> ServeOptions {
    let command = ServeOptions::augment_args(clap::Command::new("serve"));
    let matches = command.get_matches_from(["serve"]);
    ServeOptions::from_arg_matches(&matches).expect("defaults")
}

/// The options that a file with this text makes.
fn read(text: &str) -> Result<ServeOptions, String> {
    let mut options = defaults();
    let path = Path::new("/etc/trunkline/serve.toml");
    match ConfigFile::parse(path, text.to_owned(), &mut options) {
        Ok(_) => Ok(options),
        Err(why) => Err(why.to_string()),
    }
}

#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    let why = read(text).map(|_| ()).expect_err(text);
    for expected in expected {
        assert!(why.contains(expected), "{text}: {why}");
    }
}

const LEAST: &str = "root = \"/srv\"\n";

/// A file in which `path` has `value`.
fn file_with(path: &str, value: &str) -> String {
    match path.split_once('.') {
        None if path == "root" => format!("root = {value}\n"),
        None => format!("{LEAST}{path} = {value}\n"),
        Some((CERTIFICATE, name)) => {
            let others = ["chain", "key"].into_iter().filter(|other| *other != name);
            let others: String = others.map(|other| format!("{other} = \"x\"\n")).collect();
            format!("{LEAST}[[certificate]]\n{others}{name} = {value}\n")
        }
        Some((LISTEN, "address")) => format!("{LEAST}[[listen]]\naddress = {value}\n"),
        Some((LISTEN, name)) => {
            let first = "[[listen]]\naddress = \"[::]:1\"\n[[listen]]\naddress = \"[::]:2\"\n";
            format!("{LEAST}{first}{name} = {value}\n")
        }
        Some((table, name)) => format!("{LEAST}[{table}]\n{name} = {value}\n"),
    }
}

#[test]
fn a_file_sets_the_options_that_flags_set_and_paths_begin_at_its_folder() {
    let options = read(
        "listen = \"0.0.0.0:443\"\nroot = \"site\"\nworkers = 4\nproxy_protocol = [\"10.0.0.0/8\"]\n\
         [files]\nlisting = false\nspa = true\n\
         [[certificate]]\nchain = \"/c/a.pem\"\nkey = \"a.key\"\nnames = [\"a.test\", \"*.a.test\"]\n\
         [[certificate]]\nchain = \"default.pem\"\nkey = \"default.key\"\n\
         [tls]\ntickets = \"tickets\"\n[http3]\nenabled = false\n\
         [limits]\nhead_bytes_max = \"32KiB\"\nrequests_per_connection_max = 10\n\
         [timeouts]\nidle = \"2min\"\nhead = 1.5\nage_max = \"1h\"\nbody_idle = \"off\"\n\
         [log]\naccess = \"-\"\nformat = \"json\"\nfields = [\"time\", \"client_port\"]\n\
         [admin]\naddress = \"unix:/run/admin\"\n[drain]\ntime = 5\n",
    )
    .expect("it can be used");
    assert_eq!(options.listen, "0.0.0.0:443");
    assert_eq!(options.directory, Some("/etc/trunkline/site".into()));
    assert_eq!(
        (options.workers, options.no_listing, options.spa),
        (4, true, true)
    );
    assert_eq!(options.proxy_protocol, ["10.0.0.0/8"]);
    assert_eq!(options.tls_cert, Some("/etc/trunkline/default.pem".into()));
    assert_eq!(options.tls_key, Some("/etc/trunkline/default.key".into()));
    let [named] = options.certificates.as_slice() else {
        panic!("{:?}", options.certificates);
    };
    assert_eq!(named.chain, Path::new("/c/a.pem"));
    assert_eq!(named.names, ["a.test", "*.a.test"]);
    assert_eq!(options.tls_tickets, Some("/etc/trunkline/tickets".into()));
    assert!(options.no_http3 && !options.http3);
    let config = crate::serve::config(&options);
    assert_eq!(config.limits.head_bytes_max, 32 * 1024);
    assert_eq!(config.limits.requests_per_connection_max, 10);
    let times = config.timeouts;
    assert_eq!(times.idle, Some(Duration::from_secs(120)));
    assert_eq!(times.head, Some(Duration::from_millis(1500)));
    assert_eq!(times.age_max, Some(Duration::from_secs(3600)));
    assert_eq!(times.body_idle, None);
    assert_eq!(options.operate.access_log, Some("-".into()));
    assert_eq!(options.operate.access_log_fields.len(), 2);
    assert_eq!((options.operate.drain, options.operate.drain_delay), (5, 0));
    let unix =
        read("listen = \"unix:/run/site\"\ntest_endpoints = true\n").expect("it can be used");
    assert_eq!(unix.unix, Some("/run/site".into()));
}

#[test]
fn the_default_that_the_table_says_is_the_default_of_the_options() {
    let least = format!("{:?}", read(LEAST).expect("it can be used"));
    for key in KEYS {
        // In parentheses, and a list of nothing beside what a certificate needs.
        if key.default.starts_with('(') || key.table() == CERTIFICATE {
            continue;
        }
        let least = match key.table() {
            // The table changes options by being there.
            LISTEN => format!(
                "{:?}",
                read(&file_with("listen.redirect", "false")).expect("it can be used")
            ),
            _ => least.clone(),
        };
        let options = read(&file_with(key.path, key.default));
        let options = options.unwrap_or_else(|why| panic!("{}: {why}", key.path));
        assert_eq!(
            format!("{options:?}"),
            least,
            "{} = {}",
            key.path,
            key.default
        );
    }
}

#[test]
fn every_key_takes_the_ends_of_its_range_and_nothing_beyond_or_of_another_form() {
    let seconds = |time: &Duration| format!("\"{}ms\"", time.as_millis());
    for key in KEYS {
        let mut wrong = vec!["1979-05-27".to_owned(), "{ a = 1 }".to_owned()];
        let mut right = Vec::new();
        match &key.kind {
            ValueKind::Flag(_) => {
                right.extend(["true", "false"].map(str::to_owned));
                wrong.extend(["1", "\"true\""].map(str::to_owned));
            }
            ValueKind::Count(range, ..) | ValueKind::Bytes(range, _) => {
                let (least, most) = (*range.start(), *range.end());
                right.push(least.to_string());
                right.push(most.min(i64::MAX as u64).to_string());
                wrong.extend(least.checked_sub(1).map(|below| below.to_string()));
                wrong.extend((most < i64::MAX as u64).then(|| (most + 1).to_string()));
                wrong.extend(["-1", "1.5", "true", "\"one\"", "\"1 KB\""].map(str::to_owned));
            }
            ValueKind::Time(range, _) | ValueKind::TimeOrOff(range, _) => {
                right.extend([seconds(range.start()), seconds(range.end())]);
                wrong.push(seconds(&(*range.end() + Duration::from_millis(1))));
                wrong.extend(["-1", "nan", "\"5 minutes\"", "\"s\"", "true"].map(str::to_owned));
                let off = "\"off\"".to_owned();
                match key.kind {
                    ValueKind::TimeOrOff(..) => right.push(off),
                    _ => wrong.push(off),
                }
            }
            ValueKind::Text(..) | ValueKind::File(_) => {
                wrong.extend(["1", "[]"].map(str::to_owned))
            }
            ValueKind::Texts(..) => wrong.extend(["1", "[1]", "\"a\""].map(str::to_owned)),
        }
        for value in right {
            let read = read(&file_with(key.path, &value)).map(|_| ());
            assert_eq!(read, Ok(()), "{} = {value}", key.path);
        }
        for value in wrong {
            let expected = format!("{} is {value}; it must be {}", key.path, key.kind.allowed());
            refused(&file_with(key.path, &value), &[&expected]);
        }
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line_its_column_and_what_is_allowed() {
    let path = "/etc/trunkline/serve.toml";
    for (text, expected) in [
        (
            "root = \"/srv\"\nworkers = 1025\n",
            ":2:11: workers is 1025; it must be a whole number from 0 to 1024",
        ),
        (
            "root = \"/srv\"\n  lisen = \"a\"\n",
            ":2:3: unknown key lisen; the nearest known one is listen.",
        ),
        (
            "root = \"/srv\"\n[limits]\nhead_byte_max = 1\n",
            ":3:1: unknown key limits.head_byte_max; the nearest known one is limits.head_bytes_max.",
        ),
        (
            "root = \"/srv\"\n[timouts]\nidle = 1\n",
            ":2:2: unknown key timouts; the nearest known one is [timeouts].",
        ),
        (
            "root = \"/srv\"\nidle = 1\n",
            ":2:1: unknown key idle; the nearest known one is timeouts.idle.",
        ),
        (
            "root = \"/srv\"\naccess-log = \"-\"\n",
            "the nearest known one is log.access.",
        ),
        // As other servers have them.
        (
            "root = \"/srv\"\n[tls]\ncert = \"a\"\n",
            ":3:1: unknown key tls.cert; the nearest known one is certificate.chain.",
        ),
        (
            "root = \"/srv\"\nport = 80\n",
            ":2:1: unknown key port; the nearest known one is listen.",
        ),
        (
            "root = \"/srv\"\n[log]\nfile = \"a\"\n",
            ":3:1: unknown key log.file; the nearest known one is log.access.",
        ),
        (
            "root = \"/srv\"\nlimits = 3\n",
            ":2:1: limits is a table: write [limits]",
        ),
        (
            "root = \"/srv\"\n[certificate]\nchain = \"a\"\n",
            ":2:2: write [[certificate]]",
        ),
        (
            "root = \"/srv\"\n[[certificate]]\nchain = \"a\"\n",
            ":2:1: [[certificate]] has no key",
        ),
        (
            "root = \"/srv\"\nlisten = \"nowhere\"\n",
            ":2:10: listen is \"nowhere\"; it must be a text: host:port",
        ),
        (
            "root = \"/srv\"\n[log]\nformat = \"xml\"\n",
            ":3:10: log.format is \"xml\"; it must be \"common\", \"combined\" or \"json\"",
        ),
        ("root = \"/srv\nworkers = 1\n", ":1:"),
        ("root = \"/srv\"\nroot = \"/srv\"\n", ":2:1: "),
        ("workers = 1\n", "root is missing"),
        (
            "root = \"a\"\n[tls]\nself_signed = true\n[[certificate]]\nchain = \"a\"\nkey = \"a\"\n",
            "leave one of them out",
        ),
        (
            "root = \"a\"\n[http3]\nenabled = false\nearly_data = true\n",
            "http3.enabled is false",
        ),
        (
            "root = \"a\"\nlisten = \"unix:/run/a\"\n[http3]\nenabled = true\n",
            "which has no UDP",
        ),
        (
            "root = \"a\"\n[[certificate]]\nchain = \"a\"\nkey = \"a\"\n[[certificate]]\nchain = \"a\"\nkey = \"a\"\n",
            ":5:1: a second [[certificate]] without names",
        ),
    ] {
        refused(text, &[path, expected]);
    }
    // A column counts characters, and every wrong line has its own.
    let both = read("root = \"\u{e4}\"\n\"\u{e4}\" = 1\nworkers = \"\u{e4}\"\n").map(|_| ());
    let both = both.expect_err("two are wrong");
    assert_eq!(both.lines().count(), 2, "{both}");
    assert!(
        both.contains(":2:1: unknown key") && both.contains(":3:11: workers"),
        "{both}"
    );
}

#[test]
fn no_text_ends_the_reader_otherwise_than_with_options_or_lines() {
    let good = "root = \"/srv\"\nproxy_protocol = [\"::1\"]\n[[certificate]]\nchain = \"a\"\nkey = 'b'\n\
                [limits]\nbacklog = 0x10\n[timeouts]\nidle = 1e1\n";
    assert!(read(good).is_ok());
    for at in 0..good.len() {
        let _ = read(&good[..at]);
        for other in ["", "\"", "[", "]", "=", "\n", "9", "\u{e4}"] {
            let changed = [&good[..at], other, &good[at + 1..]].concat();
            if let Err(why) = read(&changed) {
                assert!(why.starts_with("/etc/trunkline/serve.toml:"), "{why}");
            }
        }
    }
}

#[test]
fn a_failure_that_names_a_flag_or_a_file_is_put_in_the_words_and_at_the_place_of_the_file() {
    let mut options = defaults();
    let text = "root = \"/srv\"\n[admin]\naddress = \"0.0.0.0:1\"\ntoken_file = \"/t/oken\"\n[tls]\ntickets = \"/t/ickets\"\n";
    let path = Path::new("serve.toml");
    let file = ConfigFile::parse(path, text.to_owned(), &mut options).expect("it can be used");
    for (flags, expected) in [
        (
            "--admin-token-file /t/oken cannot be read",
            "serve.toml:4:1: admin.token_file /t/oken cannot be read",
        ),
        (
            "--admin 0.0.0.0:1 is open: add --admin-token-file",
            "serve.toml:3:1: admin.address 0.0.0.0:1 is open: add admin.token_file",
        ),
        (
            "the file /t/ickets is open to every user",
            "serve.toml:6:1: the file /t/ickets is open to every user",
        ),
        ("out of memory", "serve.toml: out of memory"),
    ] {
        assert_eq!(file.located(flags.to_owned()), expected);
    }
}

#[test]
fn every_flag_that_the_table_names_exists_and_does_not_stand_beside_a_file() {
    let command = ServeOptions::augment_args(clap::Command::new("serve"));
    let config = command.get_arguments().find(|arg| arg.get_id() == "config");
    let excluded = command.get_arg_conflicts_with(config.expect("--config"));
    for flag in KEYS.iter().filter_map(|key| key.flag) {
        let name = flag.trim_start_matches('-');
        let is_it = |arg: &&clap::Arg| {
            arg.get_long() == Some(name)
                || name.len() == 1 && arg.get_short() == name.chars().next()
        };
        assert!(
            command.get_arguments().any(|arg| is_it(&arg)),
            "{flag} is no flag"
        );
        assert!(
            excluded.iter().any(is_it),
            "{flag} may stand beside --config"
        );
    }
}

#[test]
fn the_example_has_every_key_and_is_a_file_of_comments() {
    let text = example();
    assert!(
        text.lines()
            .all(|line| line.is_empty() || line.starts_with('#'))
    );
    for key in KEYS {
        assert!(
            text.contains(&format!("\n# {} = ", key.name())),
            "{}",
            key.path
        );
    }
}

#[test]
fn a_changed_key_is_named_if_only_a_restart_makes_it_count() {
    let settled = |text: &str| {
        let (flags, mut options) = (defaults(), defaults());
        let path = Path::new("serve.toml");
        let file = ConfigFile::parse(path, text.to_owned(), &mut options);
        let file = Some(file.expect("it can be used"));
        Settled {
            options,
            flags,
            file,
        }
    };
    let old = settled(
        "root = \"/srv\"\nworkers = 1\n[timeouts]\nidle = 1\n[admin]\naddress = \"[::1]:1\"\n",
    );
    let new = settled(
        "root = \"/srv\"\nworkers = 2\n[timeouts]\nidle = 2\nhead = 1\n[drain]\ntime = 5\n",
    );
    assert_eq!(
        old.restarts(&new),
        ["admin.address", "drain.time", "workers"]
    );
    assert!(
        old.restarts(&settled(
            "root = \"/srv\"\nworkers = 1\n[admin]\naddress = \"[::1]:1\"\n"
        ))
        .is_empty()
    );
}

#[test]
fn several_addresses_are_tables_of_which_the_first_is_the_sites_own() {
    let options = read(
        "root = \"/srv\"\n[[listen]]\naddress = \"[::]:443\"\n[[listen]]\naddress = \"[::1]:8080\"\ntls = false\n\
         [[listen]]\naddress = \"unix:/run/site\"\n[[listen]]\naddress = \"[::]:80\"\nredirect = true\n",
    )
    .expect("it can be used");
    assert_eq!(options.listen, "[::]:443");
    let shown: Vec<_> = (options.listeners.iter())
        .map(|it| {
            (
                it.address.as_ref().map(ToString::to_string),
                it.tls,
                it.redirect,
            )
        })
        .collect();
    let address = |text: &str| Some(text.to_owned());
    assert_eq!(
        shown,
        [
            (address("[::1]:8080"), Some(false), false),
            (address("unix:/run/site"), None, false),
            (address("[::]:80"), None, true),
        ]
    );
    let in_clear = read("root = \"/srv\"\n[[listen]]\naddress = \"unix:/run/a\"\ntls = false\n");
    let in_clear = in_clear.expect("it can be used");
    assert_eq!(
        (in_clear.unix, in_clear.in_clear),
        (Some("/run/a".into()), true)
    );
}

#[test]
fn an_address_that_cannot_be_used_is_not_said_to_be_missing() {
    let why = read("root = \"/srv\"\n[[listen]]\naddress = \"127.0.0.1:99999\"\n")
        .expect_err("no such port");
    assert!(why.contains(":3:11: listen.address is"), "{why}");
    assert!(!why.contains("has no address"), "{why}");
}

#[test]
fn tables_of_addresses_that_cannot_be_used_are_named_with_their_line() {
    let first = "root = \"/srv\"\n[[listen]]\naddress = \"[::]:443\"\n";
    for (rest, expected) in [
        (
            "[[listen]]\ntls = true\n",
            "serve.toml:4:1: [[listen]] has no address",
        ),
        (
            "[[listen]]\nadress = \"[::]:1\"\n",
            "serve.toml:5:1: unknown key listen.adress; the nearest known one is listen.address",
        ),
        (
            "[[listen]]\naddress = 80\n",
            "serve.toml:5:11: listen.address is 80; it must be a text: host:port",
        ),
        (
            "[[listen]]\naddress = \"[::]:443\"\n",
            "serve.toml:4:1: two [[listen]] have this address",
        ),
        (
            "[[listen]]\naddress = \"unix:/a\"\nredirect = true\n",
            "serve.toml:4:1: a Unix socket redirects nobody",
        ),
        (
            "[[listen]]\naddress = \"[::]:80\"\nredirect = true\ntls = false\n",
            "serve.toml:4:1: redirect is true, and redirects are in cleartext",
        ),
    ] {
        refused(&format!("{first}{rest}"), &[expected]);
    }
    refused(
        "root = \"/srv\"\n[[listen]]\naddress = \"[::]:80\"\nredirect = true\n",
        &["serve.toml:2:1: the first [[listen]] is that of the site"],
    );
    refused(
        "listen = 3\nroot = \"/srv\"\n",
        &["serve.toml:1:10: listen is 3; it must be a text"],
    );
}
