//! The requests of a command line, one after the other.

use super::options::{self, GetOptions};
use super::{Fetch, Get, output};
use crate::failure::Failure;
use std::rc::Rc;
use tokio::runtime::Runtime;
use tokio::task::{JoinSet, LocalSet};

/// Fetches and writes; the requests between --next one after the other.
pub(crate) fn run(mut all: Vec<GetOptions>) -> Result<(), Failure> {
    options::share(&mut all);
    let hides_errors = all.iter().any(|options| options.output.hides_errors());
    let to = all.iter().find_map(|options| options.output.stderr.clone());
    if let Some(path) = to {
        output::divert_stderr(&path);
    }
    match hides_errors {
        true => each(all).map_err(Failure::silenced),
        false => each(all),
    }
}

/// All is checked before anything is sent. The last failure is the command's.
fn each(all: Vec<GetOptions>) -> Result<(), Failure> {
    let mut jar = None;
    let gets = all.into_iter().map(|options| Get::new(options, &mut jar));
    let gets = gets.collect::<Result<Vec<_>, _>>()?;
    let mut failed = None;
    for get in gets.into_iter().map(Rc::new) {
        let failure = Rc::clone(&get).all().err();
        get.note(&mut failed, failure);
        if failed.is_some() && get.options.fail_early {
            break;
        }
    }
    failed.map_or(Ok(()), Err)
}

impl Get {
    pub(super) fn one_by_one(
        &self,
        runtime: &Runtime,
        fetches: Vec<Fetch>,
    ) -> Result<Option<Failure>, Failure> {
        let mut failed = None;
        for fetch in fetches {
            self.note(&mut failed, runtime.block_on(self.one(fetch))?);
            if failed.is_some() && self.options.fail_early {
                break;
            }
        }
        Ok(failed)
    }

    /// -Z.
    pub(super) fn at_once(
        self: &Rc<Self>,
        runtime: &Runtime,
        fetches: Vec<Fetch>,
    ) -> Result<Option<Failure>, Failure> {
        let (mut running, mut failed) = (JoinSet::new(), None);
        let (mut waiting, max) = (fetches.into_iter(), self.options.parallel_max);
        LocalSet::new().block_on(runtime, async {
            loop {
                let room = usize::from(max).saturating_sub(running.len());
                for fetch in waiting.by_ref().take(room) {
                    let get = Rc::clone(self);
                    running.spawn_local(async move { get.one(fetch).await });
                }
                match running.join_next().await {
                    Some(Ok(ended)) => {
                        self.note(&mut failed, ended?);
                        if failed.is_some() && self.options.fail_early {
                            return Ok(failed);
                        }
                    }
                    Some(Err(error)) => return Err(Failure::remote(error)),
                    None => return Ok(failed),
                }
            }
        })
    }

    /// Keeps a failure as the command's, and reports the one before.
    pub(super) fn note(&self, failed: &mut Option<Failure>, failure: Option<Failure>) {
        if let Some(failure) = failure
            && let Some(before) = failed.replace(failure)
            && !self.options.output.hides_errors()
        {
            before.report();
        }
    }
}
