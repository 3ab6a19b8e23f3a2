# Two commands do everything on a fresh machine: `make lab` and `make test`.
# TORCH=cpu spares you the CUDA packages, TORCH=cuda asks for them; the default looks for a GPU.
# CPU builds of torch stand in PyTorch's own package index: name its address in TORCH_INDEX.
# Packages are installed by uv, five times as fast as pip, with pip's settings; by pip where uv fails.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TORCH ?= $(if $(shell command -v nvidia-smi 2>/dev/null),cuda,cpu)
TORCH_INDEX ?=
INDEX := $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
# pip's settings, NAME=VALUE with | for a space; those of the environment come first
PIP_SAYS := $(shell $(PYTHON) -m pip config list 2>/dev/null | sed "s/\\\\n/ /g; s/'$$//" | tr ' ' '|' | sed -nE "s/^[^=]*\.(index-url|extra-index-url|find-links|cert)='/\1=/p")
pip_says = $(subst |, ,$(patsubst $(1)=%,%,$(firstword $(filter $(1)=%,$(PIP_SAYS)))))
give_uv = $(if $(call pip_says,$(2)),$(eval export $(1) := $(call pip_says,$(2))))
$(call give_uv,UV_DEFAULT_INDEX,index-url)
$(call give_uv,UV_INDEX,extra-index-url)
$(call give_uv,UV_FIND_LINKS,find-links)
$(call give_uv,SSL_CERT_FILE,cert)
export UV_INDEX_STRATEGY := unsafe-best-match
# $(call install,ENVIRONMENT,PACKAGES)
install = { $(1)/bin/python -m pip install -q uv && $(1)/bin/python -m uv pip install -q --python $(1)/bin/python $(2); } || $(1)/bin/python -m pip install -q $(2)
TORCH_cpu := torch==2.13.0+cpu
TORCH_cuda := torch==2.15.0
READY := $(VENV)/.ready
OLDEST := .venv-oldest
NEWEST := .venv-newest
COLAB := .venv-colab
COLAB_PYTHON ?= $(or $(shell command -v python3.12 2>/dev/null),$(PYTHON))
SPREAD := -n 2 --dist loadfile --no-loadscope-reorder --durations=30 --durations-min=10
# what depends on the version of triton, and a sample of the kernels
OLDEST_TESTS := tests/triton_util/interpreter tests/triton_util/explain tests/triton_util/tracing $(addprefix tests/judge/,launch_trace compiling diagnosis plan running speed static sandbox/test_faults.py sandbox/test_gpu.py sandbox/test_kernels.py sandbox/test_outcomes.py) tests/solutions tests/test_course.py
WORK := my_lessons
PORT ?= 8888

.DEFAULT_GOAL := help
.PHONY: help lab test test-oldest nightly colab lint build demo bench mutants canary site doctor changelog release clean browser

help: ## show the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

lab: $(READY) ## open JupyterLab on the tour, lesson 00
	@echo "building the notebooks …" && $(BIN)/tilewise build >/dev/null
	@$(BIN)/tilewise lab --folder $(WORK) --port $(PORT) $(LAB_FLAGS)

test: $(READY) browser ## run the tests; judge the kernels that the change touches, and a sample
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
	$(BIN)/python -m pytest $(SPREAD) $(PYTEST_FLAGS)

test-oldest: $(OLDEST)/.ready ## run what depends on triton with the oldest supported one
	TILEWISE_KERNELS=sample $(OLDEST)/bin/python -m pytest $(SPREAD) $(PYTEST_FLAGS) $(OLDEST_TESTS)

nightly: $(READY) $(OLDEST)/.ready browser ## run every test and judge every kernel, on both versions of triton
	TILEWISE_KERNELS=nightly $(BIN)/python -m pytest $(SPREAD) $(PYTEST_FLAGS)
	TILEWISE_KERNELS=nightly $(OLDEST)/bin/python -m pytest $(SPREAD) $(PYTEST_FLAGS)
	-$(BIN)/python benchmarks/mutants.py --sample 200 --seed $$(date +%j) --jobs 2 # a report, not a bar

colab: $(READY) $(COLAB)/.ready ## run every lesson on the packages that Colab has
	TILEWISE_COLAB=$(COLAB)/bin/python $(BIN)/python -m pytest $(PYTEST_FLAGS) tests/colab

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

mutants: $(READY) ## judge single edits of correct kernels, and list those that get all points
	$(BIN)/python benchmarks/mutants.py $(or $(MUTANTS),--sample 200 --jobs 2)

site: $(READY) ## build the public site in build/site: documents and lessons that were run
	$(BIN)/python site/build.py

doctor: $(READY) ## say what works on this machine
	$(BIN)/tilewise doctor

changelog: $(READY) ## show what the next release will say
	$(BIN)/towncrier build --draft --version next

release: $(READY) ## build sdist and wheel into dist/ and look inside (docs/release.md)
	rm -rf dist && $(BIN)/python -m hatchling build -t sdist -t wheel -d dist
	TILEWISE_DIST=dist $(BIN)/python -m pytest tests/test_distribution.py

clean: ## remove what was built, keep my_lessons
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache $(VENV) $(OLDEST) $(NEWEST) $(COLAB)

# As root by apt, but only if asked for: as `make browser`, or by CI=true.
browser: ## install Chromium for the browser tests, where apt can
ifneq ($(filter true,$(CI))$(filter browser,$(MAKECMDGOALS)),)
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium chromium-driver >/dev/null; } || echo "Chromium could not be installed: the browser tests will be skipped"
else
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || echo "no Chromium here: the browser tests will be skipped (\`make browser\` installs it)"
endif

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "1 of 2: installing torch for $(TORCH), a minute or so (TORCH=cpu or TORCH=cuda to choose) …"
	@{ $(call install,$(VENV),$(INDEX) $(TORCH_$(TORCH))); } || { echo "no CPU build in your package index (see TORCH_INDEX): taking the default build"; $(call install,$(VENV),$(TORCH_cuda)); }
	@echo "2 of 2: installing the course with JupyterLab and nbgrader, half a minute or so …"
	@$(call install,$(VENV),-c constraints.txt -e '.[dev]')
	@$(BIN)/jupyter labextension disable --level sys_prefix "@jupyterlab/apputils-extension:announcements" 2>/dev/null || true # no news, no questions
	@touch $@

$(OLDEST)/.ready: pyproject.toml constraints.txt
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	@{ $(call install,$(OLDEST),$(INDEX) $(TORCH_cpu)); } || $(call install,$(OLDEST),torch==2.11.0)
	sed -e '/^triton==/d' -e 's/^numpy==.*/numpy==2.3.5/' constraints.txt > $(OLDEST)/constraints.txt
	@$(call install,$(OLDEST),-c $(OLDEST)/constraints.txt triton==3.6.0 -e '.[dev]')
	@touch $@

$(COLAB)/.ready: tests/colab/packages.txt
	@test -x $(COLAB)/bin/python || $(PYTHON) -m venv $(COLAB)
	$(COLAB)/bin/python -m pip install -q -r tests/colab/packages.txt
	$(COLAB)/bin/python -m pip install -q torch==2.11.0 triton==3.6.0
	@touch $@
