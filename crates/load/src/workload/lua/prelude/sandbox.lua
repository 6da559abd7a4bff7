-- What a script may use of Lua's own library: nothing that reads, writes or runs anything outside,
-- unless the user trusts it. Scripts find their modules here, too.
local host = ...

local load, select, type, tostring, error, pcall = load, select, type, tostring, error, pcall
local concat, yield = table.concat, coroutine.yield
local gmatch, gsub, match, format = string.gmatch, string.gsub, string.match, string.format

host.yield = yield
host.SLEEP = 4

local function forbidden(name)
  return function()
    error(name .. " is refused: scripts may not use it without --trust-script", 2)
  end
end

-- LuaJIT's own library leads to functions of these files, to bytecode, and to code that runs while
-- the state is closed. A script gets what stands here.
local KEPT = [[ _G _VERSION sysbench assert collectgarbage error gcinfo getfenv getmetatable ipairs next pairs
  pcall rawequal rawget rawset select setfenv setmetatable tonumber tostring type unpack xpcall
  bit math os string table ]]
local jit, trusted_io, trusted_os = jit, io, os
for name in pairs(_G) do
  if not string.find(KEPT, "%s" .. name .. "%s") then
    _G[name] = nil
  end
end
string.dump = nil
local function ignored() end
_G.jit = {
  os = jit.os, arch = jit.arch, version = jit.version, version_num = jit.version_num,
  on = ignored, off = ignored, flush = ignored, opt = { start = ignored },
  status = function()
    return true
  end,
}

-- Text alone: bytecode could do anything to this program. A function's pieces are joined here, because
-- the C stack would grow with each reader that loads again.
function _G.load(chunk, name, _, ...)
  if type(chunk) == "function" then
    local pieces = {}
    for piece in chunk do
      if piece == "" then
        break
      end
      pieces[#pieces + 1] = piece
    end
    chunk = concat(pieces)
    name = name or "=(load)"
  end
  if select("#", ...) > 0 then
    return load(chunk, name, "t", (...))
  end
  return load(chunk, name, "t")
end

function _G.loadstring(text, name)
  return load(text, name or text, "t")
end

-- What calls back from C grows its stack, which Lua does not watch.
local MOST_NESTED, nested = 50, 0
local function left(ok, ...)
  nested = nested - 1
  if not ok then
    error((...), 0)
  end
  return ...
end
function string.gsub(text, pattern, by, ...)
  if type(by) ~= "function" and type(by) ~= "table" then
    return gsub(text, pattern, by, ...)
  elseif nested == MOST_NESTED then
    error("string.gsub inside of its own callbacks, too deeply (C stack overflow)", 2)
  end
  nested = nested + 1
  return left(pcall(gsub, text, pattern, by, ...))
end

-- Output ---------------------------------------------------------------------------------------

function _G.print(...)
  local words = {}
  for place = 1, select("#", ...) do
    words[place] = tostring((select(place, ...)))
  end
  host.print(concat(words, "\t") .. "\n")
end

local stream = {}
stream.__index = stream
function stream:write(...)
  host.print(concat({ ... }))
  return self
end
function stream:flush()
  return self
end
function stream:setvbuf()
  return true
end
function stream:close()
  return true
end

local out = setmetatable({}, stream)
local safe_io = { stdout = out, stderr = out }
function safe_io.write(...)
  return out:write(...)
end
function safe_io.flush() end
for _, name in ipairs({ "open", "popen", "lines", "read", "input", "output", "tmpfile", "close", "type" }) do
  safe_io[name] = trusted_io and trusted_io[name] or forbidden("io." .. name)
end
_G.io = safe_io

local safe_os = {
  time = trusted_os.time,
  clock = trusted_os.clock,
  date = trusted_os.date,
  difftime = trusted_os.difftime,
}
function safe_os.exit(code)
  error(format("the script ended itself: os.exit(%s)", tostring(code or 0)), 2)
end
for _, name in ipairs({ "execute", "getenv", "remove", "rename", "tmpname", "setlocale" }) do
  safe_os[name] = host.trusted and trusted_os[name] or forbidden("os." .. name)
end
_G.os = safe_os

-- Many scripts wait this way, which needs no program: one would hold up all clients of the thread.
local execute = safe_os.execute
function safe_os.execute(line)
  local seconds = type(line) == "string" and match(line, "^%s*sleep%s+([%d.]+)%s*$")
  if seconds and tonumber(seconds) then
    host.step(host.SLEEP, tonumber(seconds) * 1e6)
    return 0
  end
  return execute(line)
end

-- Modules --------------------------------------------------------------------------------------

local function compile(path, text)
  local chunk, mistake = host.compile(path, text)
  if not chunk then
    error(mistake, 0)
  end
  return chunk
end

local package = {
  path = host.path,
  cpath = "",
  config = "/\n;\n?\n!\n-\n",
  loaded = {},
  preload = {},
  loadlib = forbidden("package.loadlib"),
  seeall = function(module)
    return setmetatable(module, { __index = _G })
  end,
}
_G.package = package
for _, name in ipairs({ "string", "table", "math", "os", "io", "bit", "jit", "package" }) do
  package.loaded[name] = _G[name]
end
package.loaded._G = _G

local function search(name)
  local tried = {}
  local file_name = gsub(name, "%.", "/")
  for template in gmatch(package.path, "[^;]+") do
    -- A name may stand for a path as it is, too: require("./lib/x").
    for _, own in ipairs({ file_name, name }) do
      local path = gsub(template, "%?", (gsub(own, "%%", "%%%%")))
      local text = host.read(path)
      if text then
        return path, text
      end
      tried[#tried + 1] = path
    end
  end
  error(format("module '%s' is not there; looked for %s", name, concat(tried, ", ")), 3)
end

-- In Lua, so that a module may run statements while it is loaded.
function _G.require(name)
  local loaded = package.loaded[name]
  if loaded ~= nil then
    return loaded
  end
  local loader, path = package.preload[name], nil
  if not loader then
    local text
    path, text = search(name)
    loader = compile(path, text)
  end
  local value = loader(name, path)
  if value ~= nil then
    package.loaded[name] = value
  elseif package.loaded[name] == nil then
    package.loaded[name] = true
  end
  return package.loaded[name]
end

function _G.loadfile(path)
  local text, reason = host.read(path)
  if not text then
    return nil, reason
  end
  return host.compile(path, text)
end

function _G.dofile(path)
  local text, reason = host.read(path)
  if not text then
    error(reason, 2)
  end
  return compile(path, text)()
end

-- Lua 5.1's `module`, as far as old scripts name themselves with it.
function _G.module(name, ...)
  local own = package.loaded[name] or {}
  package.loaded[name], _G[name] = own, own
  own._NAME, own._M = name, own
  for _, decorate in ipairs({ ... }) do
    decorate(own)
  end
  setfenv(2, own)
end

-- A little of `debug` ----------------------------------------------------------------------------

_G.debug = {
  traceback = function(message)
    return message
  end,
  getinfo = function(where)
    local level = type(where) == "number" and where or 1
    local source, line, what = host.inspect(level)
    if not source then
      return nil
    end
    return { source = source, short_src = gsub(source, "^@", ""), currentline = line, what = what }
  end,
}
package.loaded.debug = _G.debug

-- Steps suspend the client. A script has no coroutines of its own, so this is the only one.
host.step = yield
function host.begin()
  nested = 0
end

-- `ffi`, without a foreign function --------------------------------------------------------------

local C = {}
function C.usleep(us)
  host.step(host.SLEEP, tonumber(us))
  return 0
end
function C.sleep(seconds)
  host.step(host.SLEEP, tonumber(seconds) * 1e6)
  return 0
end
function C.gettimeofday(into)
  local now_us = host.unix_us()
  into.tv_sec, into.tv_usec = math.floor(now_us / 1e6), now_us % 1e6
  return 0
end
function C.clock_gettime(_, into)
  local now_ns = host.clock_ns()
  into.tv_sec, into.tv_nsec = math.floor(now_ns / 1e9), now_ns % 1e9
  return 0
end
-- Errors are counted as the server answers with them.
C.SB_CNT_ERROR = "error"
function C.sb_counter_inc() end
setmetatable(C, {
  __index = function(_, name)
    error(format("ffi.C.%s is refused: no foreign function is loaded", name), 2)
  end,
})

local ffi = {
  C = C,
  cdef = function() end,
  -- A structure or an array is a table, a number itself.
  new = function(kind, first)
    if match(kind, "%[") or match(kind, "struct") then
      return type(first) == "table" and first or {}
    end
    return tonumber(first) or 0
  end,
  load = forbidden("ffi.load"),
}
package.loaded.ffi = ffi
