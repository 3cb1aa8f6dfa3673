#!/usr/bin/env bash
# settings.sh - one fact in several places: the list of all settings, the tables of the programs,
# the manual pages, the compose file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly LIST=common/base/settings_names.c
status=0

finding() {
	printf '%s\n' "$*"
	status=1
}

# Programs of later versions, with the keys only they read. A folder that is there reads its keys.
declare -A KEYS_OF=(
	[retry]="LAPSE_ALERT_GROUP_WAIT LAPSE_ALERT_TARGETS LAPSE_HTTP_CONCURRENCY LAPSE_HTTP_TIMEOUT
		LAPSE_RETRY_BASE LAPSE_RETRY_CAP LAPSE_RETRY_INTERVAL LAPSE_RETRY_MAX LAPSE_STOCK_BATCH
		LAPSE_STOCK_SUCCESS LAPSE_STOCK_URL"
	[gateway]="LAPSE_GATEWAY_ADDR LAPSE_API_RATE LAPSE_API_TOKENS_FILE LAPSE_NOTIFY_SECRET LAPSE_NOTIFY_SECRET_OLD
		LAPSE_MERCHANT_ID LAPSE_UNKNOWN_ORDER_GRACE LAPSE_REFUND_URL"
	[events]="LAPSE_WEBHOOKS_FILE LAPSE_CREATED_EVENT"
	[console]="LAPSE_ALERT_REPEAT LAPSE_ALERT_THRESHOLDS LAPSE_AMQP_METRICS_URL LAPSE_BULK_MAX
		LAPSE_CONSOLE_ADDR
		LAPSE_CONSOLE_FLEET LAPSE_CONSOLE_LANG LAPSE_CONSOLE_ORIGINS LAPSE_CONSOLE_PREFIX
		LAPSE_CONSOLE_READ_ONLY LAPSE_CONSOLE_SECRET LAPSE_CONSOLE_TOKENS_FILE
		LAPSE_CONSOLE_TRUSTED_PROXIES LAPSE_CONSOLE_URL LAPSE_CONSOLE_USERS_FILE
		LAPSE_ENV_LABEL LAPSE_OVERDUE_GRACE LAPSE_RUNBOOK_URL"
)

known=$(sed -n '/known_names\[\]/,/};/p' "$LIST" | grep -o 'LAPSE_[A-Z_]*' | sort)
mapfile -t sources < <(git ls-files -co --exclude-standard -- '*.c' '*.h' | grep -vE "^($LIST|tests/|bench/)")
used=$(grep -rhoE '"LAPSE_[A-Z_]*[A-Z]"' "${sources[@]}" | tr -d '"' | sort -u)

[[ $known == "$(sort -u <<<"$known")" ]] || finding "$LIST: a name stands there twice"

later=$(for folder in "${!KEYS_OF[@]}"; do
	[[ -f $folder/main.c ]] || tr -s ' \t\n' '\n' <<<"${KEYS_OF[$folder]}"
done | sort)
for name in $(comm -23 <(echo "$used") <(echo "$known")); do
	[[ $name == LAPSE_FAILPOINTS ]] || finding "$LIST: $name is read by a program and not known"
done
for name in $(comm -13 <(printf '%s\n%s\n%s\n' "$used" "$later" LAPSE_TEST_PLUGIN_DIR | sort -u) <(echo "$known")); do
	finding "$LIST: no program reads $name"
done

# Each page shows exactly the settings that --help of its program prints.
keys_in() { grep -oE 'LAPSE_[A-Z_]*[A-Z]' | sort -u; }
bin=$(find build -maxdepth 2 -type d -name bin -printf '%T@ %p\n' 2>/dev/null | sort -rn | head -n 1 | cut -d' ' -f2-)
for page in docs/man/*.[1-8]; do
	[[ -e $page ]] || continue
	program=$(basename "${page%.*}")
	if [[ ! -x $bin/$program ]]; then
		finding "$page: there is no program $program; build first"
		continue
	fi
	shown=$(sed 's/\\-/-/g; s/\\_/_/g' "$page" | keys_in || true)
	printed=$("$bin/$program" --help | keys_in || true)
	for name in $(comm -13 <(echo "$shown") <(echo "$printed")); do
		finding "$page: $name is missing"
	done
	for name in $(comm -23 <(echo "$shown") <(echo "$printed")); do
		grep -qx "$name" <<<"$known" || [[ $name == *_FILE || $name == LAPSE_ALERT_* ]] ||
			finding "$page: $name is no setting"
	done
done

for file in docker-compose.yml README.md README.zh-CN.md docs/*.md ARCHITECTURE.md; do
	[[ -e $file ]] || continue
	for name in $(keys_in <"$file" || true); do
		base=${name%_FILE}
		grep -qx -e "$name" -e "$base" <<<"$known" || [[ $name == LAPSE_ALERT_* ]] ||
			finding "$file: $name is no setting"
	done
done
exit "$status"
