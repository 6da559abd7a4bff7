//! Where statements end in each family's SQL, and what stands in them.

use super::*;

/// The statements of a text without backslash commands.
fn split(text: &str, dialect: Dialect) -> Vec<String> {
    let mut statements = Vec::new();
    let mut at = 0;
    loop {
        at += blank_bytes(text, at, dialect).unwrap();
        if at == text.len() {
            return statements;
        }
        let scanned = scan(text, at, dialect, None).unwrap();
        statements.push(text[scanned.start..scanned.end].to_owned());
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
    let scanned = scan(text, 0, Dialect::Postgres, None).unwrap();
    let marks: Vec<_> = scanned
        .marks
        .iter()
        .map(|mark| (mark.name, mark.place))
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
        let scanned = scan(text, 0, Dialect::Postgres, None).unwrap();
        (scanned.kind(), scanned.bracket())
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
            scan(text, 0, Dialect::Postgres, None).expect_err(text).at,
            at
        );
    }
}
