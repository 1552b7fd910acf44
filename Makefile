# Everything runs in a virtual environment of its own; nothing is installed outside this folder.
#
#   make demo    set everything up and encode and decode a text in several scripts
#   make test    set everything up and run all tests: those of the crates (test-rust) and of Python (test-python)
#   make test-slow  the tests that are too slow for each run; make test has smaller ones of the same
#   make test-faults  500 faults of the storage of jobs, at random: errors, torn writes, crashes, power failures
#   make parity  the full comparison with the reference packages (needs POLYTOK_DATA or ../shared/data)
#   make test-torch  the tests with PyTorch; TORCH_OPTIONS are options of pip, which can select a CPU build
#   make test-xgrammar  the tests with XGrammar, which needs PyTorch; TORCH_OPTIONS as above
#   make lint    formatting, lints, types, and whether the documentation builds
#   make soak    mixed calls from threads for two hours: ids must not change and memory must not grow; SOAK are options
#   make fuzz    every fuzzing target for FUZZ_SECONDS (60); FUZZ_TARGETS selects targets (needs a C++ compiler)
#   make sanitize  tests with AddressSanitizer, and those of threads with loom; SANITIZE selects: address
#                binding c loom
#   make budget  whether encoding needs at most 3 % more instructions than bench/budget.json says (needs valgrind and
#                the data)
#   make docs    the documentation as a site, in the folder site/
#   make vocabularies  the tables and plots of docs/vocabularies-compared.md (needs the data, as parity)
#   make bench   five minutes of the benchmarks, written into docs/ and the README (needs the data, as parity)
#   make licenses  THIRD-PARTY-LICENSES.txt, after a change of Cargo.lock
#   make wheel   the wheel for this machine, and make sdist the source distribution, in the folder dist/
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Without MAKEFLAGS, cargo does not look for the job server of make, which recipes cannot reach.
CARGO := MAKEFLAGS= cargo
# Python compiles a module when it is first imported. pip would compile all modules of all packages, which takes a minute,
# and most are never imported.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock pyproject.toml

.PHONY: demo test test-rust test-python test-slow test-faults test-torch test-transformers test-xgrammar parity lint lint-rust soak fuzz sanitize budget docs vocabularies bench licenses wheel sdist clean check-tools

demo: $(VENV)/installed
	@sh scripts/demo.sh $(BIN)/polytok

# With make -j2, the tests of the crates run while Python packages are installed.
test: test-rust test-python

test-rust: | check-tools
	$(CARGO) test --quiet --workspace --exclude polytok-py

test-python: $(VENV)/installed-test
	$(BIN)/python -m pytest -q -n 2

test-slow: $(VENV)/installed-test
	$(BIN)/python -m pytest -q -n 2 -m slow

test-faults: $(VENV)/installed-test
	PYTHONPATH=tests $(BIN)/python -m corpus_faults --faults 500

test-torch: $(VENV)/installed-test
	$(INSTALL) $(TORCH_OPTIONS) 'torch>=2.4'
	$(BIN)/python -m pytest -q tests/test_corpus_torch.py tests/test_compat_transformers_torch.py docs/pytorch.md

TRANSFORMERS_4 := $(VENV)-transformers-4

test-transformers: $(VENV)/installed-test
	$(PYTHON) -m venv $(TRANSFORMERS_4)
	$(TRANSFORMERS_4)/bin/pip install --quiet --disable-pip-version-check 'transformers==4.57.6' jinja2 pathspec protobuf
	for python in $(BIN)/python $(TRANSFORMERS_4)/bin/python; do \
	    PYTHONPATH=python:tests $$python tests/transformers_bank.py \
	        $(or $(POLYTOK_DATA),../shared/data)/vocab/huggingface/*.json || exit 1; \
	done

test-xgrammar: $(VENV)/installed-test
	$(INSTALL) $(TORCH_OPTIONS) 'torch>=2.4'
	$(INSTALL) 'xgrammar>=0.2.8'
	$(BIN)/python -m pytest -q tests/test_grammar.py

parity: $(VENV)/installed-test
	$(BIN)/python -m tests.parity --full
	$(BIN)/python tests/parity/incremental.py
	$(BIN)/python tests/parity/streams.py
	$(BIN)/python tests/parity/chats.py
	$(BIN)/python tests/parity/traces.py

lint: lint-rust $(VENV)/installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy python bench scripts
	$(BIN)/python scripts/layers.py
	$(BIN)/python -m mypy.stubtest polytok._core --mypy-config-file pyproject.toml
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --site-dir target/site

lint-rust: | check-tools
	cargo fmt --check
	$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings
	MAKEFLAGS= sh scripts/lint_pythons.sh
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --quiet --no-deps --workspace --exclude polytok-py

soak: $(VENV)/installed-test
	$(BIN)/python -m bench.soak $(SOAK)

fuzz: $(VENV)/installed-test
	$(INSTALL) 'atheris>=3'
	$(BIN)/python fuzz/run.py --seconds $(or $(FUZZ_SECONDS),60) $(FUZZ_OPTIONS) $(FUZZ_TARGETS)

sanitize: $(VENV)/installed-test
	PYTHON=$(CURDIR)/$(BIN)/python sh scripts/sanitize.sh $(SANITIZE)

budget: $(VENV)/installed-test
	$(BIN)/python -m bench.budget --against bench/budget.json --gate 3

docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open site/index.html"

vocabularies: $(VENV)/installed
	$(BIN)/python scripts/vocabularies_compared.py

bench: $(VENV)/installed-bench
	$(BIN)/python -m bench.run --quick --write

licenses:
	$(PYTHON) scripts/third_party_licenses.py

wheel: | check-tools
	PYTHON=$(PYTHON) bash scripts/build_wheels.sh

sdist: | check-tools
	PYTHON=$(PYTHON) bash scripts/build_sdist.sh

check-tools:
	@command -v $(PYTHON) >/dev/null || { echo "polytok needs Python 3.10 or newer: install python3, or say where it is with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "polytok needs Python 3.10 or newer, and $(PYTHON) is older: install a newer one, or say where it is with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) lacks the venv module: install your system's python3-venv package"; exit 1; }
	@command -v cargo >/dev/null || { echo "polytok needs a Rust toolchain (cargo and rustc 1.89 or newer): install one with rustup or your system's packages"; exit 1; }

$(VENV)/created: | check-tools
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/created $(SOURCES)
	$(INSTALL) -e .
	@touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(INSTALL) -e '.[test]'
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(INSTALL) -e '.[docs]'
	@touch $@

# Of two targets that make runs at the same time, only one installs packages.
$(VENV)/installed-lint: $(VENV)/installed-test
	$(INSTALL) -e '.[test,docs]'
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed-test
	$(INSTALL) -e '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) site target python/polytok/_core*.so
