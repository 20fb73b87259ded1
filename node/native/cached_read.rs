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

#[cfg(not(target_os = "linux"))]
fn without_waiting(_: i32, _: &mut [u8], _: f64) -> Option<usize> {
    None
}
