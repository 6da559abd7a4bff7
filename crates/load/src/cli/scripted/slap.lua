-- mysqlslap's workload of its own making (--auto-generate-sql): a table, a short list of statements, and
-- clients that go through the list again and again.
local opt, job, uniform = sysbench.opt, sysbench.job, sysbench.rand.uniform
local floor, ceil, min, concat = math.floor, math.ceil, math.min, table.concat

sysbench.cmdline.about = {
  run = "mysqlslap's generated statements: so many, timed as a whole, in several iterations",
  cleanup = "The table slap_t1, if a run was killed before it could drop it",
}
sysbench.cmdline.options = {
  { name = "queries", value = "N", whole = true, least = 1, most = 1e12,
    [[Statements of all clients together. Each client runs its share, rounded down, going through the list repeatedly. If there are fewer statements than --clients, it goes through the list once, as in mysqlslap [default: the list once for each client] (--number-of-queries)]] },
  { name = "iterations", value = "N", whole = true, least = 1, most = 4294967295,
    "Number of iterations, each on a new table (--iterations)", 1 },
  { name = "load-type", "The kind of statements (--auto-generate-sql-load-type)", "mixed", choices = {
    { "mixed", "INSERT and SELECT in turn, INSERT first; the SELECT reads all rows, or one if there is a key" },
    { "read", "SELECT of all rows" },
    { "key", "SELECT of one row by its key" },
    { "write", "INSERT" },
    { "update", "UPDATE of all rows, or of one if there is a key" },
  } },
  { name = "int-columns", value = "N", whole = true, least = 0, most = 500,
    "Integer columns of the table (--number-int-cols)", 1 },
  { name = "char-columns", value = "N", whole = true, least = 0, most = 500,
    "Text columns of the table, each of 126 characters (--number-char-cols)", 1 },
  { name = "auto-increment",
    "Give the table a key that the database counts up (--auto-generate-sql-add-autoincrement)", false },
  { name = "write-number", value = "N", whole = true, least = 1, most = 1e9,
    "Rows at the start, plus one: mysqlslap counts the CREATE TABLE too. At most 1000000 if rows are read by key (--auto-generate-sql-write-number)", 100 },
  { name = "commit", value = "N", whole = true, least = 1, most = 1e9,
    "Statements in a transaction [default: each commits itself] (--commit)" },
  { name = "engine", value = "NAME",
    "The table's storage engine, MySQL family only [default: the server's own] (--engine)" },
  { name = "seed", value = "N", whole = true, least = 0, most = 9007199254740991,
    "The same seed gives the same statements", 1 },
}

-- mysqlslap's `t1`, in the database of the URL and under a name that is no one else's.
local TABLE = "slap_t1"
-- Digits and letters without the capitals U and V, which mysqlslap leaves out.
local ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTWXYZabcdefghijklmnopqrstuvwxyz"
-- mysqlslap's integers are those of C's random(), and it fills 126 of a text's 128 bytes.
local LAST_INT, TEXT_BYTES = 2 ^ 31 - 1, 126
-- Different rows at the start, and the statements of the list: one more than the ten that mysqlslap counts.
local DIFFERENT_ROWS, LENGTH = 10, 11
-- Every key is held in memory.
local MOST_WITH_KEYS = 1000000

local function asks_by_key()
  local kind = opt.load_type
  return kind == "key" or (kind == "mixed" or kind == "update") and opt.auto_increment
end

function check()
  local refuse = function(message)
    job.refuse("arguments", message)
  end
  if opt.int_columns + opt.char_columns == 0 then
    refuse("--int-columns 0 and --char-columns 0 leave the table without columns; raise one of them")
  elseif opt.load_type == "key" and not opt.auto_increment then
    refuse("--load-type key reads rows by key; add --auto-increment")
  elseif asks_by_key() and opt.write_number == 1 then
    refuse("--write-number 1 loads no rows (it counts the CREATE TABLE), so there is no key to read; raise it")
  elseif asks_by_key() and opt.write_number > MOST_WITH_KEYS then
    refuse("--write-number: at most 1000000 rows can be read by key, because every key is held in memory")
  elseif opt.engine and job.dialect ~= "mysql" then
    refuse("--engine: only the MySQL family has a choice of storage engines; leave it out")
  end
end

-- Statements of each client: its share, or the list once.
local function per_client()
  local share = opt.queries and floor(opt.queries / job.clients) or 0
  return share > 0 and share or LENGTH
end

-- The table ------------------------------------------------------------------------------------

-- mysqlslap's `serial` is MySQL's: 64 bits with a unique index, which is not called the primary key.
local SERIAL = { mysql = "id serial", pgsql = "id bigserial unique",
  sqlite = "id integer primary key autoincrement" }

local function value_columns()
  local names = {}
  for number = 1, opt.int_columns do
    names[#names + 1] = "intcol" .. number
  end
  for number = 1, opt.char_columns do
    names[#names + 1] = "charcol" .. number
  end
  return names
end

local function definition()
  local columns = { opt.auto_increment and SERIAL[job.dialect] or nil }
  for place, name in ipairs(value_columns()) do
    local kind = place > opt.int_columns and "VARCHAR(128)" or job.dialect == "mysql" and "INT(32)" or "INTEGER"
    columns[#columns + 1] = name .. " " .. kind
  end
  return "CREATE TABLE " .. TABLE .. " (" .. concat(columns, ",") .. ")" .. (opt.engine and " ENGINE=" .. opt.engine or "")
end

-- Statements -----------------------------------------------------------------------------------

local function values(into)
  for _ = 1, opt.int_columns do
    into[#into + 1] = string.format("%d", uniform(0, LAST_INT))
  end
  for _ = 1, opt.char_columns do
    into[#into + 1] = "'" .. job.letters(ALPHABET, TEXT_BYTES) .. "'"
  end
  return into
end

local function insert()
  local all = {}
  if opt.auto_increment then
    all[1] = job.dialect == "pgsql" and "DEFAULT" or "NULL"
  end
  return "INSERT INTO " .. TABLE .. " VALUES (" .. concat(values(all), ",") .. ")"
end

local function condition()
  return asks_by_key() and " WHERE id = ?" or ""
end

local function update()
  local columns, drawn = value_columns(), values({})
  for place, name in ipairs(columns) do
    columns[place] = name .. " = " .. drawn[place]
  end
  return "UPDATE " .. TABLE .. " SET " .. concat(columns, ",") .. condition()
end

local function many(count, make)
  local all = {}
  for place = 1, count do
    all[place] = make()
  end
  return all
end

-- The types of statements, and how many of the list are of the first: `mixed` takes turns.
local function list()
  local kind = opt.load_type
  local select = "SELECT " .. concat(value_columns(), ",") .. " FROM " .. TABLE .. condition()
  local reading = { name = "select", kind = "read", statements = { select } }
  if kind == "read" or kind == "key" then
    return { reading }
  elseif kind == "update" then
    return { { name = "update", kind = "write", statements = many(LENGTH, update) } }
  end
  local inserts = kind == "mixed" and ceil(LENGTH / 2) or LENGTH
  local writing = { name = "insert", kind = "write", statements = many(inserts, insert) }
  return { writing, kind == "mixed" and reading or nil }
end

-- mysqlslap turns a session's own commits off; other databases need a BEGIN. SQLite takes the write lock at
-- once if the transaction will write.
local function begin()
  if job.dialect == "mysql" then
    return nil
  end
  local reads = opt.load_type == "read" or opt.load_type == "key"
  return job.dialect == "sqlite" and not reads and "BEGIN IMMEDIATE" or "BEGIN"
end

local function catalogue()
  local types = list()
  local all = { types = types }
  if opt.commit then
    if begin() then
      types[#types + 1] = { name = "begin", kind = "other", statements = { begin() } }
    else
      all.set_up = "SET AUTOCOMMIT=0"
    end
    types[#types + 1] = { name = "commit", kind = "other", statements = { "COMMIT" } }
    all.rollback = "ROLLBACK"
  end
  return all
end

-- A client -------------------------------------------------------------------------------------

-- A turn is a transaction: so many statements of the list, from where the last one ended.
function enter()
  local kind, clients, queries = opt.load_type, job.clients, per_client()
  local call = job.call
  local inserts = kind == "write" and LENGTH or kind == "mixed" and ceil(LENGTH / 2) or 0
  local statements = (kind == "update" or kind == "write") and LENGTH or inserts + 1
  local size = opt.commit or 1
  local before = opt.commit and begin() and statements
  local commit = opt.commit and statements + (before and 1 or 0)
  local keys = asks_by_key() and job.texts

  local function ask(place)
    local statement = place
    if kind == "mixed" then
      statement = place % 2 == 0 and place / 2 or inserts
    elseif kind == "read" or kind == "key" then
      statement = 0
    end
    if keys and statement >= inserts then
      call(statement, 0, 0, job.text(uniform(1, keys)))
    else
      call(statement)
    end
  end

  return function(index)
    local first = floor(index / clients) * size
    local stop = min(first + size, queries)
    if before then
      call(before)
    end
    for at = first, stop - 1 do
      ask(at % LENGTH)
    end
    if commit then
      call(commit)
      -- After its last transaction, mysqlslap commits once more.
      if stop == queries and stop - first == size and not before then
        call(commit)
      end
    end
  end
end

-- The job --------------------------------------------------------------------------------------

local function say_rounding()
  local asked, clients, each = opt.queries, job.clients, per_client()
  if not asked or each * clients == asked then
    return
  end
  local why = asked >= clients
    and string.format("each of %d clients runs %d, the share rounded down", clients, each)
    or string.format("there is not one for each of %d clients, and each goes once through the list of %d", clients, each)
  job.tell(string.format("--queries %d: %d are run in each iteration; %s, as in mysqlslap", asked, each * clients, why))
end

local all

function plan()
  if job.exists(TABLE, "looking for the table") then
    job.refuse("tables", "table " .. TABLE .. " exists already; drop it with `diskproof-load cleanup slap` first")
  end
  say_rounding()
  all = catalogue()
  local statements = {}
  for place, known in ipairs(all.types) do
    statements[place] = { name = known.name, kind = known.kind, sql = known.statements and known.statements[1] }
  end
  return {
    mix = opt.load_type,
    statements = statements,
    leaves = "drop table " .. TABLE .. " with `diskproof-load cleanup slap`",
    queries_per_client = per_client(),
  }
end

function stages()
  local loading = many(DIFFERENT_ROWS, insert)
  for _ = 1, opt.iterations do
    job.execute(definition(), "making table " .. TABLE)
    for row = 0, opt.write_number - 2 do
      job.execute(loading[row % #loading + 1], "loading table " .. TABLE)
    end
    if asks_by_key() and job.keep("SELECT id FROM " .. TABLE .. " ORDER BY id", "loading table " .. TABLE) == 0 then
      job.refuse("tables", "table " .. TABLE .. " is empty after it was loaded, so there is no key to read; choose an --engine that keeps rows")
    end
    job.stage({
      test = "slap",
      name = opt.load_type,
      clients = job.clients,
      planned = job.clients * ceil(per_client() / (opt.commit or 1)),
      connects_late = true,
      catalogue = all,
    })
    close()
  end
end

function close()
  job.execute("DROP TABLE IF EXISTS " .. TABLE, "dropping table " .. TABLE)
end

function cleanup()
  job.drop({ TABLE })
end
