# Each target works on a fresh checkout: scripts/venv installs what is missing, once.

.PHONY: help test test-agents test-envs test-swarm test-k8s integrations check format web catalog screenshots notebook docs demo \
	train-blackjack bench bench-envs bench-web faults soak clean
.DEFAULT_GOAL := help

help: ## Say what can be made
	@sed -n 's/^\([a-z0-9-]*\): ## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

test: ## Run every check and every test
	@scripts/venv dev
	@scripts/venv peer
	@scripts/check
	@scripts/test
	@scripts/envs

test-envs: ## Test every environment alone, each in a fresh virtual environment; NAMES="chess_env …" for some
	@scripts/venv dev
	@scripts/envs $(NAMES)

test-agents: ## Test agents of npm and PyPI inside environments; needs node and npm
	@scripts/venv dev
	@OPENENV_TEST_AGENTS=1 scripts/test tests/harness/test_external_agents.py

test-swarm: ## Test the Swarm provider on three nodes, as root; about two minutes
	@scripts/venv dev
	@OPENENV_TEST_SWARM=1 scripts/test tests/containers/test_three_nodes.py

test-k8s: ## Test the Kubernetes provider on a real cluster of two nodes, built first where missing, as root
	@scripts/venv dev
	@scripts/k8s/test

integrations: ## Run what trainers' own packages do with environments, each in its own virtual environment; NAMES="trl art"
	@scripts/venv dev
	@scripts/integrations $(NAMES)

check: ## Run the checks alone: format, lint, types, layers
	@scripts/venv dev
	@scripts/check

format: ## Put the code into the house style
	@scripts/venv dev
	@.venv/bin/ruff check --fix-only --quiet .
	@.venv/bin/ruff format .

web: ## Build the web page into the package; needs Node 18 or later
	@scripts/web build

screenshots: ## Take the pictures of the web page in docs/img; needs Chromium
	@scripts/venv dev
	@.venv/bin/python -m tests.web.screenshots

catalog: ## Write docs/environments anew from the packages
	@scripts/venv envs
	@.venv/bin/python -m tests.docs.catalog_pages

notebook: ## Run the tutorial's notebook, and write its outputs anew
	@scripts/venv dev
	@.venv/bin/python -m tests.docs.notebook

docs: ## Build the documentation site into site/
	@scripts/venv dev
	@scripts/docs build

demo: ## Train an agent against a served environment
	@scripts/venv demo
	@.venv/bin/python examples/blackjack_demo.py

train-blackjack: ## Train a transformer by GRPO with three seeds, and once without the cards, in some minutes; SEEDS="4 5"
	@scripts/venv train
	@.venv/bin/python examples/grpo_blackjack/verdict.py $(if $(SEEDS),--seeds $(SEEDS))

bench: ## Measure the cost of a step, beside the peer's and the bare floors
	@scripts/venv bench
	@scripts/venv peer
	@.venv/bin/python benchmarks/bench.py
	@.venv/bin/python benchmarks/tools.py >benchmarks/TOOLS.md

bench-envs: ## Measure every environment, in process and over the wire
	@scripts/venv envs
	@scripts/venv peer
	@.venv/bin/python -m benchmarks.environments

bench-web: ## Measure the web page in Chromium
	@scripts/venv dev
	@.venv/bin/python -m benchmarks.web

EPISODES ?= 10000
faults: ## Play EPISODES through a proxy that disturbs frames: none may be lost or repeated
	@scripts/venv dev
	@.venv/bin/python -m tests.proofs.faults --episodes $(EPISODES)

MINUTES ?= 5
soak: ## Keep a server busy for MINUTES: memory, threads and files must stay flat
	@scripts/venv dev
	@.venv/bin/python -m tests.proofs.soak --minutes $(MINUTES)

clean: ## Remove what the other targets have made
	@rm -rf .venv .peer-venv .integrations .cache site web/node_modules .*_cache .coverage .coverage.* .hypothesis htmlcov build dist
	@find . -name __pycache__ -prune -exec rm -rf {} +
