//! The requests of a command line, one after the other.

use super::options::{self, GetOptions};
use super::{Get, output};
use crate::failure::Failure;
use std::rc::Rc;

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
