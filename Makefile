# Two commands do everything on a fresh machine with Python 3.11, git and make: `make quick` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Rules call `python -m cgnn`: this puts the installed one first.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help install quick paper test lint bench clean
help:
	@echo "make quick    the whole DAG at a small budget, on real data"
	@echo "make test     the tests"
	@echo "make paper    the whole paper (hours); you can interrupt it, and rerunning resumes"
	@echo "make lint     ruff, snakefmt, snakemake --lint, mypy, import-linter"
	@echo "make bench    speed and memory, side by side with the released recipe"
	@echo "make clean    remove caches and the quick results; data, .venv and results/paper stay"

install: $(INSTALLED)

# Installs when the lock or pyproject.toml really differ from what was installed, not when git touched them.
$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, found $$($(PYTHON) --version); set PYTHON=..." >&2; exit 1; }
	@wanted=$$(cat requirements.lock pyproject.toml | cksum); \
	if [ "$$wanted" != "$$(cat $@ 2>/dev/null)" ]; then \
	  echo "installing the locked packages into $(VENV) (a minute or two)"; \
	  { [ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV); } && \
	  $(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements.lock && \
	  $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e . && \
	  echo "$$wanted" > $@; \
	else touch $@; fi

# The logger prints one line per finished job; the full log is in .snakemake/log.
RUN := PYTHONPATH=$(CURDIR)/workflow/terminal$${PYTHONPATH:+:$$PYTHONPATH} snakemake --cores all --logger cgnn

quick: install
	@$(RUN) --configfile config/quick.yaml

paper: install
	@$(RUN)

test: install
	python -m pytest -n 2 --dist loadgroup

lint: install
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	snakemake --lint
	mypy cgnn
	lint-imports

bench: install
	python -m benchmarks

clean:
	rm -rf results/quick .pytest_cache .hypothesis .mypy_cache .ruff_cache build *.egg-info
