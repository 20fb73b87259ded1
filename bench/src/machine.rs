//! The machine of a run: processor, kernel and versions, without which a figure means nothing.

use std::fs;
use std::process::Command;
use trunkline_interop::output_of;

/// Numbers of the processors this process may use, lowest first.
pub(crate) fn cores() -> Vec<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap_or("0");
    let mut cores = Vec::new();
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            cores.extend(first..=last);
        }
    }
    cores
}

/// Processor, kernel, memory, what TCP does, compiler, how busy it was: one line each.
pub(crate) fn describe() -> Vec<String> {
    let first_value = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text
            .lines()
            .find(|line| line.starts_with(key))
            .unwrap_or_default();
        line.split_once(':')
            .map_or(String::new(), |(_, value)| value.trim().to_owned())
    };
    let printed = |program: &str, flags: &[&str]| {
        let printed = output_of(Command::new(program).args(flags)).unwrap_or_default();
        printed.trim().to_owned()
    };
    vec![
        format!(
            "Processor: {}, {} of them usable",
            first_value("/proc/cpuinfo", "model name"),
            cores().len()
        ),
        format!("Memory: {}", first_value("/proc/meminfo", "MemTotal")),
        format!("Kernel: {}", printed("uname", &["-sr"])),
        format!(
            "TCP congestion control: {}",
            printed("sysctl", &["-n", "net.ipv4.tcp_congestion_control"])
        ),
        format!("Compiler: {}", printed("rustc", &["--version"])),
        format!("Date: {}", printed("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
        format!("Load average at the end: {}", load_average()),
    ]
}

/// [`describe`] as a list of Markdown.
pub(crate) fn describe_as_list() -> String {
    format!("- {}\n", describe().join("\n- "))
}

/// The system's load over one minute; above 0.5 foreign work disturbs the figures.
pub(crate) fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_owned()
}
