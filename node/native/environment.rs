//! One Node.js environment: its rings, its engine's thread, and the bell that wakes it. Made by
//! `open`, ended by a cleanup hook: the thread is joined before anything that it uses goes away.

use crate::client::{Clients, read};
use crate::exchange::Kind;
use crate::failure;
use crate::intake::Intake;
use crate::lookup::Lookups;
use crate::napi::{Env, Outcome, Refused, Value, call};
use crate::outbound::Outbound;
use crate::ring::{ARENA_BYTES, CONTROL_WORDS, ENTRIES, Entry, Memory};
use crate::servers::{Servers, Task};
use crate::uv::{self, Bell};
use bytes::Bytes;
use serde::Deserialize;
use std::ffi::c_void;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use tokio::runtime::{Builder, Handle};
use tokio::sync::Notify;
use tokio::task::LocalSet;

/// What both threads of an environment share.
pub(crate) struct Shared {
    pub(crate) memory: Arc<Memory>,
    bell: Bell,
    outbound: Mutex<Outbound>,
    clients: Mutex<Clients>,
    /// JavaScript's thread alone uses them.
    servers: Mutex<Servers>,
    tasks: Mutex<Vec<Task>>,
    lookups: Mutex<Lookups>,
    /// Bodies that cross by reference, in either direction, by the number in an entry.
    put: Mutex<Put>,
    intake: Notify,
    closing: AtomicBool,
}

#[derive(Default)]
struct Put {
    places: Vec<Bytes>,
    free: Vec<u32>,
}

impl Shared {
    /// Tells JavaScript.
    pub(crate) fn complete(&self, entry: Entry, first: &[u8], second: &[u8]) {
        if lock(&self.outbound).complete(entry, first, second) {
            self.bell.ring();
        }
    }
    /// Moves completions that found no room into the ring, as far as it has some now.
    pub(crate) fn spill(&self) {
        lock(&self.outbound).spill();
    }
    /// Keeps bytes for the other side; the number is where.
    pub(crate) fn put(&self, bytes: Bytes) -> u32 {
        let mut put = lock(&self.put);
        match put.free.pop() {
            Some(place) => {
                put.places[place as usize] = bytes;
                place
            }
            None => {
                put.places.push(bytes);
                put.places.len() as u32 - 1
            }
        }
    }
    /// Takes what was put there.
    pub(crate) fn take_put(&self, place: u32) -> Bytes {
        let mut put = lock(&self.put);
        let Some(bytes) = put.places.get_mut(place as usize) else {
            return Bytes::new();
        };
        let bytes = mem::take(bytes);
        put.free.push(place);
        bytes
    }
    /// What the engine's thread is to do for servers.
    pub(crate) fn take_tasks(&self) -> Vec<Task> {
        mem::take(&mut *lock(&self.tasks))
    }
    pub(crate) fn clients(&self) -> MutexGuard<'_, Clients> {
        lock(&self.clients)
    }
    pub(crate) fn lookups(&self) -> MutexGuard<'_, Lookups> {
        lock(&self.lookups)
    }
    /// The engine has nothing to do: JavaScript hears of what happened, and the engine sleeps
    /// unless something was submitted meanwhile.
    fn rest(&self) {
        if lock(&self.outbound).rest() {
            self.bell.ring();
        }
        self.memory.set_engine_sleeps(true);
        if self.memory.has_submissions() {
            self.memory.set_engine_sleeps(false);
            self.intake.notify_one();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // State is whole between any two statements under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the environment's functions get as their data.
struct Environment {
    shared: Arc<Shared>,
    runtime: Handle,
    engine: Option<JoinHandle<()>>,
    env: napi_sys::napi_env,
    drain: napi_sys::napi_ref,
    context: napi_sys::napi_async_context,
    cleanup: napi_sys::napi_async_cleanup_hook_handle,
}

/// `open(drain)`: makes this environment's rings and its engine. `drain` is called when there are
/// completions and JavaScript had said that it sleeps.
pub(crate) unsafe extern "C" fn open(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: these are Node.js's own arguments.
    unsafe { call(env, info, |env, [drain], _| make(env, drain)) }
}

fn make(env: Env, drain: Value) -> Outcome<Value> {
    let refuse = |what: &str| Refused(format!("trunkline: {what}"));
    let mut uv_loop = null_mut();
    let (mut reference, mut context, mut cleanup) = (null_mut(), null_mut(), null_mut());
    let name = env.text("trunkline")?;
    // SAFETY: the environment is live and this is its thread; the pointers outlive the calls.
    let status = unsafe {
        napi_sys::napi_get_uv_event_loop(env.0, &mut uv_loop)
            | napi_sys::napi_create_reference(env.0, drain.0, 1, &mut reference)
            | napi_sys::napi_async_init(env.0, null_mut(), name.0, &mut context)
    };
    if status != 0 {
        return Err(refuse("Node-API gave no event loop"));
    }
    let environment =
        Box::into_raw(Box::<mem::MaybeUninit<Environment>>::new_uninit()).cast::<Environment>();
    // SAFETY: on the loop's thread; the environment is freed after the bell is closed.
    let bell = unsafe { Bell::new(uv_loop.cast(), rung, environment.cast()) }
        .ok_or_else(|| refuse("libuv gave no handle"))?;
    let memory = Memory::new();
    let shared = Arc::new(Shared {
        memory: Arc::clone(&memory),
        bell,
        outbound: Mutex::new(Outbound::new(memory)),
        clients: Mutex::default(),
        servers: Mutex::default(),
        tasks: Mutex::default(),
        lookups: Mutex::default(),
        put: Mutex::default(),
        intake: Notify::new(),
        closing: AtomicBool::new(false),
    });
    let (runtime, engine) = start(&shared).map_err(|why| refuse(&why))?;
    // SAFETY: the memory is ours and has room for one; the hook gets it once.
    unsafe {
        environment.write(Environment {
            shared: Arc::clone(&shared),
            runtime,
            engine: Some(engine),
            env: env.0,
            drain: reference,
            context,
            cleanup: null_mut(),
        });
        napi_sys::napi_add_async_cleanup_hook(
            env.0,
            Some(clean_up),
            environment.cast(),
            &mut cleanup,
        );
        (*environment).cleanup = cleanup;
    }
    border(env, &shared, environment.cast())
}

/// The engine's thread and its runtime.
fn start(shared: &Arc<Shared>) -> Result<(Handle, JoinHandle<()>), String> {
    let (resting, waking) = (Arc::clone(shared), Arc::clone(shared));
    let runtime = Builder::new_current_thread()
        .enable_all()
        .on_thread_park(move || resting.rest())
        .on_thread_unpark(move || waking.memory.set_engine_sleeps(false))
        .build()
        .map_err(|why| format!("the engine has no runtime: {why}"))?;
    let handle = runtime.handle().clone();
    let shared = Arc::clone(shared);
    let thread = thread::Builder::new()
        .name("trunkline".into())
        .spawn(move || {
            let reader = Arc::clone(&shared);
            // What servers hold stays on this thread.
            let local = LocalSet::new();
            let reading = async move {
                let mut intake = Intake::new(Arc::clone(&reader));
                while !reader.closing.load(Ordering::Acquire) {
                    intake.run();
                    reader.intake.notified().await;
                }
            };
            // It ends when the environment closes. A panic in it, or of the runtime, ends the engine
            // and not the process: what is open is dropped with the runtime, then JavaScript hears.
            let ran = catch_unwind(AssertUnwindSafe(|| local.block_on(&runtime, reading)));
            if ran.is_err() {
                shared.memory.set_ended();
                drop(local);
                drop(runtime);
                shared.bell.ring();
            }
        })
        .map_err(|why| format!("the engine has no thread: {why}"))?;
    Ok((handle, thread))
}

/// What `open` returns: the memory and the functions of the border.
fn border(env: Env, shared: &Arc<Shared>, data: *mut c_void) -> Outcome<Value> {
    let border = env.object()?;
    let memory = &shared.memory;
    let control = memory.control.as_ptr().cast_mut().cast::<u8>();
    let view = |start, length| env.array_buffer(start, length, Arc::clone(memory));
    env.set(border, c"control", view(control, CONTROL_WORDS * 4)?)?;
    for (name, area) in [
        (c"submissions", &memory.submissions),
        (c"submissionArena", &memory.submission_arena),
        (c"completions", &memory.completions),
        (c"completionArena", &memory.completion_arena),
    ] {
        env.set(border, name, view(area.start(), area.len())?)?;
    }
    env.set(border, c"entries", env.number(ENTRIES)?)?;
    env.set(border, c"arenaBytes", env.number(ARENA_BYTES)?)?;
    env.set_function(border, c"kick", kick, data)?;
    env.set_function(border, c"hold", hold, data)?;
    env.set_function(border, c"put", put, data)?;
    env.set_function(border, c"take", take, data)?;
    env.set_function(border, c"ask", ask, data)?;
    Ok(border)
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
            of(data).shared.intake.notify_one();
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
            let _entered = environment.runtime.enter();
            let answer = match verb.as_str() {
                "warmUp" => environment.warm_up(&text),
                "listen" | "identity" | "drain" | "stop" => {
                    let shared = &environment.shared;
                    let leave = |task| lock(&shared.tasks).push(task);
                    let answer = lock(&shared.servers).ask(&verb, &text, leave);
                    shared.intake.notify_one();
                    answer
                }
                "lookedUp" => environment.looked_up(&text),
                _ => {
                    let shared = &environment.shared;
                    shared.clients().ask(shared, &verb, &text)
                }
            };
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
    /// What the answer is told by.
    ticket: u32,
}

impl Environment {
    /// JavaScript answers a question of [`Kind::Lookup`].
    fn looked_up(&self, text: &str) -> Result<serde_json::Value, serde_json::Value> {
        Ok(self.shared.lookups().answer(read(text)?))
    }
    /// Answers later, with a completion.
    fn warm_up(&self, text: &str) -> Result<serde_json::Value, serde_json::Value> {
        let ask: WarmUp = read(text)?;
        let client = self.shared.clients().client(ask.client)?.clone();
        let shared = Arc::clone(&self.shared);
        self.runtime.spawn(async move {
            let answer = match client.warm_up(&ask.url, ask.count).await {
                Ok(count) => serde_json::json!({ "ok": count }),
                Err(error) => serde_json::json!({ "error": failure::describe(&error) }),
            };
            let entry = [Kind::Answer as u32, ask.ticket, 0, 0, 0, 0, 0, 0];
            shared.complete(entry, answer.to_string().as_bytes(), &[]);
        });
        Ok(serde_json::Value::Null)
    }
}

/// The bell: calls `drain`.
unsafe extern "C" fn rung(handle: *mut uv::Handle) {
    // SAFETY: on the loop's thread, of a bell whose data is an environment; the handle scope is
    // closed below.
    unsafe {
        let environment = of(uv::data(handle));
        let env = environment.env;
        let (mut scope, mut drain, mut result) = (null_mut(), null_mut(), null_mut());
        let mut global = null_mut();
        if napi_sys::napi_open_handle_scope(env, &mut scope) != 0 {
            return;
        }
        napi_sys::napi_get_reference_value(env, environment.drain, &mut drain);
        // The receiver must be an object.
        napi_sys::napi_get_global(env, &mut global);
        let status = napi_sys::napi_make_callback(
            env,
            environment.context,
            global,
            drain,
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

/// The environment ends: the engine's thread first, then the bell, then the memory.
unsafe extern "C" fn clean_up(_: napi_sys::napi_async_cleanup_hook_handle, data: *mut c_void) {
    // SAFETY: Node.js calls the hook once, on the environment's thread, with what it was given.
    let environment = unsafe { &mut *data.cast::<Environment>() };
    let shared = &environment.shared;
    shared.closing.store(true, Ordering::Release);
    shared.intake.notify_one();
    if let Some(engine) = environment.engine.take() {
        // A panic of the engine was its own end already.
        let _ = engine.join();
    }
    shared.bell.close(closed);
}

unsafe extern "C" fn closed(handle: *mut uv::Handle) {
    // SAFETY: the bell's last callback: nobody rings, and nobody calls the functions any more.
    unsafe {
        let environment = Box::from_raw(uv::data(handle).cast::<Environment>());
        environment.shared.bell.free();
        napi_sys::napi_remove_async_cleanup_hook(environment.cleanup);
    }
}
