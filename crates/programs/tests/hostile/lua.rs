//! Scripts in Lua that misuse all that they are given: each runs, or ends in words.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::case::{each, run, seeds};

/// The script's limit, its grace, and a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

const VALUES: [&str; 38] = [
    "nil",
    "true",
    "0/0",
    "1/0",
    "-1",
    "0",
    "1",
    "3",
    "4097",
    "2^31",
    "2^53",
    "-2^63",
    "1e300",
    "''",
    "'x'",
    "'%'",
    "'\\0'",
    "'SELECT 1'",
    "'SELECT a, ? FROM t'",
    "'NO SUCH'",
    "('x'):rep(1e5)",
    "('(a?'):rep(20)",
    "'%b()'",
    "{}",
    "{1, 2, 3}",
    "{[0] = {}}",
    "print",
    "function() end",
    "function(...) return ... end",
    "error",
    "function() error({errcode = 1}) end",
    "setmetatable({}, {__index = function(_, k) return k end})",
    "setmetatable({}, {__tostring = function() error('x') end})",
    "setmetatable({}, {__call = print})",
    "con",
    "stm",
    "res",
    "par",
];

const FUNCTIONS: [&str; 76] = [
    "db_query",
    "db_prepare",
    "db_execute",
    "db_bind_param",
    "db_bulk_insert_init",
    "db_bulk_insert_next",
    "db_bulk_insert_done",
    "db_connect",
    "db_disconnect",
    "db_close",
    "db_store_results",
    "db_free_results",
    "con.query",
    "con.query_row",
    "con.prepare",
    "con.reconnect",
    "con.disconnect",
    "con.bulk_insert_init",
    "con.bulk_insert_next",
    "con.bulk_insert_done",
    "stm.execute",
    "stm.bind_param",
    "stm.bind_create",
    "stm.close",
    "par.set",
    "par.set_rand_str",
    "res.fetch_row",
    "res.free",
    "sysbench.sql.driver",
    "sysbench.rand.uniform",
    "sysbench.rand.zipfian",
    "sysbench.rand.pareto",
    "sysbench.rand.gaussian",
    "sysbench.rand.special",
    "sysbench.rand.string",
    "sysbench.rand.varstring",
    "sysbench.rand.unique",
    "sysbench.cmdline.print_test_options",
    "require",
    "dofile",
    "loadfile",
    "load",
    "loadstring",
    "module",
    "setfenv",
    "getfenv",
    "setmetatable",
    "getmetatable",
    "rawset",
    "rawget",
    "next",
    "select",
    "unpack",
    "xpcall",
    "pcall",
    "tostring",
    "tonumber",
    "collectgarbage",
    "string.gsub",
    "string.find",
    "string.gmatch",
    "string.format",
    "string.rep",
    "string.byte",
    "string.char",
    "table.sort",
    "table.concat",
    "table.insert",
    "table.remove",
    "os.date",
    "os.time",
    "os.execute",
    "io.write",
    "debug.getinfo",
    "require('ffi').new",
    "require('ffi').C.clock_gettime",
];

const FIELDS: [&str; 15] = [
    "con.counted",
    "con.bulk",
    "stm.number",
    "stm.kinds",
    "stm.bound",
    "stm.count",
    "stm.connection",
    "par.value",
    "par.kind",
    "par.longest",
    "res.data",
    "res.at",
    "res.nfields",
    "sysbench.hooks.sql_error_ignorable",
    "getmetatable('').__index",
];

fn value(random: &mut impl Rng) -> &'static str {
    VALUES[random.random_range(0..VALUES.len())]
}

fn line(random: &mut impl Rng, depth: u32, text: &mut String) {
    match random.random_range(0..12) {
        0 => {
            let field = FIELDS[random.random_range(0..FIELDS.len())];
            let _ = writeln!(text, "pcall(function() {field} = {} end)", value(random));
        }
        1 if depth < 3 => {
            let around = [
                ("for _ = 1, 300 do\n", "end\n"),
                ("pcall(string.gsub, 'ab', '.', function()\n", "end)\n"),
                ("pcall(table.sort, {3, 2, 1}, function()\n", "end)\n"),
                ("pcall(xpcall, function()\n", "end, print)\n"),
                (
                    "local function f(n)\n",
                    "if n < 1e5 then return pcall(f, n + 1) end end f(1)\n",
                ),
            ];
            let (begin, end) = around[random.random_range(0..around.len())];
            *text += begin;
            for _ in 0..random.random_range(1..4) {
                line(random, depth + 1, text);
            }
            *text += end;
        }
        _ => {
            let function = FUNCTIONS[random.random_range(0..FUNCTIONS.len())];
            let values: Vec<_> = (0..random.random_range(0..5))
                .map(|_| value(random))
                .collect();
            let unsafe_call = if random.random_bool(0.03) {
                ""
            } else {
                "pcall(function() return "
            };
            let end = if unsafe_call.is_empty() { "" } else { " end)" };
            let _ = writeln!(text, "{unsafe_call}{function}({}){end}", values.join(", "));
        }
    }
}

fn script(random: &mut impl Rng) -> String {
    let mut text = "local con, stm, res, par\n".to_owned();
    for _ in 0..random.random_range(0..3) {
        line(random, 1, &mut text);
    }
    for function in ["thread_init()", "event()", "thread_done()", "prepare()"] {
        if function != "event()" && random.random_bool(0.6) {
            continue;
        }
        let _ = writeln!(
            text,
            "function {function}\npcall(function() con = db_connect() stm = con:prepare('SELECT a, ? FROM t') \
             par = stm:bind_create(sysbench.sql.type.INT) stm:bind_param(par) res = con:query('SELECT 1, 2') end)"
        );
        for _ in 0..random.random_range(1..12) {
            line(random, 0, &mut text);
        }
        text += "end\n";
    }
    if random.random_bool(0.1) {
        let mut bytes = text.into_bytes();
        for _ in 0..random.random_range(1..5) {
            let at = random.random_range(0..bytes.len());
            bytes[at] = random.random_range(0..128);
        }
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    text
}

#[test]
fn hostile_lua() {
    each(seeds(40, 10), 2, |seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let folder = tempfile::tempdir().expect("a folder");
        let (file, database) = (folder.path().join("own.lua"), folder.path().join("own.db"));
        fs::write(&file, script(&mut random)).expect("a file");
        fs::write(&database, "").expect("a file");
        let url = match random.random_range(0..3) {
            0 => "null:".to_owned(),
            _ => format!("sqlite:{}", database.display()),
        };
        let words = [
            "run lua --seconds 0.2 --clients 2 --report-interval 0.1",
            "run lua --seconds 0.2 --json --protocol text",
            "prepare lua",
        ];
        let words = words[random.random_range(0..words.len())];
        let mut arguments: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let limits = ["--script-limit", "1", "--script-memory", "32"].map(str::to_owned);
        arguments.extend(limits);
        arguments.extend([file.display().to_string(), "--url".to_owned(), url]);
        let case = format!("seed {seed}, {words}");
        let ended = run(&arguments, LIMIT);
        assert!(!ended.interrupted, "{case}: it hung; {}", ended.text());
        ended.check(&case);
        let kept = ["own.db", "own.lua", "own.db-journal"];
        for entry in fs::read_dir(folder.path()).expect("a folder") {
            let name = entry.expect("an entry").file_name();
            assert!(
                kept.iter().any(|kept| name == **kept),
                "{case}: it made {name:?}"
            );
        }
    });
}

/// What once did not end: the verb, the script, what is said, and the limit of the script in seconds. It
/// is long for what ends by itself, on a busy machine within seconds.
const ENDLESS: [(&str, &str, &str, &str); 4] = [
    (
        "run lua --seconds 0.2 --clients 1",
        "function event() db_query('WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT max(x) FROM c') end",
        "interrupted",
        "1",
    ),
    (
        "prepare lua",
        "function prepare() db_query('WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c') end",
        "interrupted",
        "1",
    ),
    (
        "prepare lua",
        "function prepare() while true do os.execute('sleep 0.01') end end",
        "a pause without a statement",
        "1",
    ),
    (
        "run lua --seconds 0.2 --clients 1",
        "function event() db_query(('SELECT 1;'):rep(1e6)) end",
        "Multiple statements provided",
        "20",
    ),
];

#[test]
fn hostile_lua_that_never_ends() {
    each(0..4, 4, |number| {
        let (words, text, said, limit_s) = ENDLESS[usize::try_from(number).expect("a few")];
        let folder = tempfile::tempdir().expect("a folder");
        let (file, database) = (folder.path().join("own.lua"), folder.path().join("own.db"));
        fs::write(&file, text).expect("a file");
        fs::write(&database, "").expect("a file");
        let mut arguments: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let options = ["--script-limit", limit_s, "--statement-limit", "1"];
        arguments.extend(options.map(str::to_owned));
        let url = format!("sqlite:{}", database.display());
        arguments.extend([file.display().to_string(), "--url".to_owned(), url]);
        let ended = run(&arguments, LIMIT);
        ended.check(text);
        assert!(
            ended.code == Some(1) && ended.text().contains(said),
            "{text}: {}",
            ended.text()
        );
    });
}
