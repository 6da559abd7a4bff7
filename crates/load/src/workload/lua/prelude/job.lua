-- Scripts that come with the program. A job says what is to be done, stage after stage; the turns of a stage are
-- dealt out among the clients. A steady load has tables that `prepare` fills, and turns without end.
local host = ...

local sysbench, client, guarded, load_script = host.sysbench, host.client, host.guarded, host.load_script
if not host.is_ours then
  return client
end
local yield = host.yield
local unpack = unpack
local NEXT, FAIL, STEPS, LAST_STEPS = 10, 12, 30, 31
local SEND, CALL, COME_AGAIN, STAGE, EXECUTE, COLUMN, KEEP, EXISTS, INDEXED, LOAD = 20, 21, 22, 23, 24, 25, 26, 27, 28, 29

local job = { dialect = host.driver, clients = host.general.threads, letters = host.letters, tell = function(text)
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

-- Keeps the first column for the clients of the next stage; returns how many values it has.
function job.keep(sql, doing)
  return yield(KEEP, sql, doing)
end

function job.exists(name, doing)
  return yield(EXISTS, name, doing)
end

-- Whether a secondary index of a table begins with this column.
function job.indexed(name, column, doing)
  return yield(INDEXED, name, doing, column)
end

-- Fills a table in the way that is fastest: `row` returns the values of the row with this number, from 1. Returns
-- how many rows the table has then.
function job.load(name, columns, rows, row)
  return yield(LOAD, { name = name, columns = columns, rows = rows, row = row })
end

-- Ends the program; the code is `arguments`, or one of docs/protocol.md.
function job.refuse(code, message)
  yield(FAIL, message, code)
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
    yield(NEXT, _G[name](...))
  end)
end

for _, name in ipairs({ "check", "plan", "stages", "close", "cleanup", "tables", "fill", "catalogue" }) do
  course(name)
end

client.load = guarded(function()
  load_script()
  yield(NEXT, sysbench.cmdline)
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
