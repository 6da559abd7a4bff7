-- TPC-C's nine tables, from the standard specification, revision 5.11 (Transaction Processing Performance Council,
-- February 2010): how they are made, filled and checked. Comments name its clauses. The terminals are native
-- (workload/tpcc).
local opt, job = sysbench.opt, sysbench.job
local uniform, letters, format, floor = sysbench.rand.uniform, job.letters, string.format, math.floor

-- Clause 1.2.1.
local ITEMS, CUSTOMERS, DISTRICTS, LAST_NAMES = 100000, 3000, 10, 1000
-- Orders of a district: as many as customers, one of each. Those with higher numbers are not delivered yet.
local ORDERS_LOADED, LAST_DELIVERED = CUSTOMERS, 2100
local SOME = { "run", "prepare", "check" }

sysbench.cmdline.steady, sysbench.cmdline.native = true, true
sysbench.cmdline.about = {
  run = "TPC-C's five transactions",
  prepare = "TPC-C's nine tables",
  check = "TPC-C's numbers of rows and its twelve consistency conditions",
  cleanup = "TPC-C's nine tables",
}
sysbench.cmdline.options = {
  -- More would make terminals that no machine of a test has connections for.
  { name = "warehouses", value = "N", whole = true, least = 1, most = 10000, verbs = SOME, "Warehouses, of about 100 MB each", 1 },
  { name = "acknowledgements", value = "FILE", file = true, conflicts = { "retry" },
    "A new file to which a client adds the line CLIENT NUMBER WAREHOUSE DISTRICT ORDER MONOTONIC_US as soon as it has read the reply to the COMMIT of a new order, and before anything else. A client that does not know what became of its transaction then ends for good" },
  { name = "seed", value = "N", whole = true, least = 0, most = 9007199254740991, verbs = { "run", "prepare" },
    "The same seed gives the same rows and the same inputs [default: 1 to prepare, another one each time to run]" },
  { name = "protocol", value = "PROTOCOL", choices = { { "text" }, { "prepared" } },
    "Send parameters as text in the statement, or bind them to statements prepared once", "prepared" },
  { name = "threads", value = "N", whole = true, least = 1, most = 65535, verbs = { "prepare" },
    "Warehouses loaded at a time [default: two per core; SQLite: 1]" },
  { name = "json", verbs = { "check" }, "Print one JSON line for a program (docs/protocol.md) instead of text", false },
}

-- The tables (clause 1.3) --------------------------------------------------------------------------

local ADDRESS = [[#_street_1 VARCHAR(20) NOT NULL, #_street_2 VARCHAR(20) NOT NULL, #_city VARCHAR(20) NOT NULL,
  #_state CHAR(2) NOT NULL, #_zip CHAR(9) NOT NULL]]
local OF_DISTRICTS, DISTRICT_COLUMNS = {}, {}
for district = 1, DISTRICTS do
  DISTRICT_COLUMNS[district] = format("s_dist_%02d", district)
  OF_DISTRICTS[district] = DISTRICT_COLUMNS[district] .. " CHAR(24) NOT NULL"
end

-- In the order of the specification: each with two columns by which it is known as ours, and its definition. History
-- has no key: none is unique in it (clause 1.3.1).
local TABLES = {
  { "tpcc_warehouse", { "w_id", "w_ytd" }, [[w_id INTEGER NOT NULL, w_name VARCHAR(10) NOT NULL, ]] .. ADDRESS:gsub("#", "w") ..
    [[, w_tax DECIMAL(4,4) NOT NULL, w_ytd DECIMAL(12,2) NOT NULL, PRIMARY KEY (w_id)]] },
  { "tpcc_district", { "d_w_id", "d_next_o_id" }, [[d_id INTEGER NOT NULL, d_w_id INTEGER NOT NULL, d_name VARCHAR(10) NOT NULL, ]] ..
    ADDRESS:gsub("#", "d") .. [[, d_tax DECIMAL(4,4) NOT NULL, d_ytd DECIMAL(12,2) NOT NULL,
    d_next_o_id INTEGER NOT NULL, PRIMARY KEY (d_w_id, d_id)]] },
  { "tpcc_customer", { "c_w_id", "c_ytd_payment" }, [[c_id INTEGER NOT NULL, c_d_id INTEGER NOT NULL, c_w_id INTEGER NOT NULL,
    c_first VARCHAR(16) NOT NULL, c_middle CHAR(2) NOT NULL, c_last VARCHAR(16) NOT NULL, ]] .. ADDRESS:gsub("#", "c") ..
    [[, c_phone CHAR(16) NOT NULL, c_since MOMENT NOT NULL, c_credit CHAR(2) NOT NULL, c_credit_lim DECIMAL(12,2) NOT NULL,
    c_discount DECIMAL(4,4) NOT NULL, c_balance DECIMAL(12,2) NOT NULL, c_ytd_payment DECIMAL(12,2) NOT NULL,
    c_payment_cnt INTEGER NOT NULL, c_delivery_cnt INTEGER NOT NULL, c_data VARCHAR(500) NOT NULL,
    PRIMARY KEY (c_w_id, c_d_id, c_id)]] },
  { "tpcc_history", { "h_c_w_id", "h_amount" }, [[h_c_id INTEGER NOT NULL, h_c_d_id INTEGER NOT NULL, h_c_w_id INTEGER NOT NULL,
    h_d_id INTEGER NOT NULL, h_w_id INTEGER NOT NULL, h_date MOMENT NOT NULL, h_amount DECIMAL(6,2) NOT NULL,
    h_data VARCHAR(24) NOT NULL]] },
  { "tpcc_new_order", { "no_w_id", "no_o_id" }, [[no_o_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, no_w_id INTEGER NOT NULL,
    PRIMARY KEY (no_w_id, no_d_id, no_o_id)]] },
  { "tpcc_orders", { "o_w_id", "o_carrier_id" }, [[o_id INTEGER NOT NULL, o_d_id INTEGER NOT NULL, o_w_id INTEGER NOT NULL,
    o_c_id INTEGER NOT NULL, o_entry_d MOMENT NOT NULL, o_carrier_id INTEGER, o_ol_cnt INTEGER NOT NULL,
    o_all_local INTEGER NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id)]] },
  { "tpcc_order_line", { "ol_w_id", "ol_delivery_d" }, [[ol_o_id INTEGER NOT NULL, ol_d_id INTEGER NOT NULL, ol_w_id INTEGER NOT NULL,
    ol_number INTEGER NOT NULL, ol_i_id INTEGER NOT NULL, ol_supply_w_id INTEGER NOT NULL, ol_delivery_d MOMENT,
    ol_quantity INTEGER NOT NULL, ol_amount DECIMAL(6,2) NOT NULL, ol_dist_info CHAR(24) NOT NULL,
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)]] },
  { "tpcc_item", { "i_id", "i_price" }, [[i_id INTEGER NOT NULL, i_im_id INTEGER NOT NULL, i_name VARCHAR(24) NOT NULL,
    i_price DECIMAL(5,2) NOT NULL, i_data VARCHAR(50) NOT NULL, PRIMARY KEY (i_id)]] },
  { "tpcc_stock", { "s_w_id", "s_remote_cnt" }, [[s_i_id INTEGER NOT NULL, s_w_id INTEGER NOT NULL, s_quantity INTEGER NOT NULL, ]] ..
    table.concat(OF_DISTRICTS, ", ") .. [[, s_ytd INTEGER NOT NULL, s_order_cnt INTEGER NOT NULL, s_remote_cnt INTEGER NOT NULL,
    s_data VARCHAR(50) NOT NULL, PRIMARY KEY (s_w_id, s_i_id)]] },
}
local NAMES, KNOWN_BY = {}, {}
for place, own in ipairs(TABLES) do
  NAMES[place], KNOWN_BY[own[1]] = own[1], own[2]
end

function define()
  -- A NULL in DATETIME needs no default; in MySQL's TIMESTAMP it would. One byte a character, as in the other databases:
  -- the texts are plain letters.
  local moment, suffix = "TIMESTAMP", ""
  if job.dialect == "mysql" then
    moment, suffix = "DATETIME", " ENGINE=InnoDB DEFAULT CHARSET=latin1"
  end
  for _, own in ipairs(TABLES) do
    job.execute(format("CREATE TABLE %s (%s)%s", own[1], own[3]:gsub("MOMENT", moment), suffix))
  end
end

-- The indexes by which customers are found by last name, and a customer's last order.
function index()
  job.execute("CREATE INDEX tpcc_customer_by_name ON tpcc_customer (c_w_id, c_d_id, c_last, c_first)")
  job.execute("CREATE INDEX tpcc_orders_by_customer ON tpcc_orders (o_w_id, o_d_id, o_c_id, o_id)")
end

function cleanup()
  job.owned("").refuse_foreign(KNOWN_BY)
  job.drop(NAMES)
end

-- The rows (clause 4.3.3.1) ------------------------------------------------------------------------

-- The specification has the time of loading here; a fixed one makes equal seeds give equal rows.
local LOADED_AT = "2000-01-01 00:00:00"
local DIGITS = "0123456789"
local CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" .. DIGITS
local SYLLABLES = { [0] = "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING" }
-- The constants A and C for last names (clause 2.1.6); a run keeps its distance from this C.
local A_LAST_NAME, C_LOAD = 255, 157

local function text(least, most)
  return letters(CHARACTERS, least, most)
end

local function amount(cents)
  return format("%.2f", cents / 100)
end

-- A tax or a discount: from 0 to so many ten-thousandths.
local function share(most)
  return format("%.4f", uniform(0, most) / 10000)
end

-- Two streets, the city, the state and the zip code (clause 4.3.2.7).
local function address()
  return text(10, 20), text(10, 20), text(10, 20), letters(CHARACTERS, 2), letters(DIGITS, 4) .. "11111"
end

-- 26 to 50 characters, with the word ORIGINAL somewhere in a tenth of them.
local function data()
  local all = text(26, 50)
  if uniform(1, 100) > 10 then
    return all
  end
  local before = uniform(0, #all - 8)
  return all:sub(1, before) .. "ORIGINAL" .. all:sub(before + 9)
end

-- A syllable for each digit of a number from 0 to 999 (clause 4.3.2.3).
local function last_name(number)
  return SYLLABLES[floor(number / 100)] .. SYLLABLES[floor(number / 10) % 10] .. SYLLABLES[number % 10]
end

-- Lines of an order, 5 to 15: known without the draws before them.
local function lines_of(warehouse, district, order)
  return 5 + tonumber(job.scatter(opt.seed or 1, warehouse, district * 4096 + order) % 11)
end

-- The parts are the items, which all warehouses share, and then each warehouse with all that belongs to it.
function tables()
  local of_district = 1 + 2 * CUSTOMERS + ORDERS_LOADED + ORDERS_LOADED - LAST_DELIVERED
  local all = { { name = "items", rows = ITEMS } }
  for warehouse = 1, opt.warehouses do
    local rows = 1 + DISTRICTS * of_district + ITEMS
    for district = 1, DISTRICTS do
      for order = 1, ORDERS_LOADED do
        rows = rows + lines_of(warehouse, district, order)
      end
    end
    all[warehouse + 1] = { name = "warehouse " .. warehouse, rows = rows }
  end
  return all, "", NAMES
end

local function fill_items()
  return job.load("tpcc_item", { "i_id", "i_im_id", "i_name", "i_price", "i_data" }, ITEMS, function(item)
    return item, uniform(1, 10000), text(14, 24), amount(uniform(100, 10000)), data()
  end)
end

-- Which district and which of its numbers a row has, if there are so many in each.
local function placed(row, of_district)
  return floor((row - 1) / of_district) + 1, (row - 1) % of_district + 1
end

local function fill_districts(warehouse)
  local columns = { "w_id", "w_name", "w_street_1", "w_street_2", "w_city", "w_state", "w_zip", "w_tax", "w_ytd" }
  local loaded = job.load("tpcc_warehouse", columns, 1, function()
    local first, second, city, state, zip = address()
    return warehouse, text(6, 10), first, second, city, state, zip, share(2000), "300000.00"
  end)
  columns = { "d_id", "d_w_id", "d_name", "d_street_1", "d_street_2", "d_city", "d_state", "d_zip", "d_tax", "d_ytd", "d_next_o_id" }
  return loaded + job.load("tpcc_district", columns, DISTRICTS, function(district)
    local first, second, city, state, zip = address()
    return district, warehouse, text(6, 10), first, second, city, state, zip, share(2000), "30000.00", ORDERS_LOADED + 1
  end)
end

local function fill_customers(warehouse)
  local columns = { "c_id", "c_d_id", "c_w_id", "c_first", "c_middle", "c_last", "c_street_1", "c_street_2", "c_city", "c_state",
    "c_zip", "c_phone", "c_since", "c_credit", "c_credit_lim", "c_discount", "c_balance", "c_ytd_payment", "c_payment_cnt",
    "c_delivery_cnt", "c_data" }
  local loaded = job.load("tpcc_customer", columns, DISTRICTS * CUSTOMERS, function(row)
    local district, customer = placed(row, CUSTOMERS)
    -- The first thousand have every last name once.
    local name = customer - 1
    if customer > LAST_NAMES then
      name = (bit.bor(uniform(0, A_LAST_NAME), uniform(0, LAST_NAMES - 1)) + C_LOAD) % LAST_NAMES
    end
    local first, second, city, state, zip = address()
    return customer, district, warehouse, text(8, 16), "OE", last_name(name), first, second, city, state, zip,
      letters(DIGITS, 16), LOADED_AT, uniform(1, 100) <= 10 and "BC" or "GC", "50000.00", share(5000), "-10.00", "10.00",
      1, 0, text(300, 500)
  end)
  columns = { "h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id", "h_date", "h_amount", "h_data" }
  return loaded + job.load("tpcc_history", columns, DISTRICTS * CUSTOMERS, function(row)
    local district, customer = placed(row, CUSTOMERS)
    return customer, district, warehouse, district, warehouse, LOADED_AT, "10.00", text(12, 24)
  end)
end

-- Orders that are delivered, or those that are not, which have no carrier; with their lines.
local function fill_orders(warehouse, customers, first, last)
  local delivered, count = last == LAST_DELIVERED, last - first + 1
  local columns = { "o_id", "o_d_id", "o_w_id", "o_c_id", "o_entry_d", "o_ol_cnt", "o_all_local", delivered and "o_carrier_id" or nil }
  local all_lines = 0
  local loaded = job.load("tpcc_orders", columns, DISTRICTS * count, function(row)
    local district, place = placed(row, count)
    local order = first + place - 1
    local lines = lines_of(warehouse, district, order)
    all_lines = all_lines + lines
    return order, district, warehouse, customers[district][order], LOADED_AT, lines, 1, delivered and uniform(1, 10) or nil
  end)
  columns = { "ol_o_id", "ol_d_id", "ol_w_id", "ol_number", "ol_i_id", "ol_supply_w_id", "ol_quantity", "ol_amount",
    "ol_dist_info", delivered and "ol_delivery_d" or nil }
  local row, line, lines, district, order = 0, 0, 0, nil, nil
  return loaded + job.load("tpcc_order_line", columns, all_lines, function()
    if line == lines then
      row, line = row + 1, 0
      district, order = placed(row, count)
      order = first + order - 1
      lines = lines_of(warehouse, district, order)
    end
    line = line + 1
    return order, district, warehouse, line, uniform(1, ITEMS), warehouse, 5, delivered and "0.00" or amount(uniform(1, 999999)),
      letters(CHARACTERS, 24), delivered and LOADED_AT or nil
  end)
end

local function fill_stock(warehouse)
  local columns = { "s_i_id", "s_w_id", "s_quantity", "s_ytd", "s_order_cnt", "s_remote_cnt", "s_data", unpack(DISTRICT_COLUMNS) }
  return job.load("tpcc_stock", columns, ITEMS, function(item)
    local of_districts = {}
    for district = 1, DISTRICTS do
      of_districts[district] = letters(CHARACTERS, 24)
    end
    return item, warehouse, uniform(10, 100), 0, 0, 0, data(), unpack(of_districts)
  end)
end

function fill(number)
  if number == 1 then
    return fill_items()
  end
  local warehouse, customers = number - 1, {}
  for district = 1, DISTRICTS do
    local all = {}
    for place = 1, CUSTOMERS do
      local other = uniform(1, place)
      all[place] = all[other]
      all[other] = place
    end
    customers[district] = all
  end
  local count = ORDERS_LOADED - LAST_DELIVERED
  return fill_districts(warehouse) + fill_customers(warehouse) + fill_stock(warehouse)
    + fill_orders(warehouse, customers, 1, LAST_DELIVERED)
    + fill_orders(warehouse, customers, LAST_DELIVERED + 1, ORDERS_LOADED)
    + job.load("tpcc_new_order", { "no_o_id", "no_d_id", "no_w_id" }, DISTRICTS * count, function(row)
      local district, place = placed(row, count)
      return LAST_DELIVERED + place, district, warehouse
    end)
end

-- Before a run -------------------------------------------------------------------------------------

-- The tables are ours, and, before a run, of so many warehouses.
local function look_at_tables(warehouses)
  local owned = job.owned("--warehouses " .. (warehouses or "N"))
  for _, name in ipairs(NAMES) do
    owned.require(name)
    owned.require_columns(name, KNOWN_BY[name])
  end
  if not warehouses then
    return
  end
  local there = tonumber(owned.value("SELECT COUNT(*) FROM tpcc_warehouse")) or 0
  if there ~= warehouses then
    owned.remake("table tpcc_warehouse has %d warehouses, but the run has --warehouses %d", there, warehouses)
  elseif opt.acknowledgements and tonumber(owned.value("SELECT MAX(o_id) FROM tpcc_orders")) ~= ORDERS_LOADED then
    -- No district has more orders than it was loaded with.
    owned.remake("table tpcc_orders holds orders of an earlier run, and --acknowledgements needs tables as `prepare` made them")
  end
  for _, name in ipairs(NAMES) do
    owned.require_transactions(name)
  end
end

function plan()
  if opt.has_tables then
    look_at_tables(opt.warehouses)
  end
  return { mix = "no think time", prepares = opt.protocol == "prepared" }
end

-- The statements of the five transactions ------------------------------------------------------------

-- In the order of workload/tpcc/statements.rs, after those that begin and before those that read a stock. All rows that a
-- transaction writes after reading them are LOCKED when they are read.
local STATEMENTS = {
  { "commit", "other", "COMMIT" },
  { "rollback", "other", "ROLLBACK" },
  { "customer_and_warehouse_select", "read", [[
    SELECT c_discount, c_last, c_credit, w_tax FROM tpcc_customer, tpcc_warehouse WHERE w_id=? AND c_w_id=w_id
    AND c_d_id=? AND c_id=?]] },
  { "next_order_select", "read", [[
    SELECT d_next_o_id, d_tax FROM tpcc_district WHERE d_w_id=? AND d_id=?LOCKED]] },
  { "next_order_update", "write", "UPDATE tpcc_district SET d_next_o_id=? WHERE d_w_id=? AND d_id=?" },
  { "order_insert", "write", [[
    INSERT INTO tpcc_orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?,
    CURRENT_TIMESTAMP, ?, ?)]] },
  { "new_order_insert", "write", "INSERT INTO tpcc_new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)" },
  { "item_select", "read", "SELECT i_price, i_name, i_data FROM tpcc_item WHERE i_id=?" },
  { "line_insert", "write", [[
    INSERT INTO tpcc_order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity,
    ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)]] },
  { "stock_update", "write", [[
    UPDATE tpcc_stock SET s_quantity=?, s_ytd=s_ytd+?, s_order_cnt=s_order_cnt+1, s_remote_cnt=s_remote_cnt+?
    WHERE s_i_id=? AND s_w_id=?]] },
  { "warehouse_update", "write", "UPDATE tpcc_warehouse SET w_ytd=w_ytd+? WHERE w_id=?" },
  { "warehouse_select", "read", [[
    SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM tpcc_warehouse WHERE w_id=?]] },
  { "district_update", "write", "UPDATE tpcc_district SET d_ytd=d_ytd+? WHERE d_w_id=? AND d_id=?" },
  { "district_select", "read", [[
    SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM tpcc_district WHERE d_w_id=? AND d_id=?]] },
  { "customer_by_last_name_select", "read", [[
    SELECT c_id FROM tpcc_customer WHERE c_w_id=? AND c_d_id=? AND c_last=? ORDER BY c_first]] },
  { "customer_for_update_select", "read", [[
    SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
    c_credit_lim, c_discount, c_balance, c_since FROM tpcc_customer WHERE c_w_id=? AND c_d_id=? AND c_id=?LOCKED]] },
  { "customer_data_select", "read", [[
    SELECT c_data FROM tpcc_customer WHERE c_w_id=? AND c_d_id=? AND c_id=?]] },
  { "customer_update", "write", [[
    UPDATE tpcc_customer SET c_balance=c_balance-?, c_ytd_payment=c_ytd_payment+?, c_payment_cnt=c_payment_cnt+1
    WHERE c_w_id=? AND c_d_id=? AND c_id=?]] },
  { "bad_credit_customer_update", "write", [[
    UPDATE tpcc_customer SET c_balance=c_balance-?, c_ytd_payment=c_ytd_payment+?,
    c_payment_cnt=c_payment_cnt+1, c_data=? WHERE c_w_id=? AND c_d_id=? AND c_id=?]] },
  { "history_insert", "write", [[
    INSERT INTO tpcc_history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?,
    ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)]] },
  { "customer_select", "read", [[
    SELECT c_balance, c_first, c_middle, c_last FROM tpcc_customer WHERE c_w_id=? AND c_d_id=? AND c_id=?]] },
  { "last_order_select", "read", [[
    SELECT o_id, o_carrier_id, o_entry_d FROM tpcc_orders WHERE o_w_id=? AND o_d_id=? AND o_c_id=? ORDER BY o_id
    DESC LIMIT 1]] },
  { "lines_select", "read", [[
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM tpcc_order_line WHERE ol_w_id=?
    AND ol_d_id=? AND ol_o_id=?]] },
  { "oldest_new_order_select", "read", [[
    SELECT no_o_id FROM tpcc_new_order WHERE no_w_id=? AND no_d_id=? ORDER BY no_o_id LIMIT 1LOCKED]] },
  { "new_order_delete", "write", "DELETE FROM tpcc_new_order WHERE no_w_id=? AND no_d_id=? AND no_o_id=?" },
  { "carrier_update", "write", [[
    UPDATE tpcc_orders SET o_carrier_id=? WHERE o_w_id=? AND o_d_id=? AND o_id=?]] },
  { "order_customer_select", "read", "SELECT o_c_id FROM tpcc_orders WHERE o_w_id=? AND o_d_id=? AND o_id=?" },
  { "lines_update", "write", [[
    UPDATE tpcc_order_line SET ol_delivery_d=CURRENT_TIMESTAMP WHERE ol_w_id=? AND ol_d_id=? AND ol_o_id=?]] },
  { "lines_sum_select", "read", [[
    SELECT SUM(ol_amount) FROM tpcc_order_line WHERE ol_w_id=? AND ol_d_id=? AND ol_o_id=?]] },
  { "delivered_customer_update", "write", [[
    UPDATE tpcc_customer SET c_balance=c_balance+?, c_delivery_cnt=c_delivery_cnt+1 WHERE c_w_id=? AND c_d_id=?
    AND c_id=?]] },
  { "next_order_read_select", "read", "SELECT d_next_o_id FROM tpcc_district WHERE d_w_id=? AND d_id=?" },
  { "stock_count_select", "read", [[
    SELECT COUNT(DISTINCT s_i_id) FROM tpcc_order_line, tpcc_stock WHERE ol_w_id=? AND ol_d_id=? AND ol_o_id>=?
    AND ol_o_id<? AND s_w_id=? AND s_i_id=ol_i_id AND s_quantity<?]] },
}

-- How transactions begin: those that write, those that must see one state, and those for which committed rows are
-- enough. READ COMMITTED is enough for those that write. MySQL's default is REPEATABLE READ; a plain BEGIN of SQLite's
-- could not wait for another writer.
local BEGINS = {
  mysql = { "BEGIN", "BEGIN", "BEGIN" },
  pgsql = { "BEGIN ISOLATION LEVEL READ COMMITTED", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY" },
  sqlite = { "BEGIN IMMEDIATE", "BEGIN", "BEGIN" },
}

function catalogue()
  -- SQLite locks the whole database when a transaction begins that writes.
  local locked = job.dialect == "sqlite" and "" or " FOR UPDATE"
  local types, stocks = { { name = "begin", kind = "other", prepare = true, statements = BEGINS[job.dialect] } }, {}
  for _, own in ipairs(STATEMENTS) do
    local sql = own[3]:gsub("^%s+", ""):gsub("%s+", " "):gsub("LOCKED", locked)
    types[#types + 1] = { name = own[1], kind = own[2], prepare = true, statements = { sql } }
  end
  for place, column in ipairs(DISTRICT_COLUMNS) do
    stocks[place] = format("SELECT s_quantity, %s, s_data FROM tpcc_stock WHERE s_i_id=? AND s_w_id=?%s", column, locked)
  end
  types[#types + 1] = { name = "stock_select", kind = "read", prepare = true, statements = stocks }
  return { types = types, rollback = "ROLLBACK" }
end

-- The twelve consistency conditions (clause 3.3.2) ---------------------------------------------------

-- Each is one question: how many places break it? Both sides of an equation are added up with opposite signs and
-- grouped. So a row that has no counterpart breaks a condition as well, and no join needs an index.

-- Decimals are exact; SQLite adds up doubles, whose error is far below half a cent.
local HALF_A_CENT = "0.005"
local BY = { "w", "w, d", "w, d, n" }

-- Rows of a table added up by these keys, which are called w, d and so on.
local function sums(keys, what, from)
  local columns = {}
  for place, key in ipairs(keys) do
    columns[place] = key .. " AS " .. ({ "w", "d", "n" })[place]
  end
  local grouped = table.concat(keys, ", ")
  return format("SELECT %s, %s AS x FROM %s GROUP BY %s", table.concat(columns, ", "), what, from, grouped)
end

-- Places where the parts do not add up to zero.
local function unequal(by, ...)
  return format("SELECT %s FROM (%s) parts GROUP BY %s HAVING ABS(SUM(x))>%s", BY[by], table.concat({ ... }, " UNION ALL "),
    BY[by], HALF_A_CENT)
end

local DELIVERED = [[tpcc_orders JOIN tpcc_order_line ON ol_w_id=o_w_id AND ol_d_id=o_d_id AND ol_o_id=o_id
  WHERE ol_delivery_d IS NOT NULL]]
local CUSTOMER, OF_CUSTOMER = { "c_w_id", "c_d_id", "c_id" }, { "o_w_id", "o_d_id", "o_c_id" }

-- What each says, what is counted, and a query of the places that break it, whose first column is the warehouse.
local CONDITIONS = {
  { "W_YTD = sum(D_YTD)", "warehouses",
    unequal(1, sums({ "w_id" }, "SUM(w_ytd)", "tpcc_warehouse"), sums({ "d_w_id" }, "-SUM(d_ytd)", "tpcc_district")) },
  -- A district whose orders are all delivered has no row of NEW-ORDER.
  { "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)", "districts", [[SELECT w, d FROM (
    SELECT d_w_id AS w, d_id AS d, d_next_o_id-1 AS a, 0 AS b, 0 AS c FROM tpcc_district
    UNION ALL SELECT o_w_id, o_d_id, 0, MAX(o_id), 0 FROM tpcc_orders GROUP BY o_w_id, o_d_id
    UNION ALL SELECT no_w_id, no_d_id, 0, 0, MAX(no_o_id) FROM tpcc_new_order GROUP BY no_w_id, no_d_id
    ) parts GROUP BY w, d HAVING MAX(a)<>MAX(b) OR (MAX(c)>0 AND MAX(c)<>MAX(a))]] },
  { "max(NO_O_ID) - min(NO_O_ID) + 1 = rows of NEW-ORDER", "districts", [[SELECT no_w_id AS w, no_d_id AS d FROM tpcc_new_order
    GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id)-MIN(no_o_id)+1<>COUNT(*)]] },
  { "sum(O_OL_CNT) = rows of ORDER-LINE", "districts",
    unequal(2, sums({ "o_w_id", "o_d_id" }, "SUM(o_ol_cnt)", "tpcc_orders"), sums({ "ol_w_id", "ol_d_id" }, "-COUNT(*)", "tpcc_order_line")) },
  { "O_CARRIER_ID is null if and only if NEW-ORDER has a row", "orders",
    unequal(3, sums({ "o_w_id", "o_d_id", "o_id" }, "COUNT(*)", "tpcc_orders WHERE o_carrier_id IS NULL"),
      sums({ "no_w_id", "no_d_id", "no_o_id" }, "-COUNT(*)", "tpcc_new_order")) },
  { "O_OL_CNT = rows of ORDER-LINE", "orders",
    unequal(3, sums({ "o_w_id", "o_d_id", "o_id" }, "SUM(o_ol_cnt)", "tpcc_orders"),
      sums({ "ol_w_id", "ol_d_id", "ol_o_id" }, "-COUNT(*)", "tpcc_order_line")) },
  { "OL_DELIVERY_D is null if and only if O_CARRIER_ID is", "order lines", [[SELECT o_w_id AS w FROM tpcc_orders
    JOIN tpcc_order_line ON ol_w_id=o_w_id AND ol_d_id=o_d_id AND ol_o_id=o_id
    WHERE (ol_delivery_d IS NULL)<>(o_carrier_id IS NULL)]] },
  { "W_YTD = sum(H_AMOUNT)", "warehouses",
    unequal(1, sums({ "w_id" }, "SUM(w_ytd)", "tpcc_warehouse"), sums({ "h_w_id" }, "-SUM(h_amount)", "tpcc_history")) },
  { "D_YTD = sum(H_AMOUNT)", "districts",
    unequal(2, sums({ "d_w_id", "d_id" }, "SUM(d_ytd)", "tpcc_district"), sums({ "h_w_id", "h_d_id" }, "-SUM(h_amount)", "tpcc_history")) },
  { "C_BALANCE = sum(OL_AMOUNT of what is delivered) - sum(H_AMOUNT)", "customers",
    unequal(3, sums(CUSTOMER, "SUM(c_balance)", "tpcc_customer"), sums(OF_CUSTOMER, "-SUM(ol_amount)", DELIVERED),
      sums({ "h_c_w_id", "h_c_d_id", "h_c_id" }, "SUM(h_amount)", "tpcc_history")) },
  -- The specification asks for 2,100 after loading; each delivery since then adds one.
  { "rows of ORDER - rows of NEW-ORDER = 2100 + sum(C_DELIVERY_CNT)", "districts",
    unequal(2, sums({ "o_w_id", "o_d_id" }, "COUNT(*)", "tpcc_orders"), sums({ "no_w_id", "no_d_id" }, "-COUNT(*)", "tpcc_new_order"),
      sums({ "c_w_id", "c_d_id" }, format("-%d-SUM(c_delivery_cnt)", LAST_DELIVERED), "tpcc_customer")) },
  { "C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT of what is delivered)", "customers",
    unequal(3, sums(CUSTOMER, "SUM(c_balance+c_ytd_payment)", "tpcc_customer"), sums(OF_CUSTOMER, "-SUM(ol_amount)", DELIVERED)) },
}

-- A count that is not there must not pass for one of nothing broken.
local function number(sql)
  return tonumber(job.value(sql, "checking the tables")) or job.refuse("tables", "no number answers " .. sql)
end

-- Holds the tables to what the specification says of them.
function verify()
  if not opt.has_tables then
    job.refuse("arguments", "null: has no tables to check")
  end
  look_at_tables()
  -- Tables whose number of rows never changes (clause 1.2.1).
  local of_district = opt.warehouses * DISTRICTS
  local fixed = { tpcc_warehouse = opt.warehouses, tpcc_district = of_district, tpcc_customer = of_district * CUSTOMERS,
    tpcc_item = ITEMS, tpcc_stock = opt.warehouses * ITEMS }
  local lines, rows, conditions, complaints = {}, {}, {}, {}
  for place, name in ipairs(NAMES) do
    local found, expected = number("SELECT COUNT(*) FROM " .. name), fixed[name]
    local is_wrong = expected and found ~= expected
    rows[place] = format('{"table":"%s","rows":%d,"expected":%s}', name, found, expected and format("%d", expected) or "null")
    lines[#lines + 1] = format("%-18s %12d rows%s", name, found, is_wrong and format("  WRONG: clause 1.2.1 requires %d", expected) or "")
    if is_wrong then
      complaints[#complaints + 1] = format("%s has %d rows, and --warehouses %d requires %d", name, found, opt.warehouses, expected)
    end
  end
  for place, own in ipairs(CONDITIONS) do
    local says, places, broken_by = own[1], own[2], own[3]
    local began_ns, first, outcome = job.clock_ns(), nil, "holds"
    local broken = number(format("SELECT COUNT(*) FROM (%s) broken", broken_by))
    if broken > 0 then
      first = number(format("SELECT MIN(w) FROM (%s) broken", broken_by))
      outcome = format("BROKEN in %d %s, first in warehouse %d", broken, places, first)
      complaints[#complaints + 1] = format("condition %d is broken in %d %s", place, broken, places)
    end
    local seconds = (job.clock_ns() - began_ns) / 1e9
    conditions[place] = format('{"number":%d,"says":"%s","places":"%s","broken":%d,"first_warehouse":%s,"seconds":%.9f}', place,
      says, places, broken, first and format("%d", first) or "null", seconds)
    lines[#lines + 1] = format("condition %2d  %-8s  %s  (%.2f s)", place, outcome, says, seconds)
  end
  if opt.json then
    job.tell(format('{"event":"checked","warehouses":%d,"rows":[%s],"conditions":[%s]}', opt.warehouses, table.concat(rows, ","),
      table.concat(conditions, ",")))
    return
  end
  job.tell(table.concat(lines, "\n"))
  if #complaints > 0 then
    job.refuse("tables", table.concat(complaints, "; "))
  end
end
