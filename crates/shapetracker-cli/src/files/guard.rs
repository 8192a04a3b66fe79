//! What happens when the input is cut short while it is read.
//!
//! The input is mapped into memory. Where somebody cuts the file short, its pages are gone, and to read one is no error that
//! a function could return: the system sends SIGBUS to the thread that reads, which ends the process without a word. The
//! handler here removes the unfinished output, says what happened, and ends the process with the status of a failure.
//!
//! A handler interrupts a thread anywhere, perhaps while it allocates or holds a lock, so that it may call nothing but what
//! POSIX calls async-signal-safe. Everything that it needs is therefore prepared before, and it calls `unlink`, `write`,
//! `pause`, `sigaction` and `_exit` alone. Values that it may see are never freed.

use std::ffi::{CString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The exit status of a failure.
const STATUS: c_int = 2;

/// What is said where the pages of the input are gone.
struct Guard {
    /// The addresses of the mapping.
    begin: usize,
    end: usize,
    message: Vec<u8>,
    /// Where the message is written to: a descriptor.
    stream: c_int,
    /// What was done about the signal before.
    previous: libc::sigaction,
}

static GUARD: AtomicPtr<Guard> = AtomicPtr::new(ptr::null_mut());

/// The path of the unfinished output, where there is one.
static UNFINISHED: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());

/// Whether a thread already ends the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// From here on, reading a byte of a mapping that the file no longer has ends the process with a message on standard error,
/// or on standard output.
#[allow(unsafe_code)]
pub(super) fn guard(map: &[u8], message: Vec<u8>, on_stdout: bool) -> io::Result<()> {
    let stream = if on_stdout { libc::STDOUT_FILENO } else { libc::STDERR_FILENO };
    let range = map.as_ptr_range();
    let [action, mut previous] = [MaybeUninit::<libc::sigaction>::zeroed(); 2];
    // SAFETY: a `sigaction` is numbers, a set of signals and an optional function: zeros are one of each. The signal's
    // own action can be asked for, and `previous` has room for it.
    let (mut action, previous) = unsafe {
        if libc::sigaction(libc::SIGBUS, ptr::null(), previous.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        (action.assume_init(), previous.assume_init())
    };
    let guard = Guard { begin: range.start.addr(), end: range.end.addr(), message, stream, previous };
    GUARD.store(Box::into_raw(Box::new(guard)), Ordering::Release);
    // The stack for signals, where the thread has one: its own may be what is at fault.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    action.sa_sigaction = on_bus_error as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
    // SAFETY: the handler has the type that SA_SIGINFO asks for, and does nothing that a handler must not do, see there.
    match unsafe { libc::sigaction(libc::SIGBUS, &action, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The file that does not stay where the process ends that way; `None` when there is none, or no longer.
pub(super) fn set_unfinished(path: Option<&Path>) {
    let path = path.and_then(|path| CString::new(path.as_os_str().as_bytes()).ok());
    UNFINISHED.store(path.map_or(ptr::null_mut(), CString::into_raw), Ordering::Release);
}

/// Whether the process was started with a signal ignored, as `nohup` and shells do: it then stays ignored.
#[allow(unsafe_code)]
pub(super) fn is_ignored(signal: c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: no action is set, and there is room for the present one, which zeros are a value of too.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

#[allow(unsafe_code)]
extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: a guard is there before the handler is, and is never freed. The system passes valid information. All
    // functions called here are async-signal-safe, and are passed values that stay as they are: the message and the path
    // are never freed or changed.
    unsafe {
        let guard = &*GUARD.load(Ordering::Acquire);
        if !(guard.begin..guard.end).contains(&(*info).si_addr().addr()) {
            // Another fault, such as a stack that is full: the instruction is run again and finds what was there before.
            libc::sigaction(signal, &guard.previous, ptr::null_mut());
            return;
        }
        // Several threads may find the end of the file. The first ends the process, and the others wait for it.
        while ENDING.swap(true, Ordering::AcqRel) {
            libc::pause();
        }
        let unfinished = UNFINISHED.load(Ordering::Acquire);
        if !unfinished.is_null() {
            libc::unlink(unfinished);
        }
        let mut message = &guard.message[..];
        while let Ok(written @ 1..) = usize::try_from(libc::write(guard.stream, message.as_ptr().cast(), message.len()))
        {
            message = message.get(written..).unwrap_or_default();
        }
        libc::_exit(STATUS)
    }
}
