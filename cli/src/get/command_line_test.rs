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
            &["trunkline|get|-d|x|a", "trunkline|get|-I|b"],
        ),
        (
            &["get", "-s:i", "a"],
            &["trunkline|get|-s", "trunkline|get|-i|a"],
        ),
        (
            &["get", "-d", "--next", "a"],
            &["trunkline|get|-d|--next|a"],
        ),
        (
            &["get", "--data", "--next"],
            &["trunkline|get|--data|--next"],
        ),
        (&["get", "-sd", "-:"], &["trunkline|get|-sd|-:"]),
        (&["get", "-sd:"], &["trunkline|get|-sd:"]),
        (
            &["get", "-O", "--next", "a"],
            &["trunkline|get|-O", "trunkline|get|a"],
        ),
        (&["get", "--", "--next"], &["trunkline|get|--|--next"]),
    ] {
        assert_eq!(lines(arguments), expected);
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
            assert!(use_of(&flag) != FlagUse::Valued, "{flag}");
        }
    }
}
