.PHONY: help run test soak soak-events soak-failover soak-timepoints soak-push lint format bench fuzz env release \
  test-compose test-upgrade

PRODUCTS := kith kith-gateway kith-auth kith-invites kith-groups kith-lists kith-credits kith-events kith-adventures \
  kith-timepoints
SOURCES := Package.swift Services Shared gateway Tests KithClient/Package.swift KithClient/Sources KithClient/Tests \
  KithClient/Examples $(wildcard Benchmarks)

help: ## List the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1|\2/p' Makefile | awk -F '|' '{ printf "%-21s %s\n", $$1, $$2 }'

run: ## Build and start everything in one process, on http://127.0.0.1:8080
	@scripts/run

test: ## Run every test on SQLite and on PostgreSQL (ARGS="--filter Credits" for some)
	@scripts/test $(ARGS)

soak: ## Run a million random operations on the ledger, whose process is killed meanwhile (OPERATIONS=10000 for fewer)
	@KITH_SOAK_OPERATIONS=$(or $(OPERATIONS),1000000) scripts/test --filter LedgerSoakTests

soak-events: ## Disconnect readers of live channels 1,000 times each, and kill what they read from 50 times
	@KITH_EVENTS_DISCONNECTS=$(or $(DISCONNECTS),1000) KITH_EVENTS_KILLS=$(or $(KILLS),50) \
	  scripts/test --filter 'GapFreedomTests|EventKillTests'

soak-failover: ## Kill the primary of a PostgreSQL cluster ten times under load (KILLS=3 for fewer; needs patroni and etcd)
	@KITH_FAILOVERS=$(or $(KILLS),10) scripts/test --filter FailoverTests

soak-timepoints: ## Make 200 scenes, and as many answers, with two processes that are killed 20 times (SCENES, KILLS)
	@KITH_GENERATIONS=$(or $(SCENES),200) KITH_INTERACTIONS=$(or $(SCENES),200) \
	  KITH_GENERATION_KILLS=$(or $(KILLS),20) scripts/test --filter 'GenerationKillTests|InteractionKillTests'

soak-push: ## Send 10,000 notifications, and kill what sends them 20 times (PUSHES=1000 KILLS=3 for fewer)
	@KITH_PUSHES=$(or $(PUSHES),10000) KITH_PUSH_KILLS=$(or $(KILLS),20) scripts/test --filter PushKillTests

lint: ## Check the formatting of the sources, Package.swift against their imports, and what data they need
	swift format lint --strict --recursive --parallel $(SOURCES)
	scripts/imports
	scripts/icu-data --check

format: ## Format the sources in place
	swift format --in-place --recursive --parallel $(SOURCES)

bench: ## Measure everything against other programs (ARGS="balance spend" for some rows, ARGS=--help lists them)
	@Benchmarks/run $(ARGS)

fuzz: ## Fuzz the gateway's parsers (ARGS=600 for ten minutes)
	@scripts/fuzz $(ARGS)

env: ## Write a .env with new secrets for docker compose, or add what it lacks (FORCE=1 replaces all secrets)
	@scripts/env

release: ## Build optimised programs that run without a Swift installation, into .build/programs
	@scripts/release $(PRODUCTS)

test-upgrade: ## Replace every service by another version and back, under load (FROM=commit; PROGRAMS of now are built)
	@scripts/test-upgrade $(or $(FROM),HEAD~1)

test-compose: ## Run docker-compose.yml in a Docker engine of its own, with a story through it (as root, Linux; RESULTS=file)
	@scripts/test-compose
