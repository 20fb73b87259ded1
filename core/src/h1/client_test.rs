//! The client's side: requests out, responses in.

use super::script_test::*;

#[test]
fn a_response_with_content_length_leaves_the_connection_open() {
    let input = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let (heard, wrote) = at_every_split(Script::client, input.len(), |script| {
        assert_eq!(script.open(&request("GET", "/x", &[]), true), 1);
        assert_eq!(script.conn.capacity(), 0, "one exchange at a time");
        script.says(input);
        assert_eq!(script.conn.capacity(), 1, "the exchange is over");
    });
    assert_eq!(
        heard,
        ["capacity", "1 status 200", "1 body hello end", "capacity"]
    );
    assert_eq!(wrote, "GET /x HTTP/1.1\r\nhost: a.test\r\n\r\n");
}
