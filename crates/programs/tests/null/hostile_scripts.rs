//! Scripts that mean harm: each ends in words, by itself, with one of the documented exit codes.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A machine that does other things, too.
const LONGEST: Duration = Duration::from_secs(40);

/// The body of an event, and what is said of it; nothing: the run ends well.
const EVENTS: &[(&str, &str)] = &[
    // Ways out of the language.
    (
        "jit.attach(function() end, 'record')",
        "attempt to call field 'attach'",
    ),
    (
        "require('jit.util').funck(print, 1)",
        "module 'jit.util' is not there",
    ),
    ("assert(not require('jit').attach) error('held')", "held"),
    ("newproxy(true)", "attempt to call global 'newproxy'"),
    ("('').dump(print)", "attempt to call field 'dump'"),
    (
        "error(select(2, load('\\27LJ\\2', 'x', 'b')))",
        "wrong mode",
    ),
    (
        "local n = 0 error(select(2, load(function() n = n + 1 return n == 1 and '\\27LJ' or nil end)))",
        "wrong mode",
    ),
    ("debug.getupvalue(require, 1)", "attempt to"),
    ("debug.getregistry()", "attempt to"),
    ("require('string.buffer')", "is not there"),
    ("require('ffi').C.system('id')", "no foreign function"),
    (
        "setfenv(dofile, {host = {read = print}}) dofile('x')",
        "there is no module",
    ),
    (
        "for level = 1, 30 do local ok, all = pcall(getfenv, level) assert(not ok or not all.newproxy) end error('held')",
        "held",
    ),
    // Files and programs.
    (
        "error(select(2, loadfile('/etc/shadow')))",
        "/etc/shadow: there is no module",
    ),
    (
        "error(select(2, loadfile('/etc/nothing')))",
        "/etc/nothing: there is no module",
    ),
    ("dofile('../secret.lua')", "there is no module"),
    ("dofile('linked.lua')", "there is no module"),
    ("dofile('env.sh')", "there is no module"),
    ("package.path = '/etc/?' require('passwd')", "is not there"),
    ("dofile('pipe.lua')", "a pipe"),
    ("io.open('x', 'w')", "io.open is refused"),
    ("io.output('x')", "io.output is refused"),
    ("os.remove('own.lua')", "os.remove is refused"),
    ("os.execute('sleep 1; id')", "os.execute is refused"),
    ("os.exit(0)", "ended itself"),
    // The stack of C.
    (
        "local function f() return (string.gsub('a', 'a', f)) end f()",
        "too deeply",
    ),
    (
        "local t = setmetatable({}, {__index = function(t) return (string.gsub('a', 'a', t)) end}) string.gsub('a', 'a', t)",
        "too deeply",
    ),
    (
        "local t = {} setmetatable(t, {__tostring = function() return string.format('%s', t) end}) string.format('%s', t)",
        "client 0",
    ),
    (
        "local function f() table.sort({3, 2, 1}, f) end f()",
        "stack overflow",
    ),
    ("local function f() load(f) end f()", "stack overflow"),
    (
        "local function f() return pcall(f) end f() error('held')",
        "held",
    ),
    (
        "local function f() return xpcall(error, f) end f() error('held')",
        "held",
    ),
    (
        "error(select(2, load('return ' .. string.rep('{', 1e5))))",
        "too many syntax levels",
    ),
    (
        "string.find(string.rep('a', 1e5), string.rep('a-', 3000) .. 'b')",
        "too complex",
    ),
    // Values that run code when they are shown.
    (
        "error(setmetatable({}, {__tostring = function() while true do end end}))",
        "has computed for 1 s",
    ),
    ("error(setmetatable({}, {__tostring = error}))", "no text"),
    ("coroutine.yield(1, 'SELECT 1')", "global 'coroutine'"),
    // More values than are handed over at once.
    (
        "local rows = db_query('SELECT 1') rows.nfields = 1e6 rows.data = string.rep('\\255', 8e6) rows:fetch_row()",
        "more than 4096",
    ),
    (
        "local rows = db_query('SELECT 1') rows.nfields = -1 rows:fetch_row()",
        "out of range",
    ),
    (
        "local rows = db_query('SELECT 1') rows.at = 1e300 rows:fetch_row()",
        "out of range",
    ),
    (
        "local s = db_prepare('SELECT 1') s.number = -1 s:execute()",
        "never prepared",
    ),
    // Time.
    ("while true do end", "has computed for 1 s"),
    (
        "local con = sysbench.sql.driver():connect() while true do con:prepare('SELECT 1') end",
        "has computed for 1 s",
    ),
    (
        "local s = db_prepare('SELECT 1') while true do db_bind_param(s, {}) end",
        "has computed for 1 s",
    ),
    ("while true do pcall(error) end", "has computed for 1 s"),
    (
        "while true do sysbench.rand.unique() end",
        "has computed for 1 s",
    ),
    (
        "string.rep('a', 3e4):find('.-.-.-.-b')",
        "has computed for 1 s",
    ),
    (
        "while true do string.rep('x', 1e7) end",
        "has computed for 1 s",
    ),
    // Memory.
    ("local t = {} while true do t[#t + 1] = #t end", "memory"),
    (
        "local t, p = {}, string.rep('#', 1e6) while true do t[#t + 1] = sysbench.rand.string(p) end",
        "memory",
    ),
    (
        "local t = {} while true do t[#t + 1] = sysbench.rand.varstring(1e6, 1e6) end",
        "memory",
    ),
    ("sysbench.rand.varstring(1e9, 1e9)", "does not fit"),
    (
        "local con, n = sysbench.sql.driver():connect(), 0 while true do n = n + 1 con:prepare(n .. string.rep('x', 1e6)) end",
        "memory",
    ),
    (
        "local s = string.rep('x', 1e7) s = s .. s .. s .. s .. s .. s .. s",
        "memory",
    ),
    // The terminal.
    ("print('\\27]0;OWNED\\7\\27[2J') error('held')", "held"),
    ("error('\\27]0;OWNED\\7\\27[2J')", "\\u{1b}]0;OWNED"),
    ("load('error(1)', '@\\27[2J')()", "\\u{1b}[2J"),
];

/// Whole scripts.
const SCRIPTS: &[(&str, &str)] = &[
    ("while true do end", "has computed for 1 s"),
    ("os.exit(7)", "ended itself"),
    (
        "setmetatable(_G, {__index = function() while true do end end})\nx = y\nfunction event() end",
        "has computed for 1 s",
    ),
    (
        "sysbench.cmdline.options = 5\nfunction event() end",
        "table expected",
    ),
    (
        "function event() end\nfunction init() while true do end end",
        "has computed for 1 s",
    ),
    (
        "function event() end\nfunction done() while true do end end",
        "has computed for 1 s",
    ),
    (
        "function event() end\nfunction thread_init() while true do db_query('SELECT 1') end end",
        "thread_init() of own.lua was not over after 1 s",
    ),
    (
        "function event() end\nfunction thread_init() os.execute('sleep 1000') end",
        "thread_init() of own.lua was not over after 1 s",
    ),
    (
        "function event() end\nfunction thread_done() while true do db_query('SELECT 1') end end",
        "thread_done() of own.lua was not over after 1 s",
    ),
    (
        "kept = setmetatable({}, {__gc = function() while true do end end})\nfunction event() error('held') end",
        "held",
    ),
];

#[test]
fn every_hostile_script_ends_in_words() {
    let events = EVENTS
        .iter()
        .map(|(body, says)| (format!("function event()\n{body}\nend\n"), *says));
    let scripts = SCRIPTS
        .iter()
        .map(|(text, says)| ((*text).to_owned(), *says));
    let all: Vec<_> = events.chain(scripts).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((text, says)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Only what its time ends must be quick.
                    let limit_s = if says.contains(" 1 s") { "1" } else { "20" };
                    let (code, said) = run(text, limit_s);
                    assert!(matches!(code, Some(1 | 2)), "{code:?}: {text}: {said}");
                    assert!(said.contains(says), "{text}: {said}");
                    let steers = |byte: char| byte.is_control() && byte != '\n';
                    assert!(!said.contains(steers), "{text}: {said}");
                    for never in ["panicked", "stolen", "root:"] {
                        assert!(!said.contains(never), "{text}: {said}");
                    }
                }
            });
        }
    });
}

/// Runs a script beside files that are none of its modules; the exit code, and all that it said.
fn run(text: &str, limit_s: &str) -> (Option<i32>, String) {
    let folder = TempDir::new().expect("a folder");
    let place = folder.path().join("scripts");
    fs::create_dir(&place).expect("a folder");
    fs::write(folder.path().join("secret.lua"), "print('stolen')").expect("written");
    fs::write(place.join("env.sh"), "KEY='stolen'").expect("written");
    fs::write(place.join("own.lua"), text).expect("a script is written");
    symlink("../secret.lua", place.join("linked.lua")).expect("a link");
    let pipe = place.join("pipe.lua");
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0)
        .expect("a pipe");
    let output = fs::File::create(folder.path().join("said")).expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args([
            "run",
            "lua",
            "--url",
            "null:",
            "own.lua",
            "--transactions",
            "3",
        ])
        .args([
            "--script-limit",
            limit_s,
            "--script-memory",
            "32",
            "--seconds",
            "5",
        ])
        .current_dir(&place)
        .stdin(Stdio::null())
        .stdout(output.try_clone().expect("a file"))
        .stderr(output)
        .spawn()
        .expect("the program starts");
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a status") {
            break status;
        }
        if begun.elapsed() > LONGEST {
            child.kill().expect("killed");
            panic!("it did not end within {LONGEST:?}: {text}");
        }
        thread::sleep(Duration::from_millis(10));
    };
    let said = fs::read(folder.path().join("said")).expect("its words");
    (status.code(), String::from_utf8_lossy(&said).into_owned())
}
