//! Both generations of sysbench's tables and the conditions database, on the oldest and the newest
//! server.

use std::sync::Arc;

use crate::conditions::driver;
use crate::conditions_support::{check_answers, check_program};
use crate::kind::Kind;
use crate::program::{check_accounts, succeed, summary};
use crate::server::{Database, Server, database_or_skip};

fn start(kind: Kind) -> Option<Database> {
    Server::start(kind, &[]).map(|server| Database::on(Arc::new(server)))
}

fn check(database: &Database) {
    let url = database.socket_url("root");
    for schema in ["sbtestN", "sbtest"] {
        let made = ["--schema", schema, "--rows", "500", "--mix", "complex"];
        for engine in ["innodb", "myisam"] {
            succeed(
                "prepare",
                &url,
                &[&made[..], &["--engine", engine]].concat(),
            );
            for protocol in ["text", "prepared"] {
                let alone = ["--schema", schema, "--rows", "500", "--transactions", "3"];
                let how = ["--distribution", "uniform", "--protocol", protocol];
                check_accounts(&summary(&url, "complex", &[&alone[..], &how].concat()));
            }
            succeed("cleanup", &url, &["--schema", schema]);
        }
    }
    let driver = driver(&url);
    check_answers(&url, &driver);
    database.sql("DROP TABLE conditions1, conditions2, conditions3");
    check_program(&url, &driver);
}

#[test]
fn mysql_5_6_runs_them_all() {
    check(&database_or_skip!(start(Kind::Mysql56)));
}

#[test]
fn mysql_9_runs_them_all() {
    check(&database_or_skip!(start(Kind::Mysql9)));
}
