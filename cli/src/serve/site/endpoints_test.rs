use super::*;

#[test]
fn an_argument_out_of_range_is_refused_with_what_is_allowed() {
    for path in [
        "/bytes/x",
        "/bytes/-1",
        "/status/199",
        "/status/600",
        "/delay/60001",
        "/bytes/",
    ] {
        let Some(Endpoint::Refused(why)) = Endpoint::of(path) else {
            panic!("{path} must be refused");
        };
        assert!(why.contains("is not a number from"), "{path}: {why}");
    }
}

#[test]
fn a_path_outside_the_set_is_left_to_the_files() {
    for path in ["/", "/bytes", "/byte/1", "/echo/x", "bytes/1"] {
        assert!(Endpoint::of(path).is_none(), "{path}");
    }
}

#[test]
fn bytes_up_to_a_piece_are_one_slice_and_longer_ones_repeat_it() {
    let small: Response<SiteBody<()>> = bytes(1024);
    assert!(matches!(small.body(), SiteBody::Full(_)));
    let large: Response<SiteBody<()>> = bytes(1 << 20);
    assert!(matches!(large.body(), SiteBody::Repeat { left, .. } if *left == 1 << 20));
}
