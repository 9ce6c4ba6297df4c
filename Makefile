# The two main commands are `make run` and `make test`. The rest is for developers.

.PHONY: run build bins test test-busy faults hostile soak swap folder bench bench-peers test-real fuzz languages plugins plugins-check lint doc session book deny

# Cargo unifies the features of a dependency over the selected packages. Every command selects the same ones with `--workspace`
# and limits the targets with `--bin` or `--test`, so that no command recompiles a dependency of another. `.ci/compiled-once`
# checks this, and passes the flags.
build := cargo build --locked --workspace $(CARGOFLAGS)
test := cargo test --locked --workspace --quiet $(CARGOFLAGS) $(TESTFLAGS)
e2e := $(test) --test e2e --

# Serves the models of proxy.toml on 127.0.0.1:8787.
run: build
	$${CARGO_TARGET_DIR:-target}/debug/agentbay serve --config proxy.toml

build:
	$(build) --bin agentbay

# Also the stand-in CLI, which the end-to-end tests start.
bins:
	$(build) --bins

# Every test.
test: bins
	$(test)
	@echo "$$(find fixtures -name golden.json | wc -l) recorded runs of real CLIs were compared with their golden files"

# Every test ROUNDS times, with LOAD processes that compete for the processors; then once on a single processor.
LOAD ?= 8
ROUNDS ?= 5
test-busy: bins
	$(test) --no-run
	for round in $$(seq $(ROUNDS)); do echo "round $$round"; tests/busy $(LOAD) $(test) || exit 1; done
	taskset --cpu-list 0 $(test)

# Known faults of other tools, one line each: what the CLI does, the required result, and the actual one.
faults: bins
	$(e2e) faults::every_fault --ignored --nocapture

# Hostile plugins, one line each: the attack, the limit that stopped it, the latency of other requests before and during it, and
# the growth of memory. Also odd files in the plugin folder, and request bodies of maximum size for every driver. Needs an idle
# machine.
hostile: bins
	AGENTBAY_HOSTILE=$${AGENTBAY_HOSTILE:-all} $(e2e) hostile::every hostile::folder::nothing hostile::bodies::every --nocapture --test-threads 1

# A thousand runs cancelled at random moments, and ten rounds of 32 concurrent worktrees.
soak: bins
	AGENTBAY_SOAK=1000 $(e2e) soak:: thirty_two

# A minute of requests at half of the machine's maximum rate while their plugin is replaced every 300 ms, and the memory after a
# thousand replacements.
swap: bins
	AGENTBAY_SWAP=60 $(e2e) swap:: --nocapture --test-threads 1

# Ten minutes of named pipes, devices, links, unreadable and half-written files appearing in the plugin folder, with twenty
# requests a second. AGENTBAY_FOLDER=SECONDS sets the duration.
folder: bins
	AGENTBAY_FOLDER=$${AGENTBAY_FOLDER:-600} $(e2e) hostile::ground --nocapture

# The time that AgentBay adds to a direct run of the CLI, within ten minutes on an idle machine. QUICK=1 takes a minute,
# ONLY=time,memory measures these groups only, CHECK=1 fails if a bar is missed, WRITE=1 writes the table to
# tests/bench/README.md, BINARIES="old=FILE new=FILE" compares other binaries than this checkout's.
bench:
	cargo build --release --locked --workspace --bin agentbay --bin stand-in
	cargo bench --locked --workspace --bench speed -- $(if $(QUICK),--quick) $(if $(CHECK),--check) $(if $(WRITE),--write) \
		$(if $(ONLY),--only $(ONLY)) $(if $(SEED),--seed $(SEED)) $(if $(FROM),--from $(FROM)) $(BINARIES:%=--binary %)

# The same beside other programs that serve the same CLI, from PyPI and npm, in a network namespace with loopback only. Takes QUICK,
# CHECK and WRITE too.
bench-peers:
	cargo build --release --locked --workspace --bin agentbay --bin stand-in
	cargo bench --locked --workspace --bench speed --no-run
	tests/bench/peers/run $(if $(QUICK),--quick) $(if $(CHECK),--check) $(if $(WRITE),--write) $(if $(SEED),--seed $(SEED))

# The real CLIs, from npm, in a separate network namespace with a scripted model. See tests/real/README.md.
test-real: build
	tests/real/run
	tests/real/clients

# Ten minutes for each reader that is fuzzed. Needs a nightly compiler and cargo-fuzz.
fuzz:
	tests/fuzz/run

# A plugin project in each language, from an empty folder to answers over HTTP. Needs Node.js, Python and, for C, clang.
languages: build
	rustup target add wasm32-unknown-unknown
	for language in rust js python c; do plugins/templates/prove $$language || exit 1; done

# Rebuilds the components in plugins/prebuilt from their sources. Needs the target, which `make run` does not.
plugins:
	rustup target add wasm32-unknown-unknown
	plugins/build

# Fails if a component differs from the build of its source.
plugins-check:
	rustup target add wasm32-unknown-unknown
	plugins/build --check

lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --document-private-items

# Draws the picture of a terminal session in README again, from a real session.
session: bins
	RENEW=1 $(e2e) docs::session

# The book for users, from docs/ into target/book. Needs mdBook: `cargo install mdbook`.
book:
	mdbook build docs

# Licences, sources and banned crates, by deny.toml. Needs cargo-deny.
deny:
	cargo deny --locked check licenses bans sources
