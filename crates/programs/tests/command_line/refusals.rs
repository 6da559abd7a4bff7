//! Values that make no sense.

use crate::{load, refusal};

#[test]
fn numbers_out_of_bounds() {
    for option in [
        "--clients",
        "--workers",
        "--transactions",
        "--tables",
        "--rows",
    ] {
        for value in ["0", "-1", "x", "1.5", "", "18446744073709551616"] {
            let words = format!("run oltp --url null: {option}={value}");
            assert!(refusal(&words).contains(option), "{words}");
        }
    }
}

#[test]
fn lengths_of_time_that_are_none() {
    for option in ["--seconds", "--warm-up", "--report-interval"] {
        for value in ["-1", "x", "nan", "inf", "1e30", ""] {
            let words = format!("run oltp --url null: {option}={value}");
            assert!(refusal(&words).contains(option), "{words}");
        }
    }
    refusal("run oltp --url null: --seconds=0");
    refusal("run oltp --url null: --report-interval=0.01");
}

#[test]
fn urls_that_lead_nowhere() {
    for (url, words) in [
        ("x", "not a database URL"),
        ("oracle://a@b/c", "\"oracle\""),
        ("mysql://a:b@c/d", "DISKPROOF_PASSWORD"),
        ("mysql://a@b/c?sokcet=/x", "sokcet"),
        ("mysql://a@b/c?sslmode=require", "ssl-mode"),
        ("postgresql://a@b/c?ssl-mode=required", "sslmode"),
        ("mysql://a@b:99999/c", "port"),
        ("sqlite:", "no file"),
        ("sqlite:/x?pragma=1", "pragma"),
        ("sqlite:/x?synchronous=9", "one of off, normal, full"),
        ("postgresql://a@b/c?host=d", "SCHEME://USER@HOST/DB"),
    ] {
        let said = refusal(&format!("run oltp --url {url}"));
        assert!(said.contains(words), "{url}: {said}");
    }
}

#[test]
fn a_password_is_never_repeated() {
    for words in [
        "--url mysql://root:secret@host:99999/db",
        "--url mysql://root:secr/et:secret@host/db",
        "--url postgresql://root:secret@[::1/db",
        "--url mysql://root:secret",
        "mysql://root:secret@host/db",
        "--url null: --clients mysql://root:secret@host/db",
    ] {
        let output = load(&format!("run oltp --json {words}"));
        assert_eq!(output.status.code(), Some(2), "{words}");
        for said in [output.stdout, output.stderr] {
            let said = String::from_utf8_lossy(&said).into_owned();
            assert!(said.contains("root:***"), "{words}: {said}");
            assert!(!said.contains("secret"), "{words}: {said}");
        }
    }
}

#[test]
fn slaps_that_contradict_themselves() {
    for (words, said) in [
        ("--load-type key", "add --auto-increment"),
        ("--int-columns 0 --char-columns 0", "without columns"),
        (
            "--load-type key --auto-increment --write-number 1",
            "no rows",
        ),
        ("--auto-increment --write-number 1000001", "at most 1000000"),
        ("--queries 0", "--queries"),
        ("--iterations 0", "--iterations"),
        ("--write-number 0", "--write-number"),
        ("--int-columns 501", "--int-columns"),
        ("--load-type reads", "--load-type"),
        ("--engine innodb;drop", "--engine"),
        ("--seconds 3", "--seconds"),
    ] {
        let refused = refusal(&format!("run slap --url null: {words}"));
        assert!(refused.contains(said), "{words}: {refused}");
    }
    let refused = refusal("prepare slap --url null: --queries 3");
    assert!(
        refused.contains("unrecognized subcommand 'slap'"),
        "{refused}"
    );
}

#[test]
fn a_slap_by_keys_where_no_row_is_kept() {
    let output = load("run slap --url null: --load-type key --auto-increment");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no key to read"), "{said}");
}

#[test]
fn an_engine_where_there_are_none() {
    for url in ["postgresql://a@b/c", "sqlite:/nowhere/x.db"] {
        for words in ["prepare oltp", "prepare conditions", "run slap"] {
            let said = refusal(&format!("{words} --url {url} --engine innodb"));
            assert!(said.contains("only the MySQL family"), "{words}: {said}");
        }
    }
}

#[test]
fn hints_name_the_options_that_were_given() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("x.db").display());
    let said = |words: &str, code: i32| {
        let output = load(&format!("{words} --url {url}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{words}: {said}");
        said
    };
    said("prepare oltp --tables 3 --rows 10", 0);
    for (words, hint) in [
        (
            "prepare oltp --tables 3 --rows 10",
            "`diskproof-load cleanup oltp --tables 3`",
        ),
        (
            "run oltp --tables 4 --rows 10",
            "`diskproof-load prepare oltp --tables 4 --rows 10`",
        ),
        (
            "run conditions --tables 4 --rows 10",
            "prepare conditions --tables 4 --rows 10 --elements 1 --days 3650",
        ),
    ] {
        let refused = said(words, 1);
        assert!(refused.contains(hint), "{words}: {refused}");
    }
    let warned = said("run oltp --tables 3 --rows 20 --transactions 1", 0);
    assert_eq!(warned.matches("warning").count(), 1, "{warned}");
    assert!(warned.contains("2 other tables"), "{warned}");
    for (words, dropped) in [
        ("cleanup oltp --tables 4", "3 tables dropped"),
        ("cleanup oltp --tables 4", "0 tables dropped"),
        ("cleanup conditions", "0 tables dropped"),
        ("cleanup slap", "0 tables dropped"),
        ("cleanup sqlbench", "no tables"),
    ] {
        let heard = said(words, 0);
        assert!(heard.contains(dropped), "{words}: {heard}");
    }
}

#[test]
fn a_heading_ends_with_its_group() {
    let help = load("run oltp --help");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let (general, counts) = help
        .split_once("Statements of a transaction:")
        .expect("the heading");
    assert!(counts.contains("--point-selects") && !counts.contains("--clients"));
    assert!(general.contains("--clients") && general.contains("--json"));
}

#[test]
fn a_slip_of_the_pen_is_told_what_is_similar() {
    assert!(refusal("run oltp --cleints 4").contains("'--clients'"));
    assert!(refusal("runn oltp").contains("'run'"));
}

#[test]
fn a_program_is_told_as_well() {
    let output = load("run oltp --json --threads 4");
    assert_eq!(output.status.code(), Some(2));
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        line.contains(r#""event":"failed","code":"arguments""#),
        "{line}"
    );
}
