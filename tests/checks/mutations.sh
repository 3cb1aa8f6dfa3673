#!/usr/bin/env bash
# mutations.sh: every mutation of tests/sabotage.list still finds the text that it breaks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

perl tests/checks/lib/mutate.pl tests/sabotage.list
printf '%s mutations\n' "$(grep -c '^mutation ' tests/sabotage.list)"
