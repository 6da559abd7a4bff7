-- A detector's conditions database, as the STAR experiment's clients ask it.
--
-- Calibrations, gains, voltages: each table holds one such quantity, and each entry is valid from its begin until
-- the next entry begins. A client that works on a run of the detector connects, asks many tables for the entry that
-- was valid at one time, and leaves. It sends two queries per table: when the next entry begins, and what the
-- latest entry not after that time is. Most clients work on recent data, some on old runs. Entries are appended
-- seldom, and none is ever changed.
local opt, job = sysbench.opt, sysbench.job
local scatter = job.scatter
local uniform, random = sysbench.rand.uniform, sysbench.rand.uniform_double
local format, floor, ceil, max, min = string.format, math.floor, math.ceil, math.max, math.min

-- The longest history has times that fit into 31 bits.
local LONGEST_DAYS = 13000
local EVERYWHERE, TABLES = { "run", "prepare", "cleanup" }, { "run", "prepare" }

sysbench.cmdline.steady = true
sysbench.cmdline.about = {
  run = "Clients of a conditions database: connect, ask for the entries of one time, leave",
  prepare = "A detector's conditions database: entries with validity times in many tables",
  cleanup = "The tables of the conditions database",
}
sysbench.cmdline.options = {
  { name = "tables", value = "N", whole = true, least = 1, most = 65535, verbs = EVERYWHERE,
    "Tables, named conditions1, conditions2, …; each holds one quantity's entries", 100 },
  { name = "rows", value = "N", whole = true, least = 1, most = 2147483647, verbs = TABLES,
    "Entries in each table", 10000 },
  { name = "elements", value = "N", whole = true, least = 1, most = 32767, verbs = TABLES,
    "Parts of the detector that have entries of their own in each table", 1 },
  { name = "days", value = "DAYS", whole = true, least = 1, most = LONGEST_DAYS, verbs = TABLES,
    "Days over which the entries' begins are spread", 3650 },
  { name = "payload-bytes", value = "BYTES", whole = true, least = 1, most = 60000, verbs = TABLES,
    "Bytes of an entry's payload", 200 },
  { name = "seed", value = "N", whole = true, least = 0, most = 9007199254740991, verbs = TABLES,
    "The same seed gives the same payloads and the same draws [default: 1 to prepare, another one each time to run]" },
  { name = "tables-per-visit", value = "N", whole = true, least = 1, most = 65535,
    "Tables that a client asks on one visit, which is a transaction in all accounts [default: 20, at most all]" },
  { name = "hot-percent", value = "PERCENT", least = 0, most = 100,
    "Percentage of the visits that ask for the last hours; the others ask for any time", 90 },
  { name = "hot-hours", value = "HOURS", whole = true, least = 1, most = 876000,
    "Length of the last hours, in hours", 24 },
  { name = "appends", value = "SHARE", least = 0, most = 1,
    "Share of the queries, 0 to 1, that a client replaces by a new entry", 0.001 },
  { name = "stay", "Stay connected from visit to visit; else every visit begins with a new connection", false },
  { name = "protocol", value = "PROTOCOL", choices = { { "text" }, { "prepared" } },
    "Send parameters as text in the statement, or bind them to statements that every new connection prepares for all tables", "text" },
  { name = "engine", value = "NAME", verbs = { "prepare" },
    "The tables' storage engine (MySQL family only) [default: innodb]" },
  { name = "threads", value = "N", whole = true, least = 1, most = 65535, verbs = { "prepare" },
    "Tables loaded at a time [default: twice the cores, at most one per table]" },
}

-- When entries begin -----------------------------------------------------------------------------

-- The first day of the history: 1 August 2001, in seconds since 1970.
local FIRST_S, HOUR_S, DAY_S = 996624000, 3600, 86400
-- The flavour of entries for recorded data; one slot in 16 has entries for simulations.
local RECORDED, SIMULATED, SIMULATED_EVERY = "ofl", "sim", 16
-- Of each eight slots one has entries that were found wrong; those of the next slot replace them. The first entry of
-- all must stand.
local WITHDRAWN_EVERY, WITHDRAWN_AT = 8, 5
-- An entry is made some time after its begin, because calibrations come from the data. A wrong entry is found out.
local ENTERED_AFTER_S, WITHDRAWN_AFTER_S = 6 * HOUR_S, 30 * DAY_S

-- The end of the history is the time at which all is asked.
local function present_s()
  return FIRST_S + opt.days * DAY_S
end

-- Each table has slots of equal length, cut to whole seconds; in each of them one entry for every element.
local function slot_s()
  return floor(opt.days * DAY_S / ceil(opt.rows / opt.elements))
end

-- From this time on every element has a valid entry.
local function complete_s()
  return FIRST_S + slot_s()
end

-- An entry of a table without its payload, by its row: its columns in their order. Slots follow one another without
-- a gap; where in its slot an entry begins looks random.
local function entry(table, row)
  local slot_s, element, slot = slot_s(), (row - 1) % opt.elements, floor((row - 1) / opt.elements)
  local replaces = slot % WITHDRAWN_EVERY == WITHDRAWN_AT + 1
  local own = replaces and slot - 1 or slot
  local begin_s = FIRST_S + own * slot_s + tonumber(scatter(table, own, element) % slot_s)
  local withdrawn_s = begin_s + WITHDRAWN_AFTER_S
  return row, replaces and withdrawn_s or begin_s + ENTERED_AFTER_S, element, begin_s,
    slot % SIMULATED_EVERY == SIMULATED_EVERY - 1 and SIMULATED or RECORDED,
    slot % WITHDRAWN_EVERY == WITHDRAWN_AT and withdrawn_s or 0
end

-- Letters, digits and two signs: six random bits a byte, so that nothing compresses it much.
local function payload()
  return job.letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", opt.payload_bytes)
end

-- The tables -------------------------------------------------------------------------------------

local COLUMNS = { "dataID", "entryTime", "elementID", "beginTime", "flavor", "deactive", "payload" }
-- The first column of each table's index, by which all questions are answered.
local INDEXED = "beginTime"

local function named(number)
  return "conditions" .. number
end

function tables()
  local all = {}
  for number = 1, opt.tables do
    all[number] = { name = named(number), rows = opt.rows }
  end
  return all, "--tables " .. opt.tables
end

-- Times are whole seconds since 1970 in four bytes, as MySQL keeps a TIMESTAMP; so no client's or server's time zone
-- has a say.
local function definition(name)
  local id, letters, suffix = "INTEGER NOT NULL", "", ""
  if job.dialect == "mysql" then
    -- One byte a character, or a long payload would pass the limit of a row.
    id, letters, suffix = id .. " AUTO_INCREMENT", " CHARACTER SET latin1", " ENGINE=" .. (opt.engine or "innodb")
  elseif job.dialect == "pgsql" then
    id = "SERIAL"
  end
  return format([[CREATE TABLE %s (dataID %s, entryTime INTEGER NOT NULL, elementID SMALLINT NOT NULL,
    beginTime INTEGER NOT NULL, flavor VARCHAR(16)%s NOT NULL, deactive INTEGER DEFAULT 0 NOT NULL,
    payload VARCHAR(%d)%s NOT NULL, PRIMARY KEY (dataID))%s]], name, id, letters, opt.payload_bytes, letters, suffix)
end

function fill(number)
  local name = named(number)
  job.execute(definition(name))
  local loaded = job.load(name, COLUMNS, opt.rows, function(row)
    local id, entered_s, element, begin_s, flavor, deactive_s = entry(number, row)
    return id, entered_s, element, begin_s, flavor, deactive_s, payload()
  end)
  if job.dialect == "pgsql" then
    -- Ids were given, not drawn from the sequence: it must go on after them.
    job.value(format("SELECT setval(pg_get_serial_sequence('%s', 'dataid'), %d)", name, opt.rows))
  end
  -- Time comes first: from the time that is asked for, a question goes back or on to the first entry that stands for
  -- its element. With the element first, MariaDB reads every entry of the element on one side of that time, by
  -- equality alone, and throws them away.
  job.execute(format("CREATE INDEX validity_%d ON %s (%s, elementID, flavor)", number, name, INDEXED))
  return loaded
end

function cleanup()
  local names = {}
  for number = 1, opt.tables do
    names[number] = named(number)
  end
  job.drop(names)
end

-- Before a run -----------------------------------------------------------------------------------

function check()
  local refuse = function(...)
    job.refuse("arguments", format(...))
  end
  local visited = opt.tables_per_visit
  if visited and visited > opt.tables then
    refuse("--tables-per-visit %d is more than --tables %d", visited, opt.tables)
  elseif opt.rows < opt.elements then
    refuse("--rows, --elements and --days: %d elements need at least %d rows, not %d", opt.elements, opt.elements, opt.rows)
  elseif slot_s() == 0 then
    refuse("--rows, --elements and --days: %d rows in %d days would be less than a second apart for each of %d elements; ask for more days or fewer rows",
      opt.rows, opt.days, opt.elements)
  end
  job.check_engine(opt.engine)
end

-- Finds out before the clients connect whether the tables are those that are asked for.
local function look_at_tables()
  local owned = job.owned(format("--tables %d --rows %d --elements %d --days %d --payload-bytes %d", opt.tables, opt.rows,
    opt.elements, opt.days, opt.payload_bytes), "--tables " .. opt.tables)
  for number = 1, opt.tables do
    local name = named(number)
    owned.require(name)
    owned.require_index(name, INDEXED)
    -- The last row that was loaded shows whether the rows, the elements and the days are the same.
    local _, _, _, begin_s = entry(number, opt.rows)
    local begins = owned.value(format("SELECT beginTime FROM %s WHERE dataID=%d", name, opt.rows))
    local elements = owned.value(format("SELECT MAX(elementID)+1 FROM %s", name))
    if tonumber(begins) ~= begin_s or tonumber(elements) ~= opt.elements then
      owned.remake("table %s was made with other --rows, --elements or --days than the run has", name)
    end
  end
end

function plan()
  if opt.has_tables then
    look_at_tables()
  end
  return { mix = opt.stay and "stay" or "visit", prepares = opt.protocol == "prepared" }
end

-- Visits -----------------------------------------------------------------------------------------

-- The queries of each table are as in the experiment's own library. Entries for other purposes and entries that were
-- found wrong are passed over.
function catalogue()
  local standing = "elementID=? AND flavor='" .. RECORDED .. "' AND deactive=0"
  local types = {}
  local function add(name, kind, sql)
    local own = { name = name, kind = kind, prepare = true, statements = {} }
    for number = 1, sql and opt.tables or 0 do
      own.statements[number] = format(sql, named(number))
    end
    types[#types + 1] = own
  end
  if not opt.stay then
    add("connect", "other")
  end
  add("validity_end", "read", "SELECT beginTime FROM %s WHERE " .. standing .. " AND beginTime>? ORDER BY beginTime LIMIT 1")
  add("entry", "read", "SELECT dataID, beginTime, entryTime, payload FROM %s WHERE " .. standing ..
    " AND beginTime<=? ORDER BY beginTime DESC LIMIT 1")
  if opt.appends > 0 then
    add("append", "write", "INSERT INTO %s (entryTime, elementID, beginTime, flavor, deactive, payload) VALUES (?, ?, ?, '" ..
      RECORDED .. "', 0, ?)")
  end
  return { types = types }
end

-- A visit asks its tables about one time. An appended entry begins within the last hours, and is made now.
function enter()
  local call, come_again, stay = job.call, job.come_again, opt.stay
  local tables, appends, last_element = opt.tables, opt.appends, opt.elements - 1
  local visited = opt.tables_per_visit or min(20, tables)
  local present_s, complete_s = present_s(), complete_s()
  local recent_s = min(max(present_s - opt.hot_hours * HOUR_S + 1, complete_s), present_s)

  return function()
    local first_s = random() * 100 < opt.hot_percent and recent_s or complete_s
    local time_s, first_table = uniform(first_s, present_s), uniform(0, tables - 1)
    if not stay then
      come_again(0)
    end
    for place = first_table, first_table + visited - 1 do
      local table, element = place % tables, uniform(0, last_element)
      if appends > 0 and random() < appends then
        call(2 * tables + table, 0, 0, present_s, element, uniform(recent_s, present_s), payload())
      else
        call(table, 0, 0, element, time_s)
        call(tables + table, 0, 0, element, time_s)
      end
    end
  end
end
