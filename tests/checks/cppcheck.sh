#!/usr/bin/env bash
# cppcheck.sh - a second opinion on every source file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mkdir -p build/cppcheck
git ls-files -co --exclude-standard -- '*.c' >build/cppcheck.list
cppcheck -j2 --quiet --enable=warning,performance,portability --inline-suppr \
	--suppress=missingIncludeSystem --error-exitcode=1 --std=c11 -I. -D_POSIX_C_SOURCE=200809L \
	-DLAPSE_FAILPOINTS --cppcheck-build-dir=build/cppcheck --file-list=build/cppcheck.list
