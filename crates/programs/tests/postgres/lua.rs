//! Lua scripts on a real PostgreSQL.

use crate::lua_support::{LUA, money_moves};
use crate::script_support::Scripts;
use crate::server::{Server, database_or_skip};

#[test]
fn money_is_neither_made_nor_lost_by_lua() {
    let database = database_or_skip!(Server::database());
    let url = database.socket_url("postgres");
    money_moves(&url, "BEGIN", |sql| database.psql(sql));
}

/// After an error nothing goes on in a transaction before it is rolled back.
#[test]
fn an_ignored_error_rolls_its_transaction_back() {
    let database = database_or_skip!(Server::database());
    database.psql("CREATE TABLE once (id INT PRIMARY KEY)");
    let url = database.socket_url("postgres");
    let scripts = Scripts::new();
    let script = scripts.write(
        "again.lua",
        r#"
        local con, tries = nil, 0
        function event()
          con = con or sysbench.sql.driver():connect()
          tries = tries + 1
          con:query("BEGIN")
          con:query("INSERT INTO once VALUES (" .. math.ceil(tries / 2) .. ")")
          con:query("COMMIT")
        end
        "#,
    );
    let arguments = [script.as_str(), "--transactions", "5", "--retry", "23505"];
    let summary = LUA.summary(&url, &arguments);
    assert_eq!(summary["retries"], 4, "{summary}");
    assert_eq!(database.psql("SELECT count(*) FROM once"), "5");
}
