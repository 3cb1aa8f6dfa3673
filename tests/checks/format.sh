#!/usr/bin/env bash
# format.sh - the formatter decides, and a difference is refused.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

git ls-files -co --exclude-standard -z -- '*.c' '*.h' | xargs -0 -n 20 -P 2 clang-format --dry-run -Werror
