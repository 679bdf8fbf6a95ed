#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_report_page - the page of `berthctl report --html` in a real browser: its script draws the figures, says what is not known or left
# out, sorts its tables, and the browser complains of nothing. Skipped where there is no Chromium.
# BERTHCTL and LEDGER_FILL name the programs (the build folder's by default), BROWSER a Chromium.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"
fill=${LEDGER_FILL:-./tests/unit/common/ledger_fill}
url=sqlite:$dir/ledger.db
export TZ=UTC0 LC_ALL=C
browser=${BROWSER:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)} || {
    echo 'test_report_page: no Chromium is here: the page was not looked at in a browser'
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
lacks() { # NAME TEXT..: of what is drawn
    name=$1
    shift
    sed '/<script/,/<\/script>/d' "$dir/$name.dom" >"$dir/$name.drawn"
    for text; do
        ! grep -qF -e "$text" "$dir/$name.drawn" || bad "report --html, $name" "no $text" 'it'
    done
}
# record JOB START SECONDS [FIELDS]: a record of the node n1 (or n2, where the job's number is even).
record() {
    printf '{"cluster":"c","node":"n%s","job":%s,"step":0,"user":"user%s","uid":%s,"gid":100,"job_name":"%s","identity":"slurmctld","start":%s,"end":%s,"elapsed_s":%s,"exit_status":0,"cores_given":2%s}\n' \
        $((2 - $1 % 2)) "$1" "$1" $((1000 + $1)) '</script><b>x&y' "$2" $(($2 + $3)) "$3" "${4:+,$4}"
}
# page NAME OPTION..: the page of the records on stdin, which ran from 2026-11-21 to 23, as the browser has it.
page() {
    name=$1
    shift
    "$fill" "sqlite:$dir/$name.db" || exit 99
    "$berthctl" report --ledger "sqlite:$dir/$name.db" -a -S 2026-11-21 -E 2026-11-23 "$@" --html "$dir/$name.html" ||
        bad "report --html, $name" 'a page' 'none'
    dump "$name"
}

for job in 11 12 13; do
    printf '{"cluster":"c","node":"n1","job":%s,"step":0,"user":"%s","uid":%s,"gid":100,"job_name":"%s","identity":"slurmctld","start":%s,"end":%s,"elapsed_s":600,"exit_status":0,"cores_given":2,"cpus":"%s","home":"0-1","uj_package":%s000000,"energy_source":"rapl-powercap"}\n' \
        $job user$job $((1000 + job)) '</script><b>x&y' $((1795248000 + job * 60)) $((1795248600 + job * 60)) $((job % 3 * 2))-$((job % 3 * 2 + 1)) $(((job * 7) % 10 * 1000 + job))
done | "$fill" "$url" || exit 99
"$berthctl" report --ledger "$url" -a -S 2026-11-21 -E 2026-11-22 --html "$dir/page.html" || bad 'report --html' 'a page' 'none'

# Energies: job 11 7011 J, job 12 4012 J, job 13 1013 J.
cp "$dir/page.html" "$dir/plain.html"
dump plain
has plain 'What steps cost' 'from 2026-11-21 00:00:00 until 2026-11-22 00:00:00 and have ended.' '<b>12.04&nbsp;kJ</b><span>energy</span>' \
    '7.011&nbsp;kJ' 'data-v="4012"' '&lt;/script&gt;&lt;b&gt;x&amp;y' 'aria-label="Steps on the node n1 over time"' \
    'Energy: rapl-powercap.' '<title>11.0 &lt;/script' '>CPU 0</text>' '<h2>Energy and EDP by user</h2>' '<h2>Energy and EDP by job</h2>' \
    'aria-label="Power over time"' '<td class="w" data-t="User">all users</td>' 'class="c0" style="width:100.0%"' "$url"
lacks plain 'NaN' 'undefined' 'null' 'class="note"' '<noscript' 'Of 1 steps'

# What is not known is said, and is no 0; no meter was read, so days have core-hours.
record 12 1795262400 900 | page unknown
has unknown 'No meter was read while these steps ran' '<b>not known</b><span>energy</span>' 'Of 1 steps it is not known where they stood.' \
    'Core-hours given of the steps' '>0.5&nbsp;h</td>' 'class="note"'
lacks unknown 'NaN' 'undefined' 'kJ<' 'Power over time' 'what it cost'

# Part of it is known; some is a model. Three nodes' worth of days, the power, and slowdowns by classes.
{
    record 11 1795262400 1000 '"uj_package":1500000000,"energy_source":"model","idle_energy":"evenly","slowdown_home":0.4375,"slowdown_predicted":0.0625'
    record 12 1795262400 1000 '"uj_package":3000000000,"energy_source":"model"'
    record 13 1795262400 1000
} | page part
has part 'Of 1 of 3 step records the energy is not known' '<b>≥ 4.500&nbsp;kJ</b>' 'by the rule idle_energy = evenly.' 'Some of it is a model' \
    '<th scope="row">n1</th><td style="--v:0.50" title="n1, 2026-11-21: 1.500&nbsp;kJ">1.500&nbsp;kJ</td></tr>' \
    '>4.5&nbsp;W</text>' '<span>20 to 50&nbsp;%</span>' '<span>5 to 10&nbsp;%</span>' 'class="c9" style="width:100.0%"></i></i><b>1</b>'
lacks part 'NaN' 'undefined' '▲<'

# One that is far greater than all others does not make them vanish: its bar is broken, and the next one's is not short.
for job in 1 2 3 4 5 6 7 8 9 10 11 12; do
    record $job 1795262400 1000 '"uj_package":'$((job == 7 ? 1000000 : 1000 + job))'000000,"energy_source":"x"'
done | page outlier
has outlier 'c0 over" style="width:100.0%"' 'style="width:80.0%"' 'A bar that ends in stripes' '<b>1.000&nbsp;MJ</b>'

# Whether berth helps.
record 12 1795262400 1000 '"program":"<b>x","state":"placed","slowdown_home":0.4375,"slowdown_predicted":0.0625,"slowdown_observed":0.25,"uj_package":1000000000,"energy_source":"x"' |
    page benefit
has benefit 'Does berth help?' '<td class="w" data-t="Slowdown">as berth put them</td><td class="n" data-t="predicted">6.3&nbsp;%</td>' \
    '<code>berthctl explain 12.0</code>' '<td class="w" data-t="Program">&lt;b&gt;x</td>' '<p class="verdict open">' \
    'Predicted less measured, where they stood: -18.8 percentage points' 'Placed by berth: 1 steps' '<b>+0.196</b>'
lacks benefit 'NaN' 'undefined' 'Only observed'

# It hurts, as measured of a program that ran both ways: in red, and with no figure that is only predicted.
for job in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
    way=$((job % 2)) # 0: berth put it
    record $job $((1795262400 + job)) 3600 '"program":"p","state":"'$([ $way = 1 ] && echo observed || echo placed)'","slowdown_home":0.3,"slowdown_predicted":0.1,"slowdown_observed":0.'$([ $way = 1 ] && echo 05 || echo 40)$((job / 2 % 3))
done | sed 's/"user":"[^"]*","uid":[0-9]*/"user":"u","uid":1000/' | page hurts
has hurts '<p class="verdict hurts">berth HURTS' 'more</b><span>time where berth put programs, measured (' '1 program ran both ways' \
    'Programs that lost, measured' 'Core-hours lost: <b>'
lacks hurts 'slowdown avoided, predicted</span>' 'NaN' 'undefined'

# A price, CO2, and a column of the site's.
printf 'energy_price = 0.25\nenergy_currency = EUR\nenergy_co2 = 400\nreport_fields = NTasks\n' >"$dir/berth.conf"
record 12 1795262400 1000 '"uj_package":3600000000000,"energy_source":"x"' | page terms --config "$dir/berth.conf"
has terms '<b>0.25&nbsp;EUR</b><span>what it cost</span>' '<b>400.0&nbsp;g</b><span>CO2' 'data-t="Cost" data-v="0.25">0.25&nbsp;EUR</td>' \
    'data-t="NTasks"'

# Long tables and crowded nodes are cut, and the page says so.
i=1
while [ $i -le 2100 ]; do
    record $i $((1795262400 + i)) 1000 '"uj_package":1000000000,"energy_source":"x"'
    i=$((i + 1))
done | page many
has many 'The 15 that used most energy, of 2100.' 'The 500 that used most energy, of 2100; --csv has all.' \
    '2100 steps are too many to be drawn one by one (2000 at most)'
lacks many 'class="c0"></i>user'

# Nothing ended.
: | page nothing
has nothing 'No step of the kind that was asked for ended in this time.'
lacks nothing '<table' 'NaN' 'undefined'

# There is a button for each column; a click on the jobs' energy, twice, sorts them from the least on.
cp "$dir/page.html" "$dir/sorted.html"
cat >>"$dir/sorted.html" <<'END'
<script>
const jobs = document.querySelectorAll('table.rows')[1];
const button = [...jobs.querySelectorAll('th button')].find(b => b.textContent === 'Energy');
const order = () => [...jobs.tBodies[0].rows].map(row => row.cells[0].textContent).join(' ');
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
