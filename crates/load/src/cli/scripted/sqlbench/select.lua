-- select: ranges, extremes, counts and groups over one table of 10,000 rows with three keys of several parts.
--
-- Differences from the original: conditions of `select_range` come from our own generator, and no query before
-- `select_cache` reads the table into memory. ------------------------------------------------------------
tests.select = function()
  local name, regions, groups = PREFIX .. "bench1", 6, 100
  local rows, long, loops, short = of(10000), of(10000), of(1000), of(10)
  -- One more region than there are, so that some questions find nothing.
  local asked_regions = regions + 1

  local function letter(region)
    return string.char(65 + region)
  end
  -- The rows for which `is_such` holds of their region, idn, rev_idn and grp.
  local function count(is_such)
    local found = 0
    for idn = 0, rows - 1 do
      if is_such(idn % regions, idn, rows - 1 - idn, 3 * idn % groups) then
        found = found + 1
      end
    end
    return found
  end

  -- Look-ups by parts of the keys; the last is by none.
  local function look_ups()
    local all = {}
    for turn = 0, short - 1 do
      local g, r = 11 * turn % groups, turn % asked_regions
      local conditions = {
        { function(region) return region == r end, "region='R'" },
        { function(region, idn) return region == r and idn == turn end, "region='R' AND idn=" .. turn },
        { function(region, _, rev) return region == r and rev == turn end, "region='R' AND rev_idn=" .. turn },
        { function(region, _, _, grp) return region == r and grp == g end, "region='R' AND grp=" .. g },
        { function(region, _, _, grp) return region >= 1 and region <= 2 and grp == g end,
          "region>='B' AND region<='C' AND grp=" .. g },
        { function(region, _, _, grp) return region >= 1 and region <= 4 and grp == g end,
          "region>='B' AND region<='E' AND grp=" .. g },
        { function(_, _, _, grp) return grp == g end, "grp=" .. g },
      }
      for _, condition in ipairs(conditions) do
        local text = condition[2]:gsub("'R'", "'" .. letter(r) .. "'")
        all[#all + 1] = { count(condition[1]), format("SELECT idn FROM %s WHERE %s", name, text) }
      end
    end
    return all
  end

  -- Groups of a region by 500 conditions, as many as the original gives a MySQL server: first as a list, then
  -- four questions with OR. Of the 300 pairs of region and group they are drawn from, about 243 come up, as in
  -- the original; the first is always the same.
  local function conditions(r)
    local pairs_, is_group, is_pair = { { 0, 1 } }, { [1] = true }, { [1] = true }
    for place = 2, 500 do
      local drawn = math.random(0, 299)
      local region, grp = drawn % regions, drawn % groups
      pairs_[place] = { region, grp }
      is_group[grp], is_pair[region * groups + grp] = true, true
    end
    local function join(form, separator)
      return joined(1, 500, function(place)
        return (form:gsub("R", letter(pairs_[place][1])):gsub("G", pairs_[place][2]))
      end, separator)
    end
    local own = letter(r)
    local of_region = format("region='%s' AND (%s)", own, join("grp=G", " OR "))
    local in_region = count(function(region, _, _, grp) return region == r and is_group[grp] end)
    local all = {
      { in_region, format("region='%s' AND (grp IN (%s))", own, join("G", ",")) },
      { in_region, of_region },
      { count(function(region, _, _, grp) return is_pair[region * groups + grp] end), join("region='R' AND grp=G", " OR ") },
      { count(function(region, idn, _, grp) return region == r and is_group[grp] and idn < 50 end),
        format("(%s) AND idn<50", of_region) },
      { count(function(region, _, _, grp)
        return (region == r and is_group[grp] or region == 0 and grp < 10) and region <= 1
      end), format("((%s) OR (region='A' AND grp<10)) AND region<='B'", of_region) },
    }
    for _, question in ipairs(all) do
      question[2] = format("SELECT * FROM %s WHERE %s", name, question[2])
    end
    return all
  end
  local ranges = lazily(function()
    math.randomseed(1)
    return map(0, short - 1, function(turn)
      return conditions(turn % asked_regions)
    end)
  end)

  -- Extremes and counts that a key's prefix answers; region R and group G change with every turn.
  local function on_key(own, questions)
    local asked = #questions
    return operation(own, "read", long * asked, function(index)
      local round, question = floor(index / asked), questions[index % asked + 1]
      local condition = question[2]
      if condition then
        condition = " WHERE " .. condition:gsub("R", letter(round % regions)):gsub("G", 3 * round % groups)
      end
      ask(1, format("SELECT %s FROM %s%s", question[1], name, condition or ""))
    end)
  end

  local function sums(term)
    return format("SELECT SUM(idn+%d),SUM(rev_idn-%d) FROM %s", term, term, name)
  end
  local function groups_of(own, turns, found, columns, by)
    return query(own, turns, found, format("SELECT %s FROM %s%s", columns, name, by and " GROUP BY " .. by or ""))
  end
  local some_groups = min(groups, rows)
  return {
    -- The first half by position and the second by the columns' names.
    operation("insert", "write", rows, function(index)
      local names = index > rows / 2 and " (region,idn,rev_idn,grp)" or ""
      change(1, format("INSERT INTO %s%s VALUES ('%s',%d,%d,%d)", name, names, letter(index % regions), index,
        rows - 1 - index, 3 * index % groups))
    end, { before = create("bench1", { "region CHAR(1) NOT NULL", "idn INTEGER NOT NULL", "rev_idn INTEGER NOT NULL",
      "grp INTEGER NOT NULL" }, "region,idn", { "unique region,rev_idn", "unique region,grp,idn" }) }),
    -- Always the same text, and never the same twice. The difference is what a query cache saves.
    query("select_cache", long, 1, sums(100)),
    operation("select_cache2", "read", long, function(index)
      ask(1, sums(index))
    end),
    rounds("select_big", 1, 7 * short, look_ups),
    operation("select_range", "read", short * 41, function(index)
      local all = ranges()[floor(index / 41) + 1]
      local place = index % 41
      ask(unpack(all[place == 0 and 1 or (place - 1) % 4 + 2]))
    end),
    on_key("min_max_on_key", { { "MIN(region)" }, { "MAX(region)" }, { "MIN(region),MAX(region)" },
      { "MIN(rev_idn)", "region='R'" }, { "MAX(grp)", "region='R'" }, { "MAX(idn)", "region='R' AND grp=G" },
      { "MAX(region)", "region<'R'" } }),
    on_key("count_on_key", { { "COUNT(*)", "region='R'" }, { "COUNT(*)", "region='R' AND grp=G" },
      { "COUNT(*)", "region>'R'" }, { "COUNT(*)", "region<='R'" }, { "COUNT(*)", "region='R' AND grp>G" } }),
    groups_of("count_group_on_key_parts", loops, some_groups, "grp,COUNT(*)", "grp"),
    groups_of("count_distinct_key_prefix", loops, 1, "COUNT(DISTINCT region)"),
    groups_of("count_distinct", loops, 1, "COUNT(DISTINCT grp)"),
    groups_of("count_distinct_2", loops, 1, "COUNT(DISTINCT grp),COUNT(DISTINCT rev_idn)"),
    groups_of("count_distinct_group_on_key", loops, min(regions, rows), "region,COUNT(DISTINCT idn)", "region"),
    groups_of("count_distinct_group_on_key_parts", loops, some_groups, "grp,COUNT(DISTINCT idn)", "grp"),
    groups_of("count_distinct_group", loops, some_groups, "grp,COUNT(DISTINCT rev_idn)", "grp"),
    groups_of("count_distinct_big", of(100), rows, "idn,COUNT(DISTINCT region)", "idn"),
  }
end
