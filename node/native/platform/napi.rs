//! The few calls of Node-API that the channel needs, with their statuses as results. A callback
//! that panics throws a JavaScript exception; the process continues.

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, null_mut};

/// A Node.js environment, on whose thread the caller is.
#[derive(Clone, Copy)]
pub(crate) struct Env(pub(crate) napi_sys::napi_env);

/// A JavaScript value, alive until the handle scope that it came with ends.
#[derive(Clone, Copy)]
pub(crate) struct Value(pub(crate) napi_sys::napi_value);

/// Why a call failed, in a sentence for a JavaScript `Error`.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) String);

pub(crate) type Outcome<T> = Result<T, Refused>;

/// A native function that JavaScript calls.
pub(crate) type Function =
    unsafe extern "C" fn(napi_sys::napi_env, napi_sys::napi_callback_info) -> napi_sys::napi_value;

fn check(status: napi_sys::napi_status, what: &str) -> Outcome<()> {
    match status {
        napi_sys::Status::napi_ok => Ok(()),
        other => Err(Refused(format!(
            "{what} failed with Node-API status {other}"
        ))),
    }
}

/// Calls a function of Node-API that answers through its last argument.
macro_rules! ask {
    ($what:literal, $initial:expr, $function:ident($($argument:expr),*)) => {{
        let mut answer = $initial;
        // SAFETY: the environment is live and this is its thread; the pointers outlive the call.
        let status = unsafe { napi_sys::$function($($argument,)* &mut answer) };
        check(status, $what).map(|()| answer)
    }};
}

impl Env {
    pub(crate) fn undefined(self) -> Value {
        let value = ask!("undefined", null_mut(), napi_get_undefined(self.0));
        Value(value.unwrap_or(null_mut()))
    }
    pub(crate) fn object(self) -> Outcome<Value> {
        ask!("an object", null_mut(), napi_create_object(self.0)).map(Value)
    }
    pub(crate) fn text(self, text: &str) -> Outcome<Value> {
        let (start, length) = (text.as_ptr().cast(), text.len() as isize);
        ask!(
            "a string",
            null_mut(),
            napi_create_string_utf8(self.0, start, length)
        )
        .map(Value)
    }
    pub(crate) fn number(self, number: u32) -> Outcome<Value> {
        ask!("a number", null_mut(), napi_create_uint32(self.0, number)).map(Value)
    }
    pub(crate) fn double(self, number: f64) -> Outcome<Value> {
        ask!("a number", null_mut(), napi_create_double(self.0, number)).map(Value)
    }
    pub(crate) fn as_double(self, value: Value) -> Outcome<f64> {
        ask!("a number", 0.0, napi_get_value_double(self.0, value.0))
    }
    /// The number in `value`.
    pub(crate) fn as_number(self, value: Value) -> Outcome<u32> {
        ask!("a number", 0, napi_get_value_uint32(self.0, value.0))
    }
    /// The text in `value`.
    pub(crate) fn as_text(self, value: Value) -> Outcome<String> {
        let length = ask!(
            "a string",
            0,
            napi_get_value_string_utf8(self.0, value.0, null_mut(), 0)
        )?;
        // Node-API writes a zero behind it.
        let mut bytes = vec![0_u8; length + 1];
        let written = ask!(
            "a string",
            0,
            napi_get_value_string_utf8(self.0, value.0, bytes.as_mut_ptr().cast(), bytes.len())
        )?;
        bytes.truncate(written);
        String::from_utf8(bytes).map_err(|_| Refused("a string is not UTF-8".into()))
    }
    /// The memory of a `Uint8Array`: where it begins, and its bytes. Valid on this thread until the call
    /// is over.
    fn memory_of(self, value: Value) -> Outcome<(*mut u8, usize)> {
        let (mut kind, mut length, mut start) = (0, 0, null_mut::<c_void>());
        // SAFETY: the environment is live and this is its thread; the pointers outlive the call.
        let status = unsafe {
            napi_sys::napi_get_typedarray_info(
                self.0,
                value.0,
                &mut kind,
                &mut length,
                &mut start,
                null_mut(),
                null_mut(),
            )
        };
        check(status, "a typed array")?;
        match kind {
            napi_sys::TypedarrayType::uint8_array => Ok((start.cast(), length)),
            _ => Err(Refused("the bytes are not a Uint8Array".into())),
        }
    }
    /// A copy of the bytes of a `Uint8Array`. Never the bytes themselves: no handle of Node-API
    /// keeps them in place, because the owner of the `ArrayBuffer` may transfer, free or move it.
    pub(crate) fn as_bytes(self, value: Value) -> Outcome<Vec<u8>> {
        let (start, length) = self.memory_of(value)?;
        let mut bytes = Vec::<u8>::with_capacity(length);
        if length > 0 {
            // SAFETY: Node-API reports the length, which is valid on this thread until the call is
            // over; the room is ours. No slice of them is made: of shared memory others may write.
            unsafe {
                ptr::copy_nonoverlapping(start, bytes.as_mut_ptr(), length);
                bytes.set_len(length);
            }
        }
        Ok(bytes)
    }
    /// Lets `write` change the bytes of a `Uint8Array`, which must not be of shared memory.
    pub(crate) fn with_bytes_of<T>(
        self,
        value: Value,
        write: impl FnOnce(&mut [u8]) -> T,
    ) -> Outcome<T> {
        let (start, length) = self.memory_of(value)?;
        if length == 0 {
            return Ok(write(&mut []));
        }
        // SAFETY: as in `as_bytes`; no JavaScript runs before the slice is gone, and it is not shared.
        Ok(write(unsafe {
            std::slice::from_raw_parts_mut(start, length)
        }))
    }
    pub(crate) fn set(self, object: Value, name: &CStr, value: Value) -> Outcome<()> {
        // SAFETY: the environment is live and this is its thread; the name ends with a zero.
        let status =
            unsafe { napi_sys::napi_set_named_property(self.0, object.0, name.as_ptr(), value.0) };
        check(status, "a property")
    }
    /// Makes `callback`, which gets `data`, a method of `object`.
    pub(crate) fn set_function(
        self,
        object: Value,
        name: &CStr,
        callback: Function,
        data: *mut c_void,
    ) -> Outcome<()> {
        let function = ask!(
            "a function",
            null_mut(),
            napi_create_function(
                self.0,
                name.as_ptr(),
                name.to_bytes().len() as isize,
                Some(callback),
                data
            )
        )?;
        self.set(object, name, Value(function))
    }
    /// A `Buffer` over bytes that `owner` keeps in place; the owner is dropped when the buffer is
    /// collected.
    pub(crate) fn buffer_of<T: AsRef<[u8]>>(self, owner: T) -> Outcome<Value> {
        let owner = Box::new(owner);
        let bytes = (*owner).as_ref();
        let (start, length) = (bytes.as_ptr().cast_mut().cast(), bytes.len());
        let hint = Box::into_raw(owner).cast();
        let made = ask!(
            "a Buffer",
            null_mut(),
            napi_create_external_buffer(self.0, length, start, Some(drop_box::<T>), hint)
        );
        if made.is_err() {
            // SAFETY: Node-API has not taken it; it came from `Box::into_raw` above.
            drop(unsafe { Box::from_raw(hint.cast::<T>()) });
        }
        made.map(Value)
    }
    /// A `Buffer` with a copy of these bytes.
    pub(crate) fn buffer_copy(self, bytes: &[u8]) -> Outcome<Value> {
        let (start, length) = (bytes.as_ptr().cast(), bytes.len());
        ask!(
            "a Buffer",
            null_mut(),
            napi_create_buffer_copy(self.0, length, start, null_mut())
        )
        .map(Value)
    }
    /// An `ArrayBuffer` over memory that `owner` keeps alive and in place.
    pub(crate) fn array_buffer<T>(self, start: *mut u8, length: usize, owner: T) -> Outcome<Value> {
        let hint = Box::into_raw(Box::new(owner)).cast();
        let made = ask!(
            "an ArrayBuffer",
            null_mut(),
            napi_create_external_arraybuffer(
                self.0,
                start.cast(),
                length,
                Some(drop_box::<T>),
                hint
            )
        );
        if made.is_err() {
            // SAFETY: Node-API has not taken it; it came from `Box::into_raw` above.
            drop(unsafe { Box::from_raw(hint.cast::<T>()) });
        }
        made.map(Value)
    }
    pub(crate) fn throw(self, refused: &Refused) {
        let Ok(text) = self.text(&refused.0) else {
            return;
        };
        let error = ask!(
            "an error",
            null_mut(),
            napi_create_error(self.0, null_mut(), text.0)
        );
        if let Ok(error) = error {
            // SAFETY: the environment is live and this is its thread.
            unsafe { napi_sys::napi_throw(self.0, error) };
        }
    }
}

unsafe extern "C" fn drop_box<T>(_: napi_sys::napi_env, _: *mut c_void, hint: *mut c_void) {
    // SAFETY: `hint` came from `Box::into_raw` of a `Box<T>`, and finalizers run once.
    drop(unsafe { Box::from_raw(hint.cast::<T>()) });
}

/// The body of a native function: its arguments and its data, with every failure and every panic
/// thrown as a JavaScript exception.
///
/// # Safety
/// `env` and `info` are those that Node.js called the function with.
pub(crate) unsafe fn call<const N: usize>(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
    body: impl FnOnce(Env, [Value; N], *mut c_void) -> Outcome<Value>,
) -> napi_sys::napi_value {
    let env = Env(env);
    let mut arguments = [null_mut(); N];
    let (mut count, mut data) = (N, null_mut());
    // SAFETY: by the caller's promise; there is room for `N` arguments.
    unsafe {
        napi_sys::napi_get_cb_info(
            env.0,
            info,
            &mut count,
            arguments.as_mut_ptr(),
            null_mut(),
            &mut data,
        );
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| body(env, arguments.map(Value), data)));
    let refused = match outcome {
        Ok(Ok(value)) => return value.0,
        Ok(Err(refused)) => refused,
        Err(panic) => Refused(format!("trunkline: internal error: {}", sent(&*panic))),
    };
    env.throw(&refused);
    null_mut()
}

/// The message of a panic.
pub(crate) fn sent(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    text.or(owned).unwrap_or("a panic without a text")
}
