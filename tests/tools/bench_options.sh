#!/usr/bin/env bash
# Checks that tools/bench.sh reports wrong options, or prints its help, before it builds anything.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$work/bin:$PATH TESTLOG_NO_SETUP=1
mkdir "$work/bin"
printf '#!/bin/sh\necho "it builds: $*" >&2\nexit 99\n' >"$work/bin/cmake"
chmod +x "$work/bin/cmake"
cd "$work"

expect() {  # <exit status> <text in the output> <option...>
  local status=0 text
  text=$("$root/tools/bench.sh" "${@:3}" 2>&1) || status=$?
  if ((status != $1)) || [[ $text != *"$2"* ]]; then
    printf 'tools/bench.sh %s\nended with %d, not %d, or did not say %q:\n%s\n' "${*:3}" "$status" "$1" "$2" "$text" >&2
    exit 1
  fi
}

expect 0 'tools/bench.sh [--json FILE]' --help
expect 0 'tools/bench.sh [--json FILE]' --only span -h
expect 2 "unknown argument '--jsno'; valid: [--json FILE]" --jsno table.json
expect 2 "unknown argument 'span'" span
expect 2 '--json needs a FILE' --json
expect 2 '--json needs a FILE' --json --only span
expect 2 '--only needs a PATTERN' --instructions --only
expect 2 '--only ( is not a regular expression' --only '('
expect 2 '--recording needs a number' --recording --only convert
expect 2 '--recording needs a number' --recording many
expect 2 '--recording needs a number' --recording 63
expect 2 '--tests needs a number from 1 to 1000' --tests 1001
expect 2 '--quill needs a FOLDER' --quill --only event
expect 2 '--quill .: there is no include/quill/Backend.h in this folder' --quill .
expect 2 '--json nowhere/table.json: cannot write there' --json nowhere/table.json
expect 2 '--json .: cannot write there' --json .
expect 99 'it builds' --json table.json --only 'span|event' --recording 1000 --tests 10 --instructions
expect 99 'it builds'
[[ ! -e table.json ]]
