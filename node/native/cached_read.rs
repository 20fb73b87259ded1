//! Reads of files that the system has in memory, on the caller's thread: such a read takes some
//! microseconds, fewer than the way to another thread and back.

use crate::platform::napi::{self, Env, Outcome, Value};

/// `readCached(descriptor, into, bytes, position)`: reads at most `bytes` into `into`, from `position`
/// on, or from where the descriptor stands if that is -1. The number of bytes that were read, 0 at the
/// end; -1 where nothing could be read without waiting, or at all: Node.js's own read says why.
pub(crate) unsafe extern "C" fn read(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: these are Node.js's own arguments.
    unsafe { napi::call(env, info, |env, arguments, _| read_cached(env, arguments)) }
}

/// `fileCached(path, into, facts)`: reads the regular file at `path` whole, if the system has its name and
/// its bytes in memory and `into` has room for them. The number of its bytes, or -1; in `facts` when it
/// was changed last, in milliseconds since 1970, as eight bytes.
pub(crate) unsafe extern "C" fn file(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: these are Node.js's own arguments.
    unsafe { napi::call(env, info, |env, arguments, _| file_cached(env, arguments)) }
}

fn file_cached(env: Env, arguments: [Value; 3]) -> Outcome<Value> {
    let [path, into, facts] = arguments;
    let path = env.as_text(path)?;
    let read = env.with_bytes_of(into, |into| whole_without_waiting(&path, into))?;
    let Some((bytes, modified_ms)) = read else {
        return env.double(-1.0);
    };
    env.with_bytes_of(facts, |facts| {
        facts.copy_from_slice(&modified_ms.to_ne_bytes())
    })?;
    env.double(bytes as f64)
}

fn read_cached(env: Env, arguments: [Value; 4]) -> Outcome<Value> {
    let [descriptor, into, bytes, position] = arguments;
    let descriptor = env.as_double(descriptor)? as i32;
    let (bytes, position) = (env.as_double(bytes)? as usize, env.as_double(position)?);
    let read = env.with_bytes_of(into, |into| {
        let room = into.len().min(bytes);
        without_waiting(descriptor, &mut into[..room], position)
    })?;
    env.double(read.map_or(-1.0, |bytes| bytes as f64))
}

/// `preadv2(2)` with `RWF_NOWAIT`, which reads of the page cache alone.
#[cfg(target_os = "linux")]
fn without_waiting(descriptor: i32, into: &mut [u8], position: f64) -> Option<usize> {
    use rustix::io::{IoSliceMut, ReadWriteFlags, preadv2};

    if descriptor < 0 {
        return None;
    }
    // SAFETY: the caller's stream holds it open while this thread is here; of one that is closed the system says so.
    let file = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
    let position = match position < 0.0 {
        true => u64::MAX,
        false => position as u64,
    };
    preadv2(
        file,
        &mut [IoSliceMut::new(into)],
        position,
        ReadWriteFlags::NOWAIT,
    )
    .ok()
}

/// The bytes of a file and its time of change, by a name of the kernel's cache (`RESOLVE_CACHED` of
/// openat2(2)).
#[cfg(target_os = "linux")]
fn whole_without_waiting(path: &str, into: &mut [u8]) -> Option<(usize, f64)> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};
    use std::os::fd::AsRawFd as _;

    // Not to wait for the other end of a pipe, which is refused below.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED).ok()?;
    let stat = fstat(&file).ok()?;
    let is_regular = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    let size = usize::try_from(stat.st_size).ok()?;
    if !is_regular || size > into.len() {
        return None;
    }
    let read = without_waiting(file.as_raw_fd(), &mut into[..size], 0.0)?;
    // As Node.js computes `mtimeMs`.
    let modified_ms = stat.st_mtime as f64 * 1e3 + stat.st_mtime_nsec as f64 / 1e6;
    (read == size).then_some((size, modified_ms))
}

#[cfg(not(target_os = "linux"))]
fn whole_without_waiting(_: &str, _: &mut [u8]) -> Option<(usize, f64)> {
    None
}

#[cfg(not(target_os = "linux"))]
fn without_waiting(_: i32, _: &mut [u8], _: f64) -> Option<usize> {
    None
}
