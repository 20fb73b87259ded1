//! Differences of operating systems: Unix sockets, listening sockets that pass between processes, signals, the service manager, the
//! modes of files. Other systems than Unix have the same names, with types that have no value or errors that name what is missing.

pub(crate) mod next_process;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{
    CaughtSignal, NotifySocket, PreviousServer, RunningOnUnix, Sockets, SuccessorListener,
    cpu_time, is_at, is_named_pipe, lock_exclusive, mode_for_all, monotonic_micros, on_sockets,
    on_unix_socket, path_of, raise, serve_admin, through_unix_socket, unlock,
};
#[cfg(not(unix))]
pub(crate) use windows::{
    ConsoleEvent as CaughtSignal, NoNotifySocket as NotifySocket,
    PortInPlaceOfUnix as RunningOnUnix, PreviousServer, Sockets, SuccessorListener, cpu_time,
    is_at, is_named_pipe, lock_exclusive, mode_for_all, monotonic_micros, on_sockets,
    on_unix_socket, path_of, raise, serve_admin, through_unix_socket, unlock,
};

/// A signal that a server handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessSignal {
    /// SIGINT; Ctrl-C on Windows.
    Interrupt,
    /// SIGTERM; on Windows Ctrl-Break, the end of the console or of the session.
    Terminate,
    /// SIGHUP; on Windows the button of the admin page alone.
    Hangup,
    /// SIGUSR1; on Windows the button of the admin page alone.
    User,
    /// SIGUSR2; none on Windows.
    Upgrade,
}
