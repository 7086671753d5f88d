#!/usr/bin/env bash
# Tests of the conformance program: program_test.sh PROGRAM. Checks that it fails when it should, with the reason.
set -euo pipefail

program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0

# expect <what> <exit status> <last line> <pattern in the output>: runs the program over $dir, then empties it.
expect() {
  local what=$1 status=$2 last_line=$3 pattern=$4 output rc=0
  output=$("$program" --dir "$dir" --timeout-ms 2000 2>&1) || rc=$?
  if [[ $rc != "$status" || $(tail -n 1 <<<"$output") != "$last_line" ]] || ! grep -qe "$pattern" <<<"$output"; then
    printf 'FAILED: %s\n  wanted status %s, last line "%s", somewhere "%s"\n  got status %s and\n%s\n' \
      "$what" "$status" "$last_line" "$pattern" "$rc" "$output"
    failures=$((failures + 1))
  fi
  rm -f "$dir"/*
}

level() { # <id> <text> <ok>
  local message='error parsing level: expected one of \"error\", \"warn\", \"info\", \"debug\", \"trace\", or a number 1-5'
  local both='"level":{"ok":true,"display":"INFO","debug":"Level(Info)"},
    "level_filter":{"ok":true,"display":"info","debug":"LevelFilter::INFO"}'
  [[ $3 == yes ]] || both='"level":{"ok":false,"error":"'$message'"},"level_filter":{"ok":true,"display":"off","debug":"LevelFilter::OFF"}'
  echo '{"id":"'"$1"'","tag":"t","input":{"text":"'"$2"'"},"expected":{'"$both"'}}'
}
event='{"kind":"event","target":"app","level":"INFO","fields":["message"]}'
scenario() { # <operations> <config> <expected output>
  echo '[{"id":"s","tag":"t","input":{"callsites":{"e":'"$event"'},"ops":['"$1"'],"configs":['"$2"']},"expected":{"outputs":['"$3"']}}]'
}
hello='{"op":"event","cs":"e","values":[["message",{"args":"hi"}]]}'
plain='{"format":"full","time":"none"}'
printed='" INFO app: hi\n"'

expect 'a folder without files fails' 1 '0 passed, 1 failed' 'no cases in'
echo '[{"id":"x"}]' >"$dir/novelty.json"
expect 'a folder with unknown files alone fails' 1 '0 passed, 1 failed' '^skipped: novelty.json'
echo '[]' >"$dir/levels.json"
expect 'a file without cases fails' 1 '0 passed, 1 failed' 'holds no case'
echo '[{' >"$dir/levels.json"
expect 'a file that is not JSON fails' 1 '0 passed, 1 failed' 'FAILED levels'

echo "[$(level a info yes),$(level b off no)]" >"$dir/levels.json"
echo 'hello' >"$dir/README.md"
expect 'correct answers pass and unknown files are named' 0 '2 passed, 0 failed' '^skipped: README.md'
echo "[$(level a info yes),$(level b off yes)]" >"$dir/levels.json"
expect 'a wrong answer fails and is printed' 1 '1 passed, 1 failed' '^FAILED levels b (t)$'
echo "[$(level a info yes),$(level b off yes)]" | sed 's/}}]$/},"any":"reason"}]/' >"$dir/levels.json"
expect 'any answer passes if the case says so' 0 '2 passed, 0 failed' 'levels: 2 passed, 0 failed'
echo '[{"id":"a","tag":"t","input":{"text":"info","more":1},"expected":{},"any":"reason"}]' >"$dir/levels.json"
expect 'an unknown key of an input fails, whatever is expected' 1 '0 passed, 1 failed' 'unknown key `more`'
echo "[$(level a info yes | sed 's/"tag"/"extra":1,"tag"/')]" >"$dir/levels.json"
expect 'an unknown key of a case fails' 1 '0 passed, 1 failed' 'unknown key `extra`'
echo "[$(level a info yes | sed 's/"expected":{/"expected":{"more":1,/')]" >"$dir/levels.json"
expect 'an expected key without an answer fails' 1 '0 passed, 1 failed' 'expected 1'

scenario "$hello" "$plain" "$printed" >"$dir/fmt_scenarios.json"
expect 'a scenario passes' 0 '1 passed, 0 failed' 'fmt_scenarios: 1 passed'
scenario '{"op":"dance"}' "$plain" "$printed" >"$dir/fmt_scenarios.json"
expect 'an unknown operation fails' 1 '0 passed, 1 failed' 'unknown operation: dance'
scenario "$hello" '{"format":"full","time":"none","loud":true}' "$printed" >"$dir/fmt_scenarios.json"
expect 'an unknown setting fails' 1 '0 passed, 1 failed' 'unknown key `loud`'
scenario "$hello" '{"format":"round"}' "$printed" >"$dir/fmt_scenarios.json"
expect 'an unknown format fails' 1 '0 passed, 1 failed' 'unknown format: round'
scenario '{"op":"event","cs":"e","values":[["message",{"mood":"hi"}]]}' "$plain" "$printed" >"$dir/fmt_scenarios.json"
expect 'an unknown kind of value fails' 1 '0 passed, 1 failed' 'unknown kind of value: mood'
recorded() { # <value>
  local span='{"kind":"span","target":"app","name":"s","level":"TRACE","fields":["v"]}'
  echo '[{"id":"s","tag":"t","input":{"filter":"info","callsites":{"s":'"$span"'},"ops":[{"op":"new_span","span":"s","cs":"s","values":[]},
    {"op":"record","span":"s","values":[["v",'"$1"']]}]},"expected":{"display":"info","max_level_hint":"info",
    "ops":[[false,"max_level"],"noop"],"per_layer_seen":[false,null]}}]'
}
recorded '{"i64":1}' >"$dir/env_filter_dynamic.json"
expect 'a record on a disabled span does nothing' 0 '1 passed, 0 failed' 'env_filter_dynamic: 1 passed'
recorded '{"mood":1}' >"$dir/env_filter_dynamic.json"
expect 'an unknown kind of value fails on a disabled span, too' 1 '0 passed, 1 failed' 'unknown kind of value: mood'

flame() { # <config> <expected line>
  local span='{"kind":"span","target":"app","name":"s","level":"INFO","fields":[]}'
  echo '[{"id":"f","tag":"t","input":{"callsites":{"s":'"$span"'},"ops":[{"op":"new_span","span":"s","cs":"s","values":[]},
    {"op":"enter","span":"s"}],"config":{'"$1"'}},"expected":{"lines":["'"$2"'"]}}]'
}
flame '' 'ThreadId(1)-main <ns>' >"$dir/flame.json"
expect 'a folded line passes' 0 '1 passed, 0 failed' 'flame: 1 passed'
flame '"threads_collapsed":true' 'ThreadId(1)-main <ns>' >"$dir/flame.json"
expect 'another folded line fails' 1 '0 passed, 1 failed' 'all-threads <ns>'
flame '"loud":true' 'ThreadId(1)-main <ns>' >"$dir/flame.json"
expect 'an unknown setting of folded lines fails' 1 '0 passed, 1 failed' 'unknown key `loud`'

inferno() { # <options> <width of the frame>
  echo '[{"id":"i","tag":"t","input":{"lines":["a 1"],"options":['"$1"']},"expected":{"ok":true,"width":1200,"height":102,
    "frames":[["a (1 samples, 100.00%)","0.0000%",37,"'"$2"'"],["all (1 samples, 100%)","0.0000%",53,"100.0000%"]]}}]'
}
inferno '' '100.0000%' >"$dir/inferno.json"
expect 'a position passes' 0 '1 passed, 0 failed' 'inferno: 1 passed'
inferno '' '50.0000%' >"$dir/inferno.json"
expect 'another position fails' 1 '0 passed, 1 failed' '50.0000%'
inferno '"--loud"' '100.0000%' >"$dir/inferno.json"
expect 'an unknown option fails' 1 '0 passed, 1 failed' 'unknown option: --loud'

if "$program" --dir "$dir" --loud 2>/dev/null; then
  echo 'FAILED: an unknown argument is accepted'
  failures=$((failures + 1))
fi
((failures == 0)) || exit 1
echo 'passed'
