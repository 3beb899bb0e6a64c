# Two commands are all the set-up there is: `make demo` and `make test`.
PY ?= python3
BIN := .venv/bin
UV := $(BIN)/python -m uv pip install -q --python $(BIN)/python -c constraints.txt
PACKAGES := $(foreach p,engine games bots service bot ladder workers,-p hippodrome.$(p))
ARGS ?=
WORKERS ?= 2

.PHONY: demo test quick lint generate clean

demo: .venv/.server
	@$(BIN)/hippodrome demo $(ARGS)

test: .venv/.dev
	@$(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

quick: .venv/.dev
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not slow" $(ARGS)

lint: .venv/.dev
	@$(BIN)/ruff check . && $(BIN)/mypy $(PACKAGES) && cd proto && ../$(BIN)/buf lint && ../$(BIN)/buf format -d --exit-code

generate: .venv/.dev
	@./proto/generate

clean:
	rm -rf .venv

.venv/.uv: constraints.txt
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PY) is older than Python 3.11; fix: make PY=python3.11 $(MAKECMDGOALS)"; exit 2; }
	@test -x $(BIN)/python || $(PY) -m venv .venv || { echo "error: $(PY) cannot make a virtual environment; fix: apt-get install python3-venv"; rm -rf .venv; exit 2; }
	@echo "setting up .venv ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt uv
	@touch $@

.venv/.server: .venv/.uv pyproject.toml
	@$(UV) -e '.[server]'
	@touch $@

.venv/.dev: .venv/.uv pyproject.toml
	@$(UV) -e '.[dev]'
	@touch $@ .venv/.server
