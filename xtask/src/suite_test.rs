use super::{job_name, shares_of, test_files};
use std::fs::{create_dir_all, write};

#[test]
fn the_files_of_tests_in_every_folder_are_found_and_those_of_installed_packages_are_not() {
    let folder = std::env::temp_dir().join(format!("trunkline-suite-{}", std::process::id()));
    for path in ["a/b/", "a/node_modules/c/", "node_modules/d/", ""] {
        create_dir_all(folder.join(path)).expect("a folder");
        for name in ["one.test.mjs", "support.mjs"] {
            write(folder.join(path).join(name), "").expect("a file");
        }
    }
    let mut names = Vec::new();
    test_files(&folder, "", &mut names).expect("readable");
    names.sort();
    std::fs::remove_dir_all(&folder).expect("removed");
    assert_eq!(names, ["a/b/one.test.mjs", "one.test.mjs"]);
}

#[test]
fn a_file_with_a_loop_over_lines_or_versions_is_a_job_for_each_and_any_other_file_is_one() {
    assert_eq!(shares_of("lines/life.test.mjs"), ["1/2", "2/2"]);
    assert_eq!(shares_of("server/suite.test.mjs").len(), 5);
    assert_eq!(shares_of("server/life.test.mjs"), ["1/1"]);
    assert_eq!(
        job_name("lines/life.test.mjs", "2/2"),
        "lines/life.test.mjs 2/2"
    );
    assert_eq!(
        job_name("server/life.test.mjs", "1/1"),
        "server/life.test.mjs"
    );
}
