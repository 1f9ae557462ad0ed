# On a machine with Python 3.11 to 3.13, git and make, `make quick` and `make test` install everything they need.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
LOCKS := requirements.lock requirements-torch.txt pyproject.toml
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
# Rules call `python -m cgnn`; this puts the installed Python first.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Programs that the targets start print and read UTF-8 in any locale.
export PYTHONUTF8 := 1

.PHONY: help install quick paper test numerics lint verify docs bench lock clean
help:
	@echo "make install  install the locked packages into $(VENV) and check their hashes"
	@echo "make quick    run the whole workflow with a small budget, on real data"
	@echo "make paper    run the whole paper (hours); you can interrupt it, and rerunning resumes"
	@echo "make verify   recompute five published rows from raw data and compare (about two minutes)"
	@echo "make test     run the tests"
	@echo "make numerics run the numerical tests; ATEN_CPU_CAPABILITY=default or avx2 sets the instruction set"
	@echo "make lint     run ruff, snakefmt, snakemake --lint, mypy and import-linter"
	@echo "make docs     build the documentation as a website, in site/"
	@echo "make bench    measure speed and memory, side by side with the released recipe"
	@echo "make lock     update requirements.lock from pyproject.toml; UPGRADE=--upgrade uses the newest versions"
	@echo "make clean    remove caches and the quick results; keep data, $(VENV) and results/paper"

install: $(INSTALLED)

# Installs if the content (not only the date) of the locks or of pyproject.toml has changed since the last installation.
# --no-deps: the lock is complete except for torch, which has no hash because its build differs between indexes.
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
	@CGNN_PRELOAD=1 $(RUN) --configfile config/quick.yaml

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
