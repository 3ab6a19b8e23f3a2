# Two commands do everything on a fresh machine: `make lab` and `make test`.
# TORCH=cpu spares you the CUDA packages, TORCH=cuda asks for them; the default looks for a GPU.
# CPU builds of torch stand in PyTorch's own package index: name its address in TORCH_INDEX.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TORCH ?= $(if $(shell command -v nvidia-smi 2>/dev/null),cuda,cpu)
TORCH_INDEX ?=
INDEX := $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
TORCH_cpu := torch==2.13.0+cpu
TORCH_cuda := torch==2.15.0
READY := $(VENV)/.ready
OLDEST := .venv-oldest
NEWEST := .venv-newest
COLAB := .venv-colab
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)
WORK := my_lessons
PORT ?= 8888

.DEFAULT_GOAL := help
.PHONY: help lab test test-oldest colab canary lint build demo bench doctor clean browser

help: ## show the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

lab: $(READY) build ## open JupyterLab on the first lesson
	@mkdir -p $(WORK) && for lesson in lessons/*.ipynb; do [ -e $(WORK)/$$(basename $$lesson) ] || cp $$lesson $(WORK)/; done
	$(BIN)/jupyter lab $(ROOT_FLAG) --ip=127.0.0.1 --port=$(PORT) --ServerApp.root_dir=$(WORK) --LabApp.default_url=/lab/tree/01_vector_add.ipynb $(LAB_FLAGS)

test: $(READY) browser ## run every test
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(PYTEST_FLAGS)

test-oldest: $(OLDEST)/.ready browser ## run every test on the oldest supported triton
	$(OLDEST)/bin/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(PYTEST_FLAGS)

canary: ## try the newest torch and triton of the package index
	@test -x $(NEWEST)/bin/python || $(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install -q --upgrade --pre $(INDEX) torch
	$(NEWEST)/bin/python -m pip install -q --upgrade --pre triton -e '.[dev]'
	TRITON_INTERPRET=1 $(NEWEST)/bin/python -m triton_util.interpreter.hooks
	$(NEWEST)/bin/python -m pytest tests/triton_util/interpreter tests/triton_util/explain tests/triton_util/sanitizer $(PYTEST_FLAGS)

lint: $(READY) ## format, lint and check types
	$(BIN)/ruff format . && $(BIN)/ruff check --fix . && $(BIN)/mypy

build: $(READY) ## build the notebooks and the nbgrader course
	$(BIN)/tilewise build

demo: $(READY) build ## take a class of demonstration through nbgrader and print the gradebook
	$(BIN)/tilewise demo

bench: $(READY) ## print what the interpreter and the feedback cost
	$(BIN)/python benchmarks/interpreter.py && $(BIN)/python benchmarks/feedback.py

doctor: $(READY) ## say what works on this machine
	$(BIN)/tilewise doctor

clean: ## remove what was built, keep my_lessons
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache $(VENV) $(OLDEST) $(NEWEST) $(COLAB)

browser: ## install Chromium for the browser test where apt can
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium chromium-driver >/dev/null; } || echo "no Chromium here: the browser test will be skipped"

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing torch for $(TORCH) (TORCH=cpu or TORCH=cuda to choose)"
	@$(BIN)/python -m pip install -q $(INDEX) $(TORCH_$(TORCH)) || { echo "no CPU build in your package index (see TORCH_INDEX): taking the default build"; $(BIN)/python -m pip install -q $(TORCH_cuda); }
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	@$(BIN)/jupyter labextension disable --level sys_prefix "@jupyterlab/apputils-extension:announcements" 2>/dev/null || true # no news, no questions
	@touch $@

$(OLDEST)/.ready: pyproject.toml constraints.txt
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip install -q $(INDEX) $(TORCH_cpu) || $(OLDEST)/bin/python -m pip install -q torch==2.11.0
	sed -e '/^triton==/d' -e 's/^numpy==.*/numpy==2.3.5/' constraints.txt > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install -q -c $(OLDEST)/constraints.txt triton==3.6.0 -e '.[dev]'
	@touch $@

$(COLAB)/.ready: tests/colab/packages.txt
	@test -x $(COLAB)/bin/python || $(PYTHON) -m venv $(COLAB)
	$(COLAB)/bin/python -m pip install -q -r tests/colab/packages.txt
	$(COLAB)/bin/python -m pip install -q torch==2.11.0 triton==3.6.0
	@touch $@
