-- The tables that the tests make, by their names: a run refuses those that are there before it, and drops its own.
-- Other tables with our prefix are the user's. -------------------------------------------------------------

local OURS = {}
for _, name in ipairs({ "bench", "bench1", "bench2", "bench3", "bench4", "many_keys", "onek", "tenk1", "tenk2",
  "bprime" }) do
  OURS[name] = true
end
for _, declared in ipairs(ATIS) do
  OURS[declared.name] = true
end

-- Whether a test would give a table this name. Those of `create` have a number behind them, and so has each client.
function is_ours(name)
  local own = name:sub(1, #PREFIX) == PREFIX and name:sub(#PREFIX + 1) or ""
  local digits = own:match("^many_(%d+)$") or own:match("^bench_(%d+)$")
  return OURS[own] or digits and (digits == "0" or digits:sub(1, 1) ~= "0") or false
end

local FIND = {
  mysql = "SELECT table_name FROM information_schema.tables WHERE table_schema=DATABASE() AND LEFT(table_name,9)='sqlbench_'",
  pgsql = "SELECT relname FROM pg_class WHERE relkind='r' AND pg_table_is_visible(oid) AND left(relname,9)='sqlbench_'",
  sqlite = "SELECT name FROM sqlite_master WHERE type='table' AND substr(name,1,9)='sqlbench_'",
}

local function find(doing)
  local found = {}
  for _, name in ipairs(job.column(FIND[job.dialect], doing)) do
    if is_ours(name) then
      found[#found + 1] = name
    end
  end
  return found
end

-- PostgreSQL holds a lock on each table until a statement's end, and has room for 64 to a connection by default.
local function drop_all(doing)
  local names, at_once = find(doing), sqlite and 1 or 50
  for first = 1, #names, at_once do
    job.execute("DROP TABLE " .. concat(names, ",", first, min(first + at_once - 1, #names)), doing)
  end
  return names
end

function cleanup()
  local names = drop_all("dropping tables")
  if #names == 0 then
    job.tell("there are no tables of sqlbench")
  elseif #names <= 40 then
    job.tell("dropped " .. concat(names, ", "))
  else
    job.tell(format("dropped %s, and %d more", concat(names, ", ", 1, 40), #names - 40))
  end
end

function close()
  drop_all("dropping tables (`diskproof-load cleanup sqlbench` drops what is left)")
end

-- The job --------------------------------------------------------------------------------------

-- The chosen tests with their operations, in sql-bench's order.
function chosen()
  local asked, all = nil, {}
  for _, name in ipairs(opt.tests or {}) do
    asked = asked or {}
    asked[name:lower()] = true
  end
  for _, name in ipairs({ "alter-table", "ATIS", "big-tables", "connect", "create", "insert", "select", "transactions",
    "wisconsin" }) do
    if not asked or asked[name:lower()] then
      all[#all + 1] = { name = name, operations = tests[name]() }
    end
  end
  return all
end

-- A statement of an operation, to show what it does: of a long one, the beginning.
local function example(own)
  local text = own.prepared
  for _, shown in ipairs(text and {} or job.shown(own.turn, 0)) do
    text = text or shown.kind == 0 and shown.sql
  end
  return text and #text > 200 and text:sub(1, 200) .. " …" or text or ""
end

function check()
  if not opt.has_tables then
    job.refuse("arguments", "sqlbench checks the number of rows returned, and null returns none; use a database")
  elseif opt.engine and not mysql then
    job.refuse("arguments", "--engine: only the MySQL family has a choice of storage engines; leave it out")
  end
end

-- The storage engine that the tables will have, if the family has several; one without transactions cannot run a test.
local function find_engine()
  local where = opt.engine and format("engine='%s' AND support IN ('YES','DEFAULT')", opt.engine) or "support='DEFAULT'"
  local function look(column, condition)
    return job.value(format("SELECT %s FROM information_schema.engines WHERE %s", column, condition),
      "asking for storage engines")
  end
  local name = look("engine", where)
  if not name then
    local known = look("GROUP_CONCAT(engine)", "support IN ('YES','DEFAULT')") or ""
    job.refuse("arguments", format("--engine %s: this server has no such storage engine; it has %s",
      opt.engine or "(its default)", (known:gsub(",", ", "))))
  end
  if look("transactions", where) ~= "YES" then
    engine_without_transactions = format("engine %s has no transactions", name)
  end
  return name
end

function plan()
  local engine = mysql and find_engine()
  local left = find("looking for tables")[1]
  if left then
    job.refuse("tables", format("table %s exists already, and sqlbench uses such names. If it is yours, rename it; if " ..
      "an earlier run left it, drop it with `diskproof-load cleanup sqlbench`", left))
  end
  local statements = {}
  for _, test in ipairs(chosen()) do
    for _, own in ipairs(test.operations) do
      statements[#statements + 1] = { name = own.name, kind = own.kind, sql = example(own) }
      if own.alone and job.clients > 1 then
        job.tell(format("%s, %s: one client, since %s", test.name, own.name, own.alone))
      end
    end
  end
  local size = opt.scale == 1 and "at full size" or "at scale " .. opt.scale
  return {
    mix = engine and format("%s, %s tables", size, engine) or size,
    prepares = true,
    statements = statements,
    leaves = "drop the tables with `diskproof-load cleanup sqlbench`",
  }
end

local function catalogue(own)
  local types = { { name = own.name, kind = own.kind, prepare = true, statements = { own.prepared } } }
  if own.aside then
    types[2] = { name = "begin/commit/prepare", kind = "other" }
  elseif own.connects then
    types[2] = { name = "reconnect", kind = "other" }
  end
  return { types = types, set_up = own.set_up, rollback = own.rollback }
end

function stages()
  for _, test in ipairs(chosen()) do
    close()
    -- Operations of this test that were not done to their end; and the first of those that was to change the tables:
    -- they are not what they should be, and the times of what comes after it would mean nothing.
    local unfinished, spoilt_by = {}, nil
    for _, own in ipairs(test.operations) do
      local missing = unfinished[own.needs] and own.needs or spoilt_by
      local skip = own.skipped or missing and missing .. " did not finish"
      if skip then
        unfinished[own.name] = true
      else
        for _, sql in ipairs(own.before) do
          job.execute(sql, "making the tables for " .. own.name)
        end
      end
      -- Asks the tables whether the operation has left them as it should.
      local function review(errors, is_whole)
        if not is_whole or errors > 0 then
          unfinished[own.name] = true
          if own.kind ~= "read" and not own.cut then
            spoilt_by = spoilt_by or own.name
          end
        elseif own.check then
          local sql, wanted = own.check[1], format("%d", own.check[2])
          local answer = job.value(sql, format("asking `%s`", sql))
          if answer ~= wanted then
            unfinished[own.name], spoilt_by = true, spoilt_by or own.name
            return format("`%s` is %s afterwards, but must be %s", sql, answer or "NULL", wanted)
          end
        end
      end
      job.stage({
        test = test.name,
        name = own.name,
        key = test.name .. "/" .. own.name,
        skip = skip,
        planned = own.planned,
        turns = own.turns,
        clients = own.alone and 1 or min(job.clients, own.turns),
        counts_rows = own.counts_rows,
        limit_s = own.cut and opt.limit_seconds or nil,
        refused = own.refused,
        checks_rows = true,
        -- Rows changed by other statements, such as an ALTER TABLE that copies them, are counted by some servers and
        -- not by others.
        checks_affected = own.kind == "write",
        catalogue = catalogue(own),
        review = review,
      })
    end
  end
end

function enter(key)
  local test, name = key:match("^([^/]*)/(.*)$")
  for _, own in ipairs(tests[test]()) do
    if own.name == name then
      -- What turns make when they first need it is made now, before the clock runs.
      job.shown(own.turn, 0)
      job.shown(own.turn, own.turns - 1)
      return own.turn
    end
  end
end
