# On a machine with Python 3.11 to 3.13, git and make, `make quick` and `make test` install everything they need.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
LOCKS := requirements.lock requirements-torch.txt pyproject.toml
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
# Rules call `python -m cgnn`: this puts the installed one first.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Programs that the targets start print and read UTF-8, whatever the locale is.
export PYTHONUTF8 := 1

.PHONY: help install quick paper test numerics lint verify docs bench lock clean
help:
	@echo "make install  the locked packages into $(VENV), their hashes checked"
	@echo "make quick    the whole workflow at a small budget, on real data"
	@echo "make paper    the whole paper (hours); you can interrupt it, and rerunning resumes"
	@echo "make verify   recompute five published rows from raw data and compare (about two minutes)"
	@echo "make test     the tests"
	@echo "make numerics the numerical tests; ATEN_CPU_CAPABILITY=default or avx2 chooses the instruction set"
	@echo "make lint     ruff, snakefmt, snakemake --lint, mypy, import-linter"
	@echo "make docs     the documentation as a web site, in site/"
	@echo "make bench    speed and memory, side by side with the released recipe"
	@echo "make lock     write requirements.lock anew from pyproject.toml; UPGRADE=--upgrade takes the newest versions"
	@echo "make clean    remove caches and the quick results; data, $(VENV) and results/paper stay"

install: $(INSTALLED)

# Installs when the locks or pyproject.toml really differ from what was installed, not when git touched them.
# --no-deps: the lock is complete but for torch, whose build differs between indexes and which therefore has no hash.
$(INSTALLED): $(LOCKS)
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "Python 3.11, 3.12 or 3.13 is needed, found $$($(PYTHON) --version); set PYTHON=..." >&2; exit 1; }
	@wanted=$$(cat $(LOCKS) | cksum); \
	if [ "$$wanted" != "$$(cat $@ 2>/dev/null)" ]; then \
	  echo "installing the locked packages into $(VENV) (a minute or two)"; \
	  { [ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV); } && \
	  $(PIP) --no-deps --require-hashes -r requirements.lock && \
	  $(PIP) -r requirements-torch.txt && \
	  $(PIP) --no-deps --no-build-isolation -e . && \
	  echo "$$wanted" > $@; \
	else touch $@; fi

# The logger prints one line per finished job; the full log is in .snakemake/log.
RUN := PYTHONPATH=$(CURDIR)/workflow/terminal$${PYTHONPATH:+:$$PYTHONPATH} snakemake --cores all --logger cgnn

quick: install
	@$(RUN) --configfile config/quick.yaml

paper: install
	@$(RUN)

verify: install
	python -m cgnn verify

test: install
	python -m pytest -n 2 --dist loadgroup

numerics: install
	python -m pytest -q -n 2 --dist loadgroup -m numerics

lint: install
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	snakemake --lint
	mypy cgnn
	lint-imports

docs: install
	mkdocs build --strict --quiet

bench: install
	python -m benchmarks

lock: install
	python tools/lock.py $(UPGRADE)

clean:
	rm -rf results/quick site build *.egg-info
	rm -rf .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
