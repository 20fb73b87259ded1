//! The place that an answer is written to: standard output, or a file with a progress bar on a terminal.

pub(super) mod coding;
pub(super) mod conditions;
mod delivery;
mod existing;
pub(super) mod heads;
pub(super) mod pace;
pub(super) mod resume;
pub(super) mod trace;
pub(super) mod write_out;

use super::{exit, given};
use crate::failure::{Diagnostics, Failure, report};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use existing::{Existing, ExistingOptions};
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The flags of the output: its places and its parts.
#[derive(Args)]
pub(super) struct OutputOptions {
    #[command(flatten)]
    files: OutputFiles,
    /// -O for all URLs without a -o.
    #[arg(long)]
    remote_name_all: bool,
    /// With -O: name the file as the answer's content-disposition does; one that is there is not overwritten.
    #[arg(short = 'J', long, conflicts_with = "continue_at")]
    pub(super) remote_header_name: bool,
    /// The folder of -o and -O.
    #[arg(long, value_name = "FOLDER")]
    output_dir: Option<PathBuf>,
    /// Make the folders of -o and --output-dir.
    #[arg(long)]
    pub(super) create_dirs: bool,
    #[command(flatten)]
    existing: ExistingOptions,
    /// Remove the file of -o or -O where its URL failed.
    #[arg(long)]
    pub(super) remove_on_error: bool,
    /// Give the file of -o or -O the time of the answer's last-modified.
    #[arg(short = 'R', long)]
    pub(super) remote_time: bool,
    /// The largest body in bytes; exit with 63 where it is larger.
    #[arg(long, value_name = "BYTES", value_parser = pace::rate)]
    max_filesize: Option<u64>,
    /// Write the heads of the answers before the body: redirects and 1xx too.
    #[arg(short, long)]
    pub(super) include: bool,
    /// Write the heads of the answers to this file (`-` for standard output).
    #[arg(short = 'D', long, value_name = "FILE")]
    pub(super) dump_header: Option<PathBuf>,
    /// Write this to standard output behind each URL: text with %{http_code}, %{time_total}, %{json} and other variables, \n
    /// and \t; @FILE for the text in a file.
    #[arg(short, long, value_name = "FORMAT")]
    pub(super) write_out: Option<String>,
    /// No progress bar, and no word about a failure: the exit code says it.
    #[arg(short, long)]
    pub(super) silent: bool,
    /// With -s: say what failed all the same.
    #[arg(short = 'S', long)]
    pub(super) show_error: bool,
    /// Write what is said to standard error to this file (`-` for standard output).
    #[arg(long, value_name = "FILE")]
    pub(super) stderr: Option<PathBuf>,
    /// A progress bar: there in any case on a terminal, except for -s.
    #[arg(short = '#', long, overrides_with = "no_progress_meter")]
    progress_bar: bool,
    /// No progress bar.
    #[arg(long)]
    no_progress_meter: bool,
    /// Write each piece as it comes: done in any case.
    #[arg(short = 'N', long)]
    no_buffer: bool,
}

impl OutputOptions {
    /// The place for the URL with this number; those behind the last flag go to standard output, as with curl.
    pub(super) fn place(&self, number: usize) -> Destination {
        let given = self.files.0.get(number).cloned();
        given.unwrap_or(match self.remote_name_all {
            true => Destination::RemoteName,
            false => Destination::Stdout,
        })
    }
    /// A path of -o or -O in the folder of --output-dir.
    pub(super) fn in_folder(&self, path: PathBuf) -> PathBuf {
        match &self.output_dir {
            Some(folder) => folder.join(path),
            None => path,
        }
    }
    /// The file for a body, and the treatment of one that is there; `None`: standard output.
    fn path(
        &self,
        place: &BodyPlace,
        fields: &HeaderMap,
    ) -> Result<(Option<PathBuf>, Existing), Failure> {
        if self.existing.no_clobber
            && let Some(path) = &place.opened
        {
            // An earlier try has made it.
            return Ok((Some(path.clone()), Existing::Replaced));
        }
        let usual = match self.existing.no_clobber {
            true => Existing::Kept,
            false => Existing::Replaced,
        };
        match &place.destination {
            Destination::Stdout => Ok((None, usual)),
            Destination::File(path) => Ok((Some(self.in_folder(path.clone())), usual)),
            Destination::RemoteName => {
                let disposition = fields.get(CONTENT_DISPOSITION);
                let named = disposition.and_then(|value| name_in(value.to_str().ok()?));
                match named {
                    Some(name) => {
                        let path = Some(self.in_folder(name));
                        let is_own = self.existing.no_clobber || path == place.opened;
                        let existing = if is_own { usual } else { Existing::Refused };
                        Ok((path, existing))
                    }
                    None => name_of(&place.asked).map(|name| (Some(self.in_folder(name)), usual)),
                }
            }
        }
    }

    /// Checks a number of bytes of a body.
    ///
    /// # Errors
    /// There are more than --max-filesize.
    pub(super) fn check_size(&self, bytes: u64) -> Result<(), Failure> {
        // 0 is no bound, as with curl.
        match self.max_filesize {
            Some(max) if max > 0 && bytes > max => {
                let text = format_args!("the body is larger than {max} bytes");
                Err(Failure::new(exit::LARGE, text))
            }
            _ => Ok(()),
        }
    }
    /// Whether one of several requests is silent, shows errors and has no progress bar.
    pub(super) fn shared<'a>(all: impl Iterator<Item = &'a Self>) -> [bool; 3] {
        all.fold([false; 3], |[silent, shows, hides], one| {
            [
                silent || one.silent,
                shows || one.show_error,
                hides || one.no_progress_meter,
            ]
        })
    }
    pub(super) fn share(&mut self, shared: [bool; 3]) {
        [self.silent, self.show_error, self.no_progress_meter] = shared;
    }
    pub(super) fn hides_progress(&self) -> bool {
        self.silent || self.no_progress_meter
    }
    pub(super) fn hides_errors(&self) -> bool {
        self.silent && !self.show_error
    }
}

/// Where the body of one URL goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Stdout,
    /// -o.
    File(PathBuf),
    /// -O.
    RemoteName,
}

/// The place of one URL's body, through its redirects and its further tries.
pub(super) struct BodyPlace {
    pub(super) destination: Destination,
    /// The path of the command line. That of a redirect would be a name of the server's choice, for a file that may be there.
    asked: String,
    /// The file that was opened.
    pub(super) opened: Option<PathBuf>,
}

impl BodyPlace {
    pub(super) fn new(destination: Destination, asked: &str) -> Self {
        Self {
            destination,
            asked: asked.to_owned(),
            opened: None,
        }
    }
    /// The body goes to this file; `None`: to standard output, or nowhere.
    pub(super) fn note_opened(&mut self, path: Option<&Path>) {
        if let Some(path) = path {
            self.opened = Some(path.to_owned());
        }
    }
}

/// -o and -O in the order of the command line: the first is that of the first URL.
#[derive(Clone, Debug, Default)]
pub(super) struct OutputFiles(Vec<Destination>);

impl Args for OutputFiles {
    fn augment_args(command: Command) -> Command {
        let output = Arg::new("output")
            .short('o')
            .long("output")
            .value_name("FILE")
            .action(ArgAction::Append)
            .help("Write the body to this file in place of standard output (`-`). Of several URLs each has its -o or -O");
        // A flag without a value has no place on the command line; one whose value may be missing has.
        let remote_name = Arg::new("remote-name")
            .short('O')
            .long("remote-name")
            .num_args(0)
            .default_missing_value("true")
            .action(ArgAction::Append)
            .help(
                "Write the body to a file in this folder, named as the last part of the URL's path",
            );
        command.args([output, remote_name])
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OutputFiles {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let flags = [(false, "output"), (true, "remote-name")];
        let places = given::values(matches, &flags).into_iter();
        let places = places.map(|(is_remote, text)| match (is_remote, text.as_str()) {
            (true, _) => Destination::RemoteName,
            (false, "-") => Destination::Stdout,
            (false, path) => Destination::File(PathBuf::from(path)),
        });
        Ok(Self(places.collect()))
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The length that an answer says of its body.
pub(super) fn declared(fields: &HeaderMap) -> Option<u64> {
    fields.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// A path as -w has it; empty: standard output.
pub(super) fn shown(path: Option<&Path>) -> String {
    path.map_or(String::new(), |path| path.display().to_string())
}

/// The file that -O writes: the last part of the URL's path, which names no folder.
pub(super) fn name_of(path: &str) -> Result<PathBuf, Failure> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    file_name(path).ok_or_else(|| {
        let text = "-O needs a URL whose path ends with a name; this one has none: use -o FILE";
        Failure::unwritten(format_args!("{text} ({path})"))
    })
}

/// The name that a content-disposition field gives (RFC 6266): its last part, so that no server chooses a folder.
pub(super) fn name_in(disposition: &str) -> Option<PathBuf> {
    let mut rest = disposition;
    // The type of the disposition has no `=`; servers that leave it out begin with the name.
    while !rest.is_empty() {
        let (name, behind) = rest.split_at(rest.find([';', '=']).unwrap_or(rest.len()));
        let (value, behind) = match behind.strip_prefix('=') {
            Some(behind) => parameter_value(behind.trim_start()),
            None => ("", behind),
        };
        if name.trim().eq_ignore_ascii_case("filename") && !value.is_empty() {
            return file_name(value);
        }
        rest = behind.split_once(';').map_or("", |(_, rest)| rest);
    }
    None
}

/// A value, in quotes of either kind or up to the next `;`, and what is behind it.
fn parameter_value(text: &str) -> (&str, &str) {
    let quote = text
        .chars()
        .next()
        .filter(|letter| matches!(letter, '"' | '\''));
    let quoted = quote.and_then(|quote| text[1..].split_once(quote));
    quoted.unwrap_or_else(|| {
        let (value, behind) = text.split_at(text.find(';').unwrap_or(text.len()));
        (value.trim().trim_matches(['"', '\'']), behind)
    })
}

/// The name behind the last `/` or `\`, if it is one.
fn file_name(path: &str) -> Option<PathBuf> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_one = !matches!(name, "" | "." | "..") && !name.contains(char::is_control);
    is_one.then(|| PathBuf::from(name))
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Opening {
    /// The first byte to write.
    pub(super) from: u64,
    /// The body's length, if it is known.
    pub(super) expected: Option<u64>,
    existing: Existing,
    pub(super) creates_folders: bool,
    pub(super) is_silent: bool,
}

impl Opening {
    /// A file that shows no progress.
    pub(super) fn silent() -> Self {
        Self {
            is_silent: true,
            ..Self::default()
        }
    }
}

/// A place for bytes. Its file is opened with the first of them, or with their end in order: what was there before stays
/// where an answer breaks off before it.
pub(super) struct Output {
    sink: Sink,
    path: Option<PathBuf>,
    bar: ProgressBar,
}

enum Sink {
    Open(Box<dyn Write>),
    /// A file that nothing was written to yet.
    Unopened(Opening),
}

impl Output {
    /// Writes to `path`, or to standard output without one.
    pub(super) fn to(path: Option<&Path>, how: Opening) -> Self {
        let Some(path) = path else {
            return Self {
                sink: Sink::Open(Box::new(io::stdout().lock())),
                path: None,
                bar: ProgressBar::hidden(),
            };
        };
        let bar = match io::stderr().is_terminal() && !how.is_silent {
            true => bar(how.expected),
            false => ProgressBar::hidden(),
        };
        Self {
            sink: Sink::Unopened(how),
            path: Some(path.to_owned()),
            bar,
        }
    }

    /// Writes all of `bytes`. A disk or pipe that blocks holds the peer back: nothing piles up here.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        let written = self.opened().and_then(|sink| sink.write_all(bytes));
        written.map_err(|error| self.failure(&error))?;
        self.bar.inc(bytes.len() as u64);
        Ok(())
    }

    /// All is written. An answer without content makes an empty file.
    pub(super) fn close(&mut self) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        let flushed = self.opened().and_then(|sink| sink.flush());
        flushed.map_err(|error| self.failure(&error))
    }

    /// The file, once it was opened.
    pub(super) fn opened_file(&self) -> Option<&Path> {
        match self.sink {
            Sink::Open(_) => self.path.as_deref(),
            Sink::Unopened(_) => None,
        }
    }

    fn opened(&mut self) -> io::Result<&mut dyn Write> {
        if let (Sink::Unopened(how), Some(path)) = (&self.sink, &self.path) {
            let (file, path) = file(path, *how)?;
            (self.sink, self.path) = (Sink::Open(Box::new(file)), Some(path));
        }
        match &mut self.sink {
            Sink::Open(sink) => Ok(sink),
            Sink::Unopened(_) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn failure(&self, error: &io::Error) -> Failure {
        match &self.path {
            Some(path) => Failure::output(path.display(), error),
            None => Failure::output("standard output", error),
        }
    }
}

/// Opens it; its path, which may be another one.
fn file(path: &Path, how: Opening) -> io::Result<(File, PathBuf)> {
    if how.creates_folders
        && let Some(folder) = path.parent()
    {
        std::fs::create_dir_all(folder)?;
    }
    let file = match (how.from, how.existing) {
        (0, Existing::Replaced) => File::create(path),
        (0, Existing::Refused) => OpenOptions::new().write(true).create_new(true).open(path),
        (0, Existing::Kept) => return existing::open_free(path),
        (from, _) => resume::open_at(path, from),
    };
    file.map(|file| (file, path.to_owned()))
}

/// --stderr. What is said is beside the work, which goes on where it has no place.
pub(super) fn divert_stderr(path: &Path) {
    match path.as_os_str() == "-" {
        true => Diagnostics::divert(io::stdout()),
        false => match File::create(path) {
            Ok(file) => Diagnostics::divert(file),
            Err(error) => report!("trunkline: {} cannot be written: {error}", path.display()),
        },
    }
}

/// Gives a file the time of a field, if it has one. What the file holds does not depend on it.
pub(super) fn set_time(path: &Path, modified: Option<&HeaderValue>) {
    let time = modified.and_then(|value| httpdate::parse_http_date(value.to_str().ok()?).ok());
    if let Some(time) = time {
        let file = OpenOptions::new().write(true).open(path);
        let _ = file.and_then(|file| file.set_modified(time));
    }
}

fn bar(expected: Option<u64>) -> ProgressBar {
    let (bar, template) = match expected {
        Some(length) => (
            ProgressBar::new(length),
            "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        ),
        None => (
            ProgressBar::new_spinner(),
            "{spinner} {bytes} {bytes_per_sec}",
        ),
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
#[path = "output/output_test.rs"]
mod output_test;
