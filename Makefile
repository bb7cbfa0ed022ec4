# `make help` is the index.
SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory

# K8S is the Kubernetes release that a target runs on: a minor version that
# ci/matrix.yaml names, or oldest or newest.
K8S     ?= newest
# FOCUS runs only the specs whose text matches this regular expression.
FOCUS   ?=
# PROCS is how many specs run at a time; they wait more than they work.
PROCS   ?= 4
# COUNT repeats the medians of the benchmarks.
COUNT   ?= 5
# CASES is how many random objects are converted.
CASES   ?= 10000
# SUBJECT is the operator that `make trial` puts on trial.
SUBJECT ?= operator/seatrial.yaml
OUT     ?= out
# IMAGE names what `make image` makes.
IMAGE   ?= rediscluster-operator:dev
# PUSH is where it is uploaded to. The environment has no say in that.
PUSH     =

SEATRIAL := bin/seatrial
TOOL     := go tool -modfile=go.tools.mod
# The folder of a release's programs. An empty answer must not pass for one:
# a test that finds no programs has to fail, not to fall back on others.
ASSETS   = assets=$$($(SEATRIAL) assets path --kubernetes $(K8S)); test -n "$$assets"; export KUBEBUILDER_ASSETS="$$assets"

# The packages outside the suites whose tests need programs.
NEED_PROGRAMS = $(addprefix ./,$(shell grep -rl --include='*_test.go' '^//go:build envtest' harness internal | xargs -n 1 dirname | sort -u))

##@ Everyday

.PHONY: help
help: ## Show this index.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-zA-Z0-9_.-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' Makefile

.PHONY: build
build: ## Build bin/seatrial.
	@mkdir -p bin
	go build -o $(SEATRIAL) ./cmd/seatrial

.PHONY: trial
trial: build ## Put an operator on trial: make trial [SUBJECT=file] [K8S=1.37].
	$(SEATRIAL) run -f $(SUBJECT) --kubernetes $(K8S)

.PHONY: assets
assets: build ## Fetch or build the Kubernetes programs: make assets [K8S=1.37].
	$(SEATRIAL) assets get --kubernetes $(K8S)

##@ Tests

.PHONY: test
test: build ## Everything a change must pass, on the oldest and the newest Kubernetes.
	@ci/parts \
	  "unit tests"                 "$(MAKE) test-unit" \
	  "10,000 conversions"         "$(MAKE) test-conversion" \
	  "the operator with Redis"    "$(MAKE) test-redis" \
	  "programs of the oldest"     "$(MAKE) assets K8S=oldest" \
	  "programs of the newest"     "$(MAKE) assets K8S=newest" \
	  "harness on the newest"      "$(MAKE) test-harness K8S=newest" \
	  "envtest tier on the oldest" "$(MAKE) test-envtest K8S=oldest" \
	  "envtest tier on the newest" "$(MAKE) test-envtest K8S=newest" \
	  "trial of the operator"      "$(MAKE) trial" \
	  "trial of every mutant"      "$(MAKE) mutants"

.PHONY: test-unit
test-unit: ## Hermetic unit tests, with the race detector.
	go test -race -shuffle=on ./...

.PHONY: test-conversion
test-conversion: ## Conversion of random objects: make test-conversion [CASES=10000] [SEED=n].
	go test -count=1 ./operator/api -run Test -args -cases=$(CASES) $(if $(SEED),-seed=$(SEED))

.PHONY: test-redis
test-redis: ## The operator's tests against real Redis servers, which must be installed (redis-server).
	go test -tags redis -count=1 -p 1 ./operator/...

.PHONY: test-harness
test-harness: build ## The harness against real programs: make test-harness [K8S=1.37] [FOCUS=regexp].
	@$(ASSETS); go test -tags envtest -count=1 -p 1 -timeout 15m $(if $(FOCUS),-run '$(FOCUS)') $(NEED_PROGRAMS)

.PHONY: test-envtest
test-envtest: build ## The envtest tier over the operator: make test-envtest [K8S=1.37] [FOCUS=regexp] [PROCS=4].
	@mkdir -p $(OUT); $(ASSETS); export SEATRIAL_K8S=$(K8S); test -t 1 || plain=--no-color; \
	go tool ginkgo run $${plain:-} --procs=$(PROCS) --race --tags=envtest --timeout=10m --fail-on-empty --randomize-all \
	  --poll-progress-after=30s --output-dir=$(OUT) --junit-report=envtest-$(K8S).xml $(if $(FOCUS),--focus='$(FOCUS)') ./suites/envtest

.PHONY: mutants
mutants: build ## Put every mutant on trial: each must be killed by its check, and by no other.
	@$(ASSETS); go test -tags envtest -count=1 -timeout 20m -v ./suites/mutants

.PHONY: bench
bench: build ## Medians beside those of plain tools: make bench [COUNT=5].
	@$(ASSETS); go run ./ci/bench -count $(COUNT)

##@ Code

.PHONY: generate
generate: ## Make every generated file anew.
	go generate ./...

.PHONY: verify
verify: verify-generated verify-tidy lint verify-layers ## All that reads the code without running it.

.PHONY: verify-generated
verify-generated: ## Fail when a generated file is stale.
	@ci/verify-generated

.PHONY: verify-tidy
verify-tidy: ## Fail when a module file is not tidy.
	@ci/verify-tidy

.PHONY: lint
lint: ## golangci-lint, with the layering rules.
	$(TOOL) golangci-lint run

.PHONY: verify-layers
verify-layers: ## Fail when an import that goes against the layers is not refused.
	@ci/verify-layers

.PHONY: lint-fix
lint-fix: ## golangci-lint, mending what it can.
	$(TOOL) golangci-lint run --fix

.PHONY: image
image: ## Build the operator's image: make image [IMAGE=name:tag] [PUSH=registry/repository:tag].
	@go run ./ci/image -image '$(IMAGE)' $(if $(PUSH),-push '$(PUSH)')

.PHONY: clean
clean: ## Remove bin and out. The cache of programs stays: seatrial assets prune.
	rm -rf bin $(OUT)
