# make prints its targets; make check is what CI runs, in the same order.

GO        ?= go
PKGS      ?= ./...
FUZZTIME  ?= 2s
BENCH_RECORDS ?= 1000000
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS    = -s -w -X main.version=$(VERSION)
# Arrow's JSON, which is not used here, by the standard library: 1.3 MB less.
TAGS       = arrow_json_stdlib
REAL_PKGS  = $(shell grep -rl --include='*_test.go' '^//go:build real' . | xargs -rn1 dirname | sort -u)
LINT       = $(GO) tool -modfile=tools/go.mod golangci-lint

export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help

.PHONY: help
help: ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: check
check: build vet lint test-race test-real fuzz ## everything CI runs, in its order; starts the real servers by itself
	@echo "make check: all passed"

.PHONY: build
build: ## build bin/recoverctl, one static file
	$(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/recoverctl ./cmd/recoverctl

.PHONY: vet
vet: ## go vet, with and without the real-server tests
	$(GO) vet $(PKGS)
	$(GO) vet -tags real $(PKGS)
	$(GO) vet -tags faults ./actions/kafka

.PHONY: lint
lint: ## the house rules: imports, bans, formatting
	$(LINT) run $(PKGS)

.PHONY: test
test: ## quick tests, no servers
	$(GO) test $(PKGS)

.PHONY: test-race
test-race: ## the same with the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 30m $(PKGS)

.PHONY: test-real
test-real: build ## tests against real Kafka, Flink and Fluss, fetched and started here
	RECOVERCTL_REAL_WITH=$${RECOVERCTL_REAL_WITH:-all} test/real/run.sh $(GO) test -count=1 -timeout 30m -tags real -run "$$(test/real/tests.sh)" $(REAL_PKGS)

.PHONY: test-faults
test-faults: ## every kind of fault at the requests of an apply; prints the table of docs/reliability.md (about 5 minutes)
	cd actions/kafka && $(GO) test -count=1 -tags faults -timeout 40m -parallel 40 -run 'TestWhateverBreaks'

.PHONY: fuzz
fuzz: ## a short fuzz of every parser (FUZZTIME each)
	test/fuzz.sh $(FUZZTIME)

.PHONY: proto
proto: ## compile the .proto files to Go again
	cd tools && plugin=$$($(GO) tool -n protoc-gen-go) && $(GO) run ./protogen ../internal/flussrpc/flusspb fluss.proto "$$plugin"

.PHONY: bench
bench: ## benchmarks
	$(GO) test -run '^$$' -bench . -benchmem $(PKGS)

.PHONY: bench-real
bench-real: ## the scan for durable calls beside a bare poll loop and kcat, and its memory, on a real broker (BENCH_RECORDS each); inspect point beside Flink's own code (minutes)
	RECOVERCTL_REAL_WITH=kafka RECOVERCTL_BENCH_RECORDS=$(BENCH_RECORDS) test/real/run.sh \
	  $(GO) test -tags real -run '^$$' -bench 'ScanAgainstOthers|ScanMemory' -benchtime 1x -timeout 2h ./inspect/kafka
	RECOVERCTL_REAL_WITH=flink test/real/run.sh \
	  $(GO) test -tags real -run '^$$' -bench 'PointAgainstJava' -benchtime 1x -timeout 1h ./cmd/recoverctl

.PHONY: bench-real-fluss
bench-real-fluss: ## the same for Fluss, beside a bare loop and its own client, in one process and in new ones (minutes)
	RECOVERCTL_REAL_WITH=fluss RECOVERCTL_BENCH_SEGMENT=1gb RECOVERCTL_BENCH_RECORDS=$(BENCH_RECORDS) test/real/run.sh \
	  $(GO) test -tags real -run '^$$' -bench 'ScanAgainstOthers|ScanMemory|ClusterAnswer' -benchtime 1x -timeout 2h ./inspect/fluss

.PHONY: golden
golden: ## rewrite golden frames; look at the diff before you commit it
	$(GO) test ./tui/... ./views/... ./cmd/... -update

.PHONY: screenshots
screenshots: build ## make the pictures in docs/ from the real console
	test/screenshots/shoot.sh
	test/screenshots/fluss.sh
	test/screenshots/arkflow.sh
	test/screenshots/real.sh

.PHONY: dist
dist: ## static binaries for Linux and macOS in dist/
	for os in linux darwin; do for arch in amd64 arm64; do \
	  GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o dist/recoverctl-$$os-$$arch ./cmd/recoverctl || exit 1; done; done

.PHONY: clean
clean: ## remove what the build made
	rm -rf bin dist
