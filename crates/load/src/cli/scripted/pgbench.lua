-- What pgbench runs without scripts of the user's: its tables, and its three transactions after TPC-B in the language
-- of its own scripts, which the program runs (workload/script).
local opt, job = sysbench.opt, sysbench.job
local format = string.format

-- In the order of their numbers, with the columns that are filled; those of branches and tellers have no filler.
local BRANCHES, TELLERS, ACCOUNTS, HISTORY = "pgbench_branches", "pgbench_tellers", "pgbench_accounts", "pgbench_history"
local NAMES = { BRANCHES, TELLERS, ACCOUNTS, HISTORY }
local COLUMNS = {
  [BRANCHES] = { "bid", "bbalance" },
  [TELLERS] = { "tid", "bid", "tbalance" },
  [ACCOUNTS] = { "aid", "bid", "abalance", "filler" },
}
local OF_BRANCH = { [BRANCHES] = 1, [TELLERS] = 10, [ACCOUNTS] = 100000, [HISTORY] = 0 }
-- What PostgreSQL makes of an account's empty filler, and SQLite does not.
local FILLER_BYTES = 84
-- From this scale on an account's number needs 64 bits.
local LARGE_SCALE = 20000
local BUILT_IN = { "tpcb-like", "simple-update", "select-only" }
local TABLES = { "run", "prepare" }

sysbench.cmdline.steady, sysbench.cmdline.native = true, true
sysbench.cmdline.about = {
  run = "pgbench's own transactions, after TPC-B",
  prepare = "pgbench's four tables",
  cleanup = "pgbench's four tables",
}
sysbench.cmdline.options = {
  { name = "scale", value = "N", whole = true, least = 1, most = 200000, verbs = TABLES,
    "100,000 accounts, 10 tellers and a branch for each (pgbench: --scale)", 1 },
  { name = "builtin", value = "NAME[@WEIGHT]", text = true, many = true,
    "The transaction: tpcb-like, simple-update (pgbench: -N) or select-only (pgbench: -S); of several with weights, such as tpcb-like@1,select-only@9, one is drawn each time", BUILT_IN[1] },
  { name = "protocol", value = "PROTOCOL", choices = { { "text" }, { "prepared" } },
    "Put values into the statement's text, or bind them to statements prepared once (pgbench: -M simple, -M prepared)", "text" },
  { name = "seed", value = "N", whole = true, least = 0, most = 9007199254740991,
    "The same seed gives the same draws [default: another one each time]" },
  { name = "engine", value = "NAME", verbs = { "prepare" },
    "The tables' storage engine (MySQL family only) [default: innodb]" },
}

local DRAW_ACCOUNT = "\\set aid random(1, 100000 * :scale)\n"
local DRAW_OTHERS = [[
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
]]
local READ = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
local UPDATE = "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n"
local UPDATE_OTHERS = [[
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
]]
local INSERT = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n"
local TEXTS = {
  ["tpcb-like"] = DRAW_ACCOUNT .. DRAW_OTHERS .. "BEGIN;\n" .. UPDATE .. READ .. UPDATE_OTHERS .. INSERT .. "COMMIT;\n",
  ["simple-update"] = DRAW_ACCOUNT .. DRAW_OTHERS .. "BEGIN;\n" .. UPDATE .. READ .. INSERT .. "COMMIT;\n",
  ["select-only"] = DRAW_ACCOUNT .. READ,
}

-- The transactions that are asked for, with their weights.
local function chosen()
  local all = {}
  for place, word in ipairs(opt.builtin) do
    local name, weight = word:match("^([^@]*)@(.*)$")
    name, weight = name or word, weight or "1"
    if not TEXTS[name] then
      job.refuse("arguments", format("--builtin %s: there is none; it is one of %s", word, table.concat(BUILT_IN, ", ")))
    elseif not weight:match("^0*[1-9]%d*$") or tonumber(weight) > 4294967295 then
      job.refuse("arguments", format("--builtin %s: %s is not a weight; give a number from 1", word, weight))
    end
    all[place] = { name = name, text = TEXTS[name], weight = tonumber(weight) }
  end
  return all
end

function check()
  chosen()
  job.check_engine(opt.engine)
end

function tables()
  local all = {}
  for number, name in ipairs(NAMES) do
    all[number] = { name = name, rows = opt.scale * OF_BRANCH[name] }
  end
  return all
end

local function definition(name, key)
  -- Only a key of the type INTEGER is the order of SQLite's rows.
  local int = job.dialect == "sqlite" and "INTEGER" or "INT"
  local account = opt.scale >= LARGE_SCALE and job.dialect ~= "sqlite" and "BIGINT" or int
  local columns = ({
    [BRANCHES] = format("bid %s NOT NULL, bbalance INT, filler CHAR(88)", int),
    [TELLERS] = format("tid %s NOT NULL, bid INT, tbalance INT, filler CHAR(84)", int),
    [ACCOUNTS] = format("aid %s NOT NULL, bid INT, abalance INT, filler CHAR(84)", account),
    [HISTORY] = format("tid INT, bid INT, aid %s, delta INT, mtime TIMESTAMP, filler CHAR(22)", account),
  })[name]
  local suffix = ""
  if job.dialect == "mysql" then
    suffix = " ENGINE=" .. (opt.engine or "innodb")
  elseif job.dialect == "pgsql" and name ~= HISTORY then
    suffix = " WITH (fillfactor = 100)"
  end
  return format("CREATE TABLE %s (%s%s)%s", name, columns, key and ", PRIMARY KEY (" .. key .. ")" or "", suffix)
end

function fill(number)
  local name = NAMES[number]
  local columns, of_branch = COLUMNS[name], OF_BRANCH[name]
  if not columns then
    job.execute(definition(name))
    return 0
  end
  -- A key that comes after the rows is PostgreSQL's quicker way; elsewhere it is the order of the rows.
  local is_keyed_later = job.dialect == "pgsql"
  job.execute(definition(name, not is_keyed_later and columns[1]))
  local filler = name == ACCOUNTS and string.rep(" ", job.dialect == "sqlite" and FILLER_BYTES or 0) or nil
  local loaded = job.load(name, columns, opt.scale * of_branch, function(id)
    if name == BRANCHES then
      return id, 0
    end
    return id, math.floor((id - 1) / of_branch) + 1, 0, filler
  end)
  if is_keyed_later then
    job.execute(format("ALTER TABLE %s ADD PRIMARY KEY (%s)", name, columns[1]))
  end
  return loaded
end

function cleanup()
  job.drop(NAMES)
end

-- Finds out before the clients connect whether the tables are those that are asked for.
local function look_at_tables()
  local owned = job.owned("--scale " .. opt.scale)
  for _, name in ipairs(NAMES) do
    owned.require(name)
  end
  if job.dialect == "pgsql" then
    owned.require_index(ACCOUNTS, "aid")
  end
  local branches = tonumber(owned.value("SELECT COUNT(*) FROM " .. BRANCHES)) or 0
  if branches ~= opt.scale then
    owned.remake("the tables were made with --scale %d, and the run has --scale %d", branches, opt.scale)
  elseif tonumber(owned.value("SELECT MAX(aid) FROM " .. ACCOUNTS)) ~= opt.scale * OF_BRANCH[ACCOUNTS] then
    owned.remake("the accounts were not loaded to their end")
  end
end

function plan()
  if opt.has_tables then
    look_at_tables()
  end
  local scripts, names = chosen(), {}
  for place, own in ipairs(scripts) do
    names[place] = #scripts == 1 and own.name or format("%s@%d", own.name, own.weight)
  end
  return { mix = table.concat(names, " "), prepares = opt.protocol == "prepared", scripts = scripts }
end
