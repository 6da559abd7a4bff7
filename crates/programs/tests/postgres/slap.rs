//! The slap workload on a real PostgreSQL.

use crate::server::{Server, database_or_skip};
use crate::slap_support::{check, slap};

#[test]
fn every_load_type_does_what_it_is_for() {
    let database = database_or_skip!(Server::database());
    let url = database.socket_url("postgres");
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    check(&url, &mut || database.psql(tables));
}

#[test]
fn a_table_of_that_name_stays_as_it_is() {
    let database = database_or_skip!(Server::database());
    let url = database.socket_url("postgres");
    database.psql("CREATE TABLE slap_t1 (mine INT)");
    let refused = slap("run", &url, &["--queries", "10"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(database.psql("SELECT count(mine) FROM slap_t1"), "0");
}
