#!/usr/bin/env bash
# Usage: scripts/package.sh BINARY NAME [FOLDER]
# Checks that a built binary plays as tests/bench.signature says, and packs it with its documents
# into FOLDER/NAME.tar.gz, or NAME.zip for Windows. The release workflow calls it; it runs anywhere.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

[ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 1; }
binary=$(realpath "$1")
name=$2
folder=$(mkdir -p "${3:-dist}" && cd "${3:-dist}" && pwd)
cd "$(dirname "$0")/.."

expected=$(cat tests/bench.signature)
bench=$("$binary" bench | tail -n 1)
found=${bench%% *}
if [ "$found" != "$expected" ]; then
    echo "package: bench says $found nodes, tests/bench.signature $expected: not packed" >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
cp "$binary" README.md CHANGELOG.md LICENSE "$work/$name"
cp -r docs "$work/$name/docs"

case $binary in
    *.exe)
        packed=$folder/$name.zip
        # Windows runners have 7z, others zip.
        if command -v 7z >/dev/null; then pack=(7z a -bso0); else pack=(zip -qr); fi
        rm -f "$packed"
        (cd "$work" && "${pack[@]}" "$packed" "$name")
        ;;
    *)
        packed=$folder/$name.tar.gz
        tar -C "$work" -czf "$packed" "$name"
        ;;
esac
echo "$packed: $bench"
