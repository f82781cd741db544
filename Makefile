# Two commands do everything: `make demo` shows the product at work, `make test` proves it.
.PHONY: demo demo-down test chaos bench release environment

environment:
	@tests/tools/environment

demo: environment
	@tests/demo/run

demo-down: environment
	@tests/demo/down

# Some stages alone: make test STAGES="ruff unit"
test: environment
	@.venv/bin/python tests/run.py $(STAGES)

# As long as asked: make chaos SECONDS=3600 SEED=7
SECONDS ?= 600
SEED ?= 1
chaos: environment
	@tests/tools/docker-engine up
	@PYTHONPATH=tests/integration:tests/integration/deployment .venv/bin/python tests/chaos/run.py --seconds $(SECONDS) --seed $(SEED)

bench: environment
	@tests/tools/docker-engine up
	@.venv/bin/python tests/bench/client.py
	@.venv/bin/python tests/bench/healthy_fleet.py
	@.venv/bin/python tests/bench/scale.py
	@.venv/bin/python tests/bench/report.py
	@.venv/bin/python tests/bench/inventory.py
	@.venv/bin/pytest --quiet --capture no tests/page -k five_thousand

# make release VERSION=1.0.0 REPOSITORY=https://... [KEY=...]
release: environment
	@tests/tools/release "$(VERSION)" "$(REPOSITORY)" "$(KEY)"
