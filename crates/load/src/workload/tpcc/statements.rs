//! The statements of the five transactions by their numbers: in the order of the catalogue in cli/scripted/tpcc.lua.

use crate::driver::StatementId;

/// Before a transaction that writes.
pub(super) const BEGIN: StatementId = 0;
/// Before an order status, which must see one state of the database.
pub(super) const BEGIN_SNAPSHOT: StatementId = 1;
/// Before a stock level, for which committed rows are enough (clause 3.4.2.2).
pub(super) const BEGIN_READ: StatementId = 2;
pub(super) const COMMIT: StatementId = 3;
pub(super) const ROLLBACK: StatementId = 4;
pub(super) const CUSTOMER_AND_WAREHOUSE: StatementId = 5;
pub(super) const NEXT_ORDER: StatementId = 6;
pub(super) const NEXT_ORDER_UPDATE: StatementId = 7;
pub(super) const ORDER_INSERT: StatementId = 8;
pub(super) const NEW_ORDER_INSERT: StatementId = 9;
pub(super) const ITEM: StatementId = 10;
pub(super) const LINE_INSERT: StatementId = 11;
pub(super) const STOCK_UPDATE: StatementId = 12;
pub(super) const WAREHOUSE_UPDATE: StatementId = 13;
pub(super) const WAREHOUSE: StatementId = 14;
pub(super) const DISTRICT_UPDATE: StatementId = 15;
pub(super) const DISTRICT: StatementId = 16;
pub(super) const BY_LAST_NAME: StatementId = 17;
pub(super) const CUSTOMER_LOCKED: StatementId = 18;
pub(super) const CUSTOMER_DATA: StatementId = 19;
pub(super) const CUSTOMER_UPDATE: StatementId = 20;
pub(super) const BAD_CUSTOMER_UPDATE: StatementId = 21;
pub(super) const HISTORY_INSERT: StatementId = 22;
pub(super) const CUSTOMER: StatementId = 23;
pub(super) const LAST_ORDER: StatementId = 24;
pub(super) const LINES: StatementId = 25;
pub(super) const OLDEST_NEW_ORDER: StatementId = 26;
pub(super) const NEW_ORDER_DELETE: StatementId = 27;
pub(super) const CARRIER_UPDATE: StatementId = 28;
pub(super) const ORDER_CUSTOMER: StatementId = 29;
pub(super) const LINES_UPDATE: StatementId = 30;
pub(super) const LINES_SUM: StatementId = 31;
pub(super) const DELIVERED_UPDATE: StatementId = 32;
pub(super) const NEXT_ORDER_READ: StatementId = 33;
pub(super) const STOCK_COUNT: StatementId = 34;
/// For district 1; those for the others follow.
pub(super) const STOCK: StatementId = 35;
