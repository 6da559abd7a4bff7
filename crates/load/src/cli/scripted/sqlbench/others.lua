-- alter-table: a table grows from 8 columns to 1000 and shrinks again, with 1000 rows in it. ------------
tests["alter-table"] = function()
  local name, rows, later, first = PREFIX .. "bench", of(1000), of(992), 8
  local alone = "each statement changes the same table's definition"
  local additions, drops = {}, {}
  for from = 1, later, 10 do
    additions[#additions + 1] = map(from, min(from + 9, later), function(column)
      return format("ADD COLUMN i%d INTEGER", first + column)
    end)
  end
  -- From the last backwards. As the original counts, one column stays behind before each statement's, and the
  -- last of the first columns goes with the rest.
  local above = first + later
  while above > first do
    local last, some = max(above - 10, first), {}
    for column = above - 1, last, -1 do
      some[#some + 1] = "DROP COLUMN i" .. column
    end
    drops[#drops + 1] = some
    above = last - 1
  end
  -- SQLite knows one change to a statement only: there, a turn has several.
  local function alter(changes)
    return function(index)
      local all = changes[index + 1]
      tell_all(map(1, sqlite and #all or 1, function(place)
        return format("ALTER TABLE %s %s", name, sqlite and all[place] or concat(all, ", "))
      end))
    end
  end
  return {
    operation("insert", "write", rows, function(index)
      change(1, format("INSERT INTO %s VALUES (%s)", name, string.rep(index, first, ",")))
    end, { before = create("bench", map(1, first, function(number)
      return format("i%d INTEGER NOT NULL", number)
    end)) }),
    operation("alter_table_add", "other", #additions, alter(additions), { alone = alone }),
    -- The original prints one more than it makes.
    operation("create_index", "other", 7, function(index)
      tell(format("CREATE INDEX sqlbench_ind%d ON %s (i%d)", index + 1, name, index + 1))
    end, { alone = alone, planned = 8 }),
    operation("drop_index", "other", 7, function(index)
      tell(format("DROP INDEX sqlbench_ind%d%s", index + 1, mysql and " ON " .. name or ""))
    end, { alone = alone, planned = 8, needs = "create_index" }),
    operation("alter_table_drop", "other", #drops, alter(drops), { alone = alone, needs = "alter_table_add",
      check = { "SELECT COUNT(*) FROM " .. name .. " WHERE i7=i1", rows } }),
  }
end

-- big-tables: rows of 1000 columns, read and written whole. ---------------------------------------------
tests["big-tables"] = function()
  local name, columns, loops = PREFIX .. "bench1", of(1000), of(1000)
  local names = joined(1, columns, function(number)
    return "i" .. number
  end)
  local values = joined(1, columns, tostring)
  local insert_all = format("INSERT INTO %s VALUES (%s)", name, values)
  local insert_named = format("INSERT INTO %s (%s) VALUES (%s)", name, names, values)
  local select_named = format("SELECT %s FROM %s", names, name)
  local before = create("bench1", map(1, columns, function(number)
    return format("i%d INTEGER", number)
  end))
  before[#before + 1] = insert_all
  return {
    operation("select_many_fields", "read", 2 * loops, function(index)
      ask(1, index < loops and "SELECT * FROM " .. name or select_named)
    end, { before = before }),
    operation("insert_many_fields", "write", 2 * loops, function(index)
      change(1, index < loops and insert_all or insert_named)
    end, { check = { format("SELECT COUNT(*) FROM %s WHERE i%d = %d", name, columns, columns), 2 * loops + 1 } }),
  }
end

-- connect: new connections, and the shortest questions on one and on an old one. ------------------------
tests.connect = function()
  local name, big, bytes = PREFIX .. "bench1", PREFIX .. "bench2", 65000
  local questions, connections = of(100000), of(10000)
  -- Each asks with a figure that is another each time, so that no cache has the answer.
  local function number(figure)
    ask(1, format("SELECT %d", figure))
  end
  local function rows(count)
    return function(figure)
      ask(count, format("SELECT a,i,s,%d FROM %s", figure, name))
    end
  end
  local function connect_and(turn)
    return function(figure)
      job.come_again(1)
      turn(figure)
    end
  end
  local function row(values)
    return format("INSERT INTO %s VALUES (%s)", name, values)
  end
  local made = create("bench1", { "a INTEGER NOT NULL", "i INTEGER", "s CHAR(10)" }, "a")
  made[#made + 1] = row("1,100,'AAA'")
  local made_big = create("bench2", { postgres and "b TEXT" or "b BLOB" })
  made_big[#made_big + 1] = format("INSERT INTO %s VALUES ('%s')", big, string.rep("A", bytes))
  return {
    operation("connect", "other", connections, connect_and(function() end), { connects = true }),
    operation("connect+select_simple", "read", connections, connect_and(number), { connects = true }),
    operation("select_simple", "read", questions, number),
    query("select_simple_cache", questions, 1, "SELECT 10000"),
    operation("connect+select_1_row", "read", connections, connect_and(rows(1)), { connects = true, before = made }),
    operation("select_1_row", "read", questions, rows(1)),
    query("select_1_row_cache", questions, 1, "SELECT a,i,s FROM " .. name),
    operation("select_2_rows", "read", questions, rows(2), { before = { row("2,200,'BBB'") } }),
    operation("select_column+column", "read", questions, function(figure)
      ask(2, format("SELECT a+a+a+a+a+a+a+a+a+%d FROM %s", figure, name))
    end),
    operation("select_big_str", "read", connections, function(figure)
      ask(1, format("SELECT b,%d FROM %s", figure, big))
    end, { before = made_big, check = { "SELECT LENGTH(b) FROM " .. big, bytes } }),
  }
end

-- A table of sixteen columns in mixed types, all of them parts of its primary key and most with an index of
-- their own; `extra` follows the first, and the last nine hold so many characters.
local function sixteen(name, extra, characters, indexes)
  -- PostgreSQL has neither of the two.
  local tiny, medium = postgres and "SMALLINT" or "TINYINT", postgres and "INTEGER" or "MEDIUMINT"
  local columns = { format("field1 %s NOT NULL", tiny) }
  if extra then
    columns[2] = format("%s %s NOT NULL", extra, tiny)
  end
  for place, kind in ipairs({ medium, "SMALLINT", "CHAR(16)", "INTEGER", "FLOAT", "DOUBLE PRECISION" }) do
    columns[#columns + 1] = format("field%d %s NOT NULL", place + 1, kind)
  end
  for number = 8, 16 do
    columns[#columns + 1] = format("field%d CHAR(%d) NOT NULL", number, characters)
  end
  return create(name, columns, joined(1, 16, function(number)
    return "field" .. number
  end), indexes)
end

-- create: ten thousand tables, and tables made and dropped at once. -------------------------------------
tests.create = function()
  local count = of(10000)
  local columns = { "i INTEGER NOT NULL", "d DOUBLE PRECISION", "f FLOAT", "s CHAR(10)", "v VARCHAR(100)" }
  local keys = map(2, 16, function(number)
    return "field" .. number
  end)
  -- Each table has a name of its own, and is there for a moment only.
  local function at_once(name, make)
    return operation(name, "other", count, function(index)
      tell_all(make("bench_" .. index))
      tell("DROP TABLE " .. PREFIX .. "bench_" .. index)
    end)
  end
  return {
    operation("create_MANY_tables", "other", count, function(index)
      tell_all(create("many_" .. index, columns, "i"))
    end),
    operation("select_group_when_MANY_tables", "read", count, function(index)
      ask(1, format("SELECT COUNT(*) FROM %smany_%d", PREFIX, index))
    end, { needs = "create_MANY_tables" }),
    operation("drop_table_when_MANY_tables", "other", count, function(index)
      tell(format("DROP TABLE %smany_%d", PREFIX, index))
    end, { needs = "create_MANY_tables" }),
    at_once("create+drop", function(name)
      return create(name, columns, "i")
    end),
    at_once("create_key+drop", function(name)
      return sixteen(name, nil, 5, keys)
    end),
  }
end

-- transactions: rows written in transactions that end with COMMIT, with ROLLBACK, or by themselves. ------
--
-- Each commit operation is one transaction over its whole loop with one COMMIT at the end, which the clock
-- covers: it is the price of rows without that of durability. The autocommit operations are the direct probe of
-- what a durable commit costs.
local engine_without_transactions
tests.transactions = function()
  local committed, autocommitted = PREFIX .. "bench1", PREFIX .. "bench2"
  local full, regions, rows, rollbacks = 10000, 27, of(10000), of(100)
  local skipped = engine_without_transactions
  -- In the MySQL family autocommit is switched off, as in the original, and only COMMIT or ROLLBACK stands
  -- between two transactions.
  local set_up = mysql and "SET autocommit=0" or nil
  local function begin()
    if not mysql then
      -- In SQLite, a writer that has to wait for the lock can do so only here.
      aside(sqlite and "BEGIN IMMEDIATE" or "BEGIN")
    end
  end
  local function insert(name, idn)
    change(1, format("INSERT INTO %s VALUES (%d,%d,'%s',%d,0)", name, idn, 2 * full - idn,
      string.char(65 + idn % regions), floor(idn / regions)))
  end
  local function update_to(value)
    return function(name, idn)
      change(1, format("UPDATE %s SET updated=%d WHERE idn=%d", name, value, idn))
    end
  end
  local function delete(name, idn)
    change(1, format("DELETE FROM %s WHERE idn=%d", name, idn))
  end
  local function commit(name, statement, check, before)
    return operation(name, "write", rows, function(index)
      if index == 0 then
        begin()
      end
      statement(committed, index)
      if index + 1 == rows then
        aside("COMMIT")
      end
    end, { alone = "all its statements are one transaction", aside = true, set_up = set_up, rollback = "ROLLBACK",
      skipped = skipped, check = check, before = before })
  end
  local function autocommit(name, statement, check)
    return operation(name, "write", rows, function(index)
      statement(autocommitted, index)
    end, { skipped = skipped, check = check })
  end
  -- All rows from `first` on, a number of them in each transaction.
  local function rollback(name, first, statement, check)
    local each = min(100, floor(rows / rollbacks))
    return operation(name, "write", rollbacks, function(index)
      begin()
      for row = 0, each - 1 do
        statement(committed, first + index * each + row)
      end
      aside("ROLLBACK")
    end, { aside = true, set_up = set_up, rollback = "ROLLBACK", skipped = skipped, check = check })
  end
  local function count(name, answer)
    return { "SELECT COUNT(*) FROM " .. name, answer }
  end
  local function updated(name, answer)
    return { format("SELECT COUNT(*) FROM %s WHERE updated<>0", name), answer }
  end
  local before = {}
  for _, name in ipairs({ "bench1", "bench2" }) do
    for _, sql in ipairs(create(name, { "idn INTEGER NOT NULL", "rev_idn INTEGER NOT NULL",
      "region CHAR(1) NOT NULL", "grp INTEGER NOT NULL", "updated SMALLINT NOT NULL" }, "idn", { "unique region,grp" })) do
      before[#before + 1] = sql
    end
  end
  return {
    commit("insert_commit", insert, count(committed, rows), before),
    autocommit("insert_autocommit", insert, count(autocommitted, rows)),
    -- Rows that come after those which are there.
    rollback("insert_rollback", rows, insert, count(committed, rows)),
    rollback("update_rollback", 0, update_to(2), updated(committed, 0)),
    rollback("delete_rollback", 0, delete, count(committed, rows)),
    commit("update_commit", update_to(1), updated(committed, rows)),
    autocommit("update_autocommit", update_to(1), updated(autocommitted, rows)),
    commit("delete_commit", delete, count(committed, 0)),
    autocommit("delete_autocommit", delete, count(autocommitted, 0)),
  }
end

-- wisconsin: the Wisconsin benchmark's relations and its selections, joins, projections, one aggregate and
-- changes (DeWitt, "The Wisconsin Benchmark: Past, Present, and Future", 1993). --------------------------
tests.wisconsin = function()
  local onek, tenk1, tenk2, bprime = PREFIX .. "onek", PREFIX .. "tenk1", PREFIX .. "tenk2", PREFIX .. "bprime"
  local large, small, loops = of(10000), of(1000), of(10)
  local columns = { "unique1", "unique2", "two", "four", "ten", "twenty", "hundred", "thousand", "twothousand",
    "fivethous", "tenthous", "odd", "even", "stringu1", "stringu2", "string4" }
  -- Only what has a key must have a value; there is no primary key.
  local keyed = { unique1 = " NOT NULL", unique2 = " NOT NULL", hundred = " NOT NULL" }
  local definitions = map(1, #columns, function(place)
    return columns[place] .. (place > 13 and " CHAR(16)" or " INTEGER" .. (keyed[columns[place]] or ""))
  end)
  -- The original makes four relations under a count of three; so does the third turn here.
  local made = { { "onek" }, { "tenk1" }, { "tenk2", "bprime" } }
  -- As the benchmark wants it, unique1 is in random order and unique2 in that of the rows; the three large
  -- relations hold the same rows.
  local orders = lazily(function()
    return { shuffled(small, 1), shuffled(large, 2) }
  end)
  local function insert(index)
    local name, order, unique2 = onek, 1, index
    if index >= small then
      -- tenk2 is filled and never asked for, as in the original.
      name, order = ({ tenk1, tenk2, bprime })[floor((index - small) / large) % 3 + 1], 2
      unique2 = (index - small) % large
    end
    local u = orders()[order][unique2]
    local hundred = u % 100
    change(1, format("INSERT INTO %s VALUES (%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,'u%07d','v%07d','%s')", name, u,
      unique2, u % 2, u % 4, u % 10, u % 20, hundred, u % 1000, u % 2000, u % 5000, u, 2 * hundred, 2 * hundred + 1,
      u, unique2, ({ "AAAA", "HHHH", "OOOO", "VVVV" })[u % 4 + 1]))
  end
  -- All columns of a relation, each under a name that no other has.
  local function renamed(alias)
    return joined(1, #columns, function(place)
      return format("%s.%s AS %s%s", alias, columns[place], alias, columns[place])
    end)
  end
  local function at(row)
    return floor(row * large / 10000)
  end
  local hundredth, tenth = max(floor(large / 100), 1), floor(large / 10)
  local function within(column, after, rows)
    return { rows, format("SELECT * FROM %s WHERE %s>%d AND %s<%d", tenk1, column, after, column, after + rows + 1) }
  end
  -- One hundredth by unique2, a tenth by unique1, one row, the hundredth again, three joins, two scans, an extreme.
  local questions = {
    within("unique2", at(301), hundredth),
    within("unique1", at(647), tenth),
    { 1, format("SELECT * FROM %s WHERE unique2=%d", tenk1, at(2001)) },
    within("unique2", at(301), hundredth),
    { tenth, format("SELECT t1.*,%s FROM %s t1,%s t2 WHERE t1.unique2=t2.unique2 AND t2.unique2<%d", renamed("t2"),
      tenk1, tenk1, tenth) },
    { small, format("SELECT t.*,%s FROM %s t,%s b WHERE t.unique2=b.unique2", renamed("b"), tenk1, bprime) },
    { min(small, tenth), format("SELECT t1.*,%s FROM %s o,%s t1,%s t2 WHERE o.unique2=t1.unique2 " ..
      "AND t1.unique2=t2.unique2 AND t1.unique2<%d AND t2.unique2<%d", renamed("o"), onek, tenk1, tenk1, tenth, tenth) },
    { large, "SELECT two,four,ten,twenty,hundred,string4 FROM " .. tenk1 },
    { small, "SELECT * FROM " .. onek },
    { 1, "SELECT MIN(unique2) AS x FROM " .. tenk1 },
  }
  -- The rows to delete or move: at full scale those that are named, else those that lie in the same place, no
  -- two the same.
  local after, rows = 0, {}
  for _, row in ipairs({ 187, 876, 877, 900, 1140, 1480, 1491, 1974, 2000 }) do
    rows[row] = max(after, at(row))
    after = rows[row] + 1
  end
  local function added(unique1, unique2)
    return format("INSERT INTO %s (%s) VALUES (%d,%d,0,2,0,10,50,688,1950,4950,9950,1,100,'a new row','of its own','it is')",
      tenk1, concat(columns, ","), unique1, unique2)
  end
  local function deleted(unique2)
    return format("DELETE FROM %s WHERE unique2=%d", tenk1, unique2)
  end
  local function moved(from, to)
    return format("UPDATE %s SET unique2=%d WHERE unique2=%d", tenk1, to, from)
  end
  -- Rows beyond all others, rows deleted, and rows that move beyond all others; one of those that have moved is
  -- deleted too.
  local changes = { added(10001, 74001), added(19991, 60001), deleted(rows[877]), deleted(rows[876]),
    moved(rows[1491], 10001), moved(rows[1480], 10023), added(20002, 70002), added(50002, 40002), deleted(10001),
    deleted(rows[900]), moved(rows[187], 10088), moved(rows[2000], 10003), moved(rows[1974], 10020),
    moved(rows[1140], 16001) }
  local asked = loops * #questions
  return {
    operation("create_table", "other", 3, function(index)
      for _, name in ipairs(made[index + 1]) do
        tell_all(create(name, definitions, nil, { "unique unique1", "unique unique2", "hundred" }))
      end
    end),
    operation("insert", "write", small + 3 * large, insert, { needs = "create_table" }),
    operation("delete_big", "write", 1, function()
      change(large - small, format("DELETE FROM %s WHERE unique2>=%d", bprime, small))
    end, { needs = "insert", check = { "SELECT COUNT(*) FROM " .. bprime, small } }),
    operation("wisc_benchmark", "read", asked + #changes, function(index)
      if index < asked then
        ask(unpack(questions[floor(index / loops) + 1]))
      else
        change(1, changes[index - asked + 1])
      end
    end, { alone = "its last turns insert rows, move them and delete them", cut = false, needs = "insert",
      check = { "SELECT COUNT(*) FROM " .. tenk1, large } }),
  }
end
