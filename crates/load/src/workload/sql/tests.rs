//! Where statements end in each family's SQL, and what stands in them.

use super::*;

/// The statements of a text without backslash commands.
fn split(whole: &str, dialect: Dialect) -> Vec<String> {
    let text = whole.as_bytes();
    let mut statements = Vec::new();
    let mut at = 0;
    loop {
        at += blank_bytes(text, at, dialect).unwrap();
        if at == text.len() {
            return statements;
        }
        let scanned = scan(text, at, dialect, None).unwrap();
        statements.push(whole[scanned.start..scanned.end].to_owned());
        at = scanned.next;
    }
}

const ALL: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

#[test]
fn statements_end_at_their_semicolons() {
    for dialect in ALL {
        assert_eq!(
            split(
                "-- first\nSELECT 1 ;\n\n /* then */ SELECT\n 2 -- no; end\n, 3;SELECT ';' /* ; */",
                dialect
            ),
            ["SELECT 1", "SELECT\n 2 -- no; end\n, 3", "SELECT ';'"]
        );
        assert_eq!(split("f(a; b); c", dialect), ["f(a; b)", "c"]);
        assert_eq!(split(" \n-- nothing\n", dialect), Vec::<String>::new());
    }
}

#[test]
fn each_family_quotes_in_its_own_way() {
    assert_eq!(
        split(r"SELECT 'it\'s; ' # x; y", Dialect::Mysql),
        [r"SELECT 'it\'s; '"]
    );
    assert_eq!(split(r"SELECT 'a\'; SELECT 2", Dialect::Postgres).len(), 2);
    assert_eq!(split(r"SELECT E'a\'; b'", Dialect::Postgres).len(), 1);
    assert_eq!(
        split("SELECT $a$; $$ ; $a$; SELECT $$;$$", Dialect::Postgres).len(),
        2
    );
    assert_eq!(
        split("SELECT /* /* ; */ ; */ 1", Dialect::Postgres).len(),
        1
    );
    assert_eq!(split("SELECT `a;b`", Dialect::Sqlite).len(), 1);
    assert_eq!(split("SELECT 5--2; SELECT 1", Dialect::Mysql).len(), 2);
}

#[test]
fn comments_that_mysql_runs_are_statements() {
    let dump =
        "/*!40014 SET FOREIGN_KEY_CHECKS=0 */;\n/*M!100616 SET a=1; */;\n/* no */;\nSELECT 1";
    assert_eq!(
        split(dump, Dialect::Mysql),
        [
            "/*!40014 SET FOREIGN_KEY_CHECKS=0 */",
            "/*M!100616 SET a=1; */",
            "",
            "SELECT 1"
        ]
    );
    assert_eq!(split(dump, Dialect::Sqlite), ["", "", "", "SELECT 1"]);
}

#[test]
fn bodies_of_routines_are_whole() {
    let trigger = "CREATE TRIGGER a AFTER INSERT ON t BEGIN UPDATE t SET b = CASE WHEN 1 THEN 2 END; SELECT 1; END";
    assert_eq!(
        split(&format!("{trigger}; SELECT 2"), Dialect::Sqlite),
        [trigger, "SELECT 2"]
    );
    let blocks = "CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW BEGIN BEGIN SELECT 1; END; \
                  BEGIN SELECT 2; END; IF a THEN SELECT 3; END IF; IF b THEN SELECT 4; END IF; END";
    assert_eq!(
        split(&format!("{blocks}; SELECT 2"), Dialect::Mysql),
        [blocks, "SELECT 2"]
    );
    let procedure =
        "CREATE PROCEDURE p() BEGIN WHILE a DO IF b THEN SET c = 1; END IF; END WHILE; END";
    assert_eq!(
        split(&format!("{procedure}; CALL p()"), Dialect::Mysql),
        [procedure, "CALL p()"]
    );
    assert_eq!(
        split("BEGIN; SELECT 1; END; SELECT 2", Dialect::Postgres).len(),
        4
    );
}

#[test]
fn variables_have_their_places() {
    let text = "SELECT :a, '12:30 :b', t_:c, x::int, :größe, a[1:2], @v := 1 -- :d\n";
    let bytes = text.as_bytes();
    let scanned = scan(bytes, 0, Dialect::Postgres, None).unwrap();
    let marks: Vec<_> = scanned
        .marks
        .iter()
        .map(|mark| (mark.name(bytes), mark.place))
        .collect();
    assert_eq!(
        marks,
        [
            ("a", Place::Value),
            ("b", Place::Quotation),
            ("c", Place::Name),
            ("größe", Place::Value)
        ]
    );
    assert_eq!(&text[scanned.start..scanned.end], &text[..text.len() - 7]);
}

#[test]
fn kinds_and_brackets() {
    let of = |text: &str| {
        let text = text.as_bytes();
        let scanned = scan(text, 0, Dialect::Postgres, None).unwrap();
        (scanned.kind(text), scanned.bracket(text))
    };
    assert_eq!(of("select 1"), (Kind::Read, Bracket::Neither));
    assert_eq!(
        of("With x AS (SELECT 1) TABLE x"),
        (Kind::Read, Bracket::Neither)
    );
    assert_eq!(
        of("WITH x AS (DELETE FROM t RETURNING *) SELECT 1").0,
        Kind::Write
    );
    assert_eq!(of("insert into t values (1)").0, Kind::Write);
    assert_eq!(of("BEGIN"), (Kind::Other, Bracket::Begins));
    assert_eq!(of("start transaction read only").1, Bracket::Begins);
    assert_eq!(of("END").1, Bracket::Ends);
    assert_eq!(of("ROLLBACK TO a").1, Bracket::Neither);
    assert_eq!(of("rollback").1, Bracket::Ends);
}

#[test]
fn what_never_ends_is_refused_where_it_begins() {
    for (text, at) in [
        ("SELECT 'a", 7),
        ("SELECT 1 /* a", 9),
        ("SELECT $a$ $b$", 7),
        ("SELECT 1 \\; SELECT 2;", 9),
    ] {
        assert_eq!(
            scan(text.as_bytes(), 0, Dialect::Postgres, None)
                .expect_err(text)
                .at,
            at
        );
    }
}

/// What becomes of a statement in `prepare`: "sent", what is left out, or why it is refused.
fn once(sql: &str, dialect: Dialect) -> String {
    let mut fence = Fence::new(dialect, Errand::Once, Some("mine"));
    fence.add_others(["shop".to_owned(), "mysql".to_owned(), "mine".to_owned()]);
    let finding = fence.read(sql.as_bytes());
    if let Some(why) = fence.refusal(&finding) {
        let names = why.starts_with("this statement names the database");
        return if names {
            "names one".to_owned()
        } else {
            format!("refused: {why}")
        };
    }
    match finding.fate {
        Fate::Database => format!("database {}", finding.database.unwrap_or_default()),
        Fate::LeaveOut(what) => what.to_owned(),
        _ => {
            let names = finding.qualifiers.into_iter();
            let names = names.map(|name| (name, String::new())).collect();
            match fence.check(&names) {
                Ok(()) => "sent".to_owned(),
                Err(_) => "reaches shop".to_owned(),
            }
        }
    }
}

#[test]
fn what_leaves_the_database_of_a_mysql_is_found() {
    let of = |sql: &str| once(sql, Dialect::Mysql);
    for (sql, database) in [
        ("/*!40000 DROP DATABASE IF EXISTS `shop`*/", "shop"),
        (
            "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `a``b` /*!40100 DEFAULT CHARACTER SET utf8mb4 */",
            "a`b",
        ),
        ("create or replace schema shop", "shop"),
        ("DROP DATA/**/BASE shop", ""),
        ("/* why */ DROP /* x */ DATABASE -- y\n shop", "shop"),
        ("ALTER DATABASE `shop` CHARACTER SET latin1", "shop"),
        ("use shop", "shop"),
    ] {
        let expected = if database.is_empty() {
            "sent".to_owned()
        } else {
            format!("database {database}")
        };
        assert_eq!(of(sql), expected, "{sql}");
    }
    for sql in [
        "SET GLOBAL max_connections = 1",
        "SET a = 1, PERSIST max_connections = 1",
        "/*!50000 SET @@global.max_connections = 1 */",
        "SET PASSWORD = 'x'",
        "GRANT ALL ON *.* TO x",
        "REVOKE ALL ON *.* FROM x",
        "CREATE OR REPLACE USER x",
        "drop role x",
        "RENAME USER a TO b",
        "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t",
        "SELECT * FROM t INTO OUTFILE '/tmp/x'",
        "SELECT 1 /*!INTO*/ DUMPFILE '/tmp/x'",
        "INSERT INTO t SELECT LOAD_FILE('/etc/passwd')",
        "SHUTDOWN",
        "KILL 1",
        "RESET MASTER",
        "PURGE BINARY LOGS TO 'x'",
        "INSTALL SONAME 'x'",
        "CREATE AGGREGATE FUNCTION f RETURNS INT SONAME 'x.so'",
        "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')",
        "CREATE TABLE t (a INT) ENGINE=FEDERATED CONNECTION='mysql://x'",
        "CREATE TABLE t (a INT) DATA DIRECTORY = '/tmp'",
        "ALTER INSTANCE ROTATE INNODB MASTER KEY",
        "FLUSH TABLES WITH READ LOCK",
        "CREATE TABLESPACE s ADD DATAFILE 'x'",
        "CREATE DEFINER=`root`@`%` PROCEDURE p() BEGIN SELECT 1; DROP DATABASE shop; END",
        "CREATE PROCEDURE p() IF 1 THEN SET GLOBAL a = 1; END IF",
        "BEGIN NOT ATOMIC DROP DATABASE shop; END",
    ] {
        assert!(
            of(sql).starts_with("refused: this statement "),
            "{sql}: {}",
            of(sql)
        );
    }
    for (sql, what) in [
        (
            "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'x:1-3'",
            "replication",
        ),
        ("SET @@SESSION.SQL_LOG_BIN= 0", "replication"),
        ("CHANGE MASTER TO MASTER_LOG_FILE='x'", "replication"),
        ("/*! FLUSH PRIVILEGES */", "owners and rights"),
    ] {
        assert_eq!(of(sql), what, "{sql}");
    }
}

#[test]
fn names_of_other_databases_are_told_from_those_of_tables() {
    for (sql, expected) in [
        ("SELECT v FROM shop.orders WHERE id = 1", "names one"),
        ("SELECT shop.orders.v FROM `shop` . `orders`", "names one"),
        ("INSERT INTO SHOP.orders VALUES (1)", "names one"),
        ("UPDATE a, shop.orders SET v = 1", "reaches shop"),
        ("SELECT 1 AS shop FROM shop.orders", "reaches shop"),
        ("RENAME TABLE a TO shop.a", "reaches shop"),
        ("DELETE FROM mysql.user", "names one"),
        ("SELECT /*! 1 FROM shop.orders */", "names one"),
        ("SELECT shop.id FROM orders shop", "sent"),
        ("SELECT shop.id FROM shop WHERE shop.id = 1", "sent"),
        ("SELECT mine.t.a FROM mine.t", "sent"),
        (
            "INSERT INTO t SELECT 1.5, 'shop.orders', t.shop FROM information_schema.columns",
            "sent",
        ),
        ("SELECT 1 FROM other.t", "names one"),
        ("SELECT @@session.sql_mode, shop", "sent"),
        (
            "INSERT INTO mine.t VALUES (1) ON DUPLICATE KEY UPDATE t.a = 2",
            "sent",
        ),
        (
            "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1",
            "sent",
        ),
        ("SELECT EXTRACT(YEAR FROM o.day) FROM orders o", "sent"),
    ] {
        assert_eq!(once(sql, Dialect::Mysql), expected, "{sql}");
    }
}

#[test]
fn what_leaves_the_database_of_a_postgresql_is_found() {
    let of = |sql: &str| once(sql, Dialect::Postgres);
    for sql in [
        "ALTER SYSTEM SET work_mem = 1",
        "CREATE ROLE x",
        "DROP USER x",
        "GRANT a TO b",
        "REASSIGN OWNED BY a TO b",
        "SET ROLE x",
        "SET LOCAL ROLE x",
        "COPY t FROM PROGRAM 'id'",
        "COPY t (a) TO '/tmp/x' CSV",
        "LOAD 'x'",
        "CREATE EXTENSION IF NOT EXISTS dblink",
        "CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p",
        "CREATE TABLESPACE s LOCATION '/tmp'",
        "SELECT pg_reload_conf()",
        "SELECT lo_export(1, '/tmp/x')",
    ] {
        assert!(
            of(sql).starts_with("refused: this statement "),
            "{sql}: {}",
            of(sql)
        );
    }
    for (sql, expected) in [
        (
            "CREATE DATABASE shop WITH TEMPLATE = template0",
            "database shop",
        ),
        ("ALTER DATABASE shop OWNER TO bob", "database shop"),
        (
            "ALTER TABLE ONLY public.t OWNER TO bob",
            "owners and rights",
        ),
        ("GRANT SELECT ON TABLE public.t TO bob", "owners and rights"),
        (
            "CREATE POLICY p ON t TO bob USING (true)",
            "owners and rights",
        ),
        ("SET SESSION AUTHORIZATION 'bob'", "owners and rights"),
        ("SET statement_timeout = 0", "sent"),
        ("INSERT INTO public.t SELECT * FROM shop.orders", "sent"),
        ("CREATE TABLE public.load (copy INT)", "sent"),
        ("CREATE EXTENSION hstore", "sent"),
    ] {
        assert_eq!(of(sql), expected, "{sql}");
    }
    assert!(once("ATTACH 'other.db' AS o", Dialect::Sqlite).starts_with("refused"));
}

#[test]
fn a_measured_statement_is_never_left_out() {
    let fence = Fence::new(Dialect::Mysql, Errand::Measured, Some("mine"));
    assert_eq!(fence.admit(b"USE mine"), Ok(()));
    assert_eq!(fence.admit(b"SELECT 1"), Ok(()));
    for sql in [
        "USE shop",
        "DROP DATABASE mine",
        "FLUSH PRIVILEGES",
        "SET GLOBAL a = 1",
    ] {
        assert!(fence.admit(sql.as_bytes()).is_err(), "{sql}");
    }
    for sql in [
        "SELECT 1 INTO OUTFILE 'x'",
        "select load_file('x')",
        "DELETE FROM shop.orders",
        "DELETE FROM shop .orders",
        "INSERT INTO t /*! SELECT * FROM shop.orders */",
    ] {
        assert!(fence.admit(sql.as_bytes()).is_err(), "{sql}");
    }
    let postgres = Fence::new(Dialect::Postgres, Errand::Measured, Some("mine"));
    for sql in [
        "SELECT PG_reload_conf()",
        "SELECT lo_import('x')",
        "SELECT * FROM DBlink('x')",
    ] {
        assert!(postgres.admit(sql.as_bytes()).is_err(), "{sql}");
    }
    let none = Fence::none(Dialect::Mysql, Errand::Measured);
    assert_eq!(none.admit(b"DROP DATABASE shop"), Ok(()));
}

#[test]
fn a_file_is_read_in_pieces_of_any_size() {
    let text = "-- first\nSELECT 'a;\nb';\nDELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END //\n\
                DELIMITER ;\n\\set a 1 + \\\n 2\n/* c; */ SELECT \":x\" -- d\n;";
    for chunk_bytes in [1, 2, 3, 7, 1 << 20] {
        let mut pieces = Pieces::new(text.as_bytes(), Dialect::Mysql);
        pieces.chunk_bytes = chunk_bytes;
        let mut seen = Vec::new();
        loop {
            let place = match pieces.read().expect(text) {
                Piece::Statement(scanned) => scanned.start..scanned.end,
                Piece::Command { at, end } => at..end,
                Piece::Delimiter { .. } => continue,
                Piece::End => break,
            };
            let line = pieces.line_of(place.start);
            seen.push((
                line,
                String::from_utf8_lossy(&pieces.text()[place]).into_owned(),
            ));
        }
        let expected = [
            (2, "SELECT 'a;\nb'"),
            (5, "CREATE PROCEDURE p() BEGIN SELECT 1; END"),
            (7, "\\set a 1 + \\\n 2"),
            (9, "SELECT \":x\""),
        ];
        let expected = expected.map(|(line, text)| (line, text.to_owned()));
        assert_eq!(seen, expected, "{chunk_bytes}");
    }
}

#[test]
fn rows_follow_a_copy_to_the_line_that_ends_them() {
    let text = "COPY t FROM stdin;\n1\ta\\.\n\\\\.\n\n\\.\nSELECT 1;\nCOPY t FROM stdin;\r\n\\.\r\nSELECT 2;";
    for chunk_bytes in [1, 2, 3, 7, 1 << 20] {
        let mut pieces = Pieces::new(text.as_bytes(), Dialect::Postgres);
        pieces.chunk_bytes = chunk_bytes;
        let mut seen = String::new();
        loop {
            match pieces.read().expect(text) {
                Piece::Statement(scanned) if scanned.copies_from_client(pieces.text()) => {
                    pieces.begin_rows().expect(text);
                    while let Some(lines) = pieces.rows().expect(text) {
                        seen += &String::from_utf8_lossy(&pieces.text()[lines]);
                    }
                }
                Piece::Statement(scanned) => {
                    let line = pieces.line_of(scanned.start);
                    let sql = String::from_utf8_lossy(&pieces.text()[scanned.start..scanned.end]);
                    seen = format!("{seen}{line}: {sql}\n");
                }
                _ => break,
            }
        }
        assert_eq!(
            seen, "1\ta\\.\n\\\\.\n\n6: SELECT 1\n9: SELECT 2\n",
            "{chunk_bytes}"
        );
    }
}

#[test]
fn only_strings_of_a_mysql_hold_what_is_no_text() {
    let raw = b"INSERT INTO t VALUES (_binary '\xD3\xFF\0', \"\xFF\")";
    assert_eq!(not_text(raw, Dialect::Mysql), None);
    assert!(not_text(raw, Dialect::Postgres).is_some());
    assert_eq!(
        not_text(b"SELECT \xFF", Dialect::Mysql).map(|(at, _)| at),
        Some(7)
    );
    assert_eq!(
        not_text(b"SELECT `\xFF`", Dialect::Mysql).map(|(at, _)| at),
        Some(7)
    );
    assert_eq!(
        not_text(b"SELECT \0", Dialect::Mysql).map(|(at, _)| at),
        Some(7)
    );
}
