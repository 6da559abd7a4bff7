-- The rest of sysbench's interface: random draws, histograms, reports, and 0.5's names for them.
local host = ...

local sysbench = host.sysbench
local format, floor, max, min = string.format, math.floor, math.max, math.min

-- Random draws ---------------------------------------------------------------------------------

sysbench.rand = {
  unique = function()
    return host.unique(0, 4294967295)
  end,
  uniform_uint64 = host.uniform_uint64,
  uniform_double = host.uniform_double,
  string = host.string,
  varstring = host.varstring,
}
for _, name in ipairs({ "default", "uniform", "gaussian", "special", "pareto", "zipfian" }) do
  sysbench.rand[name], _G["sb_rand_" .. name] = host[name], host[name]
end

_G.sb_rand, _G.sb_rand_default = host.default, nil
_G.sb_rand_uniq = function(low, high)
  return host.unique(low or 0, high or 4294967295)
end
_G.sb_rnd = function()
  return host.uniform(0, 4294967295)
end
_G.sb_rand_str = host.string

-- Histograms -----------------------------------------------------------------------------------

local histogram = {}
histogram.__index = histogram
sysbench.histogram = {}

-- `size` buckets whose limits grow by the same factor, from `low` to `high`.
function sysbench.histogram.new(size, low, high)
  return setmetatable({
    size = size,
    low = low,
    factor = (size - 1) / (math.log(high) - math.log(low)),
    counts = {},
    recent = {},
    total = 0,
    recent_total = 0,
  }, histogram)
end

function histogram:update(value)
  local place = floor((math.log(max(value, self.low)) - math.log(self.low)) * self.factor + 0.5)
  place = min(max(place, 0), self.size - 1)
  self.counts[place] = (self.counts[place] or 0) + 1
  self.recent[place] = (self.recent[place] or 0) + 1
  self.total, self.recent_total = self.total + 1, self.recent_total + 1
end

local function limit(self, place)
  return math.exp(place / self.factor + math.log(self.low))
end

local function percentile(self, counts, total, percent)
  local wanted, seen = floor(total * percent / 100 + 0.5), 0
  for place = 0, self.size - 1 do
    seen = seen + (counts[place] or 0)
    if seen >= wanted then
      return limit(self, place)
    end
  end
  return 0
end

function histogram:get_pct_cumulative(percent)
  return percentile(self, self.counts, self.total, percent)
end

-- Since the last time that this was asked.
function histogram:get_pct_intermediate(percent)
  local value = percentile(self, self.recent, self.recent_total, percent)
  self.recent, self.recent_total = {}, 0
  return value
end

function histogram:print()
  local most = 0
  for _, count in pairs(self.counts) do
    most = max(most, count)
  end
  host.print("       value  ------------- distribution ------------- count\n")
  for place = 0, self.size - 1 do
    local count = self.counts[place]
    if count then
      local bar = string.rep("*", floor(count / most * 40 + 0.5))
      host.print(format("%12.3f |%-40s %d\n", limit(self, place), bar, count))
    end
  end
end

-- Reports that a hook can choose -----------------------------------------------------------------

local function percent()
  return tonumber(sysbench.opt.percentile) or 95
end

function sysbench.report_default(stat)
  local seconds = stat.time_interval
  local queries = stat.reads + stat.writes + stat.other
  host.print(format(
    "[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) lat (ms,%u%%): %4.2f err/s %4.2f reconn/s: %4.2f\n",
    stat.time_total, stat.threads_running, stat.events / seconds, queries / seconds,
    stat.reads / seconds, stat.writes / seconds, stat.other / seconds, percent(),
    stat.latency_pct * 1000, stat.errors / seconds, stat.reconnects / seconds))
end

function sysbench.report_csv(stat)
  local seconds = stat.time_interval
  host.print(format("%.0f,%u,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f\n",
    stat.time_total, stat.threads_running, stat.events / seconds,
    (stat.reads + stat.writes + stat.other) / seconds, stat.reads / seconds,
    stat.writes / seconds, stat.other / seconds, stat.latency_pct * 1000,
    stat.errors / seconds, stat.reconnects / seconds))
end

local opened = false
function sysbench.report_json(stat)
  local seconds = stat.time_interval
  host.print(opened and ",\n" or "[\n")
  opened = true
  host.print(format([[  {
    "time": %4.0f,
    "threads": %u,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]], stat.time_total, stat.threads_running, stat.events / seconds,
    (stat.reads + stat.writes + stat.other) / seconds, stat.reads / seconds,
    stat.writes / seconds, stat.other / seconds, stat.latency_pct * 1000,
    stat.errors / seconds, stat.reconnects / seconds))
end

function host.close_json()
  if opened then
    host.print("\n]\n")
    opened = false
  end
end

sysbench.hooks = {}
