//! Wakes an event loop at an instant: its own time-outs are whole milliseconds.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use mio::event::Source as _;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// A timer of the kernel (`timerfd_create(2)`), exact to its interrupts: some microseconds.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: OwnedFd,
    /// The instant that it is set to; `None`: to none, or to one that has passed.
    set_to_ns: Option<u64>,
}

impl Alarm {
    /// Each time it goes off, an event of this token comes; nothing needs to be read.
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        SourceFd(&timer.as_raw_fd()).register(registry, token, Interest::READABLE)?;
        Ok(Self {
            timer,
            set_to_ns: None,
        })
    }

    /// Goes off at an instant, which is so far away; what it was set to before is forgotten.
    pub(super) fn set(&mut self, at_ns: u64, away: Duration) -> io::Result<()> {
        if self.set_to_ns == Some(at_ns) {
            return Ok(());
        }
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let spec = Itimerspec {
            it_interval: zero,
            it_value: Timespec::try_from(away).map_err(io::Error::other)?,
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &spec)?;
        self.set_to_ns = Some(at_ns);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn it_goes_off_each_time_and_not_before() {
        let mut poll = mio::Poll::new().unwrap();
        let mut alarm = Alarm::new(poll.registry(), Token(3)).unwrap();
        let mut events = mio::Events::with_capacity(8);
        for (at_ns, away_us) in [(1, 300), (2, 2_500), (3, 100)] {
            let begun = Instant::now();
            let away = Duration::from_micros(away_us);
            alarm.set(at_ns, away).unwrap();
            while events.is_empty() {
                poll.poll(&mut events, Some(Duration::from_secs(10)))
                    .unwrap();
            }
            let tokens: Vec<_> = events.iter().map(mio::event::Event::token).collect();
            assert_eq!(tokens, [Token(3)]);
            assert!(begun.elapsed() >= away);
            events.clear();
        }
    }
}
