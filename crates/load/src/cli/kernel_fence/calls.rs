//! The system calls of a process in the fence: what threads, files that are there, one kind of socket and
//! clocks need. Each other one fails with EPERM.

use std::collections::BTreeMap;

use nix::libc::{self as c, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// The kind of socket that reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    None,
    Unix,
    Internet,
}

/// Allowed whatever their arguments are.
const ALWAYS: &[c_long] = &[
    // Files. Which ones is for Landlock to say.
    c::SYS_read,
    c::SYS_write,
    c::SYS_readv,
    c::SYS_writev,
    c::SYS_pread64,
    c::SYS_pwrite64,
    c::SYS_openat,
    c::SYS_close,
    c::SYS_lseek,
    c::SYS_fstat,
    c::SYS_newfstatat,
    c::SYS_statx,
    c::SYS_fstatfs,
    c::SYS_statfs,
    c::SYS_faccessat,
    c::SYS_faccessat2,
    c::SYS_readlinkat,
    c::SYS_getcwd,
    c::SYS_unlinkat,
    c::SYS_ftruncate,
    c::SYS_fallocate,
    c::SYS_fsync,
    c::SYS_fdatasync,
    c::SYS_flock,
    c::SYS_dup,
    c::SYS_dup3,
    c::SYS_pipe2,
    c::SYS_getdents64,
    c::SYS_fadvise64,
    // Memory; LuaJIT makes machine code.
    c::SYS_mmap,
    c::SYS_munmap,
    c::SYS_mremap,
    c::SYS_mprotect,
    c::SYS_madvise,
    c::SYS_brk,
    c::SYS_membarrier,
    // Threads of this process.
    c::SYS_clone3,
    c::SYS_futex,
    c::SYS_set_robust_list,
    c::SYS_rseq,
    c::SYS_sched_yield,
    c::SYS_sched_getaffinity,
    c::SYS_sched_setaffinity,
    c::SYS_sched_getparam,
    c::SYS_sched_getscheduler,
    c::SYS_gettid,
    c::SYS_exit,
    c::SYS_exit_group,
    c::SYS_getcpu,
    c::SYS_restart_syscall,
    // Signals that arrive.
    c::SYS_rt_sigaction,
    c::SYS_rt_sigprocmask,
    c::SYS_rt_sigreturn,
    c::SYS_rt_sigpending,
    c::SYS_rt_sigtimedwait,
    c::SYS_sigaltstack,
    // Events and clocks.
    c::SYS_epoll_create1,
    c::SYS_epoll_ctl,
    c::SYS_epoll_pwait,
    c::SYS_epoll_pwait2,
    c::SYS_ppoll,
    c::SYS_pselect6,
    c::SYS_eventfd2,
    c::SYS_timerfd_create,
    c::SYS_timerfd_settime,
    c::SYS_clock_gettime,
    c::SYS_clock_getres,
    c::SYS_clock_nanosleep,
    c::SYS_nanosleep,
    c::SYS_gettimeofday,
    // Sockets that are there.
    c::SYS_connect,
    c::SYS_recvfrom,
    c::SYS_recvmsg,
    c::SYS_setsockopt,
    c::SYS_getsockopt,
    c::SYS_getsockname,
    c::SYS_getpeername,
    c::SYS_shutdown,
    // About this process and the machine.
    c::SYS_getpid,
    c::SYS_getppid,
    c::SYS_getuid,
    c::SYS_geteuid,
    c::SYS_getgid,
    c::SYS_getegid,
    c::SYS_getrusage,
    c::SYS_times,
    c::SYS_uname,
    c::SYS_sysinfo,
    c::SYS_getrandom,
];

/// The same under their older names.
#[cfg(target_arch = "x86_64")]
const OLDER: &[c_long] = &[
    c::SYS_open,
    c::SYS_stat,
    c::SYS_lstat,
    c::SYS_access,
    c::SYS_readlink,
    c::SYS_unlink,
    c::SYS_dup2,
    c::SYS_pipe,
    c::SYS_poll,
    c::SYS_select,
    c::SYS_epoll_wait,
    c::SYS_time,
    c::SYS_getrlimit,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[c_long] = &[];

/// What starts one program in this process; which one is for Landlock to say.
pub(super) const STARTS: &[c_long] = &[
    c::SYS_execve,
    c::SYS_chdir,
    c::SYS_set_tid_address,
    #[cfg(target_arch = "x86_64")]
    c::SYS_arch_prctl,
];

/// `prctl`: a thread's name, and that of its memory.
const PR_SET_VMA: c_long = 0x5356_4d41;

/// `fcntl` for which a file sends signals: to whom, and which.
const SIGNALS: [u64; 3] = [8, 10, 15];

/// Above a socket's kind there are flags.
const KIND: u64 = 0xF;

fn wide(value: c_long) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// The argument with only these bits has this value.
fn has(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    let by = SeccompCmpOp::MaskedEq(mask);
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, by, value)
}

/// The argument is not this.
fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

fn rules(sockets: Sockets, more: &[c_long]) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = ALWAYS
        .iter()
        .chain(OLDER)
        .chain(more)
        .map(|&call| (call, Vec::new()))
        .collect();
    let mut allow = |call, conditions| -> Result<(), seccompiler::BackendError> {
        rules
            .entry(call)
            .or_default()
            .push(SeccompRule::new(conditions)?);
        Ok(())
    };
    // A thread; no process, and no namespace.
    let thread = wide(c::CLONE_THREAD.into());
    let spaces = [
        c::CLONE_NEWNS,
        c::CLONE_NEWUSER,
        c::CLONE_NEWPID,
        c::CLONE_NEWNET,
        c::CLONE_NEWIPC,
        c::CLONE_NEWUTS,
        c::CLONE_NEWCGROUP,
    ];
    let spaces = spaces.iter().fold(0, |all, &one| all | wide(one.into()));
    allow(c::SYS_clone, vec![has(0, thread | spaces, thread)?])?;
    let own = u64::from(std::process::id());
    allow(c::SYS_tgkill, vec![is(0, own)?])?;
    allow(c::SYS_prlimit64, vec![is(0, 0)?])?;
    for request in [c::FIONBIO, c::FIOCLEX, c::TCGETS, c::TIOCGWINSZ] {
        allow(c::SYS_ioctl, vec![is(1, request)?])?;
    }
    for option in [c::PR_SET_NAME.into(), c::PR_GET_NAME.into(), PR_SET_VMA] {
        allow(c::SYS_prctl, vec![is(0, wide(option))?])?;
    }
    // A pair reaches nobody: signals come by one.
    allow(c::SYS_socketpair, vec![is(0, wide(c::AF_UNIX.into()))?])?;
    let families: &[c::c_int] = match sockets {
        Sockets::None => &[],
        Sockets::Unix => &[c::AF_UNIX],
        Sockets::Internet => &[c::AF_INET, c::AF_INET6],
    };
    for &family in families {
        // Landlock holds TCP alone; MPTCP is another protocol with the same addresses.
        for protocol in [0, c::IPPROTO_TCP] {
            let conditions = vec![
                is(0, wide(family.into()))?,
                has(1, KIND, wide(c::SOCK_STREAM.into()))?,
                is(2, wide(protocol.into()))?,
            ];
            allow(c::SYS_socket, conditions)?;
        }
    }
    // With this flag a message connects, past Landlock.
    let connects = wide(c::MSG_FASTOPEN.into());
    allow(c::SYS_sendto, vec![has(3, connects, 0)?])?;
    allow(c::SYS_sendmsg, vec![has(2, connects, 0)?])?;
    let quiet: Result<Vec<_>, _> = SIGNALS.iter().map(|&command| is_not(1, command)).collect();
    allow(c::SYS_fcntl, quiet?)?;
    Ok(rules)
}

/// Keeps this thread, and all that it begins, to these calls and some more.
pub(super) fn limit(sockets: Sockets, more: &[c_long]) -> Result<(), String> {
    let wrong = |error: &dyn std::fmt::Display| format!("seccomp: {error}");
    let arch: TargetArch = std::env::consts::ARCH
        .try_into()
        .map_err(|error| wrong(&error))?;
    let refused = SeccompAction::Errno(c::EPERM.unsigned_abs());
    // Its flags lie in memory, which no filter reads. Without it, the library uses `clone`.
    let unknown = SeccompAction::Errno(c::ENOSYS.unsigned_abs());
    let clone3 = Rules::from([(c::SYS_clone3, Vec::new())]);
    let filters = [
        SeccompFilter::new(clone3, SeccompAction::Allow, unknown, arch),
        rules(sockets, more)
            .and_then(|all| SeccompFilter::new(all, refused, SeccompAction::Allow, arch)),
    ];
    // The first would be refused by the second.
    for filter in filters {
        let program: BpfProgram = filter
            .and_then(TryInto::try_into)
            .map_err(|error| wrong(&error))?;
        apply_filter(&program).map_err(|error| wrong(&error))?;
    }
    Ok(())
}
