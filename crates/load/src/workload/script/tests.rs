//! Whole scripts: what clients send, what is refused, and that nonsense does no harm.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::driver::{Arg, Args, Kind};
use crate::workload::sql::Errand;
use crate::workload::{Next, Script};

fn source(name: &str, text: &str) -> Source {
    Source {
        name: name.into(),
        text: text.into(),
    }
}

fn workload_of(
    files: &[(&str, u32)],
    protocol: Protocol,
    dialect: Dialect,
) -> Result<ScriptWorkload, ScriptError> {
    let weighted = files
        .iter()
        .enumerate()
        .map(|(number, (text, weight))| Weighted {
            source: source(&format!("{number}.sql"), text),
            weight: *weight,
        });
    let options = ScriptOptions {
        files: weighted.collect(),
        variables: vec![("rows".into(), Value::Int(100))],
        protocol,
        seed: 3,
        fence: Fence::none(dialect, Errand::Measured),
    };
    ScriptWorkload::new(options, dialect)
}

fn text_workload(text: &str) -> ScriptWorkload {
    workload_of(&[(text, 1)], Protocol::Text, Dialect::Postgres).expect(text)
}

fn refusal(text: &str) -> String {
    let refused = workload_of(&[(text, 1)], Protocol::Text, Dialect::Postgres);
    refused.expect_err(text).to_string()
}

/// What a client does in its next transaction, the SQL as it is sent.
fn transaction(client: &mut ScriptClient) -> Vec<String> {
    assert!(client.begin());
    rest(client)
}

fn rest(client: &mut ScriptClient) -> Vec<String> {
    let mut args = Args::default();
    let mut steps = Vec::new();
    while let Some(next) = client.next(&mut args) {
        steps.push(match next {
            Next::Sql { .. } => String::from_utf8(args.sql().to_vec()).unwrap(),
            Next::Statement(id) => format!("{id} {:?}", args.values()),
            Next::Sleep { us } | Next::Wait { us } => format!("sleep {us} us"),
            Next::Fail => {
                steps.push(client.mistake());
                return steps;
            }
            other => format!("{other:?}"),
        });
    }
    steps
}

fn first(text: &str) -> Vec<String> {
    transaction(&mut text_workload(text).script(4))
}

#[test]
fn variables_stand_in_the_text_as_pgbench_puts_them() {
    assert_eq!(
        first(
            "\\set x -5\n\\set half :x / 2.0\nSELECT :x, ':x', '12:30', :x::int, 'a:zz', t_:x;\n\
             SELECT 7-:x, :half -- :x\n, :client_id;\nSELECT :scale, :rows"
        ),
        [
            "SELECT -5, '-5', '12:30', -5::int, 'a:zz', t_-5",
            "SELECT 7-(-5), -2.5 -- :x\n, 4",
            "SELECT 1, 100"
        ]
    );
    assert_eq!(
        first("\\set a null\n\\set b 1 < 2\nSELECT :a, :b;"),
        ["SELECT NULL, true"]
    );
}

#[test]
fn dumps_run_as_they_stand() {
    let dump = "/*!40101 SET NAMES utf8mb4 */;\nDELIMITER ;;\nCREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW \
         BEGIN SET new.a = 1; SET new.b = 2; END ;;\nDELIMITER ;\nINSERT INTO t VALUES (1),\n(2);\n";
    let workload = workload_of(&[(dump, 1)], Protocol::Text, Dialect::Mysql).expect(dump);
    assert_eq!(
        transaction(&mut workload.script(4)),
        [
            "/*!40101 SET NAMES utf8mb4 */",
            "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW BEGIN SET new.a = 1; SET new.b = 2; END",
            "INSERT INTO t VALUES (1),\n(2)"
        ]
    );
    let none = workload_of(
        &[("DELIMITER\nSELECT 1", 1)],
        Protocol::Text,
        Dialect::Mysql,
    );
    assert!(
        none.expect_err("no delimiter")
            .to_string()
            .contains("needs the text")
    );
}

#[test]
fn branches_and_sleeps() {
    let script = "\\if :client_id % 2 = 1\nSELECT 'odd';\n\\elif :client_id = 4\n\\if 0\nSELECT 'no';\n\
                  \\else\nSELECT 'four'\n\\endif\n\\sleep 10 ms\n\\else\n\\set pause 3\n\\sleep :pause us\n\\endif\nSELECT 'all';";
    let workload = text_workload(script);
    let of = |number| transaction(&mut workload.script(number));
    assert_eq!(of(1), ["SELECT 'odd'", "SELECT 'all'"]);
    assert_eq!(of(4), ["SELECT 'four'", "sleep 10000 us", "SELECT 'all'"]);
    assert_eq!(of(2), ["sleep 3 us", "SELECT 'all'"]);
    assert_eq!(
        first("\\sleep 2\n\\sleep 5ms\n"),
        ["sleep 2000000 us", "sleep 5000 us"]
    );
}

#[test]
fn a_transaction_without_a_statement_still_takes_its_turn() {
    let workload = text_workload("\\set n :rows + 1\n\\if false\nSELECT 1;\n\\endif");
    let mut client = workload.script(0);
    for _ in 0..3 {
        assert_eq!(transaction(&mut client), ["sleep 0 us"]);
    }
}

#[test]
fn variables_keep_their_values_from_transaction_to_transaction() {
    let workload = text_workload("\\set rows :rows + 1\nSELECT :rows;");
    let mut client = workload.script(0);
    assert_eq!(transaction(&mut client), ["SELECT 101"]);
    assert_eq!(transaction(&mut client), ["SELECT 102"]);
    assert_eq!(transaction(&mut workload.script(1)), ["SELECT 101"]);
}

#[test]
fn a_transaction_that_is_begun_again_is_the_same_one() {
    let draws = "\\set rows :rows + 1\n\\set id random(1, 1000000000)\nSELECT :id, :rows;";
    let other = format!("{draws}\nSELECT 2;");
    let workload = workload_of(
        &[(draws, 1), (&other, 1)],
        Protocol::Text,
        Dialect::Postgres,
    );
    let mut client = workload.unwrap().script(0);
    let mut before = Vec::new();
    for _ in 0..50 {
        let begun = transaction(&mut client);
        assert_ne!(begun, before, "new draws");
        assert!(client.begin_again());
        assert_eq!(rest(&mut client), begun);
        before = begun;
    }
}

#[test]
fn scripts_are_chosen_by_their_weights() {
    let workload = workload_of(
        &[("SELECT 'a'", 9), ("SELECT 'b'", 1)],
        Protocol::Text,
        Dialect::Postgres,
    );
    let mut client = workload.unwrap().script(0);
    let transactions = (0..20_000).map(|_| transaction(&mut client));
    let second = transactions
        .filter(|steps| steps[0] == "SELECT 'b'")
        .count();
    // Three standard deviations of a binomial count are 127.
    assert!((1850..2150).contains(&second), "{second}");
}

#[test]
fn clients_draw_differently_and_seeds_repeat_them() {
    let workload = text_workload("\\set id random(1, 1000000000)\nSELECT :id");
    let of = |client| transaction(&mut workload.script(client));
    assert_ne!(of(0), of(1));
    assert_eq!(of(0), of(0));
}

#[test]
fn parameters_are_bound_as_what_they_are() {
    let script = "\\set a 7\n\\set b :a / 2.0\n\\set c :a < 8\n\\set d null\nBEGIN;\nUPDATE t SET x = :a, y = :b WHERE z = :c;\n\
                  \\set a :b\nSELECT :a, :d;\nCOMMIT;";
    let on = |dialect| {
        let workload = workload_of(&[(script, 1)], Protocol::Prepared, dialect).unwrap();
        let sql = workload.catalogue().statements()[1].sql.clone();
        assert_eq!(sql, "UPDATE t SET x = ?, y = ? WHERE z = ?");
        transaction(&mut workload.script(0))
    };
    let sent = [
        "BEGIN",
        "1 [Int(7), Double(3.5), Int(1)]",
        "2 [Double(3.5), Null]",
        "COMMIT",
    ];
    assert_eq!(on(Dialect::Mysql), sent);
    assert_eq!(on(Dialect::Sqlite)[1..3], sent[1..3]);
    // PostgreSQL says itself which type a parameter has, and reads any as text.
    assert_eq!(
        on(Dialect::Postgres)[1],
        format!("1 {:?}", [Arg::Int(7), Arg::Text(0..3), Arg::Text(3..7)])
    );
}

#[test]
fn what_cannot_be_bound_is_refused() {
    for (text, words) in [
        ("SELECT ':rows'", "in a quotation"),
        ("SELECT t_:rows", "part of a name"),
        ("SELECT a ? 'b', :rows", "question mark"),
    ] {
        let refused = workload_of(&[(text, 1)], Protocol::Prepared, Dialect::Postgres);
        let told = refused.expect_err(text).to_string();
        assert!(
            told.contains(words) && told.contains("--protocol text"),
            "{told}"
        );
        workload_of(&[(text, 1)], Protocol::Text, Dialect::Postgres).expect(text);
    }
}

#[test]
fn statements_are_named_by_file_and_line() {
    let workload = text_workload(
        "BEGIN;\n\n  SELECT  abalance\nFROM accounts WHERE aid = :rows AND 1 = 1;INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (1);INSERT INTO t VALUES (1);\nEND;",
    );
    let types: Vec<_> = workload
        .catalogue()
        .types()
        .iter()
        .map(|known| (known.name.as_ref(), known.kind))
        .collect();
    assert_eq!(
        types,
        [
            ("0.sql:1 BEGIN", Kind::Other),
            (
                "0.sql:3 SELECT abalance FROM accounts WHERE aid …",
                Kind::Read
            ),
            ("0.sql:4 INSERT INTO t VALUES (1)", Kind::Write),
            ("0.sql:5 INSERT INTO t VALUES (1)", Kind::Write),
            ("0.sql:5 INSERT INTO t VALUES (1) (2)", Kind::Write),
            ("0.sql:6 END", Kind::Other),
        ]
    );
    assert!(workload.catalogue().rollback().is_some());
    assert_eq!(text_workload("SELECT 1").catalogue().rollback(), None);
}

#[test]
fn mistakes_are_told_with_file_line_and_place() {
    assert_eq!(
        refusal("SELECT 1;\n  \\set id randm(1, 10)\n"),
        format!(
            "0.sql:2: no function \"randm\"; there are {}\n    \\set id randm(1, 10)\n            ^",
            function::NAMED.map(|(name, ..)| name).join(", ")
        )
    );
    for (text, line, words) in [
        ("", 1, "is empty"),
        ("-- only this\n;;\n", 1, "is empty"),
        ("\n\\foo\n", 2, "\\foo is not a command"),
        ("\n\\\n", 2, "a backslash is not a command"),
        ("\\shell rm x", 1, "would run a program"),
        ("\\setshell a b", 1, "would run a program"),
        (
            "\nCOPY t (a) FROM stdin;\n1\n\\.\n",
            2,
            "loaded by `prepare`",
        ),
        ("SELECT 1 \\gset", 1, "results are only counted"),
        ("\n\\startpipeline\n", 2, "before the replies"),
        ("SELECT 1 \\; SELECT 2;", 1, "a semicolon of its own"),
        ("\\set", 1, "a name and an expression"),
        ("\\set 1a 2", 1, "a name and an expression"),
        ("\\set a\nSELECT 1", 1, "the line ends"),
        ("\\set a 1;\nSELECT 1", 1, "';' has no meaning"),
        ("SELECT :nothing;", 1, "nothing has set nothing"),
        ("SELECT :late;\n\\set late 1", 1, "nothing has set late"),
        ("\\set a :a + 1", 1, "nothing has set a"),
        ("\\sleep", 1, "\\sleep needs"),
        ("\\sleep 5.5 ms", 1, "whole number"),
        ("\\sleep -5 ms", 1, "\\sleep needs"),
        ("\\sleep 5 min", 1, "us, ms or s"),
        ("\\sleep 1 s s", 1, "\\sleep needs"),
        ("\\if 1\nSELECT 1;", 1, "has no \\endif"),
        ("\\if\nSELECT 1;\n\\endif", 1, "the line ends"),
        ("SELECT 1;\n\\endif", 2, "\\endif without"),
        ("SELECT 1;\n\\else", 2, "\\else without"),
        ("\\if 1\n\\else\n\\else\n\\endif", 3, "\\else after \\else"),
        (
            "\\if 1\n\\else\n\\elif 1\n\\endif",
            3,
            "\\elif after \\else",
        ),
        ("\\if 1\n\\else 5\n\\endif", 2, "nothing else may stand"),
        ("SELECT 1;\nSELECT 'a\n\n;", 2, "quotation never ends"),
        ("SELECT 1;\n/* a\n\n;", 2, "comment never ends"),
        (
            "SELECT 1;\nBEGIN;\nSELECT 2;",
            2,
            "does not end in this script",
        ),
    ] {
        let told = refusal(text);
        assert!(
            told.starts_with(&format!("0.sql:{line}: ")),
            "{text:?}: {told}"
        );
        assert!(told.contains(words), "{text:?}: {told}");
        assert!(told.lines().last().unwrap().trim() == "^", "{told}");
    }
}

#[test]
fn mistakes_that_depend_on_values_fail_the_run() {
    for (text, words) in [
        (
            "SELECT 1;\n\\set a 1 / (:rows - 100)\nSELECT 2;",
            "0.sql:2: 1 is divided by zero",
        ),
        (
            "\\if :rows < 0\n\\set a 1\n\\endif\nSELECT :a",
            "0.sql:4: the variable has no value",
        ),
        (
            "\\set a 0 - 1\n\\sleep :a ms",
            "0.sql:2: this is not the length",
        ),
        (
            "\\set a random(:rows, 1)",
            "0.sql:1: the range from 100 to 1 is empty",
        ),
    ] {
        let last = first(text).pop().unwrap();
        assert!(last.starts_with(words), "{last}");
        assert!(last.ends_with('^'), "{last}");
    }
}

#[test]
fn line_ends_of_either_kind() {
    assert_eq!(
        first("\\set a 1 + \\\r\n 2\r\nSELECT :a;\r\n\\if 1\r\nSELECT 2;\r\n\\else\r\n\\endif\r\n"),
        ["SELECT 3", "SELECT 2"]
    );
}

#[test]
fn a_large_script_is_read_in_a_moment() {
    let begun = std::time::Instant::now();
    let statements = text_workload(&"a;\n".repeat(1 << 16));
    assert_eq!(statements.catalogue().types().len(), 1 << 16);
    text_workload(&"a;".repeat(1 << 16));
    text_workload(&("SELECT 1".to_owned() + &" + 1".repeat(1 << 16)));
    text_workload(&"\\set a 1\n".repeat(25_000));
    refusal(&"\\if 1\n".repeat(25_000));
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}

/// Changes a few bytes of a good script: cuts, doubles, and swaps in what has a meaning.
fn mutate(text: &str, rng: &mut Xoshiro256PlusPlus) -> String {
    const PARTS: [&str; 24] = [
        "\\",
        ":",
        "'",
        "\"",
        "$",
        "$$",
        "/*",
        "*/",
        "--",
        ";",
        "(",
        ")",
        "\n",
        "\\\n",
        "\\if ",
        "\\endif",
        "e",
        "ä",
        "9223372036854775808",
        "1e",
        ".",
        "?",
        "not ",
        "\0",
    ];
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..rng.random_range(1..6) {
        let at = rng.random_range(0..=text.len());
        let to = (at + rng.random_range(0..12)).min(text.len());
        match rng.random_range(0..4) {
            0 => drop(text.drain(at..to)),
            1 => {
                let again: Vec<_> = text[at..to].to_vec();
                text.splice(at..at, again);
            }
            _ => {
                let part = PARTS[rng.random_range(0..PARTS.len())];
                text.splice(at..at, part.chars());
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn no_nonsense_makes_the_parser_or_a_client_panic() {
    const GOOD: &str = "-- a script\n\\set aid random_zipfian(1, 100000 * :scale, 1.5) % \\\n 7 + 1\n\
        \\set d case when :aid > 3 and not :aid is null then abs(-1.5e3) else hash(:aid) end\n\
        BEGIN;\nSELECT ':aid', $tag$ ;:d $tag$, `x` /* ; */ FROM t WHERE a = :aid::int -- ;\n;\n\
        \\if :d << 2 > permute(:aid, 9)\n\\sleep 10 ms\n\\elif true\nUPDATE t SET a = -:d;\n\\else\n\\endif\nEND;";
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(20);
    let mut good = 0;
    for round in 0..20_000 {
        let text = mutate(GOOD, &mut rng);
        let dialect = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite][round % 3];
        let protocol = [Protocol::Text, Protocol::Prepared][round % 2];
        match workload_of(&[(&text, 1)], protocol, dialect) {
            Ok(workload) => {
                good += 1;
                let mut client = workload.script(round);
                for _ in 0..3 {
                    transaction(&mut client);
                }
            }
            Err(error) => assert!(error.to_string().starts_with("0.sql:"), "{error}"),
        }
    }
    assert!((1000..19_000).contains(&good), "{good}");
}
