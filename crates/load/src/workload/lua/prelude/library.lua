-- The rest of sysbench's interface: random draws, reports, and 0.5's names for them.
local host = ...

local sysbench = host.sysbench
local format = string.format

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
