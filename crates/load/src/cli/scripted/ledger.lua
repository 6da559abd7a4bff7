-- Transfers between accounts, each with a numbered entry: the tables; its clients are native (workload/ledger).
local opt, job = sysbench.opt, sysbench.job
local format = string.format

local ACCOUNTS, ENTRIES = "ledger_accounts", "ledger_entries"
local COLUMNS = {
  [ACCOUNTS] = { "id", "balance", "transfers", "filler" },
  [ENTRIES] = { "client", "number", "source", "target", "amount", "filler" },
}
local FIRST_BALANCE = 1000000
local LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
local BOTH = { "run", "prepare" }

sysbench.cmdline.steady, sysbench.cmdline.native = true, true
sysbench.cmdline.about = {
  run = "Numbered transfers between accounts, so that every commit can be looked for afterwards",
  prepare = "Accounts, and an empty table of transfers between them",
  cleanup = "The accounts and the transfers between them",
}
sysbench.cmdline.options = {
  { name = "accounts", value = "N", whole = true, least = 2, most = 10000000, verbs = BOTH, "Accounts, with ids from 1", 1000 },
  { name = "filler-bytes", value = "BYTES", whole = true, least = 0, most = 4000, verbs = BOTH,
    "Bytes beside the figures in each account and each entry", 100 },
  { name = "seed", value = "N", whole = true, least = 0, most = 9007199254740991, verbs = BOTH,
    "The same seed gives the same fillers and the same transfers [default: 1 to prepare, another one each time to run]" },
  { name = "acknowledgements", value = "FILE", file = true, conflicts = { "retry" },
    "A new file to which a client adds the line CLIENT NUMBER MONOTONIC_US as soon as it has read the reply to a COMMIT, and before anything else. A client that does not know what became of its transaction then ends for good, and the run with the last of them; the tables must be as `prepare` made them" },
  { name = "bear-errors", requires = "acknowledgements",
    "A client whose transaction fails adds the line CLIENT NUMBER !CODE MONOTONIC_US instead, with `lost` for a lost connection, and continues with its next number", false },
  { name = "protocol", value = "PROTOCOL", choices = { { "text" }, { "prepared" } },
    "Send parameters as text in the statement, or bind them to statements prepared once", "prepared" },
}

function tables()
  return { { name = ACCOUNTS, rows = opt.accounts }, { name = ENTRIES, rows = 0 } }
end

function fill(number)
  local letters, suffix = "", ""
  if job.dialect == "mysql" then
    -- A ledger without transactions would be none.
    letters, suffix = " CHARACTER SET latin1", " ENGINE=InnoDB"
  end
  -- PostgreSQL knows no text of no length.
  local filler = format("filler VARCHAR(%d)%s NOT NULL", math.max(1, opt.filler_bytes), letters)
  if number == 2 then
    job.execute(format([[CREATE TABLE %s (client INTEGER NOT NULL, number BIGINT NOT NULL, source INTEGER NOT NULL,
      target INTEGER NOT NULL, amount INTEGER NOT NULL, %s)%s]], ENTRIES, filler, suffix))
    -- Not unique: an entry that a recovery brings twice is to be seen, not refused.
    job.execute(format("CREATE INDEX %s_numbers ON %s (client, number)", ENTRIES, ENTRIES))
    return 0
  end
  job.execute(format([[CREATE TABLE %s (id INTEGER NOT NULL, balance BIGINT NOT NULL, transfers BIGINT NOT NULL, %s,
    PRIMARY KEY (id))%s]], ACCOUNTS, filler, suffix))
  return job.load(ACCOUNTS, COLUMNS[ACCOUNTS], opt.accounts, function(id)
    return id, FIRST_BALANCE, 0, job.letters(LETTERS, opt.filler_bytes)
  end)
end

function cleanup()
  -- A database may well have a ledger of its own.
  job.owned("").refuse_foreign(COLUMNS)
  job.drop({ ACCOUNTS, ENTRIES })
end

-- The range of ids and the length of one filler show what `prepare` was asked for, without a scan.
local function look_at_tables()
  local owned = job.owned(format("--accounts %d --filler-bytes %d", opt.accounts, opt.filler_bytes))
  local function number(...)
    return tonumber(owned.value(format(...))) or 0
  end
  for _, name in ipairs({ ACCOUNTS, ENTRIES }) do
    owned.require(name)
    owned.require_columns(name, COLUMNS[name])
    owned.require_transactions(name)
  end
  local first, last = number("SELECT MIN(id) FROM %s", ACCOUNTS), number("SELECT MAX(id) FROM %s", ACCOUNTS)
  if first ~= 1 or last ~= opt.accounts then
    owned.remake("table %s has ids from %d to %d, but the run has --accounts %d", ACCOUNTS, first, last, opt.accounts)
  end
  local filler_bytes = number("SELECT LENGTH(filler) FROM %s WHERE id=1", ACCOUNTS)
  if filler_bytes ~= opt.filler_bytes then
    owned.remake("table %s has fillers of %d bytes, but the run has --filler-bytes %d", ACCOUNTS, filler_bytes, opt.filler_bytes)
  end
  owned.require_index(ENTRIES, COLUMNS[ENTRIES][1])
  if opt.acknowledgements and owned.value(format("SELECT 1 FROM %s LIMIT 1", ENTRIES)) then
    owned.remake("table %s holds entries of an earlier run, and this run's --acknowledgements would repeat their numbers", ENTRIES)
  end
end

function plan()
  if opt.has_tables then
    look_at_tables()
  end
  return { mix = "transfer", prepares = opt.protocol == "prepared" }
end
