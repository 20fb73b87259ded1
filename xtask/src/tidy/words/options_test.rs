use super::check;
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

#[test]
fn an_option_without_its_default_is_found() {
    let text = "
        pub struct PoolConfig {
            /// At most this many. Default: 3.
            pub most: u32,
            /// Bounds.
            pub limits: Limits,
            /// Sockets.
            pub sockets: u32,
            pub(crate) own: u32,
        }
        pub struct Settings { pub of_the_peer: u32 }
        pub(crate) struct OwnConfig { pub field: u32 }
    ";
    let files = [
        ("engine/src/config.rs", text),
        ("cli/src/config.rs", text),
        ("core/src/config_test.rs", text),
    ];
    let (sources, broken) = parse(&Tree::of(&files));
    assert!(broken.is_empty(), "{broken:?}");
    let found: Vec<String> = check(&sources).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        ["engine/src/config.rs:8: `PoolConfig.sockets` does not say its default"]
    );
}
