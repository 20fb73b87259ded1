use super::{Declarations, page};

const SOURCE: &str = r#"
/// Fields of one head.
pub const FIELD_COUNT_MAX: usize = 128;
pub struct Limits {
    /// See [`FIELD_COUNT_MAX`]. Default 128.
    pub field_count_max: usize,
    hidden: bool,
}
impl Builder {
    /// How long; see [`Self::other`](Self::other). Default 10 s.
    ///
    /// More of it.
    pub fn timeout(mut self, time: Option<Duration>) -> Self { self }
    /// Whether it is on.
    pub fn build(self) -> Client { todo!() }
}
"#;

#[test]
fn fields_and_setters_become_rows_with_the_comments_of_the_constants_that_they_name() {
    let mut declared = Declarations::default();
    for item in &syn::parse_file(SOURCE).unwrap().items {
        declared.take(item);
    }
    let limits = &declared.rows["Limits"];
    assert_eq!(limits.len(), 1);
    assert_eq!(
        declared.whole(&limits[0].2),
        "Fields of one head. Default 128."
    );
    let text = "How long; see `Self::other`. Default 10 s.";
    let expected = (
        "timeout".to_owned(),
        "Option<Duration>".to_owned(),
        text.to_owned(),
    );
    assert_eq!(declared.rows["Builder"], [expected]);
}

#[test]
fn the_page_has_every_type_of_settings() {
    let page = page().unwrap();
    for row in [
        "| `connections` | `u32` |",
        "| `field_count_max` | `usize` |",
        "| `http3` | `bool` |",
        "| `idle` | `Option<Duration>` |",
    ] {
        assert!(page.contains(row), "{row}\n{page}");
    }
}
