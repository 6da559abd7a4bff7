-- Scripts that come with the program. A job says what is to be done, stage after stage; the turns of a stage are
-- dealt out among the clients. A steady load has tables that `prepare` fills, and turns without end.
local host = ...

local sysbench, client, guarded, load_script = host.sysbench, host.client, host.guarded, host.load_script
if not host.is_ours then
  return client
end
local yield = host.yield
local unpack, format = unpack, string.format
local NEXT, FAIL, STEPS, LAST_STEPS = 10, 12, 30, 31
local SEND, CALL, COME_AGAIN, STAGE, EXECUTE, COLUMN, KEEP, ATTEMPT, LOAD = 20, 21, 22, 23, 24, 25, 26, 27, 29

local job = { dialect = host.driver, clients = host.general.threads, letters = host.letters, clock_ns = host.clock_ns,
  tell = function(text)
    host.print(text .. "\n")
  end }
sysbench.job = job

-- Beside the clients, on a connection of its own. `doing` says in a message what has failed. ------------

function job.execute(sql, doing)
  return yield(EXECUTE, sql, doing)
end

-- The first column of an answer, without NULL.
function job.column(sql, doing)
  return yield(COLUMN, sql, doing)
end

function job.value(sql, doing)
  return yield(COLUMN, sql, doing)[1]
end

-- What the server says against a query; nil: it answers.
function job.attempt(sql, doing)
  return yield(ATTEMPT, sql, doing)
end

-- Keeps the first column for the clients of the next stage; returns how many values it has.
function job.keep(sql, doing)
  return yield(KEEP, sql, doing)
end

-- By dialect: whether there is a table, and a secondary index of it that begins with a column. PostgreSQL keeps names
-- that are not quoted in small letters.
local EXISTS = {
  mysql = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '%s'",
  pgsql = "SELECT COUNT(to_regclass('%s'))",
  sqlite = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = '%s'",
}
local INDEXED = {
  mysql = [[SELECT COUNT(*) FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = '%s' AND column_name = '%s' AND seq_in_index = 1]],
  pgsql = [[SELECT COUNT(*) FROM pg_index i
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = to_regclass('%s') AND i.indisvalid AND a.attname = lower('%s')]],
  sqlite = [[SELECT COUNT(*) FROM pragma_index_list('%s') l
    JOIN pragma_index_info(l.name) i WHERE i.seqno = 0 AND i.name = '%s']],
}

-- An empty table counts.
function job.exists(name, doing)
  return (tonumber(job.value(format(EXISTS[job.dialect], name), doing)) or 0) > 0
end

function job.indexed(name, column, doing)
  return (tonumber(job.value(format(INDEXED[job.dialect], name, column), doing)) or 0) > 0
end

-- Fills a table in the way that is fastest: `row` returns the values of the row with this number, from 1; without
-- it, the program makes sysbench's rows. Returns how many rows the table has then.
function job.load(name, columns, rows, row)
  return yield(LOAD, { name = name, columns = columns, rows = rows, row = row })
end

-- Ends the program; the code is `arguments`, or one of docs/protocol.md.
function job.refuse(code, message)
  yield(FAIL, message, code)
end

-- 64 bits that depend on all three: the finaliser of SplitMix64 (Steele, Lea and Flood 2014) over their Weyl sum.
function job.scatter(first, second, third)
  local mixed = first * 0x9E3779B97F4A7C15ULL + second * 0xD1B54A32D192ED03ULL + third * 0x8CB92BA72F3D8DD7ULL
  mixed = bit.bxor(mixed, bit.rshift(mixed, 30)) * 0xBF58476D1CE4E5B9ULL
  mixed = bit.bxor(mixed, bit.rshift(mixed, 27)) * 0x94D049BB133111EBULL
  return bit.bxor(mixed, bit.rshift(mixed, 31))
end

-- The tables that a workload owns -------------------------------------------------------------------------

function job.drop(names)
  local dropped = 0
  for _, name in ipairs(names) do
    dropped = dropped + (job.exists(name, "looking for tables") and 1 or 0)
  end
  for _, name in ipairs(names) do
    job.execute("DROP TABLE IF EXISTS " .. name, "dropping tables")
  end
  job.tell(format("%d table%s dropped", dropped, dropped == 1 and "" or "s"))
end

-- Only one family has a choice.
function job.check_engine(engine)
  if engine and job.dialect ~= "mysql" then
    job.refuse("arguments", format("--engine %s: only the MySQL family has a choice of storage engines; leave it out", engine))
  end
end

-- The command that drops what these options name.
local function cleanup_of(which)
  return format("diskproof-load cleanup %s%s", host.script, which and which ~= "" and " " .. which or "")
end

-- Checks of the tables before any client connects. `made_by` are the options by which `prepare` makes what the run
-- needs, `which` those by which `cleanup` finds it.
function job.owned(made_by, which)
  local looking, owned = "looking at the tables", {}
  local prepare = format("diskproof-load prepare %s %s", host.script, made_by)
  local cleanup = cleanup_of(which)

  function owned.value(sql)
    return job.value(sql, looking)
  end

  function owned.exists(name)
    return job.exists(name, looking)
  end

  -- Tables that are not what the run needs, and how to make them again.
  function owned.remake(...)
    job.refuse("tables", format("%s; make the tables again with `%s` and `%s`", format(...), cleanup, prepare))
  end

  function owned.require(name)
    if not owned.exists(name) then
      job.refuse("tables", format("table %s does not exist; make it with `%s`", name, prepare))
    end
  end

  -- Refuses a table of this name that lacks columns of ours: it is somebody else's.
  function owned.require_columns(name, columns)
    columns = table.concat(columns, ", ")
    local complaint = job.attempt(format("SELECT %s FROM %s LIMIT 1", columns, name), looking)
    if complaint then
      job.refuse("tables", format("table %s does not have the columns %s, so this workload did not make it (%s); choose another database",
        name, columns, complaint))
    end
  end

  -- Refuses to go on where tables bear our names and are not ours.
  function owned.refuse_foreign(columns)
    for name, own in pairs(columns) do
      if owned.exists(name) then
        owned.require_columns(name, own)
      end
    end
  end

  -- Refuses a table without this index, which queries of the run need.
  function owned.require_index(name, column)
    if not job.indexed(name, column, looking) then
      owned.remake("table %s has no index on column %s", name, column)
    end
  end

  -- Whether the table's storage engine has no transactions; elsewhere than in one family, all have.
  function owned.lacks_transactions(name)
    local has = job.dialect == "mysql" and owned.value(format([[SELECT e.transactions FROM information_schema.tables t
      JOIN information_schema.engines e ON e.engine = t.engine
      WHERE t.table_schema = DATABASE() AND t.table_name = '%s']], name))
    return has and has:upper() ~= "YES"
  end

  function owned.require_transactions(name)
    if owned.lacks_transactions(name) then
      owned.remake("table %s has a storage engine without transactions", name)
    end
  end

  return owned
end

-- Has a stage done. Its function `review` gets the number of errors, and whether all turns were taken; it
-- may return in words what is wrong.
local review
function job.stage(stage)
  review = stage.review
  yield(STAGE, stage)
end

-- In a client: the steps of a turn. The script does not wait for their replies, so many are handed over at once:
-- that saves most of the way. ----------------------------------------------------------------------------

-- Values of a step, and of the steps that are handed over at once.
local WIDTH, MOST = 8, 8 * 50
local shown
local batch, filled = {}, 0

local function step(op, place, first, second, third, fourth, fifth, sixth)
  if shown then
    shown[#shown + 1] = { op, place, first, second, third }
    return
  end
  if filled == MOST then
    filled = 0
    yield(STEPS, nil, unpack(batch, 1, MOST))
  end
  local at = filled
  batch[at + 1], batch[at + 2], batch[at + 3], batch[at + 4] = op, place, first, second
  batch[at + 5], batch[at + 6], batch[at + 7], batch[at + 8] = third, fourth, fifth, sixth
  filled = at + WIDTH
end

-- A statement under a type of the stage, from 0; it must send and change so many rows.
function job.send(kind, sql, rows, affected)
  step(SEND, kind, sql, rows, affected)
end

-- A statement of the stage's catalogue, by its number from 0, with up to four parameters.
function job.call(statement, rows, affected, first, second, third, fourth)
  step(CALL, statement, rows, affected, first, second, third, fourth)
end

-- Leaves the server and comes again.
function job.come_again(kind)
  step(COME_AGAIN, kind)
end

-- The statements of a turn that is not taken, with the rows that each must send and change.
function job.shown(turn, index)
  shown = {}
  turn(index)
  local all = {}
  for _, own in ipairs(shown) do
    if own[1] == SEND then
      all[#all + 1] = { kind = own[2], sql = own[3], rows = own[4], affected = own[5] }
    end
  end
  shown = nil
  return all
end

-- A text that was kept for this stage, by its number from 1.
job.text = host.text_at
job.texts = host.texts

-- Courses ---------------------------------------------------------------------------------------------

local function course(name)
  client[name] = guarded(function(...)
    local own = _G[name] or function() end
    yield(NEXT, own(...))
  end)
end

for _, name in ipairs({ "check", "plan", "stages", "close", "cleanup", "tables", "fill", "index", "catalogue", "verify" }) do
  course(name)
end

client.load = guarded(function()
  load_script()
  yield(NEXT, sysbench.cmdline)
end)

-- Before the first part of the tables is filled; none of them may be there.
client.define = guarded(function()
  local parts, which, names = _G.tables()
  for place, part in ipairs(names or parts) do
    local name = names and names[place] or part.name
    if job.exists(name, "looking for tables") then
      job.refuse("tables", format("table %s exists already; drop the old tables with `%s` first", name, cleanup_of(which)))
    end
  end
  yield(NEXT, _G.define and _G.define())
end)

client.review = guarded(function(...)
  yield(NEXT, review and review(...))
end)

local turn
function client.enter(number)
  load_script()
  turn = _G.enter(host.key, number)
end

client.turns = guarded(function(index)
  while true do
    -- A turn that was broken off may have left steps.
    filled = 0
    turn(index)
    if filled > 0 then
      index = yield(LAST_STEPS, nil, unpack(batch, 1, filled))
    else
      index = yield(NEXT)
    end
  end
end)

return client
