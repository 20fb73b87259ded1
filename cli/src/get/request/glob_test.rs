use super::*;

fn urls(pattern: &str) -> Vec<String> {
    let expanded = expand(pattern).unwrap();
    expanded.into_iter().map(|expanded| expanded.url).collect()
}

#[test]
fn a_pattern_stands_for_the_urls_that_curl_makes_of_it() {
    let cases: [(&str, &[&str]); 10] = [
        ("http://a/", &["http://a/"]),
        ("a{b,c}", &["ab", "ac"]),
        ("{a,b}[1-2]", &["a1", "a2", "b1", "b2"]),
        ("[08-10]", &["08", "09", "10"]),
        ("[0-10:5]", &["0", "5", "10"]),
        ("[a-e:2]", &["a", "c", "e"]),
        ("a{,b}", &["a", "ab"]),
        ("[::1]:80/[1-2]", &["[::1]:80/1", "[::1]:80/2"]),
        (r"\{a\}\[1\]\,", &["{a}[1],"]),
        ("a[]b", &["a[]b"]),
    ];
    for (pattern, expected) in cases {
        assert_eq!(urls(pattern), expected, "{pattern}");
    }
}

#[test]
fn a_part_that_does_not_end_or_counts_nothing_is_refused() {
    for pattern in [
        "a{b",
        "a[1-2",
        "a}",
        "a]",
        "{}",
        "{a{b}}",
        "[1]",
        "[2-1]",
        "[a-1]",
        "[1-2:0]",
        "[1-x]",
        "[z-a]",
        "[1-99999999]",
        "[1-2000][1-2000]",
    ] {
        let failure = expand(pattern).unwrap_err();
        assert_eq!(failure.code(), exit::URL, "{pattern}");
    }
}

#[test]
fn the_name_of_a_file_has_the_parts_of_its_url() {
    let expanded = expand("{a,b}/[1-2]").unwrap();
    let names: Vec<_> = expanded.iter().map(|url| url.name("#2-#1.#3#")).collect();
    assert_eq!(names, ["1-a.#3#", "2-a.#3#", "1-b.#3#", "2-b.#3#"]);
}
