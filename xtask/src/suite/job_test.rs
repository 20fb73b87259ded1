use super::*;

/// A shell script as a job.
fn job(name: &str, script: &str) -> Job {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Job::new(name.into(), command)
}

fn queue(name: &str, jobs: Vec<Job>) -> Queue {
    let folder =
        std::env::temp_dir().join(format!("trunkline-suite-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    Queue::new(folder, 1..=1, jobs)
}

#[test]
fn a_queue_in_which_every_job_ends_well_says_nothing_of_them() {
    let queue = queue("well", vec![job("one", "echo fine")]);
    queue.add(vec![job("two", "true")]);
    queue.close();
    queue.work();
    assert_eq!(queue.finish(Duration::ZERO), Ok(()));
    assert_eq!(queue.state().done.len(), 2);
    std::fs::remove_dir_all(&queue.folder).expect("removed");
}

#[test]
fn a_job_that_fails_is_reported_with_its_failing_tests_and_the_others_still_run() {
    let failing = "echo ok; echo 'FAILED a: b'; echo wrong; exit 3";
    let queue = queue(
        "fails",
        vec![
            job("one", failing),
            job("two", "echo last words; exit 1"),
            job("three", "true"),
        ],
    );
    queue.close();
    queue.work();
    let texts: Vec<Option<String>> = queue
        .state()
        .done
        .iter()
        .map(|done| done.failure.clone())
        .collect();
    let one = "FAILED one: exit status: 3\na: b\nwrong\n".to_owned();
    let two = "FAILED two: exit status: 1\nlast words\n".to_owned();
    assert_eq!(texts, [Some(one), Some(two), None]);
    assert!(queue.finish(Duration::ZERO).is_err());
    std::fs::remove_dir_all(&queue.folder).expect("removed");
}

#[test]
fn a_queue_waits_for_jobs_until_it_is_closed() {
    let queue = queue("waits", Vec::new());
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| queue.work());
        queue.add(vec![job("late", "exit 1")]);
        queue.close();
        worker.join().expect("a worker");
    });
    assert!(queue.finish(Duration::ZERO).is_err());
    std::fs::remove_dir_all(&queue.folder).expect("removed");
}

#[test]
fn no_more_jobs_run_at_once_than_may() {
    let name = format!("trunkline-suite-here-{}", std::process::id());
    let folder = std::env::temp_dir().join(name).display().to_string();
    let script = format!("mkdir {folder} && sleep 0.1 && rmdir {folder}");
    let queue = queue("alone", vec![job("one", &script), job("two", &script)]);
    queue.close();
    queue.work();
    assert_eq!(queue.finish(Duration::ZERO), Ok(()));
    std::fs::remove_dir_all(&queue.folder).expect("removed");
}

#[test]
fn one_more_job_may_run_where_a_part_of_the_machine_idles_and_one_less_where_it_is_busy() {
    assert_eq!(adapted(4, 4, 15), 5);
    assert_eq!(adapted(4, 3, 100), 4, "there is nothing to begin");
    assert_eq!((adapted(5, 5, 14), adapted(5, 5, 3)), (5, 5));
    assert_eq!((adapted(5, 5, 2), adapted(0, 0, 0)), (4, 0));
}
