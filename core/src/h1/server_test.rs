//! The server's side: requests in, responses out, in order.

use super::script_test::*;

#[test]
fn a_request_is_answered_and_the_connection_stays_open() {
    let input = "GET /a?b HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let (heard, wrote) = server_hears(answer_at_once, input);
    assert_eq!(heard, ["1 GET /a?b end"]);
    assert_eq!(wrote, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
}
