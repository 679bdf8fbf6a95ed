#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_manuals - each example of berth_tasks(3) and berth_mutex(3) is a program that compiles without a warning, runs, and is right; and both name
# each function that their header declares. Runs in the build folder.
src=${srcdir:-.}
library=.libs/libberth_tasks.so
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0
bad() {
    echo "$*"
    failed=1
}

[ -r "$library" ] || { echo "no library at $library: build it"; exit 1; }
for name in berth_tasks berth_mutex; do
    page=$src/man/$name.3
    sed -n '/^typedef/d; s/^[a-z].*[ *]\(berth_[mt][a-z_]*\)(.*/\1/p' "$src/tasks/$name.h" | sort -u >"$dir/declared"
    [ -s "$dir/declared" ] || bad "$name.h: declares nothing"
    while read -r function; do # in the synopsis, and once more
        [ "$(grep -cw "^\.Fn $function" "$page")" -ge 2 ] || bad "$name(3): does not say what $function does"
    done <"$dir/declared"
    awk -v to="$dir/$name" '/^\.Sh/ { examples = /EXAMPLES/ } /^\.Ed/ { file = "" } file { gsub(/\\e/, "\\"); print >file }
        examples && /^\.Bd -literal/ { file = to "." ++n ".c" }' "$page"
    [ -e "$dir/$name.1.c" ] || bad "$name(3): no example"
done
case $(nm -D --undefined-only "$library") in *__asan* | *__ubsan* | *__tsan*) exit $failed ;; esac # programs would need them, too
for program in "$dir"/*.c; do
    if "${CC:-cc}" -std=c11 -pedantic -Wall -Wextra -Werror -I"$src/tasks" "$program" -o "$dir/program" "$library" -lpthread; then
        LD_LIBRARY_PATH=.libs timeout 120 "$dir/program" >"$dir/said" || bad "$(basename "$program" .c): is not right: $(cat "$dir/said")"
    else
        bad "$(basename "$program" .c): does not compile"
    fi
done
exit $failed
