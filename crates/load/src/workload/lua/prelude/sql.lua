-- sysbench.sql: driver, connection, statements, results. Each statement is a step that the client
-- takes for the script, which sleeps until the reply is there.
local host = ...

local step, row_at = host.step, host.row
local setmetatable, type, tonumber, tostring, error, select, unpack =
  setmetatable, type, tonumber, tostring, error, select, unpack
local concat, format, sub, floor, ceil = table.concat, string.format, string.sub, math.floor, math.ceil

local QUERY, PREPARE, EXECUTE, RECONNECT, ROLLBACK, BIND = 1, 2, 3, 5, 6, 7
-- sysbench's packet of a bulk insert.
local BULK_BYTES = 524288

local sysbench = host.sysbench
local NONE = 0
local errors = { NONE = NONE, IGNORABLE = 1, FATAL = 2 }
local types = {}
for place, name in ipairs({ "NONE", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "TIME",
  "DATE", "DATETIME", "TIMESTAMP", "CHAR", "VARCHAR" }) do
  types[name] = place - 1
end
local KIND = {
  [types.TINYINT] = "i", [types.SMALLINT] = "i", [types.INT] = "i", [types.BIGINT] = "i",
  [types.FLOAT] = "d", [types.DOUBLE] = "d",
}

local sql = { error = errors, type = types }
sysbench.sql = sql
sysbench.error = { NONE = 0, RESTART_EVENT = 1 }

local driver, connection, statement, result, parameter = {}, {}, {}, {}, {}
for _, class in ipairs({ driver, connection, statement, result, parameter }) do
  class.__index = class
end
sql.driver_methods, sql.connection_methods, sql.statement_methods = driver, connection, statement

-- Errors ---------------------------------------------------------------------------------------

-- Where the script stands, outside of these files.
local function place()
  for level = 1, 20 do
    local source, line = host.inspect(level)
    if not source then
      return ""
    elseif source:sub(1, 1) == "@" then
      return format("%s:%d: ", source:sub(2), line)
    end
  end
  return ""
end

-- A refused statement: the event begins again if the error is one of those, or the script's hook
-- says so.
local function refused(con, query, errno, state, message, again)
  con.sql_errno, con.sql_state, con.sql_errmsg = errno, state, message
  local details = {
    connection = con,
    query = query,
    sql_errno = errno,
    sql_state = state,
    sql_errmsg = message,
  }
  if not again and sysbench.hooks.sql_error_ignorable then
    again = sysbench.hooks.sql_error_ignorable(details)
  end
  if again then
    con.error = errors.IGNORABLE
    if host.aborts then
      step(ROLLBACK)
    end
    details.errcode = sysbench.error.RESTART_EVENT
    setmetatable(details, { __tostring = function()
      return format("SQL error, errno = %d, state = '%s': %s", errno, state, message)
    end })
    error(details, 0)
  end
  con.error = errors.FATAL
  local shown = #query > 120 and query:sub(1, 120) .. "…" or query
  error(format("%sSQL error, errno = %d, state = '%s': %s; the statement was %s", place(), errno, state,
    message, shown), 0)
end

local function replied(con, query, ok, rows, columns, data, _, again)
  if not ok then
    refused(con, query, rows, columns, data, again)
  end
  con.error = NONE
  if not columns then
    return nil
  elseif data then
    return setmetatable({ nrows = rows, nfields = columns, data = data }, result)
  end
  -- Without rows to read, one result serves all statements of a connection, as in sysbench. A table for
  -- each would be the only garbage of a prepared statement.
  local counted = con.counted
  counted.nrows, counted.nfields = rows, columns
  return counted
end

-- Results --------------------------------------------------------------------------------------

-- Where the next row begins.
result.at = 0

local function advance(self, at, ...)
  if not at then
    return nil
  end
  self.at = at
  return { ... }
end

function result:fetch_row()
  if not self.data then
    return nil
  end
  return advance(self, row_at(self.data, self.at, self.nfields))
end

function result:free()
  self.data = ""
  self.at = 0
end

-- Connections ----------------------------------------------------------------------------------

-- The client's one connection is there from the start; `connect` hands it over.
local held, left = nil, false

function sql.driver(name)
  if name and name ~= host.driver then
    error(format("the driver %s is not that of this run, which is %s", tostring(name), host.driver), 2)
  end
  return setmetatable({}, driver)
end

function driver:name()
  return host.driver
end

function driver:connect()
  if held then
    error("a second connection of one client is not possible here; disconnect the first", 2)
  end
  if left then
    step(RECONNECT)
    left = false
  end
  held = setmetatable({ error = NONE, counted = setmetatable({}, result) }, connection)
  return held
end

local function check(con, what)
  if con ~= held then
    error(what .. " on a connection that is closed", 3)
  end
end

function connection:disconnect()
  if self == held then
    held, left = nil, true
  end
end

function connection:reconnect()
  check(self, "reconnect")
  step(RECONNECT)
end

function connection:query(text)
  check(self, "query")
  local answer = replied(self, text, step(QUERY, text))
  return answer
end

function connection:query_row(text)
  check(self, "query_row")
  local answer = replied(self, text, step(QUERY, text))
  if not answer then
    return nil
  end
  local row = answer:fetch_row()
  if not row then
    return nil
  end
  return unpack(row, 1, answer.nfields)
end

function connection:bulk_insert_init(head)
  check(self, "bulk_insert_init")
  self.bulk = { head = head, rows = {}, count = 0, bytes = #head }
end

local function flush(self)
  local bulk = self.bulk
  if bulk.count > 0 then
    local text = bulk.head .. " " .. concat(bulk.rows, ",", 1, bulk.count)
    bulk.rows, bulk.count, bulk.bytes = {}, 0, #bulk.head
    local answer = replied(self, text, step(QUERY, text))
    return answer
  end
end

function connection:bulk_insert_next(values)
  local bulk = self.bulk
  if not bulk then
    error("bulk_insert_next without bulk_insert_init", 2)
  end
  if bulk.count > 0 and bulk.bytes + #values + 1 >= BULK_BYTES then
    flush(self)
  end
  bulk.count = bulk.count + 1
  bulk.rows[bulk.count] = values
  bulk.bytes = bulk.bytes + #values + 1
end

function connection:bulk_insert_done()
  if self.bulk then
    flush(self)
    self.bulk = nil
  end
end

-- Prepared statements --------------------------------------------------------------------------

-- By a statement's number: whose parameters it has been bound to.
local binders = {}

function connection:prepare(text)
  check(self, "prepare")
  local ok, number, state, message, _, again = step(PREPARE, text)
  if not ok then
    refused(self, text, number, state, message, again)
  end
  return setmetatable({ connection = self, query = text, number = number, kinds = "" }, statement)
end

function parameter:set(value)
  if value == nil then
    self.value = nil
  elseif self.kind == "t" then
    self.value = sub(tostring(value), 1, self.longest)
  else
    local number = tonumber(value)
    if not number then
      error(format("%sset: a number is wanted, not %s", place(), tostring(value)), 0)
    end
    -- As C makes an integer of a double.
    self.value = self.kind == "i" and (number < 0 and ceil(number) or floor(number)) or number
  end
end

function parameter:set_rand_str(pattern)
  self.value = sub(sysbench.rand.string(pattern), 1, self.longest)
end

function statement:bind_create(kind, longest)
  if not KIND[kind] and (type(kind) ~= "number" or kind <= 0 or kind > types.VARCHAR) then
    error("bind_create of a type that is none of sysbench.sql.type", 2)
  end
  return setmetatable({ kind = KIND[kind] or "t", longest = longest }, parameter)
end

function statement:bind_param(...)
  local bound, kinds = { ... }, {}
  for place, own in ipairs(bound) do
    kinds[place] = own.kind
  end
  self.bound, self.count, self.kinds = bound, #bound, concat(kinds)
  binders[self.number] = nil
end

local function values(bound, place, count)
  if place == count then
    return bound[place].value
  end
  return bound[place].value, values(bound, place + 1, count)
end

function statement:execute()
  local con, bound, number = self.connection, self.bound, self.number
  check(con, "execute")
  if binders[number] ~= self then
    step(BIND, number, self.kinds)
    binders[number] = self
  end
  local answer
  if not bound then
    answer = replied(con, self.query, step(EXECUTE, number))
  elseif self.count == 1 then
    answer = replied(con, self.query, step(EXECUTE, number, bound[1].value))
  elseif self.count == 2 then
    answer = replied(con, self.query, step(EXECUTE, number, bound[1].value, bound[2].value))
  else
    answer = replied(con, self.query, step(EXECUTE, number, values(bound, 1, self.count)))
  end
  return answer
end

-- It stays prepared on the connection, so that preparing the same text again sends nothing.
function statement:close() end

-- The interface of sysbench 0.5: global functions on a connection of their own. -----------------

local own
local function implicit()
  if not own or own ~= held then
    own = held or sql.driver():connect()
  end
  return own
end

function _G.db_connect()
  return implicit()
end
function _G.db_disconnect()
  if own then
    own:disconnect()
    own = nil
  end
end
function _G.db_query(text)
  local con = implicit()
  local answer = replied(con, text, step(QUERY, text))
  return answer
end
for _, name in ipairs({ "bulk_insert_init", "bulk_insert_next", "bulk_insert_done", "prepare" }) do
  _G["db_" .. name] = function(value)
    local con = implicit()
    return con[name](con, value)
  end
end
function _G.db_bind_param(prepared, given)
  local bound = {}
  for place, value in ipairs(given) do
    local kind = type(value) == "number" and (value % 1 == 0 and "i" or "d") or "t"
    bound[place] = setmetatable({ kind = kind, value = value }, parameter)
  end
  prepared.givens = given
  prepared:bind_param(unpack(bound))
end
function _G.db_bind_result() end
function _G.db_execute(prepared)
  -- The values may have been replaced since they were bound.
  for place, value in ipairs(prepared.givens or {}) do
    prepared.bound[place]:set(value)
  end
  local answer = prepared:execute()
  return answer
end
function _G.db_store_results(answer)
  return answer
end
function _G.db_free_results(answer)
  if type(answer) == "table" and answer.free then
    answer:free()
  end
end
function _G.db_close(prepared)
  prepared:close()
end
_G.DB_ERROR_NONE, _G.DB_ERROR_DEADLOCK, _G.DB_ERROR_FAILED = 0, 1, 2
_G.DB_ERROR_RESTART_TRANSACTION = 1
