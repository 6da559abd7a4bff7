//! Who comes from another tool is told what its options are called here.

use crate::{load, refusal};

#[test]
fn options_of_other_tools() {
    for (words, tip) in [
        ("run oltp --threads=4 --url null:", "here it is --clients"),
        ("run oltp --num-threads 4", "here it is --clients"),
        ("run oltp --time=60", "here it is --seconds"),
        ("run oltp --events=60", "here it is --transactions"),
        ("run oltp --table-size=5", "here it is --rows"),
        ("run oltp --table_size=5", "here it is --rows"),
        ("prepare oltp --oltp-table-size=5", "here it is --rows"),
        (
            "run oltp --report_interval=5",
            "here it is --report-interval",
        ),
        ("run oltp --rand-type=uniform", "here it is --distribution"),
        ("run oltp --mysql-socket=/x", "DB?socket=PATH"),
        ("run oltp --mysql-user=root", "mysql://USER@HOST:PORT/DB"),
        ("run oltp --pgsql-port=1", "postgresql://USER@HOST:PORT/DB"),
        ("run oltp --mysql-password=x", "DISKPROOF_PASSWORD"),
        ("run oltp -c 4", "here it is --clients"),
        ("run script -T 4", "here it is --seconds"),
        ("run script -D x=4", "here it is --variable"),
        ("run script --scale 4", "here it is --variable"),
        (
            "oltp_read_write --threads=4 run",
            "`run oltp --mix read-write`",
        ),
        (
            "prepare oltp_point_select",
            "`prepare oltp --mix point-select`",
        ),
        ("oltp run", "the verb comes first: run oltp"),
        ("run mysqlslap", "`run slap`"),
        (
            "prepare sqlbench --url null:",
            "sqlbench needs no preparation",
        ),
        ("run slap --seconds 5", "ends when all its work is done"),
        ("run sqlbench --seconds 3", "ends when all its work is done"),
        ("run sqlbench --time 3", "ends when all its work is done"),
        ("run slap --concurrency 4", "here it is --clients"),
        ("run slap --number-int-cols 4", "here it is --int-columns"),
        ("run slap --number-char-cols=4", "here it is --char-columns"),
        ("run slap --auto-generate-sql", "makes its own SQL"),
        ("run slap -a", "makes its own SQL"),
        (
            "run slap --auto-generate-sql-load-type=key",
            "here it is --load-type",
        ),
        (
            "run slap --auto-generate-sql-add-autoincrement",
            "here it is --auto-increment",
        ),
        (
            "run slap --auto-generate-sql-secondary-indexes=1",
            "here it is --secondary-indexes",
        ),
        (
            "run slap --auto-generate-sql-unique-query-number=1",
            "here it is --unique-queries",
        ),
        (
            "run slap --auto-generate-sql-unique-write-number=1",
            "here it is --unique-write",
        ),
        (
            "run slap --auto-generate-sql-write-number=1",
            "here it is --write-number",
        ),
        (
            "run slap --auto-generate-sql-guid-primary",
            "here it is --guid-primary",
        ),
        ("run slap --user=root", "SCHEME://USER@HOST:PORT/DB"),
        ("run slap --create-schema=x", "SCHEME://USER@HOST:PORT/DB"),
        ("run slap -i 3", "here it is --iterations"),
        (
            "run sqlbench --create-options=ENGINE=x",
            "here it is --engine",
        ),
        ("run sqlbench --loop-count=10", "here it is --scale"),
        ("run sqlbench --time-limit=10", "here it is --limit-seconds"),
        ("run oltp --mysql-table-engine=x", "`prepare oltp --engine"),
        ("prepare oltp --mysql-table-engine=x", "here it is --engine"),
        ("run script -C", "here it is --reconnect, with 1"),
        ("run script -i", "`prepare script --file FILE`"),
        ("run script -t 5", "all clients together"),
        ("run oltp --clients 1,2,4", "`clients = [1, 2, 4]`"),
        ("run oltp --db-driver=mysql", "tip: the start of the URL"),
    ] {
        let said = refusal(words);
        assert!(
            said.contains(&format!("tip: {tip}")) || said.contains(tip),
            "{words}: {said}"
        );
    }
}

#[test]
fn a_slip_of_the_pen_is_still_told_what_is_similar() {
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
    assert!(line.contains("here it is --clients"), "{line}");
}
