# The commands a newcomer needs. Each sets up what it needs first; a second run of anything starts in seconds.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
NODE ?= node
SEED ?= $(shell date +%s)

format: ## formats every source (Biome), and fixes what the linter can
	@$(NODE) bin/setup.mjs npm
	@$(NODE) node_modules/@biomejs/biome/bin/biome format --write .
	@$(NODE) node_modules/oxlint/bin/oxlint --type-aware --fix

.PHONY: help setup run dev test lint check format bench crs fuzz artifact release release-test fleet-faults clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## system packages, npm packages, native addon, build, rule set (each only when something changed)
	@$(NODE) bin/setup.mjs

run: setup ## everything: sets up, starts Gatehouse in front of the demo shop, says where; Ctrl-C stops all of it
	@exec $(NODE) bin/gatehouse up

dev: setup ## the same, restarted whenever a source file changes
	@exec $(NODE) build/cli/commands/dev.js

test: ## every test; ends with the counts; WORDS="rules api/" runs those whose path has one of the words
	@$(NODE) bin/setup.mjs packages optional npm tap native build crs
	@$(NODE) bin/test.mjs $(WORDS)

lint: ## format, lint and types of every source: what no test runs
	@$(NODE) bin/setup.mjs packages npm
	@$(NODE) node_modules/@biomejs/biome/bin/biome format .
	@$(NODE) node_modules/oxlint/bin/oxlint --type-aware
	@$(NODE) node_modules/typescript/bin/tsc --noEmit --incremental --tsBuildInfoFile .cache/types.tsbuildinfo
	@$(NODE) node_modules/typescript/bin/tsc --noEmit -p console --incremental --tsBuildInfoFile .cache/console-types.tsbuildinfo

check: lint ## format, lint, types, house rules, unit and golden tests; about a minute
	@$(NODE) bin/setup.mjs tap native build crs
	@$(NODE) bin/test.mjs --quick

bench: setup ## the benchmark harness; BENCH_PEERS=1 adds nginx and nginx+ModSecurity, ARGS=--short for a quick look
	@$(NODE) build/bench/run.js $(ARGS)

fleet-faults: setup ## kills parts of a fleet in network namespaces under load; needs root, PostgreSQL, Redis, haproxy; ARGS="--minutes 15 --seed 1"
	@$(NODE) build/bench/faults/run.js $(ARGS)

crs: setup ## the CRS regression suite in process (needs ../shared/corpora/ftw)
	@$(NODE) build/cli/commands/crs-regression.js $(ARGS)

fuzz: setup ## property tests, both engines on 100,000 mutations and 3,000 random rule sets, the chain engine on 20,000 organisations, every reader of foreign text against its time bound on 1,000 texts, 100,000 spellings of protected paths, 5,000 bodies in search of much CPU for few bytes, 50 requests for each operation of random OpenAPI documents, with another seed: make fuzz SEED=42
	@echo SEED=$(SEED)
	@SEED=$(SEED) AGREEMENT_MUTATIONS=100000 RANDOM_RULE_SETS=3000 CHAIN_ORGANISATIONS=20000 TIME_BOUND_CASES=1000 PATH_SPELLINGS=100000 AMPLIFICATION_BODIES=5000 SCHEMA_REQUESTS=50 WRONG_INPUT_SHARE=1 $(NODE) bin/test.mjs --seeded --minutes=120

artifact: setup ## compiles the default settings (ARGS="--settings FILE" for others) into data/artifact.bin; DUMP=1 prints every stage
	@$(NODE) bin/gatehouse compile $(if $(DUMP),--dump,) -o data/artifact.bin $(ARGS)

release: setup ## everything that is published, signed, in dist/ (docs/install.md); ARGS="--version 1.2.3 --node FILE --key FILE"
	@$(NODE) build/deploy/release/main.js $(ARGS)

release-test: setup ## two releases compared, installed in a fresh Debian without a network, 20 kills; needs root and debootstrap
	@INSTALL_KILLS=20 $(NODE) bin/test.mjs --minutes=60 deploy/
	@deploy/testing/release-test.sh

clean: ## removes what was built and installed; data/ and .env stay
	@$(NODE) bin/setup.mjs --clean
