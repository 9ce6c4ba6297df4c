# The two commands are `make run` and `make test`. The rest is for whoever works on the program.

.PHONY: run build bins test test-busy faults hostile soak swap folder bench test-real fuzz languages plugins plugins-check lint doc book deny

# Cargo unites the features of a dependency over the packages that are selected. `--workspace` selects the same ones
# everywhere, the target names (`--bin`, `--test`) what of them is compiled: so no command compiles a dependency that
# another has. `.ci/compiled-once` checks it, and gives the flags.
build := cargo build --locked --workspace $(CARGOFLAGS)
test := cargo test --locked --workspace --quiet $(CARGOFLAGS) $(TESTFLAGS)
e2e := $(test) --test e2e --

# Serves the models of proxy.toml on 127.0.0.1:8787.
run: build
	$${CARGO_TARGET_DIR:-target}/debug/agentbay serve --config proxy.toml

build:
	$(build) --bin agentbay

# With the stand-in CLI, which the end-to-end tests start beside the program.
bins:
	$(build) --bins

# Every test.
test: bins
	$(test)
	@echo "$$(find fixtures -name golden.json | wc -l) recorded runs of real CLIs were compared with what is expected of them"

# Every test ROUNDS times, beside LOAD processes that want the processors for themselves; and once on one processor alone.
LOAD ?= 8
ROUNDS ?= 5
test-busy: bins
	$(test) --no-run
	for round in $$(seq $(ROUNDS)); do echo "round $$round"; tests/busy $(LOAD) $(test) || exit 1; done
	taskset --cpu-list 0 $(test)

# The faults that have hurt others, a line each: what the CLI does, what has to come of it, and whether it did.
faults: bins
	$(e2e) faults::every_fault --ignored --nocapture

# Plugins that would stop, slow, fill or deceive the program, a line each: what it tries, what stopped it, how long requests
# of others took before and meanwhile, and by how much memory grew; what else may lie in the plugin folder, and bodies as large
# as may be, full of one thing, for every driver. Wants a machine that has nothing else to do.
hostile: bins
	AGENTBAY_HOSTILE=$${AGENTBAY_HOSTILE:-all} $(e2e) hostile::every hostile::folder::nothing hostile::bodies::every --nocapture --test-threads 1

# A thousand runs cancelled at random moments, and 32 worktrees at once for ten rounds.
soak: bins
	AGENTBAY_SOAK=1000 $(e2e) soak:: thirty_two

# A minute of requests, at half of the rate that the machine manages by itself, while their plugin is replaced every 300 ms;
# and memory after a thousand swaps.
swap: bins
	AGENTBAY_SWAP=60 $(e2e) swap:: --nocapture --test-threads 1

# Ten minutes of named pipes, devices, links, unreadable and half-written files that come and go in the plugin folder, beside
# twenty requests a second. SECONDS of it with AGENTBAY_FOLDER=SECONDS.
folder: bins
	AGENTBAY_FOLDER=$${AGENTBAY_FOLDER:-600} $(e2e) hostile::ground --nocapture

# What an answer costs beside the CLI run directly, within five minutes on a quiet machine. QUICK=1 for half a minute, WRITE=1 to
# keep the table in tests/bench/README.md, BINARIES="old=FILE new=FILE" to compare other files than this checkout's.
bench:
	cargo build --release --locked --workspace --bin agentbay --bin stand-in
	cargo bench --locked --workspace --bench speed -- $(if $(QUICK),--quick) $(if $(WRITE),--write) $(if $(SEED),--seed $(SEED)) \
		$(BINARIES:%=--binary %)

# The real CLIs, from npm, in a network namespace of their own against a scripted model. See tests/real/README.md.
test-real: build
	tests/real/run

# Ten minutes for each reader that is fuzzed. Needs a nightly compiler and cargo-fuzz.
fuzz:
	tests/fuzz/run

# A plugin project in each language, from nothing to answers over HTTP. Needs Node.js, Python and, for C, clang.
languages: build
	rustup target add wasm32-unknown-unknown
	for language in rust js python c; do plugins/templates/prove $$language || exit 1; done

# Rebuilds the components in plugins/prebuilt from their sources. Needs the target, which `make run` does not.
plugins:
	rustup target add wasm32-unknown-unknown
	plugins/build

# Fails where a component is not what its source gives.
plugins-check:
	rustup target add wasm32-unknown-unknown
	plugins/build --check

lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --document-private-items

# The book for users, from docs/ into target/book. Needs mdBook: `cargo install mdbook`.
book:
	mdbook build docs

# Licences, sources and banned crates, by deny.toml. Needs cargo-deny.
deny:
	cargo deny --locked check licenses bans sources
