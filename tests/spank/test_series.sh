#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The plugin built with the headers of each series: under a Slurm of the same series all of test_plugin holds; a Slurm of any other
# series does not load it.
set -u
srcdir=${srcdir:-.}
series="22.05 23.02 23.11 24.05 24.11 25.05 25.11 26.05"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0

wrong() {
    echo "not ok - $*"
    failed=1
}

cannot() {
    wrong "$*"
    exit 1
}

: >"$work/libberth_rt.so" # what the plugin looks for beside itself

for one in $series; do
    "$srcdir/tests/spank/series-plugin" "$one" "$work/$one.so" "$work/host-$one" || cannot "$one does not compile"
    BERTH_PLUGIN=$work/$one.so "$srcdir/tests/spank/check-symbols" || wrong "$one: symbols"
    BERTH_PLUGIN=$work/$one.so "$work/host-$one" >"$work/log" 2>&1 || { wrong "$one: test_plugin"; cat "$work/log"; }
done
for plugin in $series; do
    for host in $series; do
        said=$(BERTH_PLUGIN=$work/$plugin.so "$work/host-$host" --load 2>&1)
        rc=$?
        if [ "$plugin" = "$host" ]; then expected="0 "; else expected="98 Incompatible Slurm plugin $work/$plugin.so version ($plugin.99)"; fi
        [ "$rc $said" = "$expected" ] || wrong "$plugin under $host: $rc $said"
    done
done
[ $failed = 0 ] && echo "ok - $series"
exit $failed
