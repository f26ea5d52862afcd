# Read by .ci/run and .ci/nightly: steps that all run, also after a failure, and print their output when they end.
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/steps" "$folder/failed"
shopt -s nullglob

# step COMMAND...: keeps its output, and prints all of it at once when it ends.
step() {
  local name="$*" log start=$SECONDS outcome=passed
  log="$folder/steps/$(tr -c 'a-z0-9\n' - <<<"$name")"
  "$@" >"$log" 2>&1 </dev/null || outcome=FAILED
  # A step that fails without a failed test counts as one failure.
  if [ "$outcome" = FAILED ] && ! grep -qE '^[0-9]+ passed, [1-9][0-9]* failed' "$log"; then
    printf '0 passed, 1 failed: %s\n' "$name" >>"$log"
  fi
  [ "$outcome" = passed ] || cp "$log" "$folder/failed/"
  {
    flock 9
    printf '\n== %s\n' "$name"
    cat "$log"
    printf '%-6s %5d s  %s\n' "$outcome" $((SECONDS - start)) "$name" | tee -a "$folder/outcomes"
  } 9>"$folder/printing"
}

# Prints what failed once more, the time of each step, and the sum of all tests; fails if a step failed.
summary() {
  local log
  # The end is what is kept of a long output. An assertion that failed stands before the tests around it.
  for log in "$folder"/failed/*; do
    printf '\n== Failed in %s\n' "$(basename "$log")"
    grep -E -A 25 '^ *not ok ' "$log" | cut -c 1-500 | head -60 || tail -20 "$log"
  done
  printf '\n== All steps, %d s\n' "$SECONDS"
  cat "$folder/outcomes"
  # Of all runners: `N passed, M failed`.
  awk '/^[0-9]+ passed, [0-9]+ failed/ { passed += $1; failed += $3 } END { printf "%d passed, %d failed\n", passed, failed }' \
    "$folder"/steps/*
  ! grep -q '^FAILED' "$folder/outcomes"
}

# How the last run of .ci/nightly on this machine ended: one line, outside the checkout.
nightly="${NIGHTLY_STATE:-${XDG_STATE_HOME:-$HOME/.local/state}/ordinate/nightly}"
