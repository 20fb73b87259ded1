//! Flags of curl that stand for what is not here: each is refused with a sentence that says so.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

const ONLY_BASIC: &str = "-u is Basic authentication, which sends the password at once, and --oauth2-bearer a token; other schemes are not here";

const ONLY_BASIC_PROXY: &str =
    "-U is Basic authentication at the proxy; other schemes are not here";

const ONLY_SOCKS5: &str = "proxies of SOCKS are of version 5: -x socks5://HOST:PORT";
const TLS: &str = "versions and ciphers of TLS are those of 1.2 and 1.3 that are safe; --tlsv1.3 takes the newer alone";

const PINS: &str = "--pinnedpubkey is for the key of the server alone";

/// The flags, and the reason of each.
const FLAGS: [(&str, &str); 37] = [
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
        "suppress-connect-headers",
        "the head of a proxy's answer to CONNECT is not written: leave it out",
    ),
    (
        "local-port",
        "the system chooses the port of each connection; --interface chooses its address",
    ),
    ("socks4", ONLY_SOCKS5),
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
    (
        "rate",
        "a URL is fetched as soon as the one before is done: --limit-rate bounds the bytes per second",
    ),
    (
        "parallel-immediate",
        "-Z opens the connections that the version of HTTP needs: leave it out",
    ),
    ("ciphers", TLS),
    ("tls13-ciphers", TLS),
    ("curves", TLS),
    ("sslv2", TLS),
    ("sslv3", TLS),
    ("proxy-pinnedpubkey", PINS),
    (
        "capath",
        "certificates are read from one file, by --cacert, beside the system's roots",
    ),
    ("proxy-anyauth", ONLY_BASIC_PROXY),
    ("proxy-digest", ONLY_BASIC_PROXY),
    ("proxy-negotiate", ONLY_BASIC_PROXY),
    ("proxy-ntlm", ONLY_BASIC_PROXY),
    ("aws-sigv4", ONLY_BASIC),
    (
        "no-alpn",
        "the version of HTTP is chosen by --http1.1, --http2 and --http3",
    ),
    ("preproxy", "there is one proxy on the way: -x"),
    ("socks4a", ONLY_SOCKS5),
    (
        "trace-ascii",
        "-v shows the heads and the frames, and --qlog writes them to a file",
    ),
    (
        "abstract-unix-socket",
        "--unix-socket takes the path of a socket in the file system",
    ),
    (
        "doh-url",
        "names are looked up by the system: --resolve gives the address of one",
    ),
    (
        "dns-servers",
        "names are looked up by the system: --resolve gives the address of one",
    ),
];

/// Further flags of curl.
const OTHERS: [&str; 83] = [
    "append",
    "cert-status",
    "cert-type",
    "compressed-ssh",
    "create-file-mode",
    "crlfile",
    "delegation",
    "disable-eprt",
    "disable-epsv",
    "dns-interface",
    "dns-ipv4-addr",
    "dns-ipv6-addr",
    "doh-cert-status",
    "doh-insecure",
    "egd-file",
    "engine",
    "false-start",
    "ftp-account",
    "ftp-alternative-to-user",
    "ftp-create-dirs",
    "ftp-method",
    "ftp-pasv",
    "ftp-port",
    "ftp-pret",
    "ftp-skip-pasv-ip",
    "ftp-ssl-ccc",
    "ftp-ssl-ccc-mode",
    "ftp-ssl-control",
    "hostpubmd5",
    "hostpubsha256",
    "key-type",
    "krb",
    "libcurl",
    "list-only",
    "login-options",
    "mail-auth",
    "mail-from",
    "mail-rcpt",
    "mail-rcpt-allowfails",
    "metalink",
    "no-npn",
    "no-sessionid",
    "ntlm-wb",
    "pass",
    "proxy-cacert",
    "proxy-capath",
    "proxy-cert",
    "proxy-cert-type",
    "proxy-ciphers",
    "proxy-crlfile",
    "proxy-key",
    "proxy-key-type",
    "proxy-pass",
    "proxy-service-name",
    "proxy-ssl-allow-beast",
    "proxy-ssl-auto-client-cert",
    "proxy-tls13-ciphers",
    "proxy-tlsauthtype",
    "proxy-tlspassword",
    "proxy-tlsuser",
    "proxy-tlsv1",
    "pubkey",
    "quote",
    "random-file",
    "sasl-authzid",
    "sasl-ir",
    "service-name",
    "socks5-basic",
    "socks5-gssapi",
    "socks5-gssapi-nec",
    "socks5-gssapi-service",
    "ssl-allow-beast",
    "ssl-auto-client-cert",
    "ssl-no-revoke",
    "ssl-revoke-best-effort",
    "telnet-option",
    "tftp-blksize",
    "tftp-no-options",
    "tlsauthtype",
    "tlspassword",
    "tlsuser",
    "use-ascii",
    "xattr",
];

/// Not one of them was given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RefusedFlags;

impl Args for RefusedFlags {
    fn augment_args(command: Command) -> Command {
        let reasoned = FLAGS.iter().map(|(name, _)| *name);
        command.args(reasoned.chain(OTHERS).map(|name| {
            let flag = Arg::new(name)
                .long(name)
                .action(ArgAction::Count)
                .hide(true);
            match name {
                "http1.0" => flag.short('0'),
                "sslv2" => flag.short('2'),
                "sslv3" => flag.short('3'),
                "append" => flag.short('a'),
                "use-ascii" => flag.short('B'),
                "list-only" => flag.short('l'),
                "ftp-port" => flag.short('P'),
                "quote" => flag.short('Q'),
                "telnet-option" => flag.short('t'),
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
        let is_given = |name: &str| matches.get_count(name) > 0;
        let reason = FLAGS.iter().find(|(name, _)| is_given(name));
        let other = OTHERS.iter().find(|name| is_given(name));
        let text = match (reason, other) {
            (Some((name, why)), _) => format!("--{name}: {why}\n"),
            (None, Some(name)) => format!("--{name}: this flag of curl is not here\n"),
            (None, None) => return Ok(Self),
        };
        Err(clap::Error::raw(ErrorKind::InvalidValue, text))
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
