//! One Node.js environment: its rings, its engine, and the libuv handle that wakes it. Created by
//! `open`, ended by a cleanup hook: the engine has ended before any of its memory is freed.

use crate::calls::read;
use crate::calls::reply::Reply;
use crate::channel::ring::{ARENA_BYTES, CONTROL_WORDS, ENTRIES};
use crate::channel::shared::Shared;
use crate::client::{dial, lookup};
#[cfg(target_os = "linux")]
use crate::engine::inline::Inline;
use crate::engine::{Engine, EnginePlace, EnvironmentLoop, Registry};
use crate::failure;
use crate::platform::callback::Callback;
use crate::platform::napi::{Env, Outcome, Refused, Value, call};
use crate::platform::uv::{self, LoopWaker};
use crate::server::listen::forwarded;
use crate::server::{snapshot, traffic};
use bytes::Bytes;
use serde::Deserialize;
#[cfg(target_os = "linux")]
use std::ffi::c_int;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The data of the environment's functions.
struct Environment {
    shared: Arc<Shared>,
    registry: Arc<Registry>,
    /// `None`: before it has started and after it was joined.
    engine: Option<Engine>,
    drain: Callback,
    cleanup: napi_sys::napi_async_cleanup_hook_handle,
}

/// `open(drain, place)`: makes this environment's rings and its engine. `place` is 0: on a thread; where the
/// platform allows it 1: on this thread, 2: on this thread as long as the load is light. `drain` is called when there are completions and JavaScript had
/// said that it sleeps.
pub(crate) unsafe extern "C" fn open(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: these are Node.js's own arguments.
    unsafe {
        call(env, info, |env, [drain, place], _| {
            let place = match env.as_number(place)? {
                0 => EnginePlace::Threads,
                1 => EnginePlace::Inline,
                _ => EnginePlace::Auto,
            };
            make(env, drain, place)
        })
    }
}

fn make(env: Env, drain: Value, wanted: EnginePlace) -> Outcome<Value> {
    let refuse = |what: &str| Refused(format!("trunkline: {what}"));
    let mut uv_loop = null_mut();
    // SAFETY: the environment is live and this is its thread; the pointer outlives the call.
    let status = unsafe { napi_sys::napi_get_uv_event_loop(env.0, &mut uv_loop) };
    if status != napi_sys::Status::napi_ok {
        return Err(refuse("Node-API gave no event loop"));
    }
    let drain = Callback::new(env, drain)?;
    let place = Box::into_raw(Box::<MaybeUninit<Environment>>::new_uninit());
    let data = place.cast::<c_void>();
    // SAFETY: on the loop's thread; the place is freed after the waker is closed, or here.
    let waker = unsafe { LoopWaker::new(uv_loop.cast(), on_wake, data) }.ok_or_else(|| {
        // SAFETY: it came from `Box::into_raw` above, and no other owner exists.
        drop(unsafe { Box::from_raw(place) });
        refuse("libuv gave no handle")
    })?;
    let shared = Arc::new(Shared::new(waker));
    // SAFETY: the memory is ours and has room for one; no reference to it exists yet.
    let environment = unsafe {
        data.cast::<Environment>().write(Environment {
            shared: Arc::clone(&shared),
            registry: Arc::default(),
            engine: None,
            drain,
            cleanup: null_mut(),
        });
        &mut *data.cast::<Environment>()
    };
    let place = EnvironmentLoop {
        uv_loop: uv_loop.cast(),
        data,
        #[cfg(target_os = "linux")]
        ready,
        #[cfg(target_os = "linux")]
        due,
    };
    let made = environment
        .begin(env, place, wanted)
        .map_err(|why| refuse(&why));
    let made = made.and_then(|is_inline| bridge(env, &shared, data, is_inline));
    if made.is_err() {
        environment.end();
    }
    made
}

/// The return value of `open`: the memory and the functions of the channel.
fn bridge(env: Env, shared: &Arc<Shared>, data: *mut c_void, is_inline: bool) -> Outcome<Value> {
    let bridge = env.object()?;
    let memory = &shared.memory;
    let control = memory.control.as_ptr().cast_mut().cast::<u8>();
    let view = |start, length| env.array_buffer(start, length, Arc::clone(memory));
    env.set(bridge, c"control", view(control, CONTROL_WORDS * 4)?)?;
    for (name, area) in [
        (c"submissions", &memory.submissions),
        (c"submissionArena", &memory.submission_arena),
        (c"completions", &memory.completions),
        (c"completionArena", &memory.completion_arena),
    ] {
        env.set(bridge, name, view(area.start(), area.len())?)?;
    }
    env.set(bridge, c"entries", env.number(ENTRIES)?)?;
    env.set(bridge, c"arenaBytes", env.number(ARENA_BYTES)?)?;
    env.set(bridge, c"inline", env.number(u32::from(is_inline))?)?;
    env.set_function(bridge, c"kick", kick, data)?;
    env.set_function(bridge, c"hold", hold, data)?;
    env.set_function(bridge, c"put", put, data)?;
    env.set_function(bridge, c"take", take, data)?;
    env.set_function(bridge, c"ask", ask, data)?;
    Ok(bridge)
}

/// # Safety
/// `data` is an environment's, and its functions are called while it lives: their environment's
/// JavaScript has ended before the cleanup hook.
unsafe fn of<'a>(data: *mut c_void) -> &'a Environment {
    // SAFETY: by the caller's promise.
    unsafe { &*data.cast::<Environment>() }
}

/// `kick()`: the engine sleeps and something was submitted, or it holds completions back.
unsafe extern "C" fn kick(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: these are Node.js's own arguments, and the data is an environment's.
    unsafe {
        call(env, info, |env, [], data| {
            of(data).kick();
            Ok(env.undefined())
        })
    }
}

/// `hold(1 or 0)`: whether the environment must stay alive.
unsafe extern "C" fn hold(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: as in `kick`.
    unsafe {
        call(env, info, |env, [holds], data| {
            of(data).shared.waker.set_ref(env.as_number(holds)? != 0);
            Ok(env.undefined())
        })
    }
}

/// `put(bytes)`: copies the bytes of a body for the engine; returns where they lie.
unsafe extern "C" fn put(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: as in `kick`.
    unsafe {
        call(env, info, |env, [bytes], data| {
            let bytes = Bytes::from(env.as_bytes(bytes)?);
            env.number(of(data).shared.put(bytes))
        })
    }
}

/// `take(place)`: a `Buffer` over the bytes that the engine put there.
unsafe extern "C" fn take(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: as in `kick`.
    unsafe {
        call(env, info, |env, [place], data| {
            env.buffer_of(of(data).shared.take_put(env.as_number(place)?))
        })
    }
}

/// `ask(verb, json)`: a cold call; its answer is JSON, `{ "ok": .. }` or `{ "error": .. }`.
unsafe extern "C" fn ask(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: as in `kick`.
    unsafe {
        call(env, info, |env, [verb, text], data| {
            let environment = of(data);
            let (verb, text) = (env.as_text(verb)?, env.as_text(text)?);
            let engine = environment.engine.as_ref();
            let _entered = engine.map(Engine::enter);
            let (shared, registry) = (&environment.shared, &environment.registry);
            let kick = || environment.kick();
            let answer = match verb.as_str() {
                "warmUp" => environment.warm_up(&text),
                "turn" => {
                    if let Some(engine) = engine {
                        engine.turn();
                    }
                    Ok(serde_json::Value::Null)
                }
                "listen" | "second" | "alone" | "join" | "identity" | "context" | "forget"
                | "chosen" | "configure" | "drain" | "serve" | "take" | "stop"
                | "serverMetrics" | "handOver" | "inspectServer" | "serverTimeline"
                | "closeServerPage" => registry.ask_server(shared, &verb, &text),
                "timeline" => environment.timeline(&text),
                "ringLag" => Ok((shared.ring_lag.to_openmetrics() + "# EOF\n").into()),
                "snapshot" => snapshot::ask(&registry.snapshot_requests, &text, kick),
                "traffic" => traffic::ask(&registry.traffics, &text, kick),
                "forwarded" => forwarded::answer(&text),
                "dialed" => dial::answer(shared, &registry.questions.dials, &text),
                "lookedUp" => lookup::answer(&registry.questions.lookups, &text),
                _ => registry
                    .clients()
                    .ask(shared, &registry.questions, &verb, &text),
            };
            environment.kick();
            let answer = match answer {
                Ok(value) => serde_json::json!({ "ok": value }),
                Err(error) => serde_json::json!({ "error": error }),
            };
            env.text(&answer.to_string())
        })
    }
}

#[derive(Deserialize)]
struct TimelineAsk {
    number: u64,
}

#[derive(Deserialize)]
struct WarmUp {
    client: u32,
    url: String,
    count: u32,
    /// The ticket of the answer.
    ticket: u32,
}

impl Environment {
    /// Starts the engine, and has it end with Node.js's environment. True: it is on this thread.
    fn begin(
        &mut self,
        env: Env,
        place: EnvironmentLoop,
        wanted: EnginePlace,
    ) -> Result<bool, String> {
        let engine = Engine::start(&self.shared, &self.registry, place, wanted)?;
        let is_inline = engine.is_inline();
        self.engine = Some(engine);
        // SAFETY: the environment is live and this is its thread; the hook gets what is freed after
        // it was called or removed.
        let status = unsafe {
            napi_sys::napi_add_async_cleanup_hook(
                env.0,
                Some(clean_up),
                place.data,
                &mut self.cleanup,
            )
        };
        match status {
            napi_sys::Status::napi_ok => Ok(is_inline),
            other => Err(format!("Node-API took no cleanup hook (status {other})")),
        }
    }
    /// Something was submitted or asked.
    fn kick(&self) {
        if let Some(engine) = &self.engine {
            engine.kick(&self.shared);
        }
    }
    /// Has JavaScript drain completions. Behind the call, with all the ticks and promises that follow it, an engine on this
    /// thread reads what was submitted within it.
    ///
    /// # Safety
    /// On the environment's thread, outside of any call of JavaScript's.
    unsafe fn drain(&self) {
        let memory = &self.shared.memory;
        self.shared.ring_lag.drained();
        memory.set_script_called(true);
        // SAFETY: by the caller's promise.
        unsafe { self.drain.call() };
        memory.set_script_called(false);
        if memory.take_idle() {
            self.shared.waker.set_ref(false);
        }
        #[cfg(target_os = "linux")]
        if let Some(Engine::Inline(inline)) = &self.engine
            && memory.has_submissions()
        {
            inline.run_for_script();
        }
    }
    /// Ends the engine first, then the waker, then the memory; once.
    fn end(&mut self) {
        if self.shared.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        self.shared.intake.notify_one();
        if let Some(engine) = self.engine.take() {
            engine.end();
        }
        self.shared.waker.close(closed);
    }
    /// The timeline of a failed request; null: it is not kept any more.
    fn timeline(&self, text: &str) -> Result<serde_json::Value, serde_json::Value> {
        let ask: TimelineAsk = read(text)?;
        Ok(serde_json::json!(self.shared.failed().timeline(ask.number)))
    }
    /// Answers later, with a completion.
    fn warm_up(&self, text: &str) -> Result<serde_json::Value, serde_json::Value> {
        let ask: WarmUp = read(text)?;
        let client = self.registry.clients().client(ask.client)?.clone();
        let reply = Reply::new(&self.shared, ask.ticket);
        if let Some(engine) = &self.engine {
            engine.spawn(async move {
                let answer = client.warm_up(&ask.url, ask.count).await;
                reply.give(match answer {
                    Ok(count) => serde_json::json!({ "ok": count }),
                    Err(error) => serde_json::json!({ "error": failure::describe(&error) }),
                });
            });
        }
        Ok(serde_json::Value::Null)
    }
}

/// The loop was woken: calls `drain`.
unsafe extern "C" fn on_wake(handle: *mut uv::Handle) {
    // SAFETY: on the loop's thread, of a waker whose data is an environment.
    let environment = unsafe { of(uv::data(handle)) };
    if let Some(engine) = &environment.engine {
        engine.on_wake();
    }
    // SAFETY: as above; no call of JavaScript's is under way.
    unsafe { environment.drain() };
}

/// Sockets of the engine are ready.
#[cfg(target_os = "linux")]
unsafe extern "C" fn ready(handle: *mut uv::Handle, _status: c_int, _events: c_int) {
    // SAFETY: on the loop's thread, of a handle whose data is an environment.
    unsafe { run_inline(handle, |_| ()) };
}

/// A deadline of the engine may have come.
#[cfg(target_os = "linux")]
unsafe extern "C" fn due(handle: *mut uv::Handle) {
    // SAFETY: as in `ready`.
    unsafe { run_inline(handle, Inline::fired) };
}

/// Runs the engine on this thread, sockets and timers first, then calls `drain` if there is
/// something to drain.
///
/// # Safety
/// The handle's data is an environment's, and this is a callback of its loop.
#[cfg(target_os = "linux")]
unsafe fn run_inline(handle: *mut uv::Handle, before: impl FnOnce(&Inline)) {
    // SAFETY: by the caller's promise.
    let environment = unsafe { of(uv::data(handle)) };
    if let Some(Engine::Inline(inline)) = &environment.engine {
        before(inline);
        if inline.run(true) {
            // SAFETY: as above; no call of JavaScript's is under way.
            unsafe { environment.drain() };
        }
    }
}

/// Node.js's environment ends.
unsafe extern "C" fn clean_up(_: napi_sys::napi_async_cleanup_hook_handle, data: *mut c_void) {
    // SAFETY: Node.js calls the hook once, on the environment's thread, with what it was given.
    unsafe { &mut *data.cast::<Environment>() }.end();
}

unsafe extern "C" fn closed(handle: *mut uv::Handle) {
    // SAFETY: the waker's last callback: no thread wakes it or calls the functions any more.
    unsafe {
        let environment = Box::from_raw(uv::data(handle).cast::<Environment>());
        environment.shared.waker.free();
        let cleanup = environment.cleanup;
        // Before the hook: with it Node.js's environment may go.
        drop(environment);
        if !cleanup.is_null() {
            napi_sys::napi_remove_async_cleanup_hook(cleanup);
        }
    }
}
