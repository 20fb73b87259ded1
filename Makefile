# Every target is one line and installs what it needs itself, or says what is missing.
XTASK = cargo run -q -p xtask --

.PHONY: demo test ready tidy conform bench attacks bench-client bench-server bench-node-server bench-grpc windows-real bursts h3-paths node node-test node-pack node-soak node-lines comparisons wpt apps interop flake fuzz sanitize mutants docs newcomer features api crates sim windows bench-bulk bench-rust release-check
demo: ; @$(XTASK) demo
test: ; @$(XTASK) test
ready: ; @$(XTASK) ready
tidy: ; @$(XTASK) tidy
conform: ; @$(XTASK) conform
bench: ; @$(XTASK) bench
attacks: ; @$(XTASK) attacks
bench-client: ; @$(XTASK) bench client && $(XTASK) bench bulk-client
bench-rust: ; @$(XTASK) bench calls
bench-bulk: ; @$(XTASK) bench server --no-memory --scenarios bulk-h1-TLS,bulk-h1-TLS-64,bulk-h2-TLS,bulk-h2-TLS-64,bulk-h3,bulk-h3-64 && $(XTASK) bench bulk-client
bench-server: ; @$(XTASK) bench server && $(XTASK) bench node-server
bench-node-server: ; @$(XTASK) bench node-server
bench-grpc: ; @$(XTASK) bench grpc
windows-real: ; @$(XTASK) bench windows-real
bursts: ; @$(XTASK) bench bursts
h3-paths: ; @$(XTASK) bench h3-paths
node: ; @$(XTASK) node
node-test: ; @$(XTASK) node-test
node-pack: ; @$(XTASK) node-pack
node-soak: ; @$(XTASK) node-soak
node-lines: ; @$(XTASK) node-lines
comparisons: ; @$(XTASK) comparisons
wpt: ; @$(XTASK) wpt
apps: ; @$(XTASK) apps $(NAME)
interop: ; @$(XTASK) interop
flake: ; @$(XTASK) flake $(N) $(FILE) $(PAUSE)
fuzz: ; @$(XTASK) fuzz
sanitize: ; @$(XTASK) sanitize
mutants: ; @$(XTASK) mutants
docs: ; @$(XTASK) docs
newcomer: ; @$(XTASK) newcomer
features: ; @$(XTASK) features
api: ; @$(XTASK) api
crates: ; @$(XTASK) crates
release-check: ; @$(XTASK) release check $(TAG)
sim: ; @cargo run -q -p trunkline-testkit --bin sim
windows: ; @cargo run -q --release -p trunkline-testkit --bin windows
