#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_report_page - the page of `berthctl report --html` in a real browser: its figures are there without its script, the script
# sorts its tables, and the browser complains of nothing. Skipped where there is no Chromium.
# BERTHCTL and LEDGER_FILL name the programs (the build folder's by default), BROWSER a Chromium.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
fill=${LEDGER_FILL:-./tests/unit/common/ledger_fill}
url=sqlite:$dir/ledger.db
export TZ=UTC0 LC_ALL=C
browser=${BROWSER:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)} || {
    echo 'test_ctl_report_page: no Chromium is here: the page was not looked at in a browser'
    exit 77
}

# dump NAME OPTION..: the page as the browser has it after its script, in NAME.dom; what it said of it in NAME.said
dump() {
    name=$1
    shift
    HOME=$dir timeout 300 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking \
        --user-data-dir="$dir/profile" --enable-logging=stderr --virtual-time-budget=5000 "$@" \
        --dump-dom "file://$dir/$name.html" >"$dir/$name.dom" 2>"$dir/$name.said"
    status=$?
    [ $status -eq 0 ] || bad "report --html, $name" 'a browser that ends well' "$status: $(tail -3 "$dir/$name.said")"
    ! grep -q CONSOLE "$dir/$name.said" || bad "report --html, $name" 'nothing on the console' "$(grep CONSOLE "$dir/$name.said")"
}
has() { # NAME TEXT..
    name=$1
    shift
    for text; do
        grep -qF -e "$text" "$dir/$name.dom" || bad "report --html, $name" "$text" "$(wc -c <"$dir/$name.dom") bytes without it"
    done
}

for job in 11 12 13; do
    printf '{"cluster":"c","node":"n1","job":%s,"step":0,"user":"%s","uid":%s,"gid":100,"job_name":"%s","identity":"slurmctld","start":%s,"end":%s,"elapsed_s":600,"exit_status":0,"cores_given":2,"cpus":"%s","home":"0-1","uj_package":%s000000,"energy_source":"rapl-powercap"}\n' \
        $job user$job $((1000 + job)) '</script><b>x&y' $((1795248000 + job * 60)) $((1795248600 + job * 60)) $((job % 3 * 2))-$((job % 3 * 2 + 1)) $(((job * 7) % 10 * 1000 + job))
done | "$fill" "$url" || exit 99
"$berthctl" report --ledger "$url" -a -S 2026-11-21 -E 2026-11-22 --html "$dir/page.html" || bad 'report --html' 'a page' 'none'

# Energies: job 11 7011 J, job 12 4012 J, job 13 1013 J. The page is right as it is written.
cp "$dir/page.html" "$dir/plain.html"
sed -i '/^<script>$/,/<\/script>/d' "$dir/plain.html"
dump plain
has plain 'What steps cost' '12.04&nbsp;kJ' '7.011&nbsp;kJ' 'data-v="4012.000000"' '&lt;/script&gt;&lt;b&gt;x&amp;y' 'Steps on the node n1 over time' \
    'Energy: rapl-powercap.' '<title>11.0 &lt;/script'
! grep -q '<button' "$dir/plain.dom" || bad 'report --html' 'no script' 'buttons'

# With its script there is a button for each column; a click on the jobs' energy, twice, sorts them from the least on.
cp "$dir/page.html" "$dir/sorted.html"
cat >>"$dir/sorted.html" <<'END'
<script>
const table = document.querySelectorAll('table.rows')[1];
const button = [...table.querySelectorAll('th button')].find(b => b.textContent === 'Energy');
const order = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent).join(' ');
button.click();
document.body.dataset.down = order();
button.click();
document.body.dataset.up = order() + ' ' + button.parentElement.getAttribute('aria-sort');
document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth;
</script>
END
dump sorted --window-size=1000,1400
has sorted '<button' 'data-down="11 12 13"' 'data-up="13 12 11 ascending"' 'data-wide="false"'

# A picture for whoever wants to look: BERTH_PAGE names the file.
if [ -n "${BERTH_PAGE:-}" ]; then
    HOME=$dir timeout 300 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$dir/profile" \
        --window-size=1200,1900 --screenshot="$BERTH_PAGE" "file://$dir/page.html" >/dev/null 2>&1
fi
exit $failed
