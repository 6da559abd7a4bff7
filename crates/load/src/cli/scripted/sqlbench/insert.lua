-- insert: a table of 300,000 rows with two keys, and nearly everything that can be asked of it, done to it, and
-- deleted from it; then a table with many keys. Row i holds i in each of its three numbers, so that an answer's
-- rows follow from its bounds.
--
-- Differences from the original: random keys come from another generator (those of `insert_duplicates` and
-- `select_key…` from the first third of the table, there from its first 44 %); the lists and the ranges behind
-- `select_range_…` follow each other at once; `select_join_in` has three tables in place of one that grows;
-- `delete_all_many_keys` is timed alone; and `once_prepared_select` is prepared by MySQL too, while the original's
-- driver only put the value in. `select_range_…`, `select_group`, `outer_join_not_found` and `delete_range` report
-- the figure that the original prints, which is not the number of its statements. -------------------------

-- Ranges of a key in all the shapes that an optimiser should see through, with the rows that they find: `k` is the
-- key, L the last of them, M the middle one of the first third.
local SHAPES = {
  { 6, "k=3 OR k=2 OR k=1 OR k=4 OR k=16 OR k=10" },
  { 2, "k>={L} OR k<1" },
  { 2, "k>=1 AND k<=2" },
  { 2, "(k>=1 AND k<=2) OR (k>=1 AND k<=2)" },
  { 5, "k>=1 AND k<=10 AND k<=5" },
  { 2, "(k>0 AND k<2) OR k>={L}" },
  { 5, "(k>0 AND k<2) OR (k>={M} AND k<={M+2}) OR k={M-1}" },
  { 10, "(k>=5 AND k<=10) OR (k>=1 AND k<=4)" },
  { 0, "(k=1 OR k=2) AND (k=3 OR k=4)" },
  { 1, "(k=1 OR k=2) AND (k=2 OR k=3)" },
  { 3, "(k=1 OR k=5 OR k=20 OR k=40) AND (k=1 OR k>=20 OR k=4)" },
  { 2, "((k=1 OR k=3) OR (k>1 AND k<3)) AND k<=2" },
  { 6, "(k>=0 AND k<4) OR (k>=4 AND k<6)" },
  { 9, "k<=-1 OR (k>=0 AND k<=5) OR (k>=4 AND k<6) OR (k>=6 AND k<=7) OR (k>7 AND k<=8)" },
  { 11, "(k>=1 AND k<=2 OR k>=4 AND k<=5) OR (k>=0 AND k<=10)" },
  { 10, "(k>=1 AND k<=2 OR k>=4 AND k<=5) OR (k>2 AND k<=10)" },
  { 2, "(k>1 OR k<1) AND k<=2" },
  { 3, "k<=2 AND (k>1 OR k<=1)" },
  { 3, "(k>=1 OR k<1) AND k<=2" },
  { 3, "(k>=1 OR k<=2) AND k<=2" },
}

tests.insert = function()
  local name, columns = PREFIX .. "bench1", "id,id2,id3,dummy1"
  -- Rows in each of the three orders in which the table is filled, and all of them.
  local part = of(100000)
  local rows, short, whole = 3 * part, of(500), of(10)
  -- Rows of the last third whose second key is made negative one by one.
  local turned = floor(part / 2)
  local order = lazily(function()
    return shuffled(part, 1)
  end)
  local function any(index)
    return order()[index % part]
  end
  local function in_last_third(index)
    return 2 * part + any(index)
  end
  local function table_of(own, indexes)
    return create(own, { "id INTEGER NOT NULL", "id2 INTEGER NOT NULL", "id3 INTEGER NOT NULL", "dummy1 CHAR(30)" },
      "id,id2", indexes)
  end
  local function holds(answer, condition, own)
    return { format("SELECT COUNT(*) FROM %s%s", own or name, condition and " WHERE " .. condition or ""), answer }
  end
  -- Rows that an UPDATE finds and leaves as they are: MySQL does not count them as changed.
  local function unchanged(count)
    return mysql and 0 or count
  end
  local all = {}
  local function add(own)
    all[#all + 1] = own
  end

  -- The first third in ascending order, the last in descending order, the second in random order; then some of the
  -- rows again.
  local row = "INSERT INTO " .. name .. " (" .. columns .. ") VALUES (%d,%d,%s,'%s')"
  add(operation("insert", "write", rows, function(index)
    local number, id, text = index % part, nil, "CDEFGHIJKL"
    if index < part then
      id, text = number, "ABCDEFGHIJ"
    elseif index < 2 * part then
      id, text = rows - 1 - number, "BCDEFGHIJK"
    else
      id = part + any(number)
    end
    change(1, format(row, id, id, id, text))
  end, { before = table_of("bench1", { "id3" }), check = holds(rows) }))
  add(operation("insert_duplicates", "write", part, function(index)
    local id = any(index)
    change(0, format(row, id, id, "2", "D"))
  end, { refused = true, check = holds(rows) }))

  -- By statements that are prepared each time, and by one that is prepared once. DBD::mysql, which the original
  -- uses, only substitutes: the server sees one plain statement. In SQLite each is prepared, used and given up again.
  add(operation("prepared_select", "read", part, function(index)
    local select = format("SELECT * FROM %s WHERE id=%d", name, part + any(index))
    if postgres then
      aside("PREPARE q AS " .. select)
      ask(1, "EXECUTE q")
      aside("DEALLOCATE q")
    else
      ask(1, select)
    end
  end, { aside = postgres }))
  add(operation("once_prepared_select", "read", part, function(index)
    job.call(0, 1, 0, part + any(index))
  end, { prepared = format("SELECT * FROM %s WHERE id=?", name) }))

  -- The whole table, in every order: from a key alone, through a key, and sorted. Of `…_diff` the order is a key's,
  -- and the column is not in it; the last order is that of no key.
  for _, own in ipairs({ { "select_big", "id", "" }, { "order_by_big_key", "id,id2", " ORDER BY id,id2" },
    { "order_by_big_key_desc", "id,id2", " ORDER BY id DESC,id2 DESC" },
    { "order_by_big_key_prefix", "id", " ORDER BY id DESC" }, { "order_by_big_key2", "id3", " ORDER BY id3" },
    { "order_by_big_key_diff", "id2", " ORDER BY id3" }, { "order_by_big", "id", " ORDER BY id2,id3" } }) do
    add(query(own[1], whole, rows, format("SELECT %s FROM %s%s", own[2], name, own[3])))
  end

  -- Ranges are spread over the first third; the i-th, from 1, holds i + 1 rows, or all have one length.
  local function range_from(number)
    return floor(part / short) * number
  end
  for _, own in ipairs({ { "order_by_range", "id3" }, { "order_by_key_prefix", "id" } }) do
    add(operation(own[1], "read", short, function(index)
      local from = range_from(index + 1)
      ask(index + 2, format("SELECT dummy1 FROM %s WHERE id>=%d AND id<=%d ORDER BY %s", name, from, from + index + 1, own[2]))
    end))
  end
  add(operation("order_by_key2_diff", "read", short, function(index)
    local from = range_from(index + 1)
    ask(short + 1, format("SELECT id2 FROM %s WHERE id3>=%d AND id3<=%d ORDER BY id3", name, from, from + short))
  end))
  -- Two rows, each by another key: a server that uses one key to a table reads all of it.
  add(operation("select_diff_key", "read", short, function(index)
    ask(2, format("SELECT id2 FROM %s WHERE id=%d OR id3=%d", name, index + 1, part + any(index)))
  end))

  -- The conditions joined by OR that ODBC programs like to send. First lists of keys, none but key 1 in the first of
  -- five: joined by OR, as IN, and by OR in a range of few. Then ranges in all shapes; the original prints twice as
  -- many as it runs.
  local lengths = { 1, 12, 24, 36, 48 }
  local lists = of(334) * #lengths * 3
  local function list_of_keys(key, number)
    local list, way = floor(number / 3), number % 3
    local keys, found = { 1 }, { [1] = true }
    for place = 1, lengths[list % #lengths + 1] - 1 do
      keys[place + 1] = any(list * 48 + place)
      found[keys[place + 1]] = true
    end
    local count = 0
    for id in pairs(found) do
      count = count + (way ~= 2 and 1 or id < 10 and 1 or 0)
    end
    if way == 1 then
      return count, key .. " IN (" .. concat(keys, ",") .. ")"
    end
    local alternatives = key .. "=" .. concat(keys, " OR " .. key .. "=")
    return count, way == 0 and alternatives or "(" .. alternatives .. ") AND " .. key .. "<10"
  end
  for _, own in ipairs({ { "select_range_prefix", "id" }, { "select_range_key2", "id3" } }) do
    local key, middle = own[2], floor(part / 2)
    local ids = { ["{L}"] = rows - 1, ["{M-1}"] = middle - 1, ["{M}"] = middle, ["{M+2}"] = middle + 2 }
    local shapes = map(1, #SHAPES, function(place)
      return { SHAPES[place][1], (SHAPES[place][2]:gsub("k", key):gsub("{[^}]*}", ids)) }
    end)
    local ranges = short * #shapes
    add(operation(own[1], "read", lists + ranges, function(index)
      local count, condition
      if index < lists then
        count, condition = list_of_keys(key, index)
      else
        count, condition = unpack(shapes[(index - lists) % #shapes + 1])
      end
      ask(count, format("SELECT * FROM %s WHERE %s", name, condition))
    end, { planned = lists + 2 * ranges }))
  end

  -- Single rows by their keys: each that is there, and after it one that is not.
  for _, own in ipairs({ { "select_key_prefix", "*", "id=%d" }, { "select_key", "*", "id=%d AND id2=%d" },
    { "select_key_return_key", "id,id2", "id=%d AND id2=%d" }, { "select_key2", "*", "id3=%d" },
    { "select_key2_return_key", "id3", "id3=%d" }, { "select_key2_return_prim", "id,id2", "id3=%d" } }) do
    local sql = format("SELECT %s FROM %s WHERE %s", own[2], name, own[3])
    add(operation(own[1], "read", 2 * part, function(index)
      local id = any(floor(index / 2))
      if index % 2 == 0 then
        ask(1, format(sql, id, id))
      else
        ask(0, format(sql, id + rows, id + rows))
      end
    end))
  end

  -- Sums and extremes of the whole table, and groups. The original prints eleven for the ten of a round, and one more.
  local of_round = { { 1, "COUNT(*) FROM t" }, { 1, "MIN(id) FROM t" }, { 1, "MAX(id) FROM t" },
    { 1, "SUM(id+0.0) FROM t" }, { 1, "MIN(id3),MAX(id3),SUM(id3-0.0) FROM t" }, { 1, "MIN(dummy1),MAX(dummy1) FROM t" },
    { 1, "COUNT(*) FROM t WHERE id>=" .. 2 * part }, { 1, "COUNT(*),SUM(id+0.0),MIN(id),MAX(id),AVG(id-0.0) FROM t" },
    { 10, "id % 10 AS last_digit,COUNT(*) FROM t GROUP BY last_digit" } }
  for _, question in ipairs(of_round) do
    question[2] = "SELECT " .. question[2]:gsub("FROM t", "FROM " .. name)
  end
  add(operation("select_group", "read", whole * 10, function(index)
    local question = of_round[index % 10 + 1]
    if question then
      ask(question[1], question[2])
    else
      -- A figure that comes to nothing, and makes each text another.
      ask(100, format("SELECT id,id3,dummy1 FROM %s WHERE id<100+%d-%d GROUP BY id,id3,dummy1 ORDER BY id DESC,id3,dummy1",
        name, index, index))
    end
  end, { planned = whole * 11 + 1 }))
  -- Of the whole key, and of the rows with one value of its first part; then the same without a useful key.
  for _, own in ipairs({
    { "min_max_on_key", of(2500), "id", { "MIN(id)", "MAX(id)", "MIN(id2)", "MAX(id2)", "MIN(dummy1)", "MAX(dummy1)" } },
    { "min_max", whole, "id2", { "MIN(id2)", "MAX(id2)", "MIN(id3)", "MAX(id3)", "MIN(dummy1)", "MAX(dummy1)" } },
  }) do
    add(operation(own[1], "read", own[2] * 6, function(index)
      local place = index % 6 + 1
      local condition = place > 2 and format(" WHERE %s=%d", own[3], floor(index / 6) + 1) or ""
      ask(1, format("SELECT %s FROM %s%s", own[4][place], name, condition))
    end))
  end
  -- What lies below a bound that goes over the whole table.
  local bounds = of(100)
  for _, own in ipairs({ { "count_on_key", "id", "id" }, { "count", "dummy1", "id2" } }) do
    add(operation(own[1], "read", bounds, function(index)
      ask(1, format("SELECT COUNT(%s) FROM %s WHERE %s<%d", own[2], name, own[3], floor(rows * index / bounds)))
    end))
  end
  -- There is a text for each of the three orders.
  add(rounds("count_distinct_big", whole, 2, function()
    return { { 1, "SELECT COUNT(DISTINCT dummy1) FROM " .. name },
      { 3, format("SELECT dummy1,COUNT(DISTINCT id) FROM %s GROUP BY dummy1", name) } }
  end))

  -- Updates: of a key and of what is not one, row by row and by ranges. The first turns the second key of half of the
  -- last third negative.
  add(operation("update_of_key", "write", turned, function(index)
    local id = in_last_third(index)
    change(1, format("UPDATE %s SET id3=-%d WHERE id3=%d", name, id, id))
  end, { check = holds(turned, "id3<0") }))
  -- Turns the first third in ranges that all begin at 0 and grow, and what is left of it; then the second third at
  -- once. The last statement makes all of them positive again, and a twentieth. Row 0 is in each range that begins
  -- there, and nothing is its opposite.
  local step, zero = floor(part / short) + 1, unchanged(1)
  local growing = ceil(part / step)
  local negative = format("UPDATE %s SET id3=0-id3 WHERE ", name)
  -- SQLite's division is one of whole numbers.
  local twentieth = sqlite and "(0-id3)/20" or "FLOOR((0-id3)/20)"
  add(operation("update_of_key_big", "write", growing + 3, function(index)
    if index < growing then
      change((index == 0 and 0 or step) + zero, negative .. format("id3>=0 AND id3<=%d", index * step))
    elseif index == growing then
      change(part - 1 - (growing - 1) * step + zero, negative .. format("id3>=0 AND id3<%d", part))
    elseif index == growing + 1 then
      change(part, negative .. format("id3>=%d AND id3<%d", part, 2 * part))
    else
      change(2 * part - 1 + turned, format("UPDATE %s SET id3=%s WHERE id3<0", name, twentieth))
    end
  end, { alone = "its last statement turns back what the others turned", check = holds(1 + part - turned, "id3=id") }))
  add(operation("update_with_key", "write", rows, function(id)
    change(1, format("UPDATE %s SET dummy1='updated' WHERE id=%d AND id2=%d", name, id, id))
  end, { check = holds(rows, "dummy1='updated'") }))
  -- Every third row, which holds the same text already. The only writer that the original estimates: what it writes
  -- is read by none.
  add(operation("update_with_key_prefix", "write", part, function(index)
    change(unchanged(1), format("UPDATE %s SET dummy1='updated' WHERE id=%d", name, 3 * index + 1))
  end, { cut = true, check = holds(rows, "dummy1='updated'") }))
  add(operation("update_big", "write", whole, function(index)
    change(rows, format("UPDATE %s SET dummy1='updated %d'", name, index))
  end, { alone = "each statement changes every row" }))

  -- Outer joins of the table with itself, and rows by lists of their keys.
  local both = "COUNT(a.dummy1),COUNT(b.dummy1)"
  for _, own in ipairs({ { "outer_join_on_key", "COUNT(*)", "" }, { "outer_join", both, "" },
    { "outer_join_found", both, " WHERE b.id3 IS NOT NULL" }, { "outer_join_not_found", both, " WHERE b.id3 IS NULL" } }) do
    -- The last as often as the others; the original prints another loop's number.
    add(query(own[1], whole, 1, format("SELECT %s FROM %s a LEFT OUTER JOIN %s b ON (a.id2=b.id3)%s", own[2], name, name,
      own[3]), { planned = own[1] == "outer_join_not_found" and short or whole }))
  end
  -- A loop over the first question, then one over the next.
  local in_lists, in_tables, before = {}, {}, {}
  for place, full in ipairs({ 10, 100, 1000 }) do
    local count, own = min(full, part), PREFIX .. "bench_" .. full
    in_lists[place] = { count, format("SELECT %s.* FROM %s WHERE id IN (%s)", name, name, joined(1, count, tostring)) }
    -- The same lists as tables. The original has one, to which it adds between the loops.
    before[2 * place - 1] = create("bench_" .. full, { "id INTEGER NOT NULL" }, "id")[1]
    before[2 * place] = format("INSERT INTO %s VALUES %s", own, joined(1, count, function(id)
      return "(" .. id .. ")"
    end))
    in_tables[place] = { count, format("SELECT %s.* FROM %s LEFT OUTER JOIN %s ON (%s.id=%s.id)", name, own, name, name, own) }
  end
  for _, own in ipairs({ { "select_in", in_lists }, { "select_join_in", in_tables, before } }) do
    add(operation(own[1], "read", short * 3, function(index)
      ask(unpack(own[2][floor(index / short) + 1]))
    end, { before = own[3] }))
  end

  -- The table copied into others, then deleted row by row and by ranges.
  for _, own in ipairs({ { "insert_select_1_key", "bench2" }, { "insert_select_2_keys", "bench3", { "id3" } } }) do
    add(operation(own[1], "write", 1, function()
      change(rows, format("INSERT INTO %s%s SELECT * FROM %s", PREFIX, own[2], name))
    end, { before = table_of(own[2], own[3]) }))
  end
  -- The updates have removed half of the keys, so half of the statements find nothing.
  local deletions = ceil(part / 10)
  local found = deletions - min(deletions, ceil(turned / 10))
  add(operation("delete_key", "write", deletions, function(index)
    change(10 * index >= turned and 1 or 0, format("DELETE FROM %s WHERE id3=%d", name, in_last_third(10 * index)))
  end, { check = holds(rows - found) }))
  -- Ranges of the second key that all begin at 0 and grow, one of the first, and the rest, each with the rows that it
  -- still finds. The original prints one less than there are.
  local ranges = lazily(function()
    -- The second key of each row that is left: the updates have made a twentieth of most of them.
    local left = {}
    for id = 0, rows - 1 do
      left[id] = id < 2 * part and floor(id / 20) or id
    end
    for number = 0, turned - 1 do
      local id = in_last_third(number)
      left[id] = floor(id / 20)
    end
    for number = 0, part - 1, 10 do
      if number >= turned then
        left[in_last_third(number)] = nil
      end
    end
    local function delete(condition, is_deleted)
      local count = 0
      for id = 0, rows - 1 do
        if left[id] and is_deleted(id, left[id]) then
          left[id], count = nil, count + 1
        end
      end
      return { count, format("DELETE FROM %s WHERE %s", name, condition) }
    end
    local made = map(0, 10, function(number)
      local last = floor(part * number / 10)
      return delete("id3>=0 AND id3<=" .. last, function(_, id3)
        return id3 <= last
      end)
    end)
    made[12] = delete(format("id>=%d AND id<=%d", part, 2 * part), function(id)
      return id >= part and id <= 2 * part
    end)
    made[13] = delete("id3<" .. rows, function()
      return true
    end)
    return made
  end)
  add(operation("delete_range", "write", 13, function(index)
    change(unpack(ranges()[index + 1]))
  end, { planned = 12, alone = "each range holds the one before it", check = holds(0) }))

  -- A table with keys on nearly all of its columns: filled, its primary key changed, emptied.
  local many_keys = PREFIX .. "many_keys"
  -- Rows with this value in `field_search`, of 128; the second half of those that the updates look for has none.
  local function with_value(value)
    return value >= 128 and 0 or floor(part / 128) + (value < part % 128 and 1 or 0)
  end
  local function with_values(count)
    local sum = 0
    for value = 0, count - 1 do
      sum = sum + with_value(value)
    end
    return sum
  end
  local indexes = { "field_search", unpack(map(3, 16, function(number)
    return "field" .. number
  end)) }
  add(operation("insert_key", "write", part, function(index)
    local id = part + any(index)
    change(1, format("INSERT INTO %s VALUES (%d,%d,%d,%d,'ABCDEF%d',0,%d,%d.0%s)", many_keys, index % 128, index % 128, id,
      index % 32768, id, id, id, string.rep(",'" .. id .. "'", 9)))
  end, { before = sixteen("many_keys", "field_search", 6, indexes), check = holds(part, nil, many_keys) }))
  local updates, removals = of(256), of(128)
  local remaining = part - with_values(removals)
  for _, own in ipairs({
    { "update_of_primary_key_many_keys", updates, "UPDATE %s SET field5=1",
      holds(with_values(updates), "field5=1", many_keys) },
    { "delete_big_many_keys", removals, "DELETE FROM %s", holds(remaining, nil, many_keys) },
  }) do
    add(operation(own[1], "write", own[2], function(value)
      change(with_value(value), format(own[3] .. " WHERE field_search=%d", many_keys, value))
    end, { check = own[4] }))
  end
  -- At the original's size nothing is left for it. The original's clock for it still runs from the loop before; here
  -- it is this statement's alone.
  add(operation("delete_all_many_keys", "write", 1, function()
    change(remaining, format("DELETE FROM %s WHERE field1>0", many_keys))
  end, { check = holds(0, nil, many_keys) }))

  -- Many rows to a statement: as many as fit into 1,000,000 bytes, which the original takes for the longest. It counts
  -- the rows.
  local bench4, at_once = PREFIX .. "bench4", 30000
  add(operation("multiple_value_insert", "write", ceil(part / at_once), function(index)
    local first = index * at_once
    local last = min(part, first + at_once) - 1
    change(last - first + 1, format("INSERT INTO %s VALUES ", bench4) .. joined(first, last, function(id)
      return format("(%d,%d,%d,'EFGHIJKLM')", id, id, id)
    end))
  end, { planned = part, counts_rows = true, before = table_of("bench4", { "id3" }), check = holds(part, nil, bench4) }))
  return all
end
