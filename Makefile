# Everything a user needs is a target here; the README names them.
# Assumed: Python 3.11 with venv, make, and a package index.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TESTED := $(VENV)/.tested
PAGE_SOURCE := sim/debug/page/source
# Tests start programs by the hundred, and images of containers often say not to keep what Python compiles: it is kept.
unexport PYTHONDONTWRITEBYTECODE
# A terminal sees what comes, how much of it and how fast; a log need not.
PIP := test -t 1 && quiet= || quiet=--quiet; $(BIN)/python -m pip install $$quiet --disable-pip-version-check --no-deps --only-binary :all:

.PHONY: demo test test-slow test-hardware check bench batch prove streams schedules symbolic proofs evidence floating kernels planted why exhaust mutants mutations decoders layer-faults explore long interrupts test-clients test-outside test-pytorch test-page test-campaign test-rtl rtl-mutants rtl-cover rtl-benches rtl-bulk rtl-exhaust rtl-proofs rtl-outside rtl-volume rtl-channels rtl-example test-core128 notebooks page docs form-words clean

demo: $(INSTALLED)
	@$(BIN)/lanewise check quantize_down

SUITE := $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal -m

test: check
	@$(SUITE) "not slow"

# What takes a quarter of a second and more by itself: runs of commands, proofs, planted faults; the examples of the docs.
# A claim about many values is tried on some of them, and by `make long` on all.
# With a process more than there are processors, as some tests wait for what others have started.
test-slow: $(TESTED)
	@$(SUITE) "slow and not rtl and not long" --numprocesses=$$($(BIN)/python -c 'import os; print(1 + os.cpu_count())')

# The same of hardware: designs simulated, proved and mutated that are built first.
test-hardware: $(TESTED)
	@$(SUITE) "slow and rtl"

check: $(TESTED)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: $(TESTED)
	@$(BIN)/python tests/benchmarks/start_speed.py
	@$(BIN)/python tests/benchmarks/machine_speed.py
	@$(BIN)/python tests/benchmarks/memory_speed.py
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.lockstep_speed
	@$(BIN)/python tests/benchmarks/check_speed.py
	@$(BIN)/python tests/benchmarks/batch_speed.py
	@$(BIN)/python tests/benchmarks/c_speed.py
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.engine_speed
	@$(BIN)/python tests/benchmarks/explain_speed.py
	@$(BIN)/python tests/benchmarks/timing_speed.py
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.debug_speed
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.model_speed

# Every form of the table on batches of random members, against a machine for each of them: minutes.
batch: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.batch_forms

# A million random instructions, machine against emulator: minutes.
streams: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.streams

# The pipelines in C against those in Python, 10,000 random streams on every core, and faults planted in C: an hour.
schedules: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.schedules

# The symbolic machine against the machine, every form and a million random instructions: an hour.
symbolic: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.symbolic

# 240 faults in the machine code of kernels, each proved or refuted, and tried on inputs: a quarter of an hour.
proofs: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.proofs

# The proofs that docs/evidence.md names, from compiled code to hardware: ten minutes.
evidence: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.evidence

# Every floating-point form, a million fused multiply-adds, every half-precision number: minutes.
floating: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.floating

# Every mode of every kernel on 200,000 separating vectors, every build and the program: a quarter of an hour.
kernels: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.kernels

# A planted fault in each of 506 kernels, and their correct twins: an hour.
planted: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.planted_kernels

# Whether the way that `why` shows of a wrong lane has the faulty line, in a hundred of these kernels: ten minutes.
why: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.why_faults

# 300 small mistakes in lockstep, guards, blame, timing and golden arithmetic, and whether tests notice: an hour; it goes
# on where it was stopped.
mutants: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.mutants

# Damaged ELF files, captured calls, prototypes, arguments and networks, 20,000 of each: a quarter of an hour.
mutations: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.elf_mutations
	@PYTHONPATH=tests $(BIN)/python -m long.text_mutations
	@PYTHONPATH=tests $(BIN)/python -m long.model_mutations

# The decoder against GNU objdump, on two million words; objdump is in the Debian package binutils-aarch64-linux-gnu.
decoders: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.decoders

# 41 instructions on all 2^32 values of their lanes, model against emulator: an hour; it goes on where it was stopped.
exhaust: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.exhausted_forms

# Hypothesis on fresh examples, ten rounds; prints the seed of each and what repeats a failure: minutes.
explore: $(TESTED)
	@$(BIN)/python tests/long/explore.py

# Claims of the suite on all that they are about: every form on more states, every planted fault at every level.
long: $(TESTED)
	@$(SUITE) "long"
	@$(BIN)/python -m pytest --numprocesses=auto --override-ini=python_files='long_*.py' tests/long

# Every command is interrupted 300 times at random moments: no verdict, no traceback; half an hour.
interrupts: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.interrupts

# A multiplier, a rounding, a zero point or a bound wrong in one of fifty layers, 400 times in each of three nets: a quarter of an hour.
layer-faults: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.layer_faults

# Nets made here, in runtimes of others (LiteRT, TensorFlow Lite Micro, ONNX Runtime): every layer is one of our conventions.
test-outside: $(TESTED)
	@$(PIP) --requirement outside.lock
	@$(BIN)/python -m pytest --override-ini=python_files='outside_*.py' tests/long

# Quantized operators and nets of PyTorch, with the engines fbgemm, x86, onednn and qnnpack, each named: a minute.  PyTorch
# is installed in a folder of its own, as its build for processors, without bytecode, as most of it is never imported.  For
# Linux on x86-64 the package index has a build for CUDA instead, which takes gigabytes: that is not fetched unless
# PYTORCH_BUILD=any says so.
test-pytorch: $(TESTED) $(VENV)/pytorch/.installed
	@PYTHONPATH=$(VENV)/pytorch $(BIN)/python -m pytest --override-ini=python_files='pytorch_*.py' tests/long

$(VENV)/pytorch/.installed: pytorch.lock
	@found=$$($(BIN)/python -m pip install --quiet --disable-pip-version-check --dry-run --no-deps --ignore-installed --report - \
		$$(grep ^torch== pytorch.lock) | $(BIN)/python -c 'import json, sys; print(json.load(sys.stdin)["install"][0]["metadata"]["version"])'); \
	case "$$(uname -sm) $$found $(PYTORCH_BUILD)" in "Linux x86_64 "*+cpu*|[!L]*|"Linux a"*|*any) ;; \
		*) echo "PyTorch $$found would be the build for CUDA, gigabytes: name a folder or an index with the build for processors" \
			"in PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL, or say PYTORCH_BUILD=any" >&2; exit 3;; esac; \
	echo "installing PyTorch $$found into $(VENV)/pytorch: 200 MB to fetch as a build for processors, 900 MB on the disk, for minutes"
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --only-binary :all: --upgrade --target $(VENV)/pytorch --requirement pytorch.lock
	@touch $@

# Programs of others that speak with ours: gdb on programs under qemu, adapters of Visual Studio Code (brought from the
# package index and the npm registry).  Debian's gdb-multiarch, qemu-user, gcc-aarch64-linux-gnu and
# libc6-dev-arm64-cross must be there, and Node.js for one adapter: minutes.
test-clients: $(TESTED)
	@$(PIP) --upgrade --target $(VENV)/clients --requirement clients.lock
	@npm install --silent --ignore-scripts --no-save --prefix $(VENV)/clients cdt-gdb-adapter@1.7.0
	@$(BIN)/python -m pytest --numprocesses=auto --override-ini=python_files='clients_*.py' tests/long

# What pages and widgets of a session run, built from its `source` folder: by esbuild, checked by TypeScript, from the npm registry.
page: $(PAGE_SOURCE)/node_modules
	@cd $(PAGE_SOURCE) && npx tsc && node build.mjs

$(PAGE_SOURCE)/node_modules: $(PAGE_SOURCE)/package-lock.json
	@cd $(PAGE_SOURCE) && npm ci --silent && touch node_modules

# The page of a session in headless Chromium, which must be there (Debian's chromium), with Node.js and npm: minutes.
test-page: $(TESTED) $(PAGE_SOURCE)/node_modules
	@$(PIP) --requirement page.lock
	@cd $(PAGE_SOURCE) && npx tsc
	@$(BIN)/python -m pytest --override-ini=python_files='page_*.py' tests/long

# Campaigns of ten thousand jobs, killed and resumed, and on Dask's workers, which are installed here: a quarter of an hour.
test-campaign: $(TESTED)
	@$(PIP) --requirement campaign.lock
	@$(BIN)/python -m pytest -s --override-ini=python_files='campaign_*.py' tests/long

# Claims about lane arithmetic, decided for all inputs.
prove: $(TESTED)
	@$(BIN)/lanewise prove

# The hardware: every bench, a million beats of every unit, all pairs of 16 bits, proofs, mutants, coverage, synthesis, the
# example of a user's own unit, the wrappers for AXI behind the buses of cocotbext-axi, which is installed here.  Two steps at
# a time, those that take longest first; what a step says comes when it is over.
HARDWARE := rtl-proofs rtl-mutants rtl-cover rtl-benches rtl-bulk rtl-exhaust rtl-outside rtl-volume rtl-channels rtl-example

test-rtl: $(TESTED)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(HARDWARE)

rtl-mutants: $(TESTED)
	@$(BIN)/lanewise rtl mutate

# The benches of all lanes and, at 4 lanes, of units and cores, which must pass here too; the others are the next step's.
rtl-cover: $(TESTED)
	@$(BIN)/lanewise rtl cover

rtl-benches: $(TESTED)
	@$(BIN)/lanewise rtl test --lanes 8,16

rtl-bulk: $(TESTED)
	@$(BIN)/lanewise rtl bulk --all

rtl-exhaust: $(TESTED)
	@$(BIN)/lanewise rtl exhaust --all

rtl-proofs: $(TESTED)
	@$(BIN)/lanewise rtl prove

rtl-outside: $(TESTED)
	@$(PIP) --requirement axi.lock
	@$(BIN)/python -m pytest tests/long/rtl_synthesis.py tests/long/rtl_example.py tests/long/rtl_axi_outside.py

rtl-volume: $(TESTED)
	@PYTHONPATH=tests $(BIN)/python -m long.gemm_core
	@PYTHONPATH=tests $(BIN)/python -m long.float_lanes

rtl-channels: $(TESTED)
	@$(BIN)/lanewise rtl test quantize_down_channels gemm_core --lanes 4 --profile shallow --channels 12,20,68,260

rtl-example: $(TESTED)
	@$(BIN)/lanewise rtl test --adapter rtl_models/examples/requantizer/adapter.toml
	@$(BIN)/lanewise rtl bulk --adapter rtl_models/examples/requantizer/adapter.toml

# core128 on a million random words in each of three configurations, on the kernels, with faults; its rows proved.
test-core128: $(TESTED)
	@for run in core128 core128_kernels core128_faults core128_rows; do PYTHONPATH=tests $(BIN)/python -m long.$$run || exit 1; done

# The notebooks in a browser; what serves them is installed here, not with the rest.
notebooks: $(TESTED)
	@$(PIP) --requirement notebooks.lock
	@$(BIN)/jupyter nbclassic notebooks

# The documentation, with a reference of the public modules; a warning is an error.
# Beside the pages that are there, and renamed when it is whole: what an interrupt leaves has no pictures.  The reference is
# made of all modules, so that it takes what tests and hardware take.
docs: $(TESTED)
	@echo "building the pages, with $$(grep -c == docs.lock) packages more, 24 MB to fetch: a few minutes"
	@$(PIP) --no-compile --requirement docs.lock
	@rm -rf build/docs.part
	@$(BIN)/python -m sphinx --quiet --keep-going --fail-on-warning --doctree-dir build/doctrees docs build/docs.part
	@rm -rf build/docs && mv build/docs.part build/docs && echo "wrote build/docs/index.html"

form-words: $(TESTED)
	@$(BIN)/python -m isa.word_search

clean:
	rm -rf $(VENV)

# What the demo needs; the tools of tests and hardware come with the other targets.
$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "lanewise needs Python 3.11 or newer: run make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV) || { echo "cannot create $(VENV): on Debian, install python3-venv" >&2; exit 3; }
	@echo "installing $$(grep -c == requirements.lock) packages into $(VENV): 140 MB to fetch, of which 100 are the compiler"
	@$(PIP) --requirement requirements.lock
	@$(PIP) --no-build-isolation --editable .
	@broken=$$($(BIN)/python -m pip check) || { echo "requirements.lock is incomplete: $$broken" >&2; exit 3; }
	@touch $@

# Without bytecode, which takes half of the time: what is imported has it from then on, and most never is.
$(TESTED): $(INSTALLED) test.lock
	@echo "installing $$(grep -c == test.lock) more for tests, hardware and docs: 160 MB to fetch"
	@$(PIP) --no-compile --requirement test.lock
	@broken=$$($(BIN)/python -m pip check) || { echo "test.lock is incomplete: $$broken" >&2; exit 3; }
	@touch $@
