#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_metrics_names - the dashboard and the samples for Prometheus name only series that berthd has; a page of 200 steps, the samples and
# the dashboard's queries are what Prometheus takes, as far as its tools are here (promtool: Debian's prometheus; python3-prometheus-client).
set -u
src=${srcdir:-.}
dashboard=$src/contrib/grafana/berth.json
bench=./tests/bench/metrics
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

bad() { echo "not ok: $*" >&2; failed=1; }

./packer/daemon/confdoc metrics | sort >"$dir/names"
[ -s "$dir/names" ] || bad "no names"
cp "$dir/names" "$dir/berthd"
# Those of berth-steer stand in its manual.
sed -n 's/^.*put_gauge(out, "\([a-z_]*\)".*$/berth_steer_\1/p; s/^.*TYPE \(berth_steer_[a-z_]*\) gauge.*$/\1/p' "$src/steer/outcome.c" | sort -u >"$dir/steer"
[ "$(wc -l <"$dir/steer")" -ge 9 ] || bad "the series of berth-steer are not found"
sed -n 's/^\.It Ic \(berth_steer_[a-z_]*\).*$/\1/p' "$src/man/berth-steer.8" | sort | cmp -s - "$dir/steer" || bad "berth-steer.8 has other series than berth-steer"
sort -o "$dir/names" "$dir/berthd" "$dir/steer"

# names_of FILE: the words that look like ours, but those of files and of rules
names_of() { grep -o 'berth_[a-z0-9_]*' "$1" | sort -u; }
for file in "$dashboard" "$src/contrib/prometheus/berth-rules.yml" "$src/man/berth-metrics.7.in"; do
    names_of "$file" >"$dir/used"
    [ -s "$dir/used" ] || bad "$file names no series"
    unknown=$(comm -23 "$dir/used" "$dir/names")
    [ -z "$unknown" ] || bad "$file: no such series:" "$unknown"
done

# What must not fail silently has an alert.
for alert in BerthDown BerthLaunchesFailOpen BerthHurts BerthReleased BerthSteerSilent; do
    grep -q "^ *- alert: $alert$" "$src/contrib/prometheus/berth-rules.yml" || bad "no alert $alert"
done

# Whatever has a series of the page is in the list, too.
"$bench" -p openmetrics >"$dir/page" || bad "no page"
sed -n 's/^\(berth_[a-z_]*\).*/\1/p' "$dir/page" | sort -u >"$dir/used"
unknown=$(comm -23 "$dir/used" "$dir/names")
[ -z "$unknown" ] || bad "series that are not in the list:" "$unknown"
while read -r name; do
    grep -q "^\.It Ic $name " man/berth-metrics.7 || bad "berth-metrics.7: no word about $name"
done <"$dir/berthd"

if command -v jq >/dev/null; then
    jq -e '.schemaVersion >= 36 and (.panels | length) > 10 and ([.templating.list[].name] == ["datasource", "node", "domain"])
        and ([.panels[].id] | length == (unique | length))
        and all(.panels[] | select(.type != "row"); .datasource.uid == "${datasource}" and (.targets | length) > 0
            and all(.targets[]; .expr | contains("$node") or contains("berth_steer_")))' "$dashboard" >/dev/null || bad "$dashboard: not as it should be"
    # Side by side, none over another.
    jq -e '[.panels[].gridPos] as $all | all(range($all | length); . as $i | all(range($i); . as $j | $all[$i] as $a | $all[$j] as $b |
        ($a.x + $a.w <= $b.x or $b.x + $b.w <= $a.x or $a.y + $a.h <= $b.y or $b.y + $b.h <= $a.y))
        and $all[$i].x + $all[$i].w <= 24)' "$dashboard" >/dev/null || bad "$dashboard: panels lie over each other"
else
    echo "jq is not installed: the dashboard's structure is not looked at"
fi

# PromQL as rules, which is all that promtool parses of it.
queries() {
    echo 'groups: [{name: dashboard, rules: ['
    jq -r '.panels[].targets[]?.expr | gsub("\\$__rate_interval"; "5m") | gsub("\\$__range"; "1h") | @json' "$dashboard" |
        awk '{ printf "  {record: \"dashboard:query%d\", expr: %s},\n", NR, $0 }'
    echo ']}]'
}
if command -v promtool >/dev/null; then
    promtool check rules "$src/contrib/prometheus/berth-rules.yml" >"$dir/out" 2>&1 || bad "berth-rules.yml: $(cat "$dir/out")"
    cp "$src/contrib/prometheus/berth-rules.yml" "$src/tests/unit/metrics/rules_test.yml" "$dir"
    promtool test rules "$dir/rules_test.yml" >"$dir/out" 2>&1 || bad "when the alerts fire: $(cat "$dir/out")"
    promtool check config "$src/contrib/prometheus/berth.yml" >"$dir/out" 2>&1 || bad "berth.yml: $(cat "$dir/out")"
    queries >"$dir/queries.yml"
    promtool check rules "$dir/queries.yml" >"$dir/out" 2>&1 || bad "the dashboard's queries: $(cat "$dir/out")"
    "$bench" -p plain | promtool check metrics >"$dir/out" 2>&1 || bad "promtool check metrics: $(cat "$dir/out")"
    # Its reader of OpenMetrics is that of backfills, which want times.
    sed '/^#/!s/$/ 1700000000/' "$dir/page" >"$dir/timed"
    promtool tsdb create-blocks-from openmetrics "$dir/timed" "$dir/blocks" >"$dir/out" 2>&1 ||
        bad "promtool, OpenMetrics: $(tail -3 "$dir/out")"
else
    echo "promtool is not installed (Debian: prometheus): the samples and the page are not checked by it"
fi
if python3 -c 'import prometheus_client.openmetrics.parser' 2>/dev/null; then
    python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
n = sum(len(family.samples) for family in read(sys.stdin.read()))
sys.exit(n < 2000)' <"$dir/page" 2>"$dir/out" || bad "prometheus_client: $(tail -3 "$dir/out")"
else
    echo "prometheus_client is not installed (Debian: python3-prometheus-client): the page is not checked by it"
fi
exit $failed
