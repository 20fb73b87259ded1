use super::check;
use crate::tidy::rust::parse;
use crate::tidy::tree::Tree;

fn found_in(files: &[(&str, &str)]) -> Vec<String> {
    let (sources, broken) = parse(&Tree::of(files));
    assert!(broken.is_empty(), "{broken:?}");
    check(&sources).iter().map(ToString::to_string).collect()
}

#[test]
fn an_option_without_its_default_is_found() {
    let text = "
        pub struct PoolConfig {
            /// At most this many. Range: any. Default: 3.
            pub most: u32,
            /// Bounds.
            pub limits: Limits,
            /// The color.
            pub color: Color,
            pub(crate) own: u32,
        }
        pub struct Settings { pub of_the_peer: u32 }
        pub(crate) struct OwnConfig { pub field: u32 }
    ";
    let found = found_in(&[
        ("engine/src/config.rs", text),
        ("cli/src/config.rs", text),
        ("core/src/config_test.rs", text),
    ]);
    assert_eq!(
        found,
        ["engine/src/config.rs:8: `PoolConfig.color` does not say its default"]
    );
}

#[test]
fn a_number_without_its_range_and_an_option_that_only_refers_to_another_place_are_found_in_a_table()
{
    let text = "
        crate::options! {
            /// Settings.
            pub struct Limits {
                /// Fields. Range: any. Default 128.
                pub fields: u32 = FIELDS, with_fields;
                /// Streams. Default 100.
                pub streams: Option<u32> = Some(100), with_streams;
                /// See [`PINGS`]. Range: any. Default 10.
                pub pings: Rate = PINGS, with_pings;
                /// The wait. Default 10 s.
                pub wait: Option<Duration> = None, with_wait;
            }
        }
        crate::options! { pub struct }
    ";
    let found = found_in(&[("core/src/limits.rs", text)]);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains("`Limits.streams` does not say its range"));
    assert!(found[1].contains("`Limits.pings` names another place"));
    assert!(found[2].contains("cannot be read"));
}
