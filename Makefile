# The front door.  CMakeLists.txt has the build.
#
#   make              build/tosac and its libraries; make everything: tests and tools, too
#   make demo         a small trained network on 1,000 digits
#   make check-quick  one build, every test that takes seconds
#   make check        gcc, clang and sanitizers, operators and trained models
#   make check-rest   what check leaves aside to stay within a quarter of an hour; CI runs both
#   make check-long   both, with every recorded sample, every build type, 64-bit Arm and Windows
#   make asan         a build with address and undefined-behaviour sanitizers, in build-asan
#   make fuzz         libFuzzer targets, in build-fuzz, each for FUZZ_SECONDS (60)
#   make fuzz-models  random models through every target, MODELS (10000) of them from SEED (1), judged
#   make coverage     which lines of src/ the tests run, in build-coverage
#   make bless        writes what comes out today as what is expected; review the difference
#   make docs         doc/ops.md, doc/facts.md and so on, from the tables
#   make bench        time and memory, beside PyTorch where that is there
#   make install      the command, libraries, headers, manual pages below DESTDIR and PREFIX (/usr/local); make uninstall
#   make deb          a Debian package of the same, in build
#   make wheel        the Python package with the library inside, in build/dist; MACHINE=arm or windows: for that one (deb: arm)
#   make release      all that a user downloads, in build/release, from the tag of HEAD or, without one, from HEAD; TAG=v0.2.0: from that
#   make site         the documents as a site with a search, in build/site
#   make web          the compiler as a page for a browser, in build/web; nothing but files, opened from a disk or any server
#   make npm          the same as a package for node, in build/npm
#   make clean

CMAKE  = cmake -G Ninja -S .
# A build that began without it stays so: its objects are good.
CCACHE = $(shell command -v ccache >/dev/null && echo -DCMAKE_C_COMPILER_LAUNCHER=ccache)
FUZZ_SECONDS ?= 60
MODELS ?= 10000
SEED ?= 1
PREFIX ?= /usr/local

all: setup
	@$(CMAKE) -B build $(if $(wildcard build/CMakeCache.txt),,$(CCACHE)) >/dev/null
	@ninja -C build tosac libtosac libtosac-shared

everything: all
	@ninja -C build

setup:
	@tools/setup.sh build

demo:
	@tools/demo.sh

check-quick: setup
	@tools/check.sh quick

check: setup
	@tools/check.sh full

check-rest: setup
	@tools/check.sh rest

check-long: setup
	@tools/check.sh long

asan: setup
	@$(CMAKE) -B build-asan $(CCACHE) -DTOSAC_SANITIZE=ON >/dev/null
	@ninja -C build-asan

fuzz: setup
	@tools/setup.sh fuzz
	@$(CMAKE) -B build-fuzz $(CCACHE) -DCMAKE_C_COMPILER=clang -DTOSAC_SANITIZE=ON -DTOSAC_FUZZ=ON >/dev/null
	@ninja -C build-fuzz
	@tools/fuzz.sh build-fuzz $(FUZZ_SECONDS)

fuzz-models: everything
	@tools/models.sh build $(MODELS) $(SEED)

coverage: setup
	@tools/coverage.sh

bless: everything
	@if [ -x build/golden ]; then build/golden --bless test/golden; fi
	@python3 test/cli.py --bless build/tosac
	@test/same_bytes.sh --bless build/tosac
	@tools/cases.sh
	@build/conformance --bless --samples 4
	@$(MAKE) -s docs

docs: everything
	@build/gen-docs doc
	@build/tosac --dump-options | build/gen-cli share
	@python3 python/headers.py reference include/tosac doc/reference-c.md
	@python3 python/reference.py doc/reference-python.md
	@python3 tools/assessors.py doc/assessors.md

bench: everything
	@bench/bench.sh
	@bench/aims.sh
	@bench/chain.sh || true
	@bench/large.sh

# One model on every board: doc/boards.md.
board-table: everything
	@python3 tools/board-table.py build/tosac test/fixture/digits/model.pt2 test/fixture/digits/calib.npz doc/boards.md

# Trained models beside the tree (ZOO); a quarter of an hour.
ZOO ?= ../shared/zoo
accuracy: everything
	@python3 tools/accuracy.py build/tosac $(ZOO) doc/figures/accuracy.md

# doc/figures/cost.md: what every trained model costs on three machines.  Minutes.
cost-table: everything
	@python3 bench/cost-table.py doc/figures/cost.md

# Below DESTDIR and PREFIX; what is taken away is what would be installed.
install: all
	@DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX) >/dev/null

uninstall: all
	@dir=$$(mktemp -d) && DESTDIR=$$dir cmake --install build --prefix $(PREFIX) >/dev/null && \
	    (cd $$dir && find . -type f -o -type l) | sed 's/^\.//' | while read -r f; do rm -f "$(DESTDIR)$$f"; done; \
	    (cd $$dir && find . -depth -mindepth 1 -type d -name '*tosac*') | sed 's/^\.//' | while read -r f; do \
	        rmdir "$(DESTDIR)$$f" 2>/dev/null || true; done; rm -r $$dir

deb: setup
	@if [ "$(MACHINE)" = arm ]; then tools/cross.sh arm tosac libtosac libtosac-shared && tools/deb.sh build build/arm/build; else tools/deb.sh build; fi

wheel:
	@tools/wheel.sh build/dist $(MACHINE)

release:
	@tools/release.sh $(TAG)

site:
	@tools/setup.sh site
	@python3 tools/site.py build/site build/peers/site/bin/mkdocs

web:
	@tools/cross.sh wasm tosac tosac-threads
	@python3 web/build.py build/wasm/build build/web

npm:
	@tools/npm.sh build/npm

clean:
	rm -rf build build-clang build-asan build-fuzz build-coverage build-tsan build-deb

.PHONY: all everything setup demo check-quick check check-rest check-long asan fuzz fuzz-models coverage bless docs bench accuracy cost-table board-table clean install uninstall deb wheel release site web npm
