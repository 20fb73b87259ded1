use super::*;
use std::collections::BTreeMap;

/// A folder, deleted with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("trunkline-log-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
    fn file(&self) -> PathBuf {
        self.0.join("log")
    }
    /// Names and contents.
    fn files(&self) -> BTreeMap<String, String> {
        let entries = fs::read_dir(&self.0).expect("a folder");
        let file = |path: &Path| fs::read_to_string(path).expect("text");
        let files = entries.map(|it| it.expect("an entry"));
        files
            .map(|it| {
                (
                    it.file_name().into_string().expect("text"),
                    file(&it.path()),
                )
            })
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn rotation(bytes_max: u64, files_kept: u32) -> Option<Rotation> {
    Some(Rotation {
        bytes_max,
        files_kept,
    })
}

fn write(output: &mut LogOutput, line: &str) {
    let renamed = output.write(line.as_bytes()).expect("it is written");
    assert!(renamed.is_none(), "{renamed:?}");
}

#[test]
fn a_file_never_grows_beyond_its_size_and_the_newest_are_kept() {
    let folder = Folder::new("size");
    let mut output = LogOutput::open(Some(&folder.file()), rotation(8, 2)).expect("it opens");
    for line in ["1__\n", "2__\n", "3__\n", "4__\n", "5__\n", "6__\n"] {
        write(&mut output, line);
    }
    let expected = [
        ("log", "5__\n6__\n"),
        ("log.1", "3__\n4__\n"),
        ("log.2", "1__\n2__\n"),
    ];
    let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(folder.files(), BTreeMap::from(expected.clone()));
    // A line that is longer than a file may be has one to itself.
    write(&mut output, "7________\n");
    write(&mut output, "8__\n");
    let files = folder.files();
    assert_eq!(
        (files["log"].as_str(), files["log.1"].as_str()),
        ("8__\n", "7________\n")
    );
    assert_eq!((files["log.2"].as_str(), files.len()), ("5__\n6__\n", 3));
}

#[test]
fn the_lines_of_an_earlier_process_count() {
    let folder = Folder::new("earlier");
    fs::write(folder.file(), "earlier\n").expect("written");
    let mut output = LogOutput::open(Some(&folder.file()), rotation(10, 1)).expect("it opens");
    write(&mut output, "now\n");
    let files = folder.files();
    assert_eq!(
        (files["log"].as_str(), files["log.1"].as_str()),
        ("now\n", "earlier\n")
    );
}

/// The process before and the next write to one file while the one before drains, and come to its end together.
#[cfg(unix)]
#[test]
fn writers_of_one_file_rename_it_once_and_lose_no_line() {
    let folder = Folder::new("two");
    let path = folder.file();
    let lines_each = 400;
    std::thread::scope(|scope| {
        for writer in ["a", "b", "c"] {
            let path = &path;
            scope.spawn(move || {
                let mut output =
                    LogOutput::open(Some(path), rotation(100, 1000)).expect("it opens");
                for number in 0..lines_each {
                    write(&mut output, &format!("{writer}{number:05}\n"));
                }
            });
        }
    });
    let text: String = folder.files().into_values().collect();
    let mut lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3 * lines_each);
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 3 * lines_each, "each is there once");
}

#[cfg(unix)]
#[test]
fn a_link_keeps_its_name_and_what_is_no_file_is_not_renamed() {
    let folder = Folder::new("link");
    let elsewhere = Folder::new("link-to");
    std::os::unix::fs::symlink(elsewhere.file(), folder.file()).expect("a link");
    let mut output = LogOutput::open(Some(&folder.file()), rotation(4, 1)).expect("it opens");
    write(&mut output, "1__\n");
    write(&mut output, "2__\n");
    assert!(
        fs::symlink_metadata(folder.file())
            .expect("it is there")
            .is_symlink()
    );
    let files = elsewhere.files();
    assert_eq!(
        (files["log"].as_str(), files["log.1"].as_str()),
        ("2__\n", "1__\n")
    );
    let mut device =
        LogOutput::open(Some(Path::new("/dev/null")), rotation(4, 1)).expect("it opens");
    for _ in 0..3 {
        write(&mut device, "1__\n");
    }
}

/// A folder has the name that the file would get.
#[test]
fn a_file_that_cannot_be_renamed_goes_on_and_says_so_once_for_each_size() {
    let folder = Folder::new("stuck");
    let taken = folder.0.join("log.1");
    fs::create_dir(&taken).expect("a folder");
    let mut output = LogOutput::open(Some(&folder.file()), rotation(8, 1)).expect("it opens");
    let mut warnings = 0;
    for _ in 0..6 {
        warnings += usize::from(output.write(b"1__\n").expect("it is written").is_some());
    }
    assert_eq!(warnings, 2);
    let text = fs::read_to_string(folder.file()).expect("text");
    assert_eq!(text.lines().count(), 6);
    fs::remove_dir(&taken).expect("it is empty");
    write(&mut output, "2__\n");
    assert_eq!(fs::read_to_string(folder.file()).expect("text"), "2__\n");
}
