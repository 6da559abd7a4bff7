-- sql-bench 2.15: nine tests of single operations, each a loop over its own tables. The names and counts of
-- the operations are those of the copy that came with MySQL 5.1. These files are read as one; each test
-- declares its tables and its operations, and the number of rows that each answer must have.
local opt, job = sysbench.opt, sysbench.job
local send = job.send
local format, floor, ceil, max, min, concat = string.format, math.floor, math.ceil, math.max, math.min, table.concat

sysbench.cmdline.about = {
  run = "sql-bench 2.15's nine tests of single operations",
  cleanup = "Tables that a killed run of sql-bench's tests left: every table that is named as the tests name theirs (sqlbench_…)",
}
sysbench.cmdline.options = {
  { name = "tests", value = "LIST", many = true,
    "The tests to run, which come in sql-bench's order [default: all nine]", choices = {
    { "alter-table" }, { "ATIS" }, { "big-tables" }, { "connect" }, { "create" }, { "insert" }, { "select" },
    { "transactions" }, { "wisconsin" },
  } },
  { name = "scale", value = "FACTOR", least = 0.001, most = 1,
    "Shrinks every loop and every table by this factor, from 0.001 to 1", 1 },
  { name = "limit-seconds", value = "SECONDS", seconds = true,
    "A loop of questions that takes longer is cut short, and what all of it would have taken is extrapolated; a loop that makes or changes tables is never cut", 600 },
  { name = "engine", value = "NAME", "The tables' storage engine (MySQL family) [default: the server's]" },
}

local PREFIX = "sqlbench_"
local mysql, postgres, sqlite = job.dialect == "mysql", job.dialect == "pgsql", job.dialect == "sqlite"

-- The tests, by their names: each makes a list of operations.
local tests = {}

-- A count of the original at the chosen scale.
local function of(full)
  return max(floor(full * opt.scale + 0.5), 1)
end

local function map(first, last, make)
  local all = {}
  for number = first, last do
    all[#all + 1] = make(number)
  end
  return all
end

local function joined(first, last, make, separator)
  return concat(map(first, last, make), separator or ",")
end

-- What is made when it is first asked for.
local function lazily(make)
  local made
  return function()
    if made == nil then
      made = make()
    end
    return made
  end
end

-- The numbers below `count`, each once, in an order without order that is the same each time.
local function shuffled(count, seed)
  math.randomseed(seed)
  local numbers = {}
  for place = 0, count - 1 do
    numbers[place] = place
  end
  for place = count - 1, 1, -1 do
    local other = math.random(0, place)
    numbers[place], numbers[other] = numbers[other], numbers[place]
  end
  return numbers
end

-- The statements that make a table of this name behind our prefix. Columns are in types that all families
-- know. Of indexes, `unique a,b` is a constraint; elsewhere than in the MySQL family another one takes a
-- statement of its own.
local function create(name, columns, primary, indexes)
  name = PREFIX .. name
  local parts, apart = { unpack(columns) }, {}
  if primary then
    parts[#parts + 1] = "PRIMARY KEY (" .. primary .. ")"
  end
  for number, index in ipairs(indexes or {}) do
    local unique = index:match("^unique (.*)")
    local own = name .. "_" .. number - 1
    if unique then
      parts[#parts + 1] = format("UNIQUE %s(%s)", mysql and own .. " " or "", unique)
    elseif mysql then
      parts[#parts + 1] = format("INDEX %s (%s)", own, index)
    else
      apart[#apart + 1] = format("CREATE INDEX %s ON %s (%s)", own, name, index)
    end
  end
  local engine = opt.engine and " ENGINE=" .. opt.engine or ""
  return { format("CREATE TABLE %s (%s)%s", name, concat(parts, ", "), engine), unpack(apart) }
end

-- Operations -----------------------------------------------------------------------------------

-- The steps of a turn: a question that must return so many rows, a statement that must change so many, one
-- that does neither, and one that only begins, ends or prepares something.
local function ask(rows, sql)
  send(0, sql, rows, 0)
end
local function change(rows, sql)
  send(0, sql, 0, rows)
end
local function tell(sql)
  send(0, sql)
end
local function tell_all(statements)
  for _, sql in ipairs(statements) do
    send(0, sql)
  end
end
local function aside(sql)
  send(1, sql)
end

-- A loop with turns, from 0, that are dealt out among the clients. `more` may have:
--   planned       what the original prints, if that is not the number of turns
--   counts_rows   rows changed are counted, and not turns
--   alone         why it is always one client's
--   cut           whether a time limit may end it early: questions, if nothing is said. Not if later operations
--                 depend on its changes: their tables would be smaller, and a slow disk would look fast
--   before        statements that make what it works on; not timed
--   check         a question about the tables afterwards, and the only right answer
--   prepared      a statement with one parameter that the clients prepare as they connect
--   refused       every statement must be refused, as a row that is there already
--   needs         the operation that must have finished for this one to mean something
--   skipped       why it is not run at all
--   set_up, rollback   statements of sessions that have transactions
--   aside, connects    whether turns have such steps
local function operation(name, kind, turns, turn, more)
  local own = { name = name, kind = kind, turns = turns, planned = turns, turn = turn, cut = kind == "read", before = {} }
  for key, value in pairs(more or {}) do
    own[key] = value
  end
  return own
end

-- A loop of one question.
local function query(name, turns, rows, sql, more)
  return operation(name, "read", turns, function()
    ask(rows, sql)
  end, more)
end

-- A loop through so many questions in turn; each is a pair of the rows in its answer and its text.
local function rounds(name, count, number, make, more)
  local questions = lazily(make)
  return operation(name, "read", count * number, function(index)
    local question = questions()[index % number + 1]
    ask(question[1], question[2])
  end, more)
end
