//! The user's own scripts on a real MariaDB.

use crate::script_support::money_is_neither_made_nor_lost;
use crate::server::{Database, database_or_skip};

#[test]
fn money_stays() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    money_is_neither_made_nor_lost(&url, "BEGIN", |sql| database.sql(sql));
}
