//! The engine on JavaScript's thread. libuv's loop watches the descriptor by which the runtime waits
//! for sockets, and has a timer for the engine's earliest deadline. A run of the engine polls the
//! tasks that were woken until none is left, or until [`RUN_MAX`] is over; then JavaScript gets its
//! completions. No code of JavaScript's runs within a run, so nothing of the engine is re-entered.

use super::intake::Intake;
use super::overload::{INLINE_EXCHANGES_MAX, OverloadThread};
use super::poll_descriptor;
use super::wakes::Wakes;
use super::{EnvironmentLoop, Registry};
use crate::channel::shared::Shared;
use crate::platform::uv::{self, Poll, Timer};
use crate::server::bridge::load::Load;

use rustix::time::{ClockId, clock_gettime};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::os::fd::{AsRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{self, Context, Waker};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{JoinHandle, LocalSet};
use trunkline::event_loop::{Spawner, Task, TimerDeadlines};

/// After so long a run ends although tasks are woken, and the loop gets its turn before the next: a
/// few times that of an ordinary run with hundreds of connections.
const RUN_MAX: Duration = Duration::from_millis(2);

/// tokio's timers are due up to so much after their deadlines.
const TIMER_LATE_MAX: Duration = Duration::from_millis(1);

/// The engine of this thread.
pub(crate) struct Inline {
    shared: Arc<Shared>,
    wakes: Arc<Wakes>,
    pub(super) runtime: Handle,
    /// `None`: it has ended after a fault of its own. Borrowed within a run.
    tasks: RefCell<Option<Tasks>>,
    poll: Poll,
    timer: Timer,
    /// Called by the timer.
    due: unsafe extern "C" fn(*mut uv::Handle),
    /// When the runtime last looked at its timers.
    looked_at: Cell<Instant>,
    /// When the timer is due.
    armed: Cell<Option<Instant>>,
    deadlines: TimerDeadlines,
    overload: Overload,
    load: Rc<Load>,
    /// Watched by `poll`.
    _descriptor: OwnedFd,
}

/// The way of connections that begin while more than [`INLINE_EXCHANGES_MAX`] exchanges are under way.
enum Overload {
    /// As all others.
    Here,
    /// To a thread; `None`: it has not started yet.
    Thread(RefCell<Option<OverloadThread>>),
}

/// The tasks, and all that they need to be polled.
struct Tasks {
    runtime: Runtime,
    local: LocalSet,
    /// Reads submissions; it ends with the environment alone.
    reading: JoinHandle<()>,
    waker: Waker,
}

impl Inline {
    /// `None`: the platform does not let the loop watch the runtime. `leaves`: connections that begin under
    /// load run on a thread.
    pub(super) fn start(
        shared: &Arc<Shared>,
        registry: &Arc<Registry>,
        of_loop: EnvironmentLoop,
        leaves: bool,
    ) -> Result<Option<Self>, String> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|why| format!("the engine has no runtime: {why}"))?;
        let entered = runtime.enter();
        let Some(descriptor) = poll_descriptor::of_current_runtime() else {
            return Ok(None);
        };
        drop(entered);
        let EnvironmentLoop {
            uv_loop,
            data,
            ready,
            due,
        } = of_loop;
        // SAFETY: on the loop's thread; both are closed by `end`, before the environment's memory and
        // the descriptor go.
        let (poll, timer) = unsafe {
            let Some(timer) = Timer::new(uv_loop, data) else {
                return Ok(None);
            };
            match Poll::new(uv_loop, descriptor.as_raw_fd(), ready, data) {
                Some(poll) => (poll, timer),
                None => {
                    timer.close();
                    return Ok(None);
                }
            }
        };
        let wakes = Wakes::new(shared);
        shared
            .runs
            .set_spawner(Arc::clone(&wakes) as Arc<dyn Spawner>);
        let local = LocalSet::new();
        let load = Rc::new(Load::new(Instant::now(), used()));
        let reading = Intake::read(
            Arc::clone(shared),
            Arc::clone(registry),
            Some(Rc::clone(&load)),
        );
        let reading = local.spawn_local(reading);
        shared.memory.set_engine_sleeps(true);
        Ok(Some(Self {
            shared: Arc::clone(shared),
            runtime: runtime.handle().clone(),
            tasks: RefCell::new(Some(Tasks {
                runtime,
                local,
                reading,
                waker: Waker::from(Arc::clone(&wakes)),
            })),
            wakes,
            poll,
            timer,
            due,
            looked_at: Cell::new(Instant::now()),
            armed: Cell::new(None),
            deadlines: TimerDeadlines::new(),
            overload: match leaves {
                true => Overload::Thread(RefCell::default()),
                false => Overload::Here,
            },
            load,
            _descriptor: descriptor,
        }))
    }

    /// Runs the engine; `turns`: looks at the sockets and the timers first, else at submissions. True: JavaScript has
    /// completions to drain, of which it does not know.
    pub(crate) fn run(&self, turns: bool) -> bool {
        if self.wakes.is_running() {
            return false;
        }
        self.wakes.set_running(true);
        self.shared.runs.set_running(true);
        if !turns {
            // Within the run, so that it does not wake the loop for what follows anyway.
            self.shared.intake.notify_one();
        }
        let ran = catch_unwind(AssertUnwindSafe(|| self.poll_tasks(turns)));
        let has_ended = !matches!(ran, Ok(true));
        if has_ended && !self.shared.memory.has_ended() {
            self.fail();
        }
        self.shared.rest();
        let due = self.shared.runs.set_running(false);
        self.wakes.set_running(false);
        if self.wakes.is_woken() {
            // The loop's other handles come first.
            self.shared.ring();
        }
        self.arm();
        due
    }

    /// The timer has called `due`: it is armed no more.
    pub(crate) fn fired(&self) {
        self.armed.set(None);
    }

    /// Runs the engine within a call of JavaScript's, which gets its completions in another turn.
    pub(crate) fn run_for_script(&self) {
        if self.run(false) {
            self.shared.ring();
        }
    }

    /// As [`run_for_script`](Self::run_for_script), for JavaScript that waits for the engine: looks at the sockets and the timers.
    pub(crate) fn turn_for_script(&self) {
        if self.run(true) {
            self.shared.ring();
        }
    }

    pub(super) fn spawn(&self, task: Task) {
        self.wakes.spawn(task);
    }

    /// False: the task that reads submissions has ended.
    fn poll_tasks(&self, turns: bool) -> bool {
        let mut tasks = self.tasks.borrow_mut();
        let Some(tasks) = &mut *tasks else {
            return false;
        };
        let _within = tasks.runtime.enter();
        self.load.look(Instant::now(), used);
        if turns {
            // A future that is pending once: between its two polls the runtime looks at the sockets
            // and the timers, without waiting.
            self.looked_at.set(Instant::now());
            tasks.runtime.block_on(look_once());
        }
        let mut cx = Context::from_waker(&tasks.waker);
        let mut until = None;
        while self.wakes.take() {
            for task in self.wakes.take_tasks() {
                tasks.local.spawn_local(task);
            }
            self.begin_connections(tasks);
            let _ = Pin::new(&mut tasks.local).poll(&mut cx);
            let now = Instant::now();
            if now >= *until.get_or_insert(now + RUN_MAX) {
                break;
            }
        }
        !tasks.reading.is_finished()
    }

    /// Starts the connections that were spawned, behind all requests of the batch that wanted them.
    fn begin_connections(&self, tasks: &Tasks) {
        for task in self.wakes.take_connections() {
            let under_way = self.shared.exchanges.load(Ordering::Relaxed);
            let thread = match under_way > INLINE_EXCHANGES_MAX {
                true => self.overload_runtime(),
                false => None,
            };
            match thread {
                Some(runtime) => drop(runtime.spawn(task)),
                None => drop(tasks.local.spawn_local(task)),
            }
        }
    }

    /// The runtime of connections under load; `None`: they run here, also where the system gives no thread.
    fn overload_runtime(&self) -> Option<Handle> {
        let Overload::Thread(place) = &self.overload else {
            return None;
        };
        let mut place = place.borrow_mut();
        if place.is_none() {
            *place = OverloadThread::start(&self.shared).ok();
        }
        place.as_ref().map(|thread| thread.runtime.clone())
    }

    /// The engine has ended after a fault: what is open is dropped, and JavaScript finds out.
    fn fail(&self) {
        self.shared.memory.set_ended();
        self.drop_tasks();
        self.shared.wake_script();
    }

    fn drop_tasks(&self) {
        let Some(tasks) = self.tasks.borrow_mut().take() else {
            return;
        };
        let Tasks { runtime, local, .. } = tasks;
        let within = runtime.enter();
        drop(self.wakes.take_tasks());
        drop(self.wakes.take_connections());
        if let Overload::Thread(place) = &self.overload
            && let Some(thread) = place.borrow_mut().take()
        {
            thread.join();
        }
        drop(local);
        // Connections of attempts that failed with the tasks.
        drop(self.wakes.take_connections());
        drop(within);
        // A pending name lookup or file read is not waited for: those threads own what they hold.
        runtime.shutdown_background();
    }

    /// Arms the timer for the engine's earliest deadline. One that is due before it stays: then it is
    /// armed again.
    fn arm(&self) {
        let looked_at = self.looked_at.get();
        let after = looked_at.checked_sub(TIMER_LATE_MAX).unwrap_or(looked_at);
        let Some(at) = self.deadlines.earliest(after) else {
            return;
        };
        if self.armed.get().is_some_and(|armed| armed <= at) {
            return;
        }
        self.armed.set(Some(at));
        let left = at.saturating_duration_since(Instant::now());
        // Rounded up, because both libuv and the runtime count whole milliseconds.
        let ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX / 2) + 1;
        self.timer.start(ms, self.due);
    }

    /// Ends it. Nothing of it is called any more.
    pub(super) fn end(self) {
        self.wakes.close();
        self.drop_tasks();
        self.poll.close();
        self.timer.close();
    }
}

/// Processor time of this thread.
fn used() -> Duration {
    // The clock of a thread does not go below zero.
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Is pending once.
async fn look_once() {
    let mut looked = false;
    std::future::poll_fn(|cx| match std::mem::replace(&mut looked, true) {
        true => task::Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            task::Poll::Pending
        }
    })
    .await;
}
