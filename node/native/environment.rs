//! One Node.js environment: its rings, its engine, and the libuv handle that wakes it. Created by
//! `open`, ended by a cleanup hook: the engine has ended before any of its memory is freed.

use crate::channel::bodies::Bodies;
use crate::channel::calls::questions::Questions;
use crate::channel::calls::read;
use crate::channel::calls::reply::Reply;
use crate::channel::codes::{BY_REFERENCE_BYTES_MIN, completion_flag};
use crate::channel::outbound::Outbound;
use crate::channel::ring::{
    ARENA_BYTES, CONTROL_WORDS, ENTRIES, Entry, LENGTH, Memory, POSITION, TEXT_BYTES_MAX,
};
use crate::client::Clients;
use crate::client::dial::{self, Dialed};
use crate::client::lookup::{Found, LookedUp};
#[cfg(target_os = "linux")]
use crate::engine::inline::Inline;
use crate::engine::{Engine, EnvironmentLoop, Runs};
use crate::failure;
use crate::platform::callback::Callback;
use crate::platform::napi::{Env, Outcome, Refused, Value, call};
use crate::platform::uv::{self, Bell};
use crate::server::calls::{Servers, Task};
use crate::server::secured::choices::Choice;
use crate::server::snapshot::{self, SnapshotRequests};
use crate::server::traffic::{self, Traffics};
use crate::streams::Streams;
use bytes::Bytes;
use serde::Deserialize;
use std::ffi::c_void;
use std::mem::{self, MaybeUninit};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use trunkline::server::Pause;

/// State that JavaScript and the engine share, on two threads or on one.
pub(crate) struct Shared {
    pub(crate) memory: Arc<Memory>,
    bell: Bell,
    outbound: Mutex<Outbound>,
    clients: Mutex<Clients>,
    /// JavaScript's thread alone uses them.
    servers: Mutex<Servers>,
    tasks: Mutex<Vec<Task>>,
    pub(crate) snapshot_requests: SnapshotRequests,
    pub(crate) traffics: Traffics,
    pub(crate) lookups: Questions<Found>,
    pub(crate) choices: Questions<Choice>,
    pub(crate) dials: Questions<Dialed>,
    pub(crate) streams: Streams,
    /// Bodies that cross by reference, in either direction, by the number in an entry.
    put: Mutex<Bodies>,
    pub(crate) intake: Notify,
    /// Nothing waits outside of the ring any more.
    caught_up: Notify,
    pub(crate) closing: AtomicBool,
    pub(crate) runs: Runs,
}

impl Shared {
    /// Sends a completion to JavaScript. A text too long for the arena crosses by reference: it
    /// would never find room there, nor would any completion behind it.
    pub(crate) fn complete(&self, mut entry: Entry, mut first: &[u8], mut second: &[u8]) {
        if first.len() + second.len() > TEXT_BYTES_MAX {
            entry[0] |= completion_flag::TEXT_BY_REFERENCE;
            entry[POSITION] = self.put(Bytes::from([first, second].concat()));
            entry[LENGTH] = first.len() as u32;
            (first, second) = (&[], &[]);
        }
        if lock(&self.outbound).complete(entry, first, second) {
            self.wake_script();
        }
    }
    /// Completes `entry` with a piece of a body: through the arena, or by reference from
    /// [`BY_REFERENCE_BYTES_MIN`] on. `entry` gets the value of the word `body`.
    pub(crate) fn complete_body(&self, entry: impl FnOnce(u32) -> Entry, data: Bytes) {
        if data.len() < BY_REFERENCE_BYTES_MIN {
            return self.complete(entry(0), &data, &[]);
        }
        let mut entry = entry(self.put(data));
        entry[0] |= completion_flag::BY_REFERENCE;
        self.complete(entry, &[], &[]);
    }
    /// Moves completions that found no room into the ring, as far as it has some now.
    pub(crate) fn spill(&self) {
        if lock(&self.outbound).spill() {
            self.caught_up.notify_waiters();
        }
    }
    /// `Some` while completions wait outside of the ring, because JavaScript does not keep up: its
    /// servers read nothing until it is over. On the engine's thread.
    pub(crate) fn pause(this: &Arc<Self>) -> Option<Pause> {
        this.memory.overflows().then(|| -> Pause {
            let shared = Arc::clone(this);
            // On this thread no spill happens between the question and the first poll.
            Box::pin(async move { shared.caught_up.notified().await })
        })
    }
    /// Keeps bytes for the other side; the number is where.
    pub(crate) fn put(&self, bytes: Bytes) -> u32 {
        lock(&self.put).put(bytes)
    }
    /// Takes what was put there.
    pub(crate) fn take_put(&self, place: u32) -> Bytes {
        lock(&self.put).take(place)
    }
    /// Takes the tasks of servers for the engine's thread.
    pub(crate) fn take_tasks(&self) -> Vec<Task> {
        mem::take(&mut *lock(&self.tasks))
    }
    pub(crate) fn clients(&self) -> MutexGuard<'_, Clients> {
        lock(&self.clients)
    }
    /// The engine is idle: wakes JavaScript for new completions, and sleeps unless something was
    /// submitted meanwhile.
    pub(crate) fn rest(&self) {
        // JavaScript may have emptied the ring and gone to sleep after the ring was found full and
        // before the overflow flag was set: then only this call moves the overflow.
        self.spill();
        if let Some(entry) = self.streams.rested() {
            self.complete(entry, &[], &[]);
        }
        if lock(&self.outbound).announce() {
            self.wake_script();
        }
        self.memory.set_engine_sleeps(true);
        if self.memory.has_submissions() {
            self.memory.set_engine_sleeps(false);
            self.intake.notify_one();
        }
    }
    /// Has JavaScript drain completions: behind the engine's run on its thread, if there is one.
    pub(crate) fn wake_script(&self) {
        if !self.runs.defer_script() {
            self.bell.ring();
        }
    }
    /// Wakes the loop, from any thread.
    pub(crate) fn ring(&self) {
        self.bell.ring();
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // State is whole between any two statements under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The data of the environment's functions.
struct Environment {
    shared: Arc<Shared>,
    /// `None`: before it has started and after it was joined.
    engine: Option<Engine>,
    drain: Callback,
    cleanup: napi_sys::napi_async_cleanup_hook_handle,
}

/// `open(drain, inline)`: makes this environment's rings and its engine, on this thread if `inline`
/// is 1 and the platform allows it. `drain` is called when there are completions and JavaScript had
/// said that it sleeps.
pub(crate) unsafe extern "C" fn open(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: these are Node.js's own arguments.
    unsafe {
        call(env, info, |env, [drain, inline], _| {
            make(env, drain, env.as_number(inline)? == 1)
        })
    }
}

fn make(env: Env, drain: Value, inline: bool) -> Outcome<Value> {
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
    // SAFETY: on the loop's thread; the place is freed after the bell is closed, or here.
    let bell = unsafe { Bell::new(uv_loop.cast(), rung, data) }.ok_or_else(|| {
        // SAFETY: it came from `Box::into_raw` above, and no other owner exists.
        drop(unsafe { Box::from_raw(place) });
        refuse("libuv gave no handle")
    })?;
    let memory = Memory::new();
    let shared = Arc::new(Shared {
        memory: Arc::clone(&memory),
        bell,
        outbound: Mutex::new(Outbound::new(memory)),
        clients: Mutex::default(),
        servers: Mutex::default(),
        tasks: Mutex::default(),
        snapshot_requests: SnapshotRequests::default(),
        traffics: Traffics::default(),
        lookups: Questions::default(),
        choices: Questions::default(),
        dials: Questions::default(),
        streams: Streams::default(),
        put: Mutex::default(),
        intake: Notify::new(),
        caught_up: Notify::new(),
        closing: AtomicBool::new(false),
        runs: Runs::default(),
    });
    // SAFETY: the memory is ours and has room for one; no reference to it exists yet.
    let environment = unsafe {
        data.cast::<Environment>().write(Environment {
            shared: Arc::clone(&shared),
            engine: None,
            drain,
            cleanup: null_mut(),
        });
        &mut *data.cast::<Environment>()
    };
    let place = EnvironmentLoop {
        uv_loop: uv_loop.cast(),
        data,
    };
    let made = environment
        .begin(env, place, inline)
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
            of(data).shared.bell.hold(env.as_number(holds)? != 0);
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
            let answer = match verb.as_str() {
                "warmUp" => environment.warm_up(&text),
                "listen" | "identity" | "context" | "forget" | "chosen" | "configure" | "drain"
                | "serve" | "stop" => {
                    let shared = &environment.shared;
                    let leave = |task| lock(&shared.tasks).push(task);
                    lock(&shared.servers).ask(&verb, &text, shared, leave)
                }
                "snapshot" => snapshot::ask(&environment.shared, &text, || environment.kick()),
                "traffic" => traffic::ask(&environment.shared, &text, || environment.kick()),
                "dialed" => dial::answer(&environment.shared, &text),
                "lookedUp" => environment.looked_up(&text),
                _ => {
                    let shared = &environment.shared;
                    shared.clients().ask(shared, &verb, &text)
                }
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
struct WarmUp {
    client: u32,
    url: String,
    count: u32,
    /// The ticket of the answer.
    ticket: u32,
}

impl Environment {
    /// Starts the engine, and has it end with Node.js's environment. True: it is on this thread.
    fn begin(&mut self, env: Env, place: EnvironmentLoop, inline: bool) -> Result<bool, String> {
        let engine = Engine::start(&self.shared, place, inline)?;
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
    /// Ends the engine first, then the bell, then the memory; once.
    fn end(&mut self) {
        if self.shared.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        self.shared.intake.notify_one();
        if let Some(engine) = self.engine.take() {
            engine.end();
        }
        self.shared.bell.close(closed);
    }
    /// JavaScript answers a question of [`crate::channel::codes::completion::lookup`].
    fn looked_up(&self, text: &str) -> Result<serde_json::Value, serde_json::Value> {
        let LookedUp { ticket, addresses } = read(text)?;
        self.shared.lookups.answer(ticket, addresses);
        Ok(serde_json::Value::Null)
    }
    /// Answers later, with a completion.
    fn warm_up(&self, text: &str) -> Result<serde_json::Value, serde_json::Value> {
        let ask: WarmUp = read(text)?;
        let client = self.shared.clients().client(ask.client)?.clone();
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

/// The bell: calls `drain`.
unsafe extern "C" fn rung(handle: *mut uv::Handle) {
    // SAFETY: on the loop's thread, of a bell whose data is an environment.
    let environment = unsafe { of(uv::data(handle)) };
    if let Some(engine) = &environment.engine {
        engine.rung();
    }
    // SAFETY: as above; no call of JavaScript's is under way.
    unsafe { environment.drain.call() };
}

/// Runs the engine on this thread, sockets and timers first, then calls `drain` if there is
/// something to drain.
///
/// # Safety
/// `data` is an environment's, and this is a callback of its loop.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn run_inline(data: *mut c_void, before: impl FnOnce(&Inline)) {
    // SAFETY: by the caller's promise.
    let environment = unsafe { of(data) };
    if let Some(Engine::Inline(inline)) = &environment.engine {
        before(inline);
        if inline.run(true) {
            // SAFETY: as above; no call of JavaScript's is under way.
            unsafe { environment.drain.call() };
        }
    }
}

/// Node.js's environment ends.
unsafe extern "C" fn clean_up(_: napi_sys::napi_async_cleanup_hook_handle, data: *mut c_void) {
    // SAFETY: Node.js calls the hook once, on the environment's thread, with what it was given.
    unsafe { &mut *data.cast::<Environment>() }.end();
}

unsafe extern "C" fn closed(handle: *mut uv::Handle) {
    // SAFETY: the bell's last callback: no thread rings it or calls the functions any more.
    unsafe {
        let environment = Box::from_raw(uv::data(handle).cast::<Environment>());
        environment.shared.bell.free();
        let cleanup = environment.cleanup;
        // Before the hook: with it Node.js's environment may go.
        drop(environment);
        if !cleanup.is_null() {
            napi_sys::napi_remove_async_cleanup_hook(cleanup);
        }
    }
}
