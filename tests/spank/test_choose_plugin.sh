#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# choose-plugin links the plugin of slurmd's series, and no installation touches the file of another one.
set -u
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0
mkdir "$dir/bin" "$dir/lib"
link=$dir/lib/spank_berth.so

is() { # WHAT EXPECTED ACTUAL
    [ "$2" = "$3" ] && return
    printf 'not ok - %s: %s, expected %s\n' "$1" "$3" "$2"
    failed=1
}

choose() {
    said=$(PATH="$dir/bin:/usr/bin:/bin" sh plugin/choose-plugin --folder "$dir/lib" "$@" 2>&1)
    rc=$?
}

slurmd_says() {
    printf '#!/bin/sh\n%s\n' "$1" >"$dir/bin/slurmd"
    chmod 755 "$dir/bin/slurmd"
}

printf '#!/bin/sh\nexit 1\n' >"$dir/bin/srun"
chmod 755 "$dir/bin/srun"
touch "$dir/lib/spank_berth-22.05.so" "$dir/lib/spank_berth-26.05.so"

slurmd_says 'echo slurm-wlm 22.05.8'
choose
is "first" "0 spank_berth-22.05.so" "$rc $(readlink "$link")"
slurmd_says 'echo slurm 26.05.5-0rc1'
choose
is "after an upgrade of Slurm" "0 spank_berth-26.05.so" "$rc $(readlink "$link")"
choose
is "once more" "0 " "$rc $said"
slurmd_says 'echo slurm 25.11.1'
choose
is "a series without plugin" "1 spank_berth-26.05.so" "$rc $(readlink "$link")"
is "what it says" "choose-plugin: no plugin for Slurm 25.11 in $dir/lib: install it (spank-berth-25.11)" "$said"
slurmd_says 'exit 1'
choose
is "no Slurm" "1 spank_berth-26.05.so" "$rc $(readlink "$link")"
printf '#!/bin/sh\necho slurm 22.05.11\n' >"$dir/bin/srun"
choose
is "a login node" "0 spank_berth-22.05.so" "$rc $(readlink "$link")"
choose --series 26.05
is "by name" "0 spank_berth-26.05.so" "$rc $(readlink "$link")"
choose --remove 22.05
is "another one's removal" "0 spank_berth-26.05.so" "$rc $(readlink "$link")"
choose --remove 26.05
is "removal" "0 " "$rc $(readlink "$link")"
for words in "--remove" "--series 2605" "--series" "--bogus" "--folder"; do
    # shellcheck disable=SC2086
    choose $words
    is "choose-plugin $words" 2 "$rc"
done
is "what is left" "spank_berth-22.05.so spank_berth-26.05.so" "$(echo $(ls -A "$dir/lib"))"

# An installation brings its own series' file and the link, and nothing of libtool's; it leaves another series' file alone.
out=$(env -u MAKEFLAGS -u MAKELEVEL make -s install-plugin pkglibdir=/lib DESTDIR="$dir" 2>&1) || { echo "$out"; failed=1; }
series=$(sed -n 's/^SLURM_SERIES = //p' Makefile)
is "the link" "spank_berth-$series.so" "$(readlink "$link")"
is "folder" "$(printf '%s\n' spank_berth-22.05.so spank_berth-26.05.so "spank_berth-$series.so" spank_berth.so | sort -u)" \
    "$(ls -A "$dir/lib" | sort)"
[ $failed = 0 ] && echo "ok"
exit $failed
