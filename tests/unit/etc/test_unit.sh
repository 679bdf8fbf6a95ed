#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_unit - systemd understands the unit file and the drop-ins, and finds no more to say of them than when this was written; and
# so does tests/confined. Skipped where there is no systemd-analyze.
srcdir=${srcdir:-.}
command -v systemd-analyze >/dev/null || { echo "no systemd-analyze"; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$*" >&2
    failed=1
}

# check EXPOSURE WHAT: by tenths, of `systemd-analyze security`.
check() {
    said=$(systemd-analyze verify --man=no "$work/berthd.service" 2>&1) || fail "$2: verify: $said"
    # shellcheck disable=SC3037 # only shown
    [ -z "$said" ] || fail "$2: verify says: $said"
    systemd-analyze security --no-pager --offline=true --threshold="$1" "$work/berthd.service" >"$work/security" 2>&1 ||
        { cat "$work/security" >&2; fail "$2: more exposed than $1 tenths"; }
}

# What is to be started need not be installed to be understood.
sed "s|^ExecStart=.*|ExecStart=/bin/true|" "$srcdir/etc/berthd.service.in" >"$work/berthd.service"
check 30 "the unit"
mkdir "$work/berthd.service.d"
cp "$srcdir"/etc/berthd.service.d/*.conf "$work/berthd.service.d"
rm "$work/berthd.service.d/70-prefetch.conf"
check 35 "the unit with all drop-ins but that of devices"
cp "$srcdir/etc/berthd.service.d/70-prefetch.conf" "$work/berthd.service.d"
check 38 "the unit with all drop-ins"

confined=tests/confined/confined
if [ -x "$confined" ]; then
    said=$("$confined" "$work/berthd.service" "$work"/berthd.service.d/*.conf 2>&1)
    [ "$said" = "confined: no command" ] || fail "tests/confined: $said"
fi
exit "$failed"
