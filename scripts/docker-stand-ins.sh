#!/usr/bin/env bash
# Stand-ins for redis:7-alpine, node:20-alpine and Prometheus from this machine's own binaries, for machines that
# reach no image registry. Needs a Docker engine, redis-server (prometheus) and busybox-static. They serve tests alone.
set -euo pipefail

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# A root file system with busybox's applets.
begin() {
  rm -rf "${root:?}"/*
  mkdir -p "$root"/{bin,usr/bin,usr/local/bin,etc/ssl/certs,tmp,root,data,proc,sys,dev}
  chmod 1777 "$root/tmp"
  chmod 777 "$root/data"
  cp "$(command -v busybox)" "$root/bin/busybox"
  local applet
  for applet in sh ls cat echo mkdir rm cp mv sleep wget nc env id ps grep kill chown true test; do
    ln -s busybox "$root/bin/$applet"
  done
  ln -s /bin/busybox "$root/usr/bin/env"
  printf 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000:node:/tmp:/bin/sh\n' > "$root/etc/passwd"
  printf 'root:x:0:\nnode:x:1000:\n' > "$root/etc/group"
}

# The shared libraries of a program, where the loader looks for them.
libraries() {
  ldd "$1" | grep -oE '/[^ ]+' | sort -u | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
}

# Name resolution is loaded at run time, so that ldd does not name it.
resolver() {
  local name library
  for name in libnss_dns.so.2 libnss_files.so.2 libresolv.so.2; do
    library=$(ldconfig -p | awk -v name="$name" '$1 == name { print $NF; exit }')
    [ -n "$library" ] || continue
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
}

node_image() {
  begin
  local node npm
  node=$(readlink -f "$(command -v node)")
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  cp -L "$node" "$root/usr/local/bin/node"
  libraries "$node"
  resolver
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -a "$npm" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
  tar -C "$root" -c . | docker import -c 'ENV PATH=/usr/local/bin:/usr/bin:/bin' -c 'CMD ["node"]' - node:20-alpine
}

redis_image() {
  begin
  local server cli
  server=$(readlink -f "$(command -v redis-server)")
  cli=$(command -v redis-cli)
  cp "$server" "$root/usr/local/bin/redis-server"
  cp -L "$cli" "$root/usr/local/bin/redis-cli"
  libraries "$server"
  libraries "$cli"
  cat > "$root/usr/local/bin/docker-entrypoint.sh" <<'SCRIPT'
#!/bin/sh
[ "${1#-}" != "$1" ] && set -- redis-server "$@"
[ "$1" = redis-server ] && exec "$@" --bind 0.0.0.0 --protected-mode no
exec "$@"
SCRIPT
  chmod +x "$root/usr/local/bin/docker-entrypoint.sh"
  tar -C "$root" -c . | docker import -c 'ENV PATH=/usr/local/bin:/usr/bin:/bin' -c 'WORKDIR /data' \
    -c 'EXPOSE 6379' -c 'VOLUME /data' -c 'ENTRYPOINT ["docker-entrypoint.sh"]' -c 'CMD ["redis-server"]' - redis:7-alpine
}

prometheus_image() {
  begin
  local server
  server=$(command -v prometheus)
  mkdir -p "$root/prometheus"
  chmod 777 "$root/prometheus"
  cp -L "$server" "$root/bin/prometheus"
  libraries "$server"
  resolver
  tar -C "$root" -c . | docker import -c 'WORKDIR /prometheus' -c 'EXPOSE 9090' -c 'VOLUME /prometheus' \
    -c 'ENTRYPOINT ["/bin/prometheus"]' - "${SLUICE_PROMETHEUS_IMAGE:-prom/prometheus:v2.53.5}"
}

for image in "${@:-node redis}"; do
  for name in $image; do
    echo "making a stand-in from this machine's binaries: $name"
    "${name}_image" > /dev/null
  done
done
