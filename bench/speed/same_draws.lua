-- Put before a script, so that sysbench and diskproof-load draw the same: both have generators of their own.
-- Lehmer's generator: its products stay below 2^53, so a double holds them.
local state = 20240229 + sysbench.tid
local function share()
  state = state * 16807 % 2147483647
  return state / 2147483647
end
local function draw(low, high)
  return low + math.floor(share() * (high - low + 1))
end

for _, law in ipairs({ "default", "uniform", "gaussian", "special", "pareto", "zipfian" }) do
  sysbench.rand[law] = draw
end
sysbench.rand.uniform_double = share
function sysbench.rand.string(pattern)
  return (pattern:gsub("[@#]", function(mark)
    return mark == "@" and string.char(draw(97, 122)) or tostring(draw(0, 9))
  end))
end
function math.random(low, high)
  if not low then
    return share()
  end
  return draw(high and low or 1, high or low)
end
