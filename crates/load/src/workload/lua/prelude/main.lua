-- Options and commands of a script, and the course of a client through it.
local host = ...

local sysbench = host.sysbench
local pcall, type, tostring, error, pairs, rawget = pcall, type, tostring, error, pairs, rawget
local match, gsub, format = string.match, string.gsub, string.format
local yield = host.yield

-- What a client yields to the program besides its steps.
local NEXT, AGAIN, FAIL = 10, 11, 12

-- Options --------------------------------------------------------------------------------------

local cmdline = {
  ARG_NULL = 0,
  ARG_BOOL = 1,
  ARG_INT = 2,
  ARG_SIZE = 3,
  ARG_DOUBLE = 4,
  ARG_STRING = 5,
  ARG_LIST = 6,
  ARG_FILE = 7,
  PARALLEL_COMMAND = true,
  command = host.command,
  script_path = host.script,
  argv = {},
}
sysbench.cmdline = cmdline
sysbench.opt = {}

local function kind_of(declared)
  local default, kind = declared[2], declared[3]
  if kind and kind ~= cmdline.ARG_NULL then
    return kind
  elseif declared.whole then
    return cmdline.ARG_INT
  elseif declared.least or declared.seconds then
    return cmdline.ARG_DOUBLE
  elseif declared.many then
    return cmdline.ARG_LIST
  elseif type(default) == "boolean" then
    return cmdline.ARG_BOOL
  elseif type(default) == "number" then
    return default % 1 == 0 and cmdline.ARG_INT or cmdline.ARG_DOUBLE
  elseif type(default) == "table" then
    return cmdline.ARG_LIST
  end
  return cmdline.ARG_STRING
end

local TRUTH = {
  ["true"] = true, on = true, yes = true, y = true, ["1"] = true,
  ["false"] = false, off = false, no = false, n = false, ["0"] = false,
}
local UNITS = { K = 1024, M = 1024 ^ 2, G = 1024 ^ 3, T = 1024 ^ 4, P = 1024 ^ 5 }

local function wrong(name, text, wanted)
  error(format("--%s=%s: %s is wanted", name, tostring(text), wanted), 0)
end

local function convert(name, declared, text)
  local kind = kind_of(declared)
  if kind == cmdline.ARG_BOOL then
    if text == nil then
      return true
    end
    local value = TRUTH[text:lower()]
    if value == nil then
      wrong(name, text, "on or off")
    end
    return value
  elseif text == nil then
    error(format("--%s needs a value: --%s=VALUE", name, name), 0)
  elseif kind == cmdline.ARG_INT or kind == cmdline.ARG_SIZE then
    local digits, unit = match(text, "^(%-?%d+)([KMGTPkmgtp]?)$")
    if not digits then
      wrong(name, text, "a whole number")
    end
    return tonumber(digits) * (UNITS[unit:upper()] or 1)
  elseif kind == cmdline.ARG_DOUBLE then
    return tonumber(text) or wrong(name, text, "a number")
  elseif kind == cmdline.ARG_LIST then
    local list = {}
    for word in text:gmatch("[^,]+") do
      list[#list + 1] = word
    end
    return list
  end
  return text
end

local function underscored(name)
  return (gsub(name, "-", "_"))
end

-- The values of all options: what sysbench has for every script, then the script's own.
local function set_options()
  for name, value in pairs(host.general) do
    sysbench.opt[name] = value
  end
  local declared = {}
  for name, one in pairs(cmdline.options or {}) do
    -- A list has its options in the order of their description.
    name = type(name) == "number" and one.name or name
    if type(one) ~= "table" then
      error(format("sysbench.cmdline.options.%s is no list of a text and a default", tostring(name)), 0)
    end
    declared[underscored(name)] = one
    local value = one[2]
    if type(value) == "string" and kind_of(one) ~= cmdline.ARG_STRING and kind_of(one) ~= cmdline.ARG_FILE then
      value = convert(name, one, value)
    end
    sysbench.opt[underscored(name)] = value
  end
  for _, given in ipairs(host.given) do
    local name, text = given[1], given[2]
    local one = declared[underscored(name)]
    if one then
      sysbench.opt[underscored(name)] = convert(name, one, text)
    elseif not cmdline.options then
      sysbench.opt[underscored(name)] = text or "on"
    else
      local known = {}
      for own in pairs(declared) do
        known[#known + 1] = "--" .. gsub(own, "_", "-")
      end
      table.sort(known)
      local says = "--%s is no option of the script; it has %s. `diskproof-load sysbench` takes sysbench's own options"
      error(format(says, name, table.concat(known, ", ")), 0)
    end
  end
end

function cmdline.print_test_options()
  local names = {}
  for name in pairs(cmdline.options or {}) do
    names[#names + 1] = name
  end
  if #names == 0 then
    return
  end
  table.sort(names)
  host.print(format("%s options:\n", host.script))
  for _, name in ipairs(names) do
    local one = cmdline.options[name]
    local default = one[2]
    if type(default) == "boolean" then
      default = default and "on" or "off"
    elseif type(default) == "table" then
      default = table.concat(default, ",")
    end
    host.print(format("  --%-28s %s%s\n", gsub(name, "_", "-") .. (kind_of(one) == cmdline.ARG_BOOL and "[=on|off]" or "=..."),
      tostring(one[1] or ""), default ~= nil and format(" [%s]", tostring(default)) or ""))
  end
end

-- Sysbench 0.5 knows no declared options: each is a global of the script.
local function set_globals()
  for name, value in pairs(host.general) do
    _G[name] = value
  end
  _G.mysql_table_engine, _G.myisam_max_rows = "innodb", 1000000
  for _, given in ipairs(host.given) do
    _G[underscored(given[1])] = given[2] or "on"
  end
  _G.num_threads = host.general.threads
  _G.max_requests = host.general.events
  _G.max_time = host.general.time
end

-- Loads the script; its options have their values from then on.
local function load_script()
  _G.test, _G.thread_id = host.script, sysbench.tid
  if host.legacy then
    set_globals()
  end
  local chunk, mistake = host.compile(host.script, host.text)
  if not chunk then
    error(mistake, 0)
  end
  chunk()
  set_options()
end

-- Commands -------------------------------------------------------------------------------------

local function command(name)
  local own = cmdline.commands and cmdline.commands[name]
  if type(own) == "table" then
    return own[1], own[2] and true or false
  end
  if type(own) == "function" then
    return own, false
  end
  local global = rawget(_G, name)
  if name == "help" and type(global) ~= "function" then
    return cmdline.print_test_options, false
  end
  return type(global) == "function" and global or nil, false
end

local function commands()
  local names = {}
  for name in pairs(cmdline.commands or {}) do
    names[#names + 1] = name
  end
  for _, name in ipairs({ "prepare", "cleanup", "help" }) do
    if not (cmdline.commands and cmdline.commands[name]) and type(rawget(_G, name)) == "function" then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return table.concat(names, ", ")
end

-- The course of a client -------------------------------------------------------------------------

local function describe(mistake)
  if type(mistake) == "table" and mistake.errcode and getmetatable(mistake) == nil then
    return format("an error with errcode = %s outside of an event", tostring(mistake.errcode))
  end
  -- The program's own mistakes come with the way to them.
  local ok, words = pcall(tostring, mistake)
  if not ok or type(words) ~= "string" then
    return "an error that has no text"
  end
  return match(words, "^(.-)\nstack traceback:") or words
end

local function guarded(body)
  return function(...)
    host.begin()
    local ok, mistake = pcall(body, ...)
    if not ok then
      yield(FAIL, describe(mistake))
    end
  end
end

local restart = sysbench.error.RESTART_EVENT

local function events(tid)
  while true do
    local ok, outcome = pcall(_G.event, tid)
    if ok then
      -- After a value other than nil and false a client has no more events.
      yield(NEXT, outcome and true)
    elseif type(outcome) == "table" and outcome.errcode == restart then
      if sysbench.hooks.before_restart_event then
        sysbench.hooks.before_restart_event(outcome)
      end
      yield(AGAIN)
    else
      error(outcome, 0)
    end
  end
end

local function call_if_any(name, ...)
  local own = rawget(_G, name)
  if type(own) == "function" then
    own(...)
  end
end

local client = {}

-- Before the first event, then the events.
client.course = guarded(function(tid)
  load_script()
  if type(rawget(_G, "event")) ~= "function" then
    error(format("%s has no function event(), so there is nothing to measure; its commands are: %s",
      host.script, commands()), 0)
  end
  call_if_any("thread_init", tid)
  yield(NEXT)
  events(tid)
end)

-- Events again, after one that was broken off.
client.events = guarded(events)

client.done = guarded(function(tid)
  call_if_any("thread_done", tid)
  yield(NEXT)
end)

client.command = guarded(function(tid)
  load_script()
  local own = command(host.command)
  if not own then
    error(format("%s has no command %s; its commands are: %s", host.script, host.command, commands()), 0)
  end
  own(tid)
  yield(NEXT)
end)

-- What the program asks before it connects: does the script declare its options, has it the command,
-- and does that run in every client at once?
client.look = guarded(function()
  load_script()
  local own, parallel = command(host.command)
  if host.command == "run" and type(rawget(_G, "thread_run")) == "function" then
    error(format("%s has a function thread_run(), which cannot run here; write one event as event()",
      host.script), 0)
  end
  local measures = host.command == "run" and type(rawget(_G, "event")) == "function"
  yield(NEXT, cmdline.options ~= nil, own ~= nil or measures, parallel, commands())
end)

-- The script as sysbench's main thread has it, for these two functions.
client.init = guarded(function()
  load_script()
  call_if_any("init")
  yield(NEXT)
end)
client.finish = guarded(function()
  call_if_any("done")
  yield(NEXT)
end)

host.client, host.load_script, host.guarded = client, load_script, guarded
return client
