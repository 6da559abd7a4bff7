-- sysbench's OLTP workload: its options and its tables. Rows and clients are native (workload/oltp).
local opt, job = sysbench.opt, sysbench.job
local format = string.format

local TABLES = { "run", "prepare" }
local EVERYWHERE = { "run", "prepare", "cleanup" }
-- More statements would make a transaction that no server is asked for.
local MOST = 10000
local HEADING = "Statements of a transaction"
-- The index that ranges of values need is on this column.
local INDEXED = "k"

-- How often a transaction has a statement of a kind.
local function times(name, help)
  return { name = name, heading = HEADING, value = "N", whole = true, least = 0, most = MOST, help }
end

sysbench.cmdline.steady, sysbench.cmdline.native = true, true
sysbench.cmdline.about = {
  run = "sysbench's OLTP transactions",
  prepare = "sysbench's OLTP tables sbtest1 to sbtestN",
  cleanup = "sysbench's OLTP tables sbtest1 to sbtestN",
}
sysbench.cmdline.options = {
  { name = "schema", verbs = EVERYWHERE, choices = {
      { "sbtestN", "sbtest1 to sbtestN of sysbench 0.5 and 1.0: random rows, the index built after them" },
      { "sbtest", "The one table sbtest of sysbench 0.4: rows alike, the index built before them" },
    }, "The tables' generation; prepare, run and cleanup alike", "sbtestN" },
  { name = "tables", value = "N", whole = true, least = 1, most = 65535, verbs = EVERYWHERE,
    "Tables, named sbtest1, sbtest2, …", 1 },
  { name = "rows", value = "N", whole = true, least = 1, most = 2147483647, verbs = TABLES,
    "Rows in each table (ids are 32-bit integers)", 10000 },
  { name = "mix", verbs = TABLES, choices = {
      { "complex", "The legacy oltp.lua: 20 statements on one table, unsigned ids, text protocol; locks tables whose engine has no transactions" },
      { "read-only", "BEGIN, 10 point and 4 range SELECTs, COMMIT" },
      { "read-write", "The 20 statements of complex, a table drawn for each group of statements" },
      { "write-only", "BEGIN, 2 UPDATEs, DELETE and INSERT of one row, COMMIT" },
      { "point-select", "One SELECT by primary key" },
      { "update-index", "One UPDATE of the indexed column" },
      { "update-non-index", "One UPDATE of a column without index" },
      { "insert", "One INSERT" },
      { "delete", "One DELETE by primary key" },
    }, "The statements of a transaction. The tables of complex have unsigned numbers, so give prepare and run the same mix [default: read-write, or complex with --schema sbtest]" },
  { name = "distribution", verbs = TABLES, choices = {
      { "special", "Three quarters of all accesses fall on the middle 1% of the rows, the others on a bell" },
      { "special-1.0.20", 'What sysbench 1.0.20 makes of "special": the hot rows are the upper 3/4 of that 1%' },
      { "uniform", "Every row is as likely as every other" },
      { "zipfian", "Row r is drawn in proportion to 1 / r^0.8" },
      { "pareto", "80% of all accesses fall on the first 20% of the rows, and so on within these" },
      { "gaussian", "A bell over all rows: the mean of 12 uniform draws" },
    }, "Which rows are hot (and, when preparing, which values column k holds)", "special" },
  { name = "zipfian-exponent", value = "EXPONENT", least = 0, most = 10, verbs = TABLES,
    "zipfian: the exponent (sysbench: --rand-zipfian-exp) [default: 0.8]" },
  { name = "seed", value = "N", whole = true, least = 0, most = 9007199254740991, verbs = TABLES,
    "The same seed gives the same rows and the same draws [default: 1 to prepare, another one each time to run, since the same draws again would update rows to what they hold already]" },
  times("point-selects", "SELECTs by primary key [default: 10]"),
  times("simple-ranges", "SELECTs of a range of ids [default: 1]"),
  times("sum-ranges", "SELECTs of SUM(k) over a range [default: 1]"),
  times("order-ranges", "SELECTs of a range in the order of column c [default: 1]"),
  times("distinct-ranges", "SELECTs of a range's different values of c [default: 1]"),
  times("index-updates", "UPDATEs of the indexed column k [default: 1]"),
  times("non-index-updates", "UPDATEs of column c, which has no index [default: 1]"),
  times("delete-inserts", "DELETEs, each with the INSERT that puts the row back [default: 1]"),
  { name = "range-size", heading = HEADING, value = "ROWS", whole = true, least = 1, most = 1000000,
    "Rows of a range", 100 },
  { name = "protocol", choices = { { "text" }, { "prepared" } },
    "Send parameters as text in the statement, or bind them to statements prepared once [default: as sysbench does: with sbtestN text for complex and insert, else prepared]" },
  { name = "skip-trx", "Send no BEGIN and no COMMIT: every statement commits itself", false },
  { name = "engine", value = "NAME", verbs = { "prepare" },
    "The tables' storage engine (MySQL family only) [default: innodb]" },
  { name = "threads", value = "N", whole = true, least = 1, most = 65535, verbs = { "prepare" },
    "Tables loaded at a time [default: twice the cores, at most one per table]" },
}

-- What the options mean ------------------------------------------------------------------------------

local function refuse(...)
  job.refuse("arguments", format(...))
end

local function is_single()
  return opt.schema == "sbtest"
end

local function mix()
  return opt.mix or (is_single() and "complex" or "read-write")
end

-- The script of sysbench before 1.0: its tables have unsigned numbers (if the database has such a type).
local function is_legacy()
  return mix() == "complex"
end

local function named(schema, number)
  return schema == "sbtest" and "sbtest" or "sbtest" .. number
end

-- The options that name the tables, for all verbs alike.
local function which()
  return is_single() and "--schema sbtest" or "--tables " .. opt.tables
end

-- The groups of statements that a transaction has, in the order in which they are checked.
local READS = { "point_selects", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges" }
local WRITES = { "index_updates", "non_index_updates", "delete_inserts" }
local HAS = {
  complex = { READS, WRITES }, ["read-write"] = { READS, WRITES }, ["read-only"] = { READS }, ["write-only"] = { WRITES },
}

local function check_counts()
  local own, sends, is_empty = {}, HAS[mix()], true
  for _, group in ipairs(sends or {}) do
    for _, name in ipairs(group) do
      own[name] = true
      is_empty = is_empty and opt[name] == 0
    end
  end
  for _, group in ipairs({ READS, WRITES }) do
    for _, name in ipairs(group) do
      if opt[name] and not own[name] then
        refuse("--%s does not apply to --mix %s, which has no such group of statements; leave it out", name:gsub("_", "-"), mix())
      end
    end
  end
  if sends and is_empty then
    refuse("every group of statements is 0, so the transaction is empty; raise one of them")
  end
end

local function check_one_table()
  if is_single() and opt.tables > 1 then
    refuse("--schema sbtest has one table, not %d; leave --tables out", opt.tables)
  end
end

-- sysbench 0.4 has these mixes: as its test modes complex (with or without --oltp-read-only), simple and nontrx. Its
-- nontrx inserts empty the table first, and its deletes go through the rows in an order that all clients share; these
-- two are not supported here.
local IN_0_4 = { complex = true, ["read-only"] = true, ["point-select"] = true, ["update-index"] = true,
  ["update-non-index"] = true }

function check()
  check_one_table()
  if is_single() and not IN_0_4[mix()] then
    refuse("sysbench 0.4 has no --mix %s on its table sbtest; choose complex, read-only, point-select, update-index or update-non-index, or --schema sbtestN", mix())
  end
  if opt.zipfian_exponent and opt.distribution ~= "zipfian" then
    refuse("--zipfian-exponent needs --distribution zipfian")
  end
  check_counts()
  job.check_engine(opt.engine)
end

-- The tables -----------------------------------------------------------------------------------------

function tables()
  local all = {}
  for number = 1, opt.tables do
    all[number] = { name = named(opt.schema, number), rows = opt.rows }
  end
  return all, which()
end

local function definition(name)
  -- Numbers were unsigned before sysbench 1.0.
  local sign = (is_legacy() or is_single()) and " UNSIGNED" or ""
  local id, number, suffix = "INTEGER NOT NULL", "INTEGER", ""
  if job.dialect == "mysql" then
    id, number = "INTEGER" .. sign .. " NOT NULL AUTO_INCREMENT", "INTEGER" .. sign
    suffix = " ENGINE=" .. (opt.engine or "innodb")
  elseif job.dialect == "pgsql" then
    id = "SERIAL"
  end
  return format("CREATE TABLE %s (id %s, k %s DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id))%s",
    name, id, number, suffix)
end

-- sysbench 0.4's rows differ by the ids alone, which the database chooses. An INSERT of 10,000 of them is 620 kB, less
-- than any server's limit.
local ROW, ROWS_PER_INSERT = "(0,' ','qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt')", 10000

local function insert_alike(name)
  for done = 0, opt.rows - 1, ROWS_PER_INSERT do
    local rows = math.min(ROWS_PER_INSERT, opt.rows - done)
    job.execute(format("INSERT INTO %s(k, c, pad) VALUES%s", name, ROW .. ("," .. ROW):rep(rows - 1)))
  end
  return tonumber(job.value("SELECT COUNT(*) FROM " .. name)) or opt.rows
end

function fill(number)
  local name = named(opt.schema, number)
  job.execute(definition(name))
  if is_single() then
    job.execute(format("CREATE INDEX k ON %s(k)", name))
    return insert_alike(name)
  end
  local loaded = job.load(name, { "id", "k", "c", "pad" }, opt.rows)
  if job.dialect == "pgsql" then
    -- Ids were given, not drawn from the sequence: it must go on after them.
    job.value(format("SELECT setval(pg_get_serial_sequence('%s', 'id'), %d)", name, opt.rows))
  end
  job.execute(format("CREATE INDEX k_%d ON %s(k)", number, name))
  return loaded
end

function cleanup()
  check_one_table()
  local names = {}
  for number = 1, opt.tables do
    names[number] = named(opt.schema, number)
  end
  job.drop(names)
end

-- sysbench's older mixes were defined on unsigned numbers (MySQL family only).
local function warn_of_signed_numbers(owned, name)
  if not is_legacy() or job.dialect ~= "mysql" then
    return
  end
  local kind = owned.value(format("SELECT column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '%s' AND column_name = 'id'", name))
  if kind and not kind:lower():find("unsigned", 1, true) then
    job.tell(format("warning: the numbers of %s are signed, but --mix %s was defined on unsigned ones; prepare the tables with --mix %s",
      name, mix(), mix()))
  end
end

-- Finds out before the clients connect whether the tables are those that the run asks for. Returns whether one of them
-- has no transactions.
local function look_at_tables()
  local made_by = format("%s --rows %d", which(), opt.rows)
  local owned = job.owned(is_legacy() and not is_single() and made_by .. " --mix complex" or made_by, which())
  local other = is_single() and "sbtestN" or "sbtest"
  local first, others = named(opt.schema, 1), named(other, 1)
  if not owned.exists(first) and owned.exists(others) then
    job.refuse("tables", format("table %s does not exist, but %s does; if the tables were prepared with --schema %s, run with --schema %s",
      first, others, other, other))
  end
  local lacks, small, ends = false, 0, nil
  for number = 1, opt.tables do
    local name = named(opt.schema, number)
    owned.require(name)
    owned.require_index(name, INDEXED)
    warn_of_signed_numbers(owned, name)
    lacks = lacks or owned.lacks_transactions(name)
    local highest = tonumber(owned.value("SELECT MAX(id) FROM " .. name)) or 0
    if highest < opt.rows then
      small = small + 1
      ends = ends or format("%s ends at id %d", name, highest)
    end
  end
  -- It is said once, however many tables there are.
  if ends then
    local more = small == 1 and "" or small == 2 and " (and another table is too small)"
      or format(" (and %d other tables are too small)", small - 1)
    job.tell(format("warning: %s%s, so statements for ids up to --rows %d find nothing there", ends, more, opt.rows))
  end
  return lacks
end

function plan()
  local lacks = opt.has_tables and look_at_tables()
  -- They look at the tables' engine, as sysbench does with them; else a BEGIN is sent whatever it is.
  local looks = is_legacy() or is_single()
  -- sysbench 0.4 prepares all statements.
  local is_text = not is_single() and (mix() == "complex" or mix() == "insert")
  return {
    mix = mix(),
    prepares = (opt.protocol or (is_text and "text" or "prepared")) == "prepared",
    locks = not opt.skip_trx and looks and lacks,
  }
end
