-- The transaction of sysbench's older OLTP script, for sysbench 1.0: one table for the whole
-- transaction, statements as text. Written from the description in docs, to compare with `complex`.

sysbench.cmdline.options = {
  tables = { "Number of tables", 1 },
  table_size = { "Rows in each table", 10000 },
}

local connection

function thread_init()
  connection = sysbench.sql.driver():connect()
end

function thread_done()
  connection:disconnect()
end

local function row()
  return sysbench.rand.default(1, sysbench.opt.table_size)
end

-- sysbench puts a random digit for each #: ten groups in c, five in pad.
local c_template = string.rep("###########-", 9) .. "###########"
local pad_template = string.rep("###########-", 4) .. "###########"

function event()
  local t = "sbtest" .. sysbench.rand.uniform(1, sysbench.opt.tables)
  connection:query("BEGIN")
  for _ = 1, 10 do
    connection:query(("SELECT c FROM %s WHERE id=%d"):format(t, row()))
  end
  local ranges = {
    "SELECT c FROM %s WHERE id BETWEEN %d AND %d",
    "SELECT SUM(k) FROM %s WHERE id BETWEEN %d AND %d",
    "SELECT c FROM %s WHERE id BETWEEN %d AND %d ORDER BY c",
    "SELECT DISTINCT c FROM %s WHERE id BETWEEN %d AND %d ORDER BY c",
  }
  for _, range in ipairs(ranges) do
    local first = row()
    connection:query(range:format(t, first, first + 99))
  end
  connection:query(("UPDATE %s SET k=k+1 WHERE id=%d"):format(t, row()))
  connection:query(("UPDATE %s SET c='%s' WHERE id=%d"):format(t, sysbench.rand.string(c_template), row()))
  local id = row()
  connection:query(("DELETE FROM %s WHERE id=%d"):format(t, id))
  connection:query(
    ("INSERT INTO %s (id, k, c, pad) VALUES (%d, %d, '%s', '%s')"):format(
      t, id, row(), sysbench.rand.string(c_template), sysbench.rand.string(pad_template)
    )
  )
  connection:query("COMMIT")
end

-- A deadlock restarts the transaction, as the original does.
function sysbench.hooks.sql_error_ignorable(err)
  if err.sql_errno == 1213 or err.sql_errno == 1205 or err.sql_errno == 1020 then
    return sysbench.error.RESTART_EVENT
  end
end
