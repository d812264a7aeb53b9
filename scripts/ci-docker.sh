#!/usr/bin/env bash
# The Docker part of CI, as root on a bare Debian: engine, images, a fleet by docker-compose that judges the
# bundled example, and the tests that use testcontainers. Ends and removes whatever it started.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== docker: %s\n' "$*" >&2; }
work=$(mktemp -d)
engine=
compose=(docker-compose -p "sluice-ci-$$")

finish() {
  status=$?
  set +e
  if docker info > /dev/null 2>&1; then
    [ "$status" = 0 ] || "${compose[@]}" logs --tail 40 >&2
    "${compose[@]}" --profile monitoring down -v --remove-orphans > "$work/down.log" 2>&1 || cat "$work/down.log" >&2
    docker rmi -f "sluice-ci-build-$$" > /dev/null 2>&1
  fi
  if [ -n "$engine" ]; then
    step "stopping the engine that was started here"
    kill "$engine"
    wait "$engine"
  fi
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT

packages() {
  local missing=()
  command -v dockerd > /dev/null || docker info > /dev/null 2>&1 || missing+=(docker.io iptables)
  command -v docker-compose > /dev/null || missing+=(docker-compose)
  command -v busybox > /dev/null || missing+=(busybox-static)
  command -v prometheus > /dev/null || missing+=(prometheus)
  [ ${#missing[@]} = 0 ] && return
  step "installing ${missing[*]}"
  node --input-type=module -e \
    'import { aptInstall } from "./scripts/setup.mjs"; process.exit(aptInstall(process.argv.slice(1)) ? 0 : 1)' \
    "${missing[@]}"
}

start_engine() {
  docker info > /dev/null 2>&1 && return
  step "starting dockerd, published ports on loopback alone"
  dockerd --ip 127.0.0.1 > "$work/dockerd.log" 2>&1 &
  engine=$!
  for _ in $(seq 100); do
    docker info > /dev/null 2>&1 && return
    kill -0 "$engine" 2> /dev/null || break
    sleep 0.2
  done
  tail -20 "$work/dockerd.log" >&2
  return 1
}

have_image() {
  docker image inspect "$1" > /dev/null 2>&1 || timeout 60 docker pull -q "$1" > /dev/null 2>&1
}

images() {
  step "base images"
  have_image node:20-alpine || scripts/docker-stand-ins.sh node
  have_image redis:7-alpine || scripts/docker-stand-ins.sh redis
  have_image prom/prometheus:v2.53.5 || scripts/docker-stand-ins.sh prometheus
}

# npm inside the build uses the host's registry and certificates; the image that runs has neither.
build_image() {
  local authorities=${NODE_EXTRA_CA_CERTS:-}
  [ -f "$authorities" ] || authorities=$(npm config get cafile)
  [ -f "$authorities" ] || authorities=/etc/ssl/certs/ca-certificates.crt
  mkdir "$work/build"
  cp -L "$authorities" "$work/build/authorities.crt"
  printf 'registry=%s\ncafile=/etc/authorities.crt\n' "$(npm config get registry)" > "$work/build/npmrc"
  printf '%s\n' 'FROM node:20-alpine' 'COPY authorities.crt npmrc /etc/' \
    'ENV NODE_EXTRA_CA_CERTS=/etc/authorities.crt npm_config_globalconfig=/etc/npmrc' > "$work/build/Dockerfile"
  DOCKER_BUILDKIT=0 docker build -q -t "sluice-ci-build-$$" "$work/build" > /dev/null 2> "$work/build.log" ||
    { cat "$work/build.log" >&2; return 1; }
  export SLUICE_BUILD_IMAGE="sluice-ci-build-$$"
}

free_port() {
  node -e 's=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'
}

fleet() {
  step "building the image"
  "${compose[@]}" build --force-rm > "$work/compose-build.log" 2>&1 || { tail -40 "$work/compose-build.log" >&2; return 1; }
  SLUICE_REDIS_PORT=$(free_port)
  SLUICE_HTTP_PORT=$(free_port)
  export SLUICE_REDIS_PORT SLUICE_HTTP_PORT
  SLUICE_PROMETHEUS_PORT=$(free_port)
  export SLUICE_PROMETHEUS_PORT
  # Grafana's image cannot be made here: its part is checked as text alone.
  "${compose[@]}" --profile monitoring config -q
  step "a fleet with two workers and Prometheus, Redis on 127.0.0.1:$SLUICE_REDIS_PORT"
  "${compose[@]}" --profile monitoring up -d --scale worker=2 \
    redis worker aggregator dispatcher sweeper server prometheus > "$work/up.log" 2>&1 ||
    { cat "$work/up.log" >&2; return 1; }
  local example=(examples/incidents/scenarios --runs examples/incidents/runs.ndjson --exit-zero --json)
  npm run -s sluice -- evaluate "${example[@]}" --redis "redis://127.0.0.1:$SLUICE_REDIS_PORT" --workers 0 > "$work/fleet.json"
  npm run -s sluice -- evaluate "${example[@]}" --engine inline > "$work/inline.json"
  node scripts/compare-batches.mjs "$work/fleet.json" "$work/inline.json"
  step "the HTTP API on 127.0.0.1:$SLUICE_HTTP_PORT"
  node --input-type=module -e 'const { status } = await fetch(process.argv[1]); process.exit(status === 200 ? 0 : 1)' \
    "http://127.0.0.1:$SLUICE_HTTP_PORT/readyz"
  step "what Prometheus on 127.0.0.1:$SLUICE_PROMETHEUS_PORT has seen of it"
  node scripts/ci-prometheus.mjs "http://127.0.0.1:$SLUICE_PROMETHEUS_PORT" "$work/fleet.json"
  "${compose[@]}" --profile monitoring down -v > "$work/down.log" 2>&1
}

packages
start_engine
images
build_image
fleet
step "tests with testcontainers"
TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1 SLUICE_TEST_REDIS=docker \
  npx vitest run --project integration test/integration/test-redis.test.ts test/integration/doctor.test.ts
step "done"
