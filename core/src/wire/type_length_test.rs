use super::*;

#[test]
fn a_header_is_read_in_whatever_pieces_it_comes_and_what_follows_stays() {
    for (kind, len) in [(0, 0), (0x40, 0x3fff), (varint::MAX, varint::MAX)] {
        let mut bytes = Vec::new();
        varint::put(kind, &mut bytes);
        varint::put(len, &mut bytes);
        bytes.extend_from_slice(b"rest");
        let whole = bytes.len() - 4;
        for cut in 0..whole {
            let mut header = TypeLength::default();
            let mut input = &bytes[..cut];
            assert_eq!(header.next(&mut input), None);
            assert!(input.is_empty(), "it is kept");
            assert_eq!(header.is_empty(), cut == 0);
            let mut input = &bytes[cut..];
            assert_eq!(header.next(&mut input), Some((kind, len)), "cut at {cut}");
            assert_eq!(input, b"rest");
            assert!(header.is_empty());
        }
    }
}
