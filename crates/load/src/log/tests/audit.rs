//! Audit logs: of MariaDB's `server_audit`, of MySQL and of Percona.

use super::*;

#[test]
fn server_audit_is_read() {
    let text = r#"20261129 18:20:22,vm,root,localhost,3,0,CONNECT,shop,,0
20261129 18:20:22,vm,root,localhost,3,5,WRITE,shop,t,
20261129 18:20:22,vm,root,localhost,3,5,QUERY,shop,'INSERT INTO t VALUES (1, \'it\'\'s "a" \\\\ back\\\'slash\')',0
20261129 18:20:23,vm,root,localhost,3,6,QUERY,shop,'SELECT \'line\ntwo\ttab\', 7',0
20261129 18:20:23,vm,root,localhost,3,7,QUERY,shop,'SELECT 'next' FROM t',0
20261129 18:20:23,vm,root,localhost,3,8,QUERY,,'SELECT nothing FROM nowhere',1146
20261129 18:20:23,vm,root,localhost,3,0,DISCONNECT,shop,,0
"#;
    let long = format!(
        "20261129 18:20:24,vm,a,b,4,9,QUERY,d,'{}',0\n",
        "a".repeat(1023)
    );
    let (format, kept) =
        read_text(format!("{text}{long}20261129 18:20:24,vm,a,b,4,9,QUE").as_bytes());
    assert_eq!(format, Format::Audit);
    let said: Vec<_> = statements(&kept).into_iter().map(|said| said.1).collect();
    assert_eq!(
        said,
        [
            r#"INSERT INTO t VALUES (1, 'it''s "a" \\ back\'slash')"#,
            "SELECT 'line\ntwo\ttab', 7",
            "SELECT 'next' FROM t",
            "SELECT nothing FROM nowhere",
        ]
    );
    assert_eq!(kept.events[0].what, What::Connect);
    assert_eq!(kept.events.last().unwrap().what, What::Quit);
    let refused = |event: &Event| matches!(&event.what, What::Statement(said) if said.failed);
    assert_eq!(kept.events.iter().filter(|event| refused(event)).count(), 1);
    assert_eq!(kept.unread.len(), 2, "{:?}", kept.unread);
}

/// Records as the plugins' manuals have them; each in the forms that it may have.
#[test]
#[expect(clippy::too_many_lines, reason = "a log in each form")]
fn audit_logs_of_mysql_and_percona_are_read() {
    let old = r#"<?xml version="1.0" encoding="UTF-8"?>
<AUDIT>
  <AUDIT_RECORD
    NAME="Audit" TIMESTAMP="2026-11-29T10:00:00 UTC" SERVER_ID="1"/>
  <AUDIT_RECORD
    NAME="Connect"
    TIMESTAMP="2026-11-29T10:00:01 UTC"
    CONNECTION_ID="7"
    STATUS="0"
    DB="shop"/>
  <AUDIT_RECORD NAME="Query" TIMESTAMP="2026-11-29T10:00:01 UTC" CONNECTION_ID="7" STATUS="0" SQLTEXT="SELECT &apos;a&quot; &lt;&#10;&#x41;&amp;lt;'
  FROM t"/>
  <AUDIT_RECORD NAME="Query" TIMESTAMP="2026-11-29T10:00:02 UTC" CONNECTION_ID="7" STATUS="1146" SQLTEXT="SELECT b FROM nowhere"/>
  <AUDIT_RECORD NAME="Quit" TIMESTAMP="2026-11-29T10:00:03 UTC" CONNECTION_ID="7" STATUS="0"/>
"#;
    let element = |name: &str, more: &str| {
        format!(
            " <AUDIT_RECORD>\n  <NAME>{name}</NAME>\n  <TIMESTAMP>2026-11-29T10:00:01 UTC</TIMESTAMP>\n  \
             <CONNECTION_ID>7</CONNECTION_ID>\n  {more}\n </AUDIT_RECORD>\n"
        )
    };
    let text = "<STATUS>0</STATUS><SQLTEXT>SELECT &apos;a&quot; &lt;&#10;&#x41;&amp;lt;'\n  FROM t</SQLTEXT>";
    let refused = "<STATUS>1146</STATUS><SQLTEXT>SELECT b FROM nowhere</SQLTEXT>";
    let connect = element("Connect", "<STATUS>0</STATUS><DB>shop</DB>");
    let new = [
        "<?xml version=\"1.0\"?>\n<AUDIT>\n".to_owned(),
        connect.clone(),
        element("Query", text),
        element("Execute", refused),
        element("Quit", "<STATUS>0</STATUS>"),
    ]
    .concat();
    // Percona's filter tells of a statement when it begins, and again when it ends.
    let twice = [
        "<AUDIT>\n".to_owned(),
        connect,
        element("Query", text),
        element("Query Start", text),
        element("Query Status End", text),
        element("Query", text),
        element("Query", &refused.replace("1146", "0")),
        element("Query Start", refused),
        element("Query", refused),
        element("Disconnect", ""),
    ]
    .concat();
    let sql = r#"SELECT 'a\" <\nA&lt;'\n  FROM t"#;
    let percona = |name: &str, more: &str| {
        format!(
            "{{\"audit_record\":{{\"name\":\"{name}\",\"timestamp\":\"2026-11-29T10:00:01 UTC\",\
             \"connection_id\":\"7\",{more}}}}}\n"
        )
    };
    let flat = [
        percona("Connect", r#""status":0,"db":"shop""#),
        percona(
            "Query",
            &format!(r#""status":0,"sqltext":"{sql}","db":"shop""#),
        ),
        percona(
            "Query",
            r#""status":1146,"sqltext":"SELECT b FROM nowhere","db":"shop""#,
        ),
        percona("Quit", r#""status":0"#),
    ]
    .concat();
    let general = |event: &str, status: u32, sql: &str, more: &str| {
        format!(
            "  {{ \"timestamp\": \"2026-11-29 10:00:01\", \"id\": 1, \"class\": \"general\", \"event\": \"{event}\",\n    \
             \"connection_id\": 7, \"login\": {{ \"user\": \"a{{\" }}, {more}\n    \"general_data\": {{ \
             \"command\": \"Query\", \"query\": \"{sql}\", \"status\": {status} }} }},\n"
        )
    };
    let connection = |event: &str| {
        format!(
            "  {{ \"timestamp\": \"2026-11-29 10:00:01\", \"class\": \"connection\", \"event\": \"{event}\", \
             \"connection_id\": 7, \"connection_data\": {{ \"status\": 0, \"db\": \"shop\" }} }},\n"
        )
    };
    let statistics = "\"query_statistics\": { \"query_time\": 0.5, \"rows_sent\": 3 },";
    let nested = [
        "[\n".to_owned(),
        connection("connect"),
        general("log", 0, sql, ""),
        general("status", 0, sql, statistics),
        general("status", 1146, "SELECT b FROM nowhere", ""),
        connection("disconnect"),
        "  { \"class\": \"general\", \"event\": \"sta".to_owned(),
    ]
    .concat();
    for (name, text, format) in [
        ("old style", old.to_owned(), Format::AuditXml),
        ("new style", new, Format::AuditXml),
        ("a filter's", twice, Format::AuditXml),
        ("Percona's JSON", flat, Format::AuditJson),
        ("a filter's JSON", nested, Format::AuditJson),
    ] {
        let (found, kept) = read_text(text.as_bytes());
        assert_eq!(found, format, "{name}");
        let said: Vec<_> = statements(&kept).into_iter().map(|said| said.1).collect();
        let first = "SELECT 'a\" <\nA&lt;'\n  FROM t";
        let expected = ["USE `shop`", first, "SELECT b FROM nowhere"];
        // A further message says that the last statement was refused.
        let again: &[&str] = if name == "a filter's" {
            &expected[2..]
        } else {
            &[]
        };
        assert_eq!(said, [&expected[..], again].concat(), "{name}");
        assert_eq!(kept.events.last().unwrap().what, What::Quit, "{name}");
        let refused = |event: &Event| matches!(&event.what, What::Statement(said) if said.failed);
        assert_eq!(
            kept.events.iter().filter(|event| refused(event)).count(),
            1,
            "{name}"
        );
        let halves = usize::from(name == "a filter's JSON");
        assert_eq!(kept.unread.len(), halves, "{name}: {:?}", kept.unread);
        let What::Statement(said) = &kept.events[2].what else {
            panic!("{name}: {:?}", kept.events)
        };
        if halves == 1 {
            assert_eq!((said.duration_us, said.rows), (Some(500_000), Some(3)));
        }
    }
}

#[test]
fn statements_that_server_audit_cut_at_any_length_are_found() {
    let entry = |number: u32, sql: &str, code: u32| {
        format!("20261129 18:20:22,vm,root,localhost,3,{number},QUERY,shop,'{sql}',{code}\n")
    };
    let long = "INSERT INTO t VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9";
    let text = [
        entry(1, "SELECT 1", 0),
        // The server refused what the client had not finished.
        entry(2, "SELECT (1", 1064),
        entry(3, &long[..40], 0),
        entry(4, "SELECT a FROM t WHERE b = 17 AND c = 400", 0),
        entry(5, "SELECT 2", 0),
        entry(6, "SELECT a FROM t WHERE b = 17 AND", 0),
    ];
    let (_, kept) = read_text(text.concat().as_bytes());
    let said: Vec<_> = statements(&kept).into_iter().map(|said| said.1).collect();
    assert_eq!(
        said,
        [
            "SELECT 1",
            "SELECT (1",
            "SELECT 2",
            "SELECT a FROM t WHERE b = 17 AND"
        ]
    );
    let reason = "a statement cut short (server_audit_query_log_limit)";
    assert_eq!(kept.unread, [(reason, 3), (reason, 4)]);
}
