//! Lua scripts without a database: what they may do, and what stops them.

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

fn run(text: &str, arguments: &[&str]) -> Output {
    let folder = TempDir::new().expect("a folder");
    let script = folder.path().join("own.lua");
    fs::write(&script, text).expect("a script is written");
    Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(["run", "lua", "--url", "null:"])
        .arg(script)
        .args(["--transactions", "3", "--seconds", "20"])
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// The body of an event, run three times.
fn event(body: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(&format!("function event()\n{body}\nend\n"), arguments);
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn what_reaches_outside_is_refused() {
    for body in [
        "io.open('/etc/passwd')",
        "io.popen('id')",
        "os.execute('id')",
        "os.getenv('DISKPROOF_PASSWORD')",
        "os.remove('x')",
        "package.loadlib('x', 'y')",
        "require('ffi').load('c')",
        "require('ffi').C.system('id')",
    ] {
        let (code, said) = event(body, &[]);
        assert_eq!(code, Some(1), "{body}: {said}");
        assert!(said.contains("is refused"), "{body}: {said}");
        assert!(said.contains("own.lua:2:"), "{body}: {said}");
    }
    let bytecode = "assert(not string.dump and not load('\\27LJ\\2'))";
    let (code, said) = event(bytecode, &[]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = event("assert(io.open('/dev/null')):close()", &["--trust-script"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn the_version_is_sysbenchs_and_ours() {
    let output = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(["sysbench", "--version", "own.lua"])
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("sysbench 1.0.20 (as diskproof-load"),
        "{said}"
    );
}

/// What scripts measure their own time by, and the numbers that they make.
#[test]
fn clocks_without_foreign_functions() {
    let body = "local ffi = require('ffi')
        local now, since = ffi.new('struct timeval'), ffi.new('struct timespec')
        assert(ffi.C.gettimeofday(now, nil) == 0 and now.tv_sec > 1e9 and now.tv_usec < 1e6)
        assert(ffi.C.clock_gettime(1, since) == 0 and since.tv_sec >= 0 and since.tv_nsec < 1e9)
        assert(ffi.new('int', 7) == 7 and ffi.new('int[3]', {1, 2, 3})[2] == 2)";
    let (code, said) = event(body, &[]);
    assert_eq!(code, Some(0), "{said}");
}

/// A wait needs no program, and the rollbacks that sysbench-tpcc counts as errors are none.
#[test]
fn waits_and_rollbacks_of_sysbench_tpcc() {
    let body = "if sysbench.opt.threads > 0 then os.execute('sleep 0.01') end
        require('ffi').C.sb_counter_inc(sysbench.tid, require('ffi').C.SB_CNT_ERROR)";
    let (code, said) = event(body, &["--json"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(r#""errors":[],"#), "{said}");
    let shortest = said.split(r#""min":"#).nth(1).expect(&said);
    let shortest_us: f64 = shortest[..shortest.find(',').expect(&said)]
        .parse()
        .expect(&said);
    assert!(shortest_us >= 10_000.0, "{said}");
}

#[test]
fn memory_and_time_are_limited() {
    let body = "local all = {} while true do all[#all + 1] = string.rep('x', 1e6) .. #all end";
    let (code, said) = event(body, &["--script-memory", "20"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("memory"), "{said}");
    let (code, said) = event("while true do end", &["--script-limit", "0.5"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("own.lua has computed for 0.5 s"), "{said}");
    let output = run("while true do end", &["--script-limit", "0.5"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("own.lua has computed for 0.5 s"), "{said}");
}

#[test]
fn a_mistake_is_named_with_its_line_and_client() {
    let (code, said) = event("\n\nlocal x = nil + 1", &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("client 0:") && said.contains("own.lua:4:"),
        "{said}"
    );
    for (text, says) in [
        ("function event(", "own.lua:1:"),
        ("x = 1", "has no command run"),
        ("function prepare() end", "its commands are: prepare"),
    ] {
        let output = run(text, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}: {said}");
        assert!(said.contains(says), "{text}: {said}");
    }
}

#[test]
fn options_have_types_and_defaults() {
    let text = "
        sysbench.cmdline.options = {
          tables = {'Tables', 1}, share = {'Share', 0.5}, hot = {'Hot', false}, word = {'Word', 'x'},
          size = {'Size', 1}, list = {'List', {'a'}}
        }
        function event()
          local opt = sysbench.opt
          assert(opt.tables == 4 and opt.share == 0.25 and opt.hot == true and opt.word == 'y')
          assert(opt.size == 2048 and #opt.list == 2 and opt.threads == 1 and opt.db_driver == 'mysql')
        end";
    let given = [
        "-otables=4",
        "-oshare=0.25",
        "-ohot",
        "--option",
        "word=y",
        "-osize=2K",
        "-olist=b,c",
    ];
    let output = run(text, &given);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    for (wrong, says) in [
        ("-otables=many", "a whole number is wanted"),
        (
            "-otabels=4",
            "--tabels is no option of the script; it has --hot, --list",
        ),
        (
            "-othreads=4",
            "`diskproof-load sysbench` takes sysbench's own options",
        ),
        ("-ohot=perhaps", "on or off is wanted"),
    ] {
        let output = run(text, &[wrong]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says), "{said}");
    }
}

/// `init` comes before the clients and `done` after the report. An event that returns a value ends its
/// client and is not counted.
#[test]
fn a_script_begins_and_ends_as_in_sysbench() {
    let text = "
        local events = 0
        function init() print('init') end
        function thread_done() print('thread_done') end
        function done() print('done') end
        function event() events = events + 1 return events == 2 end";
    let output = run(text, &["--json"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains(r#""transactions":1,"#), "{said}");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(printed, "init\nthread_done\ndone\n");
    for (text, says) in [
        (
            "function event() end
             function init() sysbench.sql.driver():connect():query('SELECT 1') end",
            "there is no connection while it is loaded, in init()",
        ),
        (
            "function event() end function thread_run() end",
            "own.lua has a function thread_run()",
        ),
    ] {
        let output = run(text, &[]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}: {said}");
        assert!(said.contains(says), "{text}: {said}");
    }
}

#[test]
fn draws_stay_in_their_ranges() {
    let body = "
        for _ = 1, 100 do
          assert(sb_rand_uniq(1, 2147483648) <= 2147483648)
          local text = sysbench.rand.varstring(3, 8)
          assert(#text >= 3 and #text <= 8 and not text:find('[^0-z]'), text)
        end
        assert(sysbench.rand.uniform(0, 1e300) >= 0)";
    let (code, said) = event(body, &[]);
    assert_eq!(code, Some(0), "{said}");
    for (body, says) in [
        (
            "sysbench.rand.varstring(1, 1e12)",
            "does not fit into the script's memory",
        ),
        (
            "sb_rand_uniq(5, 4)",
            "no number of 32 bits lies from 5 to 4",
        ),
    ] {
        let (code, said) = event(body, &[]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn another_databases_driver_is_refused() {
    let (code, said) = event(
        "sysbench.sql.driver('mysql') sysbench.sql.driver('pgsql')",
        &[],
    );
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("the driver pgsql is not that of this run"),
        "{said}"
    );
}

/// A script's process that crashes ends the run in words, and one whose overseer is killed ends with it.
#[test]
fn a_crash_ends_in_words_and_nothing_outlives_the_program() {
    let folder = TempDir::new().expect("a folder");
    let script = folder.path().join("own.lua");
    fs::write(&script, "function event() end").expect("a script is written");
    let mut program = Command::new(env!("CARGO_BIN_EXE_diskproof-load"));
    program
        .args(["run", "lua", "--url", "null:", "--seconds", "60"])
        .arg(script);
    for (victim, signal) in [("script", "ABRT"), ("overseer", "KILL")] {
        let child = program
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the program starts");
        let id = child.id();
        let list = format!("/proc/{id}/task/{id}/children");
        let script = until(|| {
            let inner = fs::read_to_string(&list).ok()?;
            let inner = inner.trim().to_owned();
            let status = fs::read_to_string(format!("/proc/{inner}/status")).ok()?;
            status.contains("Seccomp:\t2").then_some(inner)
        });
        let pid = if victim == "script" {
            script.clone()
        } else {
            id.to_string()
        };
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &pid])
            .status();
        assert!(sent.expect("kill").success());
        let output = child.wait_with_output().expect("an end");
        if victim == "script" {
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.contains("ended its process by signal 6"), "{said}");
        }
        // Gone, or waited for by nobody yet.
        until(
            || match fs::read_to_string(format!("/proc/{script}/status")) {
                Ok(status) => status.contains("State:\tZ").then_some(()),
                Err(_) => Some(()),
            },
        );
    }
}

/// What comes within half a minute.
fn until<T>(look: impl Fn() -> Option<T>) -> T {
    for _ in 0..3000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it did not come");
}
