//! Flags of curl that stand for what is not here: each is refused with a sentence that says so.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

const ONLY_BASIC: &str = "-u is Basic authentication, which sends the password at once, and --oauth2-bearer a token; other schemes are not here";

const ONLY_SOCKS5: &str = "proxies of SOCKS are of version 5: -x socks5://HOST:PORT";
const SOCKS5: &str =
    "write -x socks5://HOST:PORT, or socks5h:// for a proxy that looks the name up";

/// The flags, and the reason of each.
const FLAGS: [(&str, &str); 23] = [
    ("anyauth", ONLY_BASIC),
    ("digest", ONLY_BASIC),
    ("ntlm", ONLY_BASIC),
    ("negotiate", ONLY_BASIC),
    (
        "http1.0",
        "requests are sent over HTTP/1.1 and newer alone; answers of HTTP/1.0 are understood",
    ),
    (
        "proxy1.0",
        "a proxy is asked over HTTP/1.1 alone: use -x and -p",
    ),
    (
        "http0.9",
        "an answer without a head is none of HTTP/1.0 and newer",
    ),
    (
        "ignore-content-length",
        "a body that ends before its length is cut, and -o keeps what came of it",
    ),
    (
        "speed-limit",
        "a slow body is bounded by -m, the time for all of a URL",
    ),
    (
        "speed-time",
        "a slow body is bounded by -m, the time for all of a URL",
    ),
    (
        "no-clobber",
        "a file of -o is written anew; one that the server names with -OJ is never overwritten",
    ),
    (
        "proxy-header",
        "a proxy gets -U and the field user-agent, and none other of its own",
    ),
    (
        "suppress-connect-headers",
        "the head of a proxy's answer to CONNECT is not written: leave it out",
    ),
    (
        "local-port",
        "the system chooses the port of each connection; --interface chooses its address",
    ),
    ("socks4", ONLY_SOCKS5),
    ("socks5", SOCKS5),
    ("socks5-hostname", SOCKS5),
    (
        "pinnedpubkey",
        "a server is known by its certificate: --cacert with that alone trusts it and what it has signed beside the system's roots",
    ),
    (
        "hsts",
        "no list of hosts is kept: write https:// in the URL, and --proto =https to refuse others",
    ),
    (
        "alt-svc",
        "no list of other services is kept: --http3 tries HTTP/3 first",
    ),
    (
        "tr-encoding",
        "a body is compressed as content alone: use --compressed",
    ),
    (
        "crlf",
        "a file of -T is sent as it is: change its line ends before",
    ),
    (
        "form-escape",
        "names in a form are percent-encoded, as browsers do",
    ),
];

/// Not one of them was given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RefusedFlags;

impl Args for RefusedFlags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.map(|(name, _)| {
            let flag = Arg::new(name)
                .long(name)
                .action(ArgAction::Count)
                .hide(true);
            match name {
                "http1.0" => flag.short('0'),
                _ => flag,
            }
        }))
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RefusedFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = FLAGS.iter().find(|(name, _)| matches.get_count(name) > 0);
        match given {
            Some((name, why)) => Err(clap::Error::raw(
                ErrorKind::InvalidValue,
                format_args!("--{name}: {why}\n"),
            )),
            None => Ok(Self),
        }
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
