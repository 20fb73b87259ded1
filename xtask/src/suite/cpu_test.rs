use super::{of, parse};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn the_times_of_a_process_and_of_its_children_are_added() {
    let line = "7 (a (b) c) S 1 7 7 0 -1 4194304 100 200 0 0 120 30 4 6 20 0 1 0 5000 1 1";
    assert_eq!(parse(line), Some(Duration::from_millis(1_600)));
    assert_eq!(parse("7 (cut) S 1 7"), None);
    assert_eq!(parse(""), None);
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_ended_has_its_time_until_it_was_waited_for() {
    // The grandchild works until it has used CPU time, whatever else the machine does.
    let work = "while [ \"$(cut -d' ' -f14 /proc/$$/stat)\" -lt 1 ]; do :; done";
    let script = format!("sh -c '{}'; echo done", work.replace('\'', "'\\''"));
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut output = child.stdout.take().expect("a pipe");
    let mut printed = String::new();
    output.read_to_string(&mut printed).expect("readable");
    assert_eq!(printed, "done\n");
    let used = of(child.id()).expect("not waited for");
    assert!(used > Duration::ZERO);
    child.wait().expect("ended");
    assert_eq!(of(child.id()), None);
}
