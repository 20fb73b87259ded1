//! Command lines behind -K and --next.

use super::*;
use crate::get::GetOptions;
use clap::{ArgAction, Args as _};

fn program() -> Command {
    let get = GetOptions::augment_args(Command::new("get"));
    Command::new("trunkline").subcommand(get)
}

fn lines(arguments: &[&str]) -> Vec<String> {
    let arguments = ["trunkline"].iter().chain(arguments);
    let arguments = arguments.map(OsString::from).collect();
    let lines = command_lines(arguments, &mut program()).expect("no file is read");
    let joined = lines.into_iter().map(|line| {
        let line: Vec<String> = line
            .into_iter()
            .map(|argument| argument.into_string().expect("it is text"))
            .collect();
        line.join("|")
    });
    joined.collect()
}

#[test]
fn next_begins_a_command_line_and_is_no_flag_where_it_is_a_value() {
    for (arguments, expected) in [
        (&["serve", "--next"][..], &["trunkline|serve|--next"][..]),
        (&["get", "a"], &["trunkline|get|a"]),
        (
            &["get", "-d", "x", "a", "--next", "-I", "b"],
            &["trunkline|get|--data=x|a", "trunkline|get|--head|b"],
        ),
        (
            &["get", "-s:i", "a", "-S:v", "b"],
            &[
                "trunkline|get|--silent|--include|a|--show-error",
                "trunkline|get|--verbose|b",
            ],
        ),
        (
            &["get", "-d", "--next", "a"],
            &["trunkline|get|--data=--next|a"],
        ),
        (
            &["get", "--data", "--next"],
            &["trunkline|get|--data=--next"],
        ),
        (&["get", "-sd", "-:"], &["trunkline|get|--silent|--data=-:"]),
        (&["get", "-sd:"], &["trunkline|get|--silent|--data=:"]),
        (
            &["get", "--url", "a", "-O", "--next", "a"],
            &["trunkline|get|--url=a|--remote-name", "trunkline|get|a"],
        ),
        (&["get", "--next", "a"], &["trunkline|get|a"]),
        (&["get", "--", "--next"], &["trunkline|get|--|--next"]),
    ] {
        assert_eq!(lines(arguments), expected);
    }
}

#[test]
fn a_value_may_begin_as_a_flag_does_and_a_name_may_be_cut_or_reversed() {
    for (arguments, expected) in [
        (&["-o", "-x", "a"][..], "--output=-x|a"),
        (&["-A", "--", "a"], "--user-agent=--|a"),
        (&["-d=x", "-o=y"], "--data==x|--output==y"),
        (&["--data=x"], "--data=x"),
        (&["-A", ""], "--user-agent="),
        (&["-o"], "--output"),
        (&["--inc", "--max-t", "5"], "--include|--max-time=5"),
        (&["-sif", "--no-include", "a"], "--silent|--fail|a"),
        (&["--no-include", "-i"], "--include"),
        (&["--no-keepalive"], "--disable"),
        // Two begin so, there is none, it has a value: clap says it.
        (&["--loc"], "--loc"),
        (&["--nope", "-s?z", "a"], "--nope|--silent|-?z|a"),
        (&["--no-header"], "--no-header"),
        (&["--silent=x"], "--silent=x"),
        (&["-h", "--help"], "-h|--help"),
    ] {
        let arguments = [&["get"], arguments].concat();
        let expected = format!("trunkline|get|{expected}");
        assert_eq!(lines(&arguments), [expected]);
    }
}

#[test]
fn a_line_of_a_file_of_flags_is_read_as_curl_reads_it() {
    for (line, flags) in [
        ("", &[][..]),
        ("  # a comment", &[]),
        ("silent", &["--silent"]),
        ("--silent", &["--silent"]),
        ("-s", &["-s"]),
        ("url = \"http://h/ x\"", &["--url=http://h/ x"]),
        ("url=http://h/ # behind", &["--url=http://h/"]),
        ("url: http://h/", &["--url=http://h/"]),
        ("user-agent \"a\\tb\\\"c\"", &["--user-agent=a\tb\"c"]),
        ("-H \"x-a: 1\"", &["-H", "x-a: 1"]),
        ("--data = x", &["--data=="]),
        ("data = \"\"", &["--data="]),
    ] {
        assert_eq!(flags_of(line), flags, "{line:?}");
    }
}

#[test]
fn every_flag_of_get_is_known_with_or_without_a_value() {
    let mut program = program();
    program.build();
    let get = program.find_subcommand("get").expect("it is there");
    for flag in get.get_arguments() {
        let has_none = matches!(flag.get_action(), ArgAction::SetTrue | ArgAction::Count);
        if has_none {
            assert!(use_of(flag) != FlagUse::Valued, "{flag}");
        }
    }
}
