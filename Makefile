# Two commands do everything: `make demo` shows the product at work, `make test` proves it.
.PHONY: demo demo-down test thorough matrix mutants bench docs release environment

environment:
	@tests/tools/environment

demo: environment
	@tests/demo/run

demo-down: environment
	@tests/demo/down

# Each promise once; some stages alone: make test STAGES="ruff unit"
test: environment
	@.venv/bin/python tests/run.py $(STAGES)

# All stages and all tests: 70 to 100 minutes
thorough: environment
	@.venv/bin/python tests/run.py --thorough $(STAGES)

# Each supported ansible-core, oldest and newest Python; some alone: make matrix CORES="2.16 2.21" STAGES="unit client"
matrix: environment
	@tests/tools/kernel-room && tests/tools/docker-engine up
	@PATH="$$(tests/tools/pythons):$$PATH" UV_PYTHON_DOWNLOADS=never .venv/bin/nox $(if $(CORES),--tags $(CORES)) -- $(STAGES)

# Whether the fast tests notice 200 changes of the code; others: make mutants SEED=2 NUMBER=50 ONLY=client
mutants: environment
	@.venv/bin/python tests/tools/mutants.py $(if $(SEED),--seed $(SEED)) $(if $(NUMBER),--number $(NUMBER)) \
	  --only "$(ONLY)"

bench: environment
	@tests/tools/docker-engine up
	@tests/tools/python tests/bench/client.py
	@tests/tools/python tests/bench/scale.py
	@tests/tools/python tests/bench/scale.py --gate --hosts 500,1000,2000,4000
	@tests/tools/python tests/bench/deployment.py
	@tests/tools/python tests/bench/page.py

# The docsite, in .cache/docsite/build/html
docs: environment
	@tests/tools/docsite

# make release VERSION=1.0.0 REPOSITORY=https://forge.example/team/slb-fleet [KEY=...]; KEY, of GnuPG, signs the checksums and
# the tag. It makes the environment itself, when it has seen that nothing is missing.
release:
	@tests/tools/release "$(VERSION)" "$(REPOSITORY)" "$(KEY)"
