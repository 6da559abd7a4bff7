-- The rest of sysbench's interface: random draws, and 0.5's names for them.
local host = ...

local sysbench = host.sysbench

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

-- Hooks of reports are not called.
sysbench.hooks = {}
