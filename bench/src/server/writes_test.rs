use super::calls;

#[test]
fn every_call_counts_once_and_the_total_not_at_all() {
    let table = "    calls syscall\n--------- ----------------\n       12 write\n        3 sendmsg\n--------- ----------------\n       15 total\n";
    assert_eq!(calls(table), 15);
    assert_eq!(calls(""), 0);
}
