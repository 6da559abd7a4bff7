//! A library that a server is started with (`LD_PRELOAD`), so that its clocks and timers follow slow time.
//!
//! `DISKPROOF_CLOCK="8 1764375631000000000"`: time passes 8 times slower, a power of two, and the time of day since
//! that moment, in nanoseconds of the Unix epoch. All processes of a server inherit this, so that their clocks agree;
//! nothing else is shared. The monotonic clocks show the machine's, divided. What counts CPU time does not follow.
//!
//! It stands in for the functions of the C library that MariaDB, MySQL and PostgreSQL import. The rest of that
//! library, and the kernel, keep the machine's time.

// Cargo compiles it for its linters, with the panics of the workspace, which need `std`.
#![cfg_attr(panic = "abort", no_std)]

use core::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};
use core::mem::transmute;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, Ordering};

/// Seconds, and nanoseconds or microseconds.
type Time = [i64; 2];
/// A timer's interval, and its next end.
type Timer = [Time; 2];

/// The smaller unit of a `timespec` and of a `timeval`, in one second.
const NANOS: i64 = 1_000_000_000;
const MICROS: i64 = 1_000_000;

const REALTIME: c_int = 0;
const REALTIME_COARSE: c_int = 5;
const ABSOLUTE: c_int = 1;

#[link(name = "c")]
#[link(name = "dl")]
unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    fn getenv(name: *const c_char) -> *const c_char;
    fn strtol(text: *const c_char, rest: *mut *mut c_char, base: c_int) -> c_long;
    fn abort() -> !;
}

#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { abort() }
}

/// How slow time is, and since when.
#[derive(Clone, Copy)]
struct Slow {
    /// The dilation is 2 to this power: a division would cost more than the clock.
    shift: u32,
    origin_ns: i64,
}

const UNREAD: u32 = u32::MAX;
static SHIFT: AtomicU32 = AtomicU32::new(UNREAD);
static ORIGIN_NS: AtomicI64 = AtomicI64::new(0);

/// Other libraries ask for the time before a constructor of this one could run.
#[inline]
fn slow() -> Slow {
    if SHIFT.load(Ordering::Acquire) == UNREAD {
        read_environment();
    }
    Slow {
        shift: SHIFT.load(Ordering::Relaxed),
        origin_ns: ORIGIN_NS.load(Ordering::Relaxed),
    }
}

#[cold]
fn read_environment() {
    let text = unsafe { getenv(c"DISKPROOF_CLOCK".as_ptr()) };
    let (mut dilation, mut origin_ns) = (1, 0);
    if !text.is_null() {
        let mut rest = null_mut();
        dilation = unsafe { strtol(text, &raw mut rest, 10) };
        origin_ns = unsafe { strtol(rest, &raw mut rest, 10) };
    }
    ORIGIN_NS.store(origin_ns, Ordering::Relaxed);
    SHIFT.store(dilation.trailing_zeros() % 16, Ordering::Release);
}

impl Slow {
    fn dilation(self) -> c_int {
        1 << self.shift
    }

    /// What a clock shows instead of the machine's time.
    #[inline]
    fn shown(self, clock: c_int, machine: Time) -> Time {
        let machine_ns = machine[0] * NANOS + machine[1];
        let own_ns = if matches!(clock, REALTIME | REALTIME_COARSE | 8 | 11) {
            self.origin_ns + ((machine_ns - self.origin_ns) >> self.shift)
        } else {
            machine_ns >> self.shift
        };
        [own_ns / NANOS, own_ns % NANOS]
    }

    /// The machine's time at which a deadline of slow time is over; malformed ones are left to the C library.
    ///
    /// Which clock it is of, a condition variable or a timer does not say, and need not: no machine has run for the
    /// thirty years at which a monotonic clock would reach dates of this century.
    fn deadline(self, own: Time) -> Time {
        if own[0] < NANOS {
            return self.wait(own, NANOS);
        }
        let since_ns = own[0]
            .saturating_mul(NANOS)
            .saturating_add(own[1])
            .saturating_sub(self.origin_ns);
        let machine_ns = since_ns
            .saturating_mul(self.dilation().into())
            .saturating_add(self.origin_ns)
            .max(0);
        if (0..NANOS).contains(&own[1]) {
            [machine_ns / NANOS, machine_ns % NANOS]
        } else {
            own
        }
    }

    /// How long a wait takes on the machine.
    fn wait(self, own: Time, unit: i64) -> Time {
        if own[0] < 0 || !(0..unit).contains(&own[1]) {
            return own;
        }
        let parts = own[1] << self.shift;
        let seconds = own[0].saturating_mul(self.dilation().into());
        [seconds.saturating_add(parts / unit), parts % unit]
    }

    /// How much of a wait is left, at least something if it is not over.
    fn left(self, machine: Time, unit: i64) -> Time {
        let odd = machine[0] & (i64::from(self.dilation()) - 1);
        let parts = odd * unit + machine[1] + i64::from(self.dilation()) - 1;
        [machine[0] >> self.shift, parts >> self.shift]
    }

    fn timer(self, own: Timer, unit: i64, absolute: bool) -> Timer {
        let end = if absolute {
            self.deadline(own[1])
        } else {
            self.wait(own[1], unit)
        };
        [self.wait(own[0], unit), end]
    }

    fn timer_left(self, machine: Timer, unit: i64) -> Timer {
        machine.map(|time| self.left(time, unit))
    }

    fn ms(self, own: c_int) -> c_int {
        own.saturating_mul(self.dilation())
    }
}

/// Whether a clock counts time, not CPU time: those of processes and threads are 2, 3 and negative.
fn is_time(clock: c_int) -> bool {
    clock >= 0 && clock != 2 && clock != 3
}

/// Calls `call` with a pointer to what `change` makes of an argument, or with the null pointer that it is.
unsafe fn with<T: Copy, R>(
    argument: *const T,
    change: impl FnOnce(T) -> T,
    call: impl FnOnce(*const T) -> R,
) -> R {
    let changed = unsafe { argument.as_ref() }.map(|own| change(*own));
    call(changed.as_ref().map_or(null(), |own| own))
}

/// Changes what a function has written, if there is room for it.
unsafe fn change<T: Copy>(written: *mut T, by: impl FnOnce(T) -> T) {
    if let Some(written) = unsafe { written.as_mut() } {
        *written = by(*written);
    }
}

/// The C library's function of a name. The old functions of condition variables have the same names as today's,
/// and before version 2.36 they are found first.
#[cold]
#[inline(never)]
unsafe fn look_up(name: &str, found: &AtomicPtr<c_void>) -> *mut c_void {
    let next = -1_isize as *mut c_void;
    let name: *const c_char = name.as_ptr().cast();
    let mut at = unsafe { dlvsym(next, name, c"GLIBC_2.3.2".as_ptr()) };
    if at.is_null() {
        // Timers got their present form one version later.
        at = unsafe { dlvsym(next, name, c"GLIBC_2.3.3".as_ptr()) };
    }
    if at.is_null() {
        at = unsafe { dlsym(next, name) };
    }
    if at.is_null() {
        unsafe { abort() }
    }
    found.store(at, Ordering::Relaxed);
    at
}

/// Exports functions by the names of the C library's. In each body, `$real` is that library's own, and `$slow`
/// how slow time is.
macro_rules! instead {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $out:ty = |$real:ident, $slow:ident| $body:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $kind),*) -> $out {
            static FOUND: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            let mut at = FOUND.load(Ordering::Relaxed);
            if at.is_null() {
                at = unsafe { look_up(concat!(stringify!($name), "\0"), &FOUND) };
            }
            let $real: unsafe extern "C" fn($($kind),*) -> $out = unsafe { transmute(at) };
            let $slow = slow();
            unsafe { $body }
        }
    )*};
}

// Clocks.
instead! {
    fn clock_gettime(clock: c_int, out: *mut Time) -> c_int = |real, slow| {
        let outcome = real(clock, out);
        if outcome == 0 && is_time(clock) {
            *out = slow.shown(clock, *out);
        }
        outcome
    };
    fn gettimeofday(out: *mut Time, zone: *mut c_void) -> c_int = |real, slow| {
        let outcome = real(out, zone);
        change(out, |now| {
            let own = slow.shown(REALTIME, [now[0], now[1] * 1000]);
            [own[0], own[1] / 1000]
        });
        outcome
    };
    fn time(out: *mut c_long) -> c_long = |real, slow| {
        let now = slow.shown(REALTIME, [real(null_mut()), 0])[0];
        change(out, |_| now);
        now
    };
    fn timespec_get(out: *mut Time, base: c_int) -> c_int = |real, slow| {
        let outcome = real(out, base);
        if outcome == 1 {
            *out = slow.shown(REALTIME, *out);
        }
        outcome
    };
    // Of its parts only the result is no CPU time.
    fn times(parts: *mut c_void) -> c_long = |real, slow| real(parts) >> slow.shift;
}

// Sleeps.
instead! {
    fn nanosleep(wait: *const Time, left: *mut Time) -> c_int = |real, slow| {
        let outcome = with(wait, |own| slow.wait(own, NANOS), |wait| real(wait, left));
        if outcome != 0 {
            change(left, |time| slow.left(time, NANOS));
        }
        outcome
    };
    fn clock_nanosleep(clock: c_int, flags: c_int, wait: *const Time, left: *mut Time) -> c_int = |real, slow| {
        if !is_time(clock) {
            return real(clock, flags, wait, left);
        }
        let absolute = flags & ABSOLUTE != 0;
        let longer = |own| if absolute { slow.deadline(own) } else { slow.wait(own, NANOS) };
        let outcome = with(wait, longer, |wait| real(clock, flags, wait, left));
        if outcome != 0 && !absolute {
            change(left, |time| slow.left(time, NANOS));
        }
        outcome
    };
    fn usleep(us: c_uint) -> c_int = |_real, _slow| {
        let us = i64::from(us);
        nanosleep(&[us / MICROS, us % MICROS * 1000], null_mut())
    };
    fn sleep(seconds: c_uint) -> c_uint = |real, slow| {
        let dilation = 1 << slow.shift;
        real(seconds.saturating_mul(dilation)).div_ceil(dilation)
    };
}

// Waits for descriptors and signals.
instead! {
    fn poll(files: *mut c_void, count: c_ulong, ms: c_int) -> c_int = |real, slow| real(files, count, slow.ms(ms));
    fn __poll_chk(files: *mut c_void, count: c_ulong, ms: c_int, size: usize) -> c_int =
        |real, slow| real(files, count, slow.ms(ms), size);
    fn ppoll(files: *mut c_void, count: c_ulong, wait: *const Time, mask: *const c_void) -> c_int =
        |real, slow| with(wait, |own| slow.wait(own, NANOS), |wait| real(files, count, wait, mask));
    fn select(count: c_int, read: *mut c_void, write: *mut c_void, other: *mut c_void, wait: *mut Time) -> c_int =
        |real, slow| {
            // The kernel writes what is left of the wait.
            change(wait, |own| slow.wait(own, MICROS));
            let outcome = real(count, read, write, other, wait);
            change(wait, |time| slow.left(time, MICROS));
            outcome
        };
    fn pselect(
        count: c_int, read: *mut c_void, write: *mut c_void, other: *mut c_void, wait: *const Time, mask: *const c_void
    ) -> c_int = |real, slow| {
        with(wait, |own| slow.wait(own, NANOS), |wait| real(count, read, write, other, wait, mask))
    };
    fn epoll_wait(epoll: c_int, events: *mut c_void, count: c_int, ms: c_int) -> c_int =
        |real, slow| real(epoll, events, count, slow.ms(ms));
    fn epoll_pwait(epoll: c_int, events: *mut c_void, count: c_int, ms: c_int, mask: *const c_void) -> c_int =
        |real, slow| real(epoll, events, count, slow.ms(ms), mask);
    fn sigtimedwait(signals: *const c_void, out: *mut c_void, wait: *const Time) -> c_int =
        |real, slow| with(wait, |own| slow.wait(own, NANOS), |wait| real(signals, out, wait));
}

/// Functions whose last argument is a deadline.
macro_rules! until {
    ($(fn $name:ident($($argument:ident: $kind:ty),*);)*) => {instead! {$(
        fn $name($($argument: $kind,)* end: *const Time) -> c_int =
            |real, slow| with(end, |own| slow.deadline(own), |end| real($($argument,)* end));
    )*}};
}

// Waits of threads for each other.
until! {
    fn pthread_cond_timedwait(condition: *mut c_void, mutex: *mut c_void);
    fn pthread_cond_clockwait(condition: *mut c_void, mutex: *mut c_void, clock: c_int);
    fn pthread_mutex_timedlock(mutex: *mut c_void);
    fn pthread_mutex_clocklock(mutex: *mut c_void, clock: c_int);
    fn pthread_rwlock_timedrdlock(lock: *mut c_void);
    fn pthread_rwlock_timedwrlock(lock: *mut c_void);
    fn sem_timedwait(semaphore: *mut c_void);
    fn sem_clockwait(semaphore: *mut c_void, clock: c_int);
}
instead! {
    // The C++ library waits for futures by a system call of its own: a futex, for a time or until a moment.
    fn syscall(
        number: c_long, word: c_long, operation: c_long, value: c_long, time: *const Time, other: c_long, mask: c_long
    ) -> c_long = |real, slow| {
        let longer = |own| if operation & 0x7f == FUTEX_WAIT { slow.wait(own, NANOS) } else { slow.deadline(own) };
        if number == FUTEX && matches!(operation & 0x7f, FUTEX_WAIT | FUTEX_WAIT_BITSET) {
            with(time, longer, |time| real(number, word, operation, value, time, other, mask))
        } else {
            real(number, word, operation, value, time, other, mask)
        }
    };
}

const FUTEX: c_long = if cfg!(target_arch = "x86_64") {
    202
} else {
    98
};
const FUTEX_WAIT: c_long = 0;
const FUTEX_WAIT_BITSET: c_long = 9;

// Timers.
instead! {
    fn alarm(seconds: c_uint) -> c_uint = |real, slow| {
        let dilation = 1 << slow.shift;
        real(seconds.saturating_mul(dilation)).div_ceil(dilation)
    };
    // All but the first count CPU time.
    fn setitimer(which: c_int, timer: *const Timer, old: *mut Timer) -> c_int = |real, slow| {
        if which != 0 {
            return real(which, timer, old);
        }
        let outcome = with(timer, |own| slow.timer(own, MICROS, false), |timer| real(which, timer, old));
        change(old, |left| slow.timer_left(left, MICROS));
        outcome
    };
    fn getitimer(which: c_int, out: *mut Timer) -> c_int = |real, slow| {
        let outcome = real(which, out);
        if which == 0 {
            change(out, |left| slow.timer_left(left, MICROS));
        }
        outcome
    };
}

/// A timer's two functions.
macro_rules! timer {
    ($kind:ty: $set:ident, $get:ident) => {instead! {
        fn $set(id: $kind, flags: c_int, timer: *const Timer, old: *mut Timer) -> c_int = |real, slow| {
            let longer = |own| slow.timer(own, NANOS, flags & ABSOLUTE != 0);
            let outcome = with(timer, longer, |timer| real(id, flags, timer, old));
            change(old, |left| slow.timer_left(left, NANOS));
            outcome
        };
        fn $get(id: $kind, out: *mut Timer) -> c_int = |real, slow| {
            let outcome = real(id, out);
            change(out, |left| slow.timer_left(left, NANOS));
            outcome
        };
    }};
}

timer!(*mut c_void: timer_settime, timer_gettime);
timer!(c_int: timerfd_settime, timerfd_gettime);

/// Whether a socket's option is how long it receives or sends at most.
fn is_timeout(level: c_int, name: c_int, size: c_uint) -> bool {
    level == 1 && matches!(name, 20 | 21 | 66 | 67) && size as usize >= size_of::<Time>()
}

instead! {
    fn setsockopt(socket: c_int, level: c_int, name: c_int, value: *const Time, size: c_uint) -> c_int =
        |real, slow| {
            if !is_timeout(level, name, size) {
                return real(socket, level, name, value, size);
            }
            with(value, |own| slow.wait(own, MICROS), |value| real(socket, level, name, value, size))
        };
    fn getsockopt(socket: c_int, level: c_int, name: c_int, value: *mut Time, size: *mut c_uint) -> c_int =
        |real, slow| {
            let outcome = real(socket, level, name, value, size);
            if outcome == 0 && is_timeout(level, name, *size) {
                change(value, |time| slow.left(time, MICROS));
            }
            outcome
        };
}
