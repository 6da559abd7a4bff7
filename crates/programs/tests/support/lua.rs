//! Lua scripts from end to end: accounts that money moves between.

use crate::program::{Load, account};
use crate::script_support::Scripts;

/// Loads by bulk inserts and in parallel; its events read what a statement returned, prepare, and
/// write.
pub(crate) const BANK: &str = r#"
local sizes = require("sizes")

sysbench.cmdline.options = {
  accounts = {"Number of accounts", 100},
  begin = {"How a transaction begins", "BEGIN"},
  skip_log = {"Write no log", false},
}

function cmd_prepare()
  local con = sysbench.sql.driver():connect()
  if sysbench.tid == 0 then
    con:query("CREATE TABLE log (tid INT, word VARCHAR(20), share DOUBLE PRECISION)")
  end
  local name = "accounts" .. sysbench.tid
  con:query("CREATE TABLE " .. name .. " (id INT NOT NULL PRIMARY KEY, balance INT NOT NULL)")
  con:bulk_insert_init("INSERT INTO " .. name .. " (id, balance) VALUES")
  for id = 1, sysbench.opt.accounts do
    con:bulk_insert_next(string.format("(%d, %d)", id, sizes.balance))
  end
  con:bulk_insert_done()
end

function cmd_cleanup()
  local con = sysbench.sql.driver():connect()
  for tid = 0, 1 do
    con:query("DROP TABLE accounts" .. tid)
  end
  con:query("DROP TABLE log")
end

sysbench.cmdline.commands = {
  prepare = {cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND},
  cleanup = {cmd_cleanup},
}

local con, read, change, note

function thread_init()
  con = sysbench.sql.driver():connect()
  read = con:prepare("SELECT balance FROM accounts0 WHERE id = ?")
  read.id = read:bind_create(sysbench.sql.type.INT)
  read:bind_param(read.id)
  change = con:prepare("UPDATE accounts0 SET balance = balance + ? WHERE id = ?")
  change.delta = change:bind_create(sysbench.sql.type.INT)
  change.id = change:bind_create(sysbench.sql.type.INT)
  change:bind_param(change.delta, change.id)
  note = con:prepare("INSERT INTO log (tid, word, share) VALUES (?, ?, ?)")
  note.tid = note:bind_create(sysbench.sql.type.INT)
  note.word = note:bind_create(sysbench.sql.type.VARCHAR, 20)
  note.share = note:bind_create(sysbench.sql.type.DOUBLE)
  note:bind_param(note.tid, note.word, note.share)
end

function thread_done()
  con:disconnect()
end

local function account()
  return sysbench.rand.uniform(1, sysbench.opt.accounts)
end

function event()
  local from, to = account(), account()
  con:query(sysbench.opt.begin)
  for _, id in ipairs({math.min(from, to), math.max(from, to)}) do
    read.id:set(id)
    assert(read:execute().nrows == 1)
  end
  local answer = con:query("SELECT id, balance, NULL FROM accounts0 WHERE id = " .. from)
  assert(answer.nrows == 1 and answer.nfields == 3)
  local row = answer:fetch_row()
  assert(tonumber(row[1]) == from and row[3] == nil and answer:fetch_row() == nil)
  local _, balance = con:query_row("SELECT id, balance FROM accounts0 WHERE id = " .. from)
  assert(tonumber(balance)) -- another client may have committed meanwhile
  local delta = from == to and 0 or 1
  change.delta:set(from < to and -delta or delta)
  change.id:set(math.min(from, to))
  change:execute()
  change.delta:set(from < to and delta or -delta)
  change.id:set(math.max(from, to))
  change:execute()
  if not sysbench.opt.skip_log then
    note.tid:set(sysbench.tid)
    note.word:set(sysbench.tid == 0 and sysbench.rand.string("it's @@ ##") or nil)
    note.share:set(0.5)
    note:execute()
  end
  con:query("COMMIT")
end
"#;

pub(crate) const LUA: Load = Load("lua");

/// The whole course on a database: loads two tables at once, moves money under either protocol,
/// counts what was sent, and drops the tables.
pub(crate) fn money_moves(url: &str, begin: &str, ask: impl Fn(&str) -> String) {
    let scripts = Scripts::new();
    let bank = scripts.write("bank.lua", BANK);
    scripts.write("sizes.lua", "return { balance = 100 }\n");
    let begin = format!("-obegin={begin}");
    LUA.succeed("prepare", url, &[&bank, "-oaccounts=50", "--clients", "2"]);
    assert_eq!(ask("SELECT count(*) FROM accounts1"), "50");
    for (protocol, clients) in [("prepared", "2"), ("text", "1")] {
        let shared = [
            bank.as_str(),
            "-oaccounts=50",
            &begin,
            "--transactions",
            "20",
            "--seconds",
            "60",
            "--protocol",
            protocol,
            "--clients",
            clients,
        ];
        let summary = LUA.summary(url, &shared);
        assert_eq!(summary["transactions"], 20, "{summary}");
        assert_eq!(summary["failed_transactions"], 0, "{summary}");
        let attempts = 20 + summary["retries"].as_u64().expect("a count");
        let selects = account(&summary, "select")["count"].as_u64();
        assert!(
            selects >= Some(80) && selects <= Some(4 * attempts),
            "{summary}"
        );
        // One that is rolled back after its INSERT has affected a row, too.
        let inserted = account(&summary, "insert")["affected"].as_u64();
        assert!(
            inserted >= Some(20) && inserted <= Some(attempts),
            "{summary}"
        );
        assert_eq!(account(&summary, "commit")["count"], 20, "{summary}");
    }
    assert_eq!(ask("SELECT sum(balance) FROM accounts0"), "5000");
    assert_eq!(ask("SELECT count(*) FROM log"), "40");
    assert_eq!(
        ask("SELECT count(*) FROM log WHERE word IS NULL OR word LIKE 'it''s __ __'"),
        "40"
    );
    assert_eq!(ask("SELECT count(*) FROM log WHERE share = 0.5"), "40");
    LUA.succeed("cleanup", url, &[&bank]);
}
