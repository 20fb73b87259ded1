//! Some thousand generated inputs for the fuzz targets that compare two ways to one result, so that
//! ordinary test runs compare them too; `make fuzz` goes on for longer. `TRUNKLINE_SEED=n` replays one.

use trunkline_testkit::fuzz::{self, Generator};

/// The part of the inputs that is run where `TRUNKLINE_LONG` is not set: debug builds take half a minute for all.
const SHORT: u64 = 3;

/// Runs `body` on generated inputs of up to `bytes_max`.
fn generate(body: fn(&[u8]), seeds: u64, bytes_max: usize) {
    each_seed(seeds, |seed, generator| {
        let length = generator.below(bytes_max);
        let input = match seed % 4 {
            0 => generator.bytes(length),
            // A few different bytes: what happens by itself once in many inputs then happens again
            // and again in one.
            _ => {
                let alphabet = 2 + generator.below(7);
                let alphabet = generator.bytes(alphabet);
                (0..length).map(|_| *generator.one_of(&alphabet)).collect()
            }
        };
        body(&input);
    });
}

/// Runs `body` on inputs of up to `words_max` of these words, behind `before` arbitrary bytes.
fn compose(body: impl Fn(&[u8]), seeds: u64, before: usize, words_max: usize, words: &[&[u8]]) {
    each_seed(seeds, |_, generator| {
        let mut input = generator.bytes(before);
        for _ in 0..generator.below(words_max) {
            let word: &&[u8] = generator.one_of(words);
            input.extend_from_slice(word);
        }
        body(&input);
    });
}

/// `body` with up to three bytes in front of the input as its control bytes.
fn behind_controls(body: fn(&[u8])) -> impl Fn(&[u8]) {
    move |input| {
        let count = input.len().min(3) as u8;
        body(&[&[count], input].concat());
    }
}

fn each_seed(seeds: u64, run: impl Fn(u64, &mut Generator)) {
    let one = std::env::var("TRUNKLINE_SEED").ok();
    let one = one.and_then(|seed| seed.parse::<u64>().ok());
    let is_long = std::env::var_os("TRUNKLINE_LONG").is_some();
    let seeds = if is_long { seeds } else { seeds / SHORT };
    let seeds = one.map_or(0..seeds, |seed| seed..seed + 1);
    for seed in seeds {
        let mut generator = Generator::new(seed);
        // Shown when the body panics.
        eprintln!("TRUNKLINE_SEED={seed}");
        run(seed, &mut generator);
    }
}

#[test]
fn heads_that_are_remembered_are_those_that_a_decoder_without_a_memory_reads() {
    generate(fuzz::h2_heads, 30_000, 200);
}

#[test]
fn heads_of_http_3_that_are_remembered_are_those_that_a_decoder_without_a_memory_reads() {
    generate(fuzz::h3_heads, 30_000, 200);
}

#[test]
fn no_end_but_one_in_order_completes_a_response_that_the_end_delimits() {
    let words: [&[u8]; 18] = [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.0 200 OK\r\n",
        b"HTTP/1.1 204 No Content\r\n",
        b"HTTP/1.1 103 Early Hints\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n",
        b"content-length: 4\r\n",
        b"content-length: 0\r\n",
        b"transfer-encoding: chunked\r\n",
        b"transfer-encoding: gzip\r\n",
        b"connection: close\r\n",
        b"connection: keep-alive\r\n",
        b"\r\n",
        b"body",
        b"4\r\nbody\r\n",
        b"4;x=y\r\n",
        b"0\r\n\r\n",
        b"0\r\nx: y\r\n\r\n",
        b"\n",
    ];
    compose(fuzz::h1_end, 20_000, 2, 8, &words);
    // A text that begins as a response gets further.
    compose(
        |input| {
            let (front, rest) = input.split_at(input.len().min(2));
            fuzz::h1_end(&[front, b"HTTP/1.1 200 OK\r\n", rest].concat());
        },
        20_000,
        2,
        8,
        &words,
    );
}

#[test]
fn alternatives_that_are_read_are_usable() {
    let words: [&[u8]; 16] = [
        b"h3",
        b"h2",
        b"=",
        b"\"",
        b":443",
        b":0",
        b":65536",
        b"a.test",
        b"b.test",
        b";",
        b",",
        b" ",
        b"ma=60",
        b"ma=0",
        b"ma=\"9\"",
        b"clear",
    ];
    compose(fuzz::alt_svc, 20_000, 0, 14, &words);
    generate(fuzz::alt_svc, 5_000, 60);
}

#[test]
fn priorities_are_in_range_and_the_last_word_counts() {
    let words: [&[u8]; 20] = [
        b"u", b"i", b"=", b"?0", b"?1", b"3", b"-1", b"8", b"1.5", b",", b" ", b";", b"x",
        b"\"s\"", b":YQ==:", b"(", b")", b"@1", b"*", b"a",
    ];
    compose(fuzz::priority, 20_000, 0, 14, &words);
    generate(fuzz::priority, 5_000, 60);
}

#[test]
fn answers_to_connect_open_the_same_tunnel_at_every_split() {
    let words: [&[u8]; 16] = [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.0 200\r\n",
        b"HTTP/1.1 204 x\r\n",
        b"HTTP/1.1 101 x\r\n",
        b"HTTP/1.1 103 x\r\n\r\n",
        b"HTTP/1.1 407 x\r\n",
        b"HTTP/2 200\r\n",
        b"content-length: 3\r\n",
        b"transfer-encoding: chunked\r\n",
        b"connection: close\r\n",
        b"proxy-authenticate: Basic\r\n",
        b"x:\r\n",
        b"\r\n",
        b"\n",
        b"0\r\n\r\n",
        b"SSH",
    ];
    compose(behind_controls(fuzz::proxy_connect), 20_000, 3, 8, &words);
}

#[test]
fn answers_of_socks_proxies_end_as_the_rfcs_say_at_every_split() {
    let words: [&[u8]; 13] = [
        &[5, 0],
        &[5, 2],
        &[5, 255],
        &[1, 0],
        &[1, 1],
        &[5, 0, 0, 1],
        &[5, 0, 0, 3, 2],
        &[5, 0, 0, 3, 0],
        &[5, 0, 0, 4],
        &[5, 0, 7, 9],
        &[0, 0, 0, 0],
        &[4],
        b"HTTP/1.1 400",
    ];
    compose(behind_controls(fuzz::proxy_socks), 30_000, 3, 7, &words);
}

#[test]
fn headers_of_proxies_are_read_alike_at_every_split() {
    let words: [&[u8]; 20] = [
        b"\r\n\r\n\0\r\nQUIT\n",
        &[0x21, 0x11, 0, 12],
        &[0x21, 0x11, 0, 19],
        &[0x21, 0x21, 0, 36],
        &[0x20, 0, 0, 0],
        &[0x21, 0x41],
        &[0x21, 0x11, 0xff, 0xff],
        &[3, 0, 4],
        &[4, 0, 1],
        &[1; 12],
        b"PROXY ",
        b"TCP4 ",
        b"TCP6 ",
        b"UNKNOWN",
        b"1.1.1.1 ",
        b"::1 ",
        b"443",
        b" ",
        b"\r\n",
        b"GET / HTTP/1.1\r\n",
    ];
    compose(behind_controls(fuzz::proxy_header), 30_000, 3, 8, &words);
}

#[test]
fn control_frames_of_http_2_end_both_sides_with_one_code_that_the_rfcs_give() {
    generate(fuzz::h2_control, 6_000, 160);
    compose(behind_controls(fuzz::h2_control), 6_000, 2, 24, &H2_RECORDS);
}

#[test]
fn sessions_end_every_exchange_once_whatever_their_user_calls_between_the_frames() {
    generate(fuzz::h2_session, 4_000, 200);
    compose(fuzz::h2_session, 12_000, 0, 40, &SESSION_STEPS);
}

/// Steps of `h2_session`: calls of its user, and frames of its server with types from 0 (DATA) on.
const SESSION_STEPS: [&[u8]; 34] = [
    b"\x03\x08",
    b"\x03\x02",
    b"\x03\x06",
    b"\x03\x03",
    b"\x03\x09",
    b"\x02\x00",
    b"\x02\x01",
    b"\x04\x00\x02\x00",
    b"\x04\x00\x02\x01",
    b"\x04\x01\xff\x01",
    b"\x05\x00\x00",
    b"\x05\x01\x02",
    b"\x06\x00\x08\x00",
    b"\x06\x01\x00\x00",
    b"\x07\x00\xff",
    b"\x07\x01\x01",
    b"\x08\x05",
    b"\x09\x04\x00\x00",
    b"\x09\x04\x00\x04",
    b"\x09\x01\x00\x00",
    b"\x0a\x00\x00\x00\x00\x00",
    b"\x0a\x02\x00\xff\x04\x03abc",
    b"\x0b\x01\x02",
    b"\x0c\x15\x00",
    b"\x0d\x01",
    b"\x0e",
    b"\x01\x01\x04\x01\x01\x88",
    b"\x01\x01\x05\x02\x01\x88",
    b"\x01\x00\x00\x01\x05body.",
    b"\x01\x00\x01\x01\x00",
    b"\x01\x03\x00\x01\x04\x00\x00\x00\x07",
    b"\x01\x04\x00\x00\x06\x00\x04\x00\x00\x00\x00",
    b"\x01\x08\x00\x00\x04\x00\x01\x00\x00",
    b"\x01\x07\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00",
];

/// Records of `h2_control`: a frame each (type and flags, stream, length, payload), or something that
/// happens at the machine's end.
const H2_RECORDS: [&[u8]; 22] = [
    b"\x00\x00\x06\x00\x04\x7f\xff\xff\xff",
    b"\x00\x00\x06\x00\x04\x00\x00\x00\x00",
    b"\x00\x00\x06\x00\x01\x00\x00\x00\x00",
    b"\x10\x00\x00",
    b"\x01\x00\x0812345678",
    b"\x81\x00\x0812345678",
    b"\x02\x00\x08\x00\x00\x00\x03\x00\x00\x00\x00",
    b"\x02\x00\x08\x00\x00\x00\x01\x00\x00\x00\x08",
    b"\x03\x00\x04\x00\x00\xff\xff",
    b"\x03\x01\x04\x7f\xff\xff\xff",
    b"\x04\x01\x04\x00\x00\x00\x08",
    b"\x04\x03\x04\x00\x00\x00\x07",
    b"\x06\x00\x07\x00\x00\x00\x01u=1",
    b"\x07\x00\x02\x00\x00",
    b"\x08\x00\x0b\x00\x09https://a",
    b"\x2a\x01\x00",
    b"\x3a\x01\x00",
    b"\x3a\x03\x00",
    b"\x1b\x01\x01x",
    b"\x0e\x00\x00",
    b"\x0e\x01\x00",
    b"\x0e\x02\x00",
];

#[test]
fn control_frames_of_http_3_end_both_sides_with_one_code_that_the_rfcs_give() {
    generate(fuzz::h3_control, 6_000, 160);
    compose(behind_controls(fuzz::h3_control), 6_000, 2, 24, &H3_RECORDS);
}

/// As `H2_RECORDS`, of `h3_control`.
const H3_RECORDS: [&[u8]; 20] = [
    b"\x00\x00\x00",
    b"\x00\x00\x04\x06\x40\x64\x00",
    b"\x01\x00\x01\x00",
    b"\x01\x00\x01\x04",
    b"\x01\x00\x01\x08",
    b"\x02\x00\x01\x03",
    b"\x03\x00\x01\x00",
    b"\x04\x00\x04\x00u=1",
    b"\x04\x00\x04\x04u=7",
    b"\x05\x00\x04\x00u=1",
    b"\x06\x01\x02\x00\x00",
    b"\x07\x00\x02\x00\x00",
    b"\x08\x01\x03xyz",
    b"\x0b\x01\x00",
    b"\x0b\x02\x00",
    b"\x0c\x01\x01x",
    b"\x0d\x01\x00",
    b"\x0e\x02\x00",
    b"\x0f\x00\x00",
    b"\x0f\x09\x00",
];
