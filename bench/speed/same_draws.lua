-- Put before a script, so that sysbench and diskproof-load draw the same: both have generators of their own.
-- Lehmer's generator: its products stay below 2^53, so a double holds them.
local function generator(state)
  return function()
    state = state * 16807 % 2147483647
    return state / 2147483647
  end
end
local share = generator(20240229 + sysbench.tid)
local function draw(low, high)
  return low + math.floor(share() * (high - low + 1))
end

for _, law in ipairs({ "default", "uniform", "gaussian", "special", "pareto", "zipfian" }) do
  sysbench.rand[law] = draw
  _G["sb_rand_" .. law] = draw
end
sb_rand = draw
sysbench.rand.uniform_double = share
-- Apart from the numbers: sysbench draws the texts of `set_rand_str` without this function.
local text_share = generator(20240301 + sysbench.tid)
function sysbench.rand.string(pattern)
  return (pattern:gsub("[@#]", function(mark)
    local first, count = string.byte("a"), 26
    if mark == "#" then
      first, count = string.byte("0"), 10
    end
    return string.char(first + math.floor(text_share() * count))
  end))
end
function math.random(low, high)
  if not low then
    return share()
  end
  return draw(high and low or 1, high or low)
end
