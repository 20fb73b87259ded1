//! A JavaScript function that native code calls outside of a call from JavaScript.

use super::napi::{Env, Outcome, Refused, Value};
use std::ptr::null_mut;

/// The function, kept until this is dropped. On the thread of its environment, which lives.
pub(crate) struct Callback {
    env: Env,
    function: napi_sys::napi_ref,
    context: napi_sys::napi_async_context,
}

impl Callback {
    pub(crate) fn new(env: Env, function: Value) -> Outcome<Self> {
        let name = env.text("trunkline")?;
        let mut callback = Self {
            env,
            function: null_mut(),
            context: null_mut(),
        };
        // SAFETY: the environment is live and this is its thread; the pointers outlive the calls.
        let made = unsafe {
            let referred =
                napi_sys::napi_create_reference(env.0, function.0, 1, &mut callback.function);
            match referred {
                napi_sys::Status::napi_ok => {
                    napi_sys::napi_async_init(env.0, null_mut(), name.0, &mut callback.context)
                }
                other => other,
            }
        };
        match made {
            napi_sys::Status::napi_ok => Ok(callback),
            other => Err(Refused(format!(
                "trunkline: Node-API keeps no function (status {other})"
            ))),
        }
    }
    /// Calls it. What it throws is uncaught.
    ///
    /// # Safety
    /// On the environment's thread, outside of any call of JavaScript's.
    pub(crate) unsafe fn call(&self) {
        let env = self.env.0;
        let (mut scope, mut function, mut result) = (null_mut(), null_mut(), null_mut());
        let mut global = null_mut();
        // SAFETY: by the caller's promise; the handle scope is closed below.
        unsafe {
            if napi_sys::napi_open_handle_scope(env, &mut scope) != 0 {
                return;
            }
            napi_sys::napi_get_reference_value(env, self.function, &mut function);
            // The receiver must be an object.
            napi_sys::napi_get_global(env, &mut global);
            let status = napi_sys::napi_make_callback(
                env,
                self.context,
                global,
                function,
                0,
                null_mut(),
                &mut result,
            );
            if status == napi_sys::Status::napi_pending_exception {
                let mut thrown = null_mut();
                napi_sys::napi_get_and_clear_last_exception(env, &mut thrown);
                napi_sys::napi_fatal_exception(env, thrown);
            }
            napi_sys::napi_close_handle_scope(env, scope);
        }
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        // SAFETY: by the type's promise; each is given back once.
        unsafe {
            if !self.context.is_null() {
                napi_sys::napi_async_destroy(self.env.0, self.context);
            }
            if !self.function.is_null() {
                napi_sys::napi_delete_reference(self.env.0, self.function);
            }
        }
    }
}
