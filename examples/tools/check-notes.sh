#!/bin/sh
# Exit 0: there is an entry; 1: there is none; 2: it cannot be told.
notes=${1:-CHANGELOG.md}
[ -r VERSION ] && [ -r "$notes" ] || { echo "VERSION or $notes is not there"; exit 2; }
version=$(cat VERSION)
if grep -q "^## $version\$" "$notes"; then
  echo "$notes has an entry for $version"
else
  echo "$notes says nothing about $version"
  exit 1
fi
