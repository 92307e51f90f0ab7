# The two commands that matter are demo and test; both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
READY := $(VENV)/.dev
COVERED := 97  # percent of lines and branches that the tests must reach
unexport PYTHONDONTWRITEBYTECODE  # every process would compile all modules and tests anew

.PHONY: help demo test check test-all test-pythons browser postgres test-ecosystem docs site screenshots bench bench-smoke bench-speed bench-scale clean net-record attack
help:            ## show this list
	@grep -hE '^[a-z-]+: .*##|^[a-z-]+:  *##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 16

$(CORE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "truism needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

# An extra of pyproject.toml, such as dev, in the same environment.
$(VENV)/.%: $(CORE)
	$(BIN)/python -m pip install --quiet -e '.[$*]'
	@touch $@

demo: $(CORE)    ## simulate a plant, attack it, and explain what happened
	@$(BIN)/python -m truism demo

# The page is tested in a real browser. Where none is there, Debian's is installed if that is allowed.
browser: $(READY)
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		command -v google-chrome >/dev/null || command -v google-chrome-stable >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; } || \
		echo "no browser could be installed: the tests of the page in a browser are skipped"

# Statements are tested in a real PostgreSQL, installed in the same way.
postgres: $(READY)
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get -qq update && apt-get -qq install -y --no-install-recommends postgresql >/dev/null; } || \
		echo "PostgreSQL could not be installed: the tests of statements in it are skipped"

test: browser postgres  ## run the checks and tests that a change needs (at most five minutes)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m 'not slow' src tests

check: test      ## the same

TRUISM_EXAMPLES ?= 1
test-all: browser postgres  ## run the slow tests too, with coverage, on other Pythons and in other tools
	@$(MAKE) $(VENV)/.docs || echo "the documentation site is not tested: Sphinx could not be installed"
	TRUISM_EXAMPLES=$(TRUISM_EXAMPLES) $(BIN)/python -m pytest -q -n auto --dist worksteal --cov --cov-report= --cov-fail-under=$(COVERED) src tests
	$(BIN)/python tests/pythons.py --fast --others
	@test ! -d $(ECOSYSTEM) || $(MAKE) test-ecosystem

test-pythons: $(READY)  ## run all tests on every supported Python of this machine, and with old dependencies
	$(BIN)/python tests/pythons.py

# Other tools have an environment of their own; what cannot be installed is left out, and said.
ECOSYSTEM := .venv-ecosystem
test-ecosystem:  ## run truism in Spark, Ray, dbt, Great Expectations, MLflow and others (minutes)
	@test -d $(ECOSYSTEM) || $(PYTHON) -m venv $(ECOSYSTEM)
	@command -v java >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get -qq update && apt-get -qq install -y --no-install-recommends default-jre-headless >/dev/null; } || \
		echo "no Java could be installed: Spark is left out"
	$(ECOSYSTEM)/bin/python -m pip install --quiet -e '.[sql,dask]' pytest
	@for tool in "dbt-core<1.11 dbt-duckdb<1.11" great-expectations pyspark mlflow skops ray sktime datacontract-cli[duckdb]; do \
		$(ECOSYSTEM)/bin/python -m pip install --quiet $$tool || echo "left out: $$tool"; done
	$(ECOSYSTEM)/bin/python -m pytest -q -raP -o addopts= -o filterwarnings=default -o pythonpath=ecosystem ecosystem

net-record: $(READY)  ## record anew what tests/net compares with, and print what differs
	$(BIN)/python -m tests.net

attack: browser  ## attack truism with odd input, damaged files, kills, faults, hostile names (minutes)
	cd tests && ../$(BIN)/python -m attack

docs: $(READY)   ## regenerate what the documentation takes from the program
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/notebook.py

site: $(VENV)/.docs $(VENV)/.sql  ## build the documentation site in build/site
	$(BIN)/python docs/site/build.py

bench: $(READY) $(VENV)/.bench  ## repeat the paper's experiments and measure the alternatives (hours)
	$(BIN)/python -m benchmarks run
	$(BIN)/python -m benchmarks page

bench-smoke: $(READY)  ## run the benchmarks on a small table (a minute)
	@$(BIN)/python -m benchmarks smoke > $(VENV)/smoke.log 2>&1 \
		&& echo "benchmarks: smoke test passed" || { cat $(VENV)/smoke.log; exit 1; }

screenshots: browser  ## draw the report pages that the docs show (BATADAL from TRUISM_DATA)
	$(BIN)/python docs/screenshots.py

bench-speed: $(READY)  ## measure time, memory and growth of learning and scoring
	$(BIN)/python -m benchmarks.speed --out benchmarks/results/speed.jsonl

bench-scale: $(READY)  ## learn from and score 10 and 100 million rows (about an hour, 8 GB of disk)
	$(BIN)/python -m benchmarks.scale --out benchmarks/results/scale.jsonl

clean:           ## remove what the other targets made
	rm -rf $(VENV) $(ECOSYSTEM) .pythons build .pytest_cache .mypy_cache .ruff_cache .hypothesis
