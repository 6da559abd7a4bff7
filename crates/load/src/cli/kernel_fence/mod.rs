//! The kernel's fence around a process that runs a script: it holds even if the script takes over the
//! process. No privilege, the places of the script and its database, one server, few system calls.

mod calls;
pub(super) mod reader;

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};
use nix::sys::resource::{Resource, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::Stop;
use crate::driver::resolve;
use crate::engine::Failure;
use crate::target::{Endpoint, Target};
use calls::Sockets;

/// What the program reads besides: itself (proc(5)), and the local time.
const ALSO_READ: [&str; 5] = [
    "/proc/self",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/dev/null",
    "/dev/urandom",
];

/// The memory of the program besides its scripts: code, buffers, histograms, stacks.
const OWN_BYTES: u64 = 2 << 30;
/// A client's connection, and a thread of its own on SQLite.
const CLIENT_BYTES: u64 = 80 << 20;

/// What lies within.
#[derive(Debug, Clone)]
pub(super) struct KernelFence {
    read: Vec<PathBuf>,
    write: Option<PathBuf>,
    endpoint: Option<Endpoint>,
    memory_bytes: u64,
}

impl KernelFence {
    /// What a script reads, its database, and memory for this many clients.
    pub(super) fn new(target: &Target, read: &[PathBuf], clients: u32, memory_mib: u32) -> Self {
        let (write, endpoint) = match target {
            Target::Mysql(server) | Target::Postgres(server) => {
                (None, Some(server.endpoint.clone()))
            }
            Target::Sqlite(file) => (Some(folder(&file.path)), None),
            Target::Null(_) => (None, None),
        };
        // Its reply is in a client's memory before it is in the script's.
        let of_client = 2 * (u64::from(memory_mib) << 20) + CLIENT_BYTES;
        Self {
            read: read
                .iter()
                .filter(|place| place.parent().is_some())
                .cloned()
                .collect(),
            write,
            endpoint,
            // A script for reports, and one that is only looked at.
            memory_bytes: OWN_BYTES
                .saturating_add(of_client.saturating_mul(u64::from(clients) + 2)),
        }
    }

    /// Puts this thread and all that begin later into the fence; nothing may have been started before.
    pub(super) fn close(&self) -> Result<(), Stop> {
        // Later the resolver is out of reach.
        if let Some(endpoint) = &self.endpoint {
            resolve(endpoint).map_err(Failure::connecting)?;
        }
        // Root's files stay within its reach.
        let kept = Some(CapabilitySet::DAC_OVERRIDE);
        enclose(&[(Resource::RLIMIT_DATA, self.memory_bytes)], kept, || {
            self.limit_places()
        })
        .and_then(|()| calls::limit(self.sockets(), &[]))
        .map_err(|what| not_closed("the script", &what))
    }

    fn sockets(&self) -> Sockets {
        match &self.endpoint {
            None => Sockets::None,
            Some(Endpoint::Unix(_)) => Sockets::Unix,
            Some(Endpoint::Tcp { .. }) => Sockets::Internet,
        }
    }

    fn limit_places(&self) -> Result<RulesetStatus, RulesetError> {
        let read: BitFlags<AccessFs> = AccessFs::ReadFile.into();
        let write = AccessFs::from_file(ABI::V3) & !AccessFs::Execute
            | AccessFs::ReadDir
            | AccessFs::MakeReg
            | AccessFs::RemoveFile;
        let (mut socket, mut port) = (None, None);
        match &self.endpoint {
            Some(Endpoint::Unix(path)) => socket = Some(path),
            Some(Endpoint::Tcp { port: number, .. }) => port = Some(*number),
            None => {}
        }
        let reaches: BitFlags<AccessFs> = AccessFs::ResolveUnix.into();
        let status = ruleset()?
            .add_rules(path_beneath_rules(&self.read, read))?
            .add_rules(path_beneath_rules(ALSO_READ, read))?
            .add_rules(path_beneath_rules(&self.write, write))?
            .add_rules(path_beneath_rules(socket, reaches))?
            .add_rules(
                port.map(|port| Ok::<_, RulesetError>(NetPort::new(port, AccessNet::ConnectTcp))),
            )?
            .restrict_self()?;
        Ok(status.ruleset)
    }
}

/// Limits this thread and all that begin later, to these privileges if any are named, and these places.
fn enclose(
    limits: &[(Resource, u64)],
    kept: Option<CapabilitySet>,
    places: impl FnOnce() -> Result<RulesetStatus, RulesetError>,
) -> Result<(), String> {
    for &(resource, limit) in [(Resource::RLIMIT_CORE, 0)].iter().chain(limits) {
        setrlimit(resource, limit, limit).map_err(|error| error.to_string())?;
    }
    if let Some(kept) = kept {
        drop_privileges(kept).map_err(|error| error.to_string())?;
    }
    let status = places().map_err(|error| error.to_string())?;
    if status == RulesetStatus::NotEnforced && holds_files() {
        return Err("Landlock did not take the rules".to_owned());
    }
    Ok(())
}

fn not_closed(around: &str, what: &dyn std::fmt::Display) -> Stop {
    let what = format!("the kernel's fence around {around} cannot be closed: {what}");
    Stop::Failed(Failure::new("fence", what))
}

/// Everything that this kernel's Landlock can refuse.
fn ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V10))?
        .handle_access(AccessNet::from_all(ABI::V10))?
        .scope(Scope::from_all(ABI::V10))?
        .create()
}

/// Where SQLite makes its journals: the folder of the database, and not that of a link to it.
pub(super) fn folder(file: &Path) -> PathBuf {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// Says what this kernel cannot hold; refused to root if it is everything.
pub(super) fn tell_weakness() -> Result<(), Stop> {
    if let Some(words) = weakness().map_err(Stop::Arguments)? {
        tell!("diskproof-load: {words}");
    }
    Ok(())
}

/// What this kernel cannot hold, in words for the head of a run; refused to root if it is everything.
fn weakness() -> Result<Option<String>, String> {
    let hard = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let connections = hard()
        .handle_access(AccessNet::ConnectTcp)
        .and_then(Ruleset::create);
    weakness_of(
        holds_files(),
        connections.is_ok(),
        rustix::process::geteuid().is_root(),
    )
}

/// For a person, and for the lab.
fn say() -> Result<(), Stop> {
    match weakness() {
        Ok(None) => {
            super::lua::say(
                "a script in Lua runs in a fence of the kernel: Landlock and seccomp\n",
            );
            Ok(())
        }
        Ok(Some(words)) | Err(words) => Err(Stop::Failed(Failure::new("fence", words))),
    }
}

/// Whether Landlock holds a process's files: if the kernel has it, and was booted with it.
fn holds_files() -> bool {
    let hard = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let files = hard.handle_access(AccessFs::from_all(ABI::V1));
    files.and_then(Ruleset::create).is_ok()
}

const MISSING: &str = "this kernel has no Landlock (Linux 5.13 has it, if it is booted with it)";

fn weakness_of(files: bool, connections: bool, is_root: bool) -> Result<Option<String>, String> {
    match (files, is_root) {
        (true, _) if connections => Ok(None),
        (true, _) => Ok(Some(
            "this kernel's Landlock holds a script's files, but not its connections (Linux 6.7 holds both)".into(),
        )),
        (false, false) => Ok(Some(format!(
            "{MISSING}: only the language and the list of system calls hold a script"
        ))),
        (false, true) => Err(format!(
            "{MISSING}: a script that gets out of the language would have root's rights; run it as another user, \
             or give --trust-script if you know it"
        )),
    }
}

/// Keeps this of root's rights, as far as Landlock lets it, and no other privilege.
fn drop_privileges(kept: CapabilitySet) -> rustix::io::Result<()> {
    let kept = capabilities(None)?.permitted & kept;
    set_capabilities(
        None,
        CapabilitySets {
            effective: kept,
            permitted: kept,
            inheritable: CapabilitySet::empty(),
        },
    )
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::process::Command;

    use rustix::net::{self, AddressFamily, SendFlags, SocketType};

    use super::*;

    /// What native code may do within: the fence is a thread's own.
    fn within<T: Send>(target: &str, folders: &[PathBuf], act: impl FnOnce() -> T + Send) -> T {
        let target = Target::parse(target, None).unwrap();
        let fence = KernelFence::new(&target, folders, 1, 1 << 20);
        std::thread::scope(|scope| {
            let inside = scope.spawn(move || {
                drop_privileges(CapabilitySet::DAC_OVERRIDE).unwrap();
                assert_ne!(fence.limit_places().unwrap(), RulesetStatus::NotEnforced);
                calls::limit(fence.sockets(), &[]).unwrap();
                act()
            });
            inside.join().unwrap()
        })
    }

    #[test]
    fn native_code_reaches_the_places_of_its_script_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (scripts, data, other) = (
            folder.path().join("scripts"),
            folder.path().join("data"),
            folder.path().join("other"),
        );
        for place in [&scripts, &data, &other] {
            fs::create_dir(place).unwrap();
            fs::write(place.join("file"), "text").unwrap();
        }
        let url = format!("sqlite:{}", data.join("a.db").display());
        within(&url, std::slice::from_ref(&scripts), || {
            assert_eq!(fs::read_to_string(scripts.join("file")).unwrap(), "text");
            assert!(fs::write(scripts.join("file"), "").is_err());
            fs::write(data.join("a.db-journal"), "x").unwrap();
            fs::remove_file(data.join("a.db-journal")).unwrap();
            for file in [
                other.join("file").as_path(),
                Path::new("/etc/passwd"),
                Path::new("/root/.profile"),
            ] {
                assert!(fs::read(file).is_err(), "{}", file.display());
            }
            assert!(fs::write(other.join("new"), "").is_err());
            assert!(
                fs::set_permissions(other.join("file"), fs::Permissions::from_mode(0o777)).is_err()
            );
            assert!(fs::rename(data.join("file"), other.join("moved")).is_err());
            assert!(fs::hard_link(data.join("file"), data.join("linked")).is_err());
            assert!(fs::read_dir("/").is_err());
            assert!(Command::new("/bin/true").spawn().is_err());
            let own = rustix::process::getpid();
            assert!(rustix::process::kill_process(own, rustix::process::Signal::CONT).is_err());
            assert!(TcpStream::connect("127.0.0.1:1").is_err());
            assert!(UdpSocket::bind("127.0.0.1:0").is_err());
            assert!(UnixStream::connect("/run/any").is_err());
            // The library's own needs.
            std::thread::spawn(|| 1).join().unwrap();
        });
        assert_eq!(
            fs::metadata(other.join("file"))
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o644
        );
    }

    #[test]
    fn native_code_reaches_one_server_alone() {
        let [server, other] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let port = server.local_addr().unwrap().port();
        let address = other.local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listens = UnixListener::bind(&path).unwrap();
        within(&format!("mysql://u@127.0.0.1:{port}/d"), &[], || {
            assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
            let refused = TcpStream::connect(address).unwrap_err();
            assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
            assert!(TcpListener::bind("127.0.0.1:0").is_err());
            let opened = |protocol| net::socket(AddressFamily::INET, SocketType::STREAM, protocol);
            assert!(opened(Some(net::ipproto::MPTCP)).is_err(), "past Landlock");
            let connects = SendFlags::from_bits_retain(0x2000_0000); // MSG_FASTOPEN
            let sent = net::sendto(opened(None).unwrap(), b"x", connects, &address);
            assert_eq!(sent, Err(rustix::io::Errno::PERM));
            assert!(UnixStream::connect(&path).is_err());
            assert!(File::open("/etc/hostname").is_err());
        });
        within(
            &format!("mysql://u@localhost/d?socket={}", path.display()),
            &[],
            || {
                assert!(UnixStream::connect(&path).is_ok());
                assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
            },
        );
    }

    #[test]
    fn root_does_not_run_a_script_that_only_the_language_holds() {
        assert_eq!(weakness_of(true, true, true), Ok(None));
        assert!(
            weakness_of(true, false, true)
                .unwrap()
                .unwrap()
                .contains("connections")
        );
        assert!(weakness_of(false, false, false).unwrap().is_some());
        assert!(
            weakness_of(false, false, true)
                .unwrap_err()
                .contains("--trust-script")
        );
    }
}
