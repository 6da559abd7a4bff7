//! Scripts without a database: what they send, and what a client costs.

use super::*;
use crate::driver::null::NullDriver;
use crate::driver::rows::Keep;
use crate::driver::{Arg, Args, Driver, Reply, Session};
use crate::workload::distribution::Choice;
use crate::workload::sql::Errand;
use crate::workload::{Next, Script};

fn workload(text: &str, protocol: Protocol) -> Result<LuaWorkload, LuaError> {
    let options = LuaOptions {
        script: "own.lua".into(),
        text: text.as_bytes().to_vec(),
        path: String::new(),
        folders: Vec::new(),
        command: "run".into(),
        general: vec![("threads".into(), Setting::Int(2))],
        given: Vec::new(),
        dialect: Dialect::Mysql,
        protocol,
        distribution: Choice::Uniform,
        seed: 1,
        trusted: false,
        memory_limit_bytes: 64 << 20,
        output: Output::Stderr,
        fence: Fence::new(Dialect::Mysql, Errand::Measured, Some("own")),
        is_ours: false,
        rows: None,
    };
    LuaWorkload::new(options, Arc::default())
}

/// What a client sends in its first event, with its parameters.
fn sent(text: &str, protocol: Protocol) -> Vec<String> {
    let workload = workload(text, protocol).unwrap();
    let mut session = NullDriver(Dialect::Mysql)
        .open(workload.catalogue().statements(), protocol)
        .unwrap();
    session.keep_rows(Keep {
        prepared: false,
        ..Keep::ALL
    });
    let mut client = workload.script(0);
    let mut args = Args::default();
    let mut said = Vec::new();
    let mut go = |client: &mut LuaClient| {
        while let Some(next) = client.next(&mut args) {
            said.push(match next {
                Next::Sql { .. } => String::from_utf8_lossy(args.sql()).into_owned(),
                Next::Prepare { .. } => format!("prepare {}", String::from_utf8_lossy(args.sql())),
                Next::Own { number, .. } => format!("{number} {}", values(&args)),
                Next::Fail => panic!("{}", client.mistake()),
                other => format!("{other:?}"),
            });
            client.take_reply(Reply::default(), session.rows(), 0);
        }
    };
    assert!(client.initialise());
    go(&mut client);
    assert!(client.begin());
    go(&mut client);
    said
}

fn values(args: &Args) -> String {
    let shown = args.values().iter().map(|value| match value {
        Arg::Int(value) => format!("{value}"),
        Arg::Double(value) => format!("{value:?}"),
        Arg::Text(range) => format!("{:?}", String::from_utf8_lossy(args.text(range))),
        Arg::Null => "NULL".into(),
    });
    shown.collect::<Vec<_>>().join(" ")
}

const PREPARED: &str = r#"
function event()
  local con = sysbench.sql.driver():connect()
  local stmt = con:prepare("SELECT ?, ?, ?")
  local a = stmt:bind_create(sysbench.sql.type.INT)
  local b = stmt:bind_create(sysbench.sql.type.DOUBLE)
  local c = stmt:bind_create(sysbench.sql.type.CHAR, 6)
  stmt:bind_param(a, b, c)
  a:set(-7.9) b:set(2) c:set("it's \\ and more")
  stmt:execute()
  a:set(nil)
  stmt:execute()
  con:disconnect()
  con = sysbench.sql.driver():connect()
  stmt.connection = con
  stmt:execute()
end"#;

#[test]
fn parameters_are_of_the_types_that_they_were_bound_as() {
    assert_eq!(
        sent(PREPARED, Protocol::Prepared),
        [
            "prepare SELECT ?, ?, ?",
            r#"0 -7 2.0 "it's \\""#,
            r#"0 NULL 2.0 "it's \\""#,
            &format!(
                "{:?}",
                Next::Reconnect {
                    type_index: super::super::NO_TYPE
                }
            ),
            "prepare SELECT ?, ?, ?",
            r#"0 NULL 2.0 "it's \\""#,
        ]
    );
    assert_eq!(
        sent(PREPARED, Protocol::Text)[..2],
        [
            r"SELECT (-7), 2e0, 'it''s \\'",
            r"SELECT NULL, 2e0, 'it''s \\'"
        ]
    );
}

const SHARED: &str = r#"
function event()
  local con = sysbench.sql.driver():connect()
  local function prepared(kind)
    local stmt = con:prepare("SELECT ?")
    local value = stmt:bind_create(kind, 9)
    stmt:bind_param(value)
    value:set(7)
    return stmt
  end
  local number, word = prepared(sysbench.sql.type.INT), prepared(sysbench.sql.type.CHAR)
  number:execute()
  number:execute()
  word:execute()
  number:execute()
end"#;

#[test]
fn a_text_prepared_twice_has_the_types_of_the_statement_that_is_executed() {
    assert_eq!(
        sent(SHARED, Protocol::Prepared),
        [
            "prepare SELECT ?",
            "0 7",
            "0 7",
            "prepare SELECT ?",
            r#"1 "7""#,
            "prepare SELECT ?",
            "2 7"
        ]
    );
}

/// As many rows in an INSERT as sysbench puts into one.
#[test]
fn a_bulk_insert_is_cut_into_packets() {
    let text = r#"
    function event()
      local con = sysbench.sql.driver():connect()
      con:bulk_insert_init("INSERT INTO t VALUES")
      for i = 1, 3 do
        con:bulk_insert_next("('" .. string.rep("x", 200000) .. "')")
      end
      con:bulk_insert_done()
    end"#;
    let lengths: Vec<_> = sent(text, Protocol::Text).iter().map(String::len).collect();
    assert_eq!(lengths, [400_030, 200_025]);
}

#[test]
fn a_client_is_small() {
    let workload = workload("function event() end", Protocol::Text).unwrap();
    let mut client = workload.script(0);
    let mut args = Args::default();
    assert!(client.initialise());
    assert_eq!(client.next(&mut args), None);
    let bytes = client.memory_bytes();
    assert!((10_000..300_000).contains(&bytes), "{bytes}");
}

/// What a script's first event says in its mistake.
fn mistake(text: &str) -> String {
    let workload = workload(text, Protocol::Prepared).unwrap();
    let mut client = workload.script(0);
    let mut args = Args::default();
    client.initialise();
    while client.next(&mut args).is_some() {
        client.take_reply(Reply::default(), None, 0);
    }
    client.begin();
    loop {
        match client.next(&mut args) {
            Some(Next::Fail) => return client.mistake(),
            Some(_) => client.take_reply(Reply::default(), None, 0),
            None => return String::new(),
        };
    }
}

#[test]
fn words_for_a_number_are_a_mistake() {
    for (kind, value) in [("INT", "\"many\""), ("DOUBLE", "\"many\""), ("INT", "{}")] {
        let text = format!(
            "function event()\nlocal stmt = sysbench.sql.driver():connect():prepare('SELECT ?')\n\
             stmt:bind_create(sysbench.sql.type.{kind}):set({value})\nend"
        );
        let mistake = mistake(&text);
        assert!(
            mistake.starts_with("client 0: own.lua:3: set: a number is wanted, not "),
            "{kind} {value}: {mistake}"
        );
    }
}
