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

# check EXPOSURE WHAT [UNIT]: by tenths, of `systemd-analyze security`.
check() {
    unit=$work/${3:-berthd}.service
    said=$(systemd-analyze verify --man=no "$unit" 2>&1) || fail "$2: verify: $said"
    # shellcheck disable=SC3037 # only shown
    [ -z "$said" ] || fail "$2: verify says: $said"
    systemd-analyze security --no-pager --offline=true --threshold="$1" "$unit" >"$work/security" 2>&1 ||
        { cat "$work/security" >&2; fail "$2: more exposed than $1 tenths"; }
}

# What is to be started need not be installed to be understood.
sed "s|^ExecStart=.*|ExecStart=/bin/true|" "$srcdir/etc/berthd.service.in" >"$work/berthd.service"
check 30 "the unit"
mkdir "$work/berthd.service.d"
cp "$srcdir"/etc/berthd.service.d/*.conf "$work/berthd.service.d"
rm "$work/berthd.service.d/70-prefetch.conf" "$work/berthd.service.d/90-user.conf"
check 35 "the unit with all drop-ins but those of devices and another user"
cp "$srcdir/etc/berthd.service.d/70-prefetch.conf" "$work/berthd.service.d"
check 38 "the unit with all drop-ins but that of another user"
cp "$srcdir/etc/berthd.service.d/90-user.conf" "$work/berthd.service.d"
check 44 "the unit with all drop-ins" # what berth-hand may; berthd has no capability then

# Both of berth-steer, which are no root's.
for name in berth-steer berth-steer-undo; do
    sed "s,^Exec\([A-Za-z]*\)=.*,Exec\1=/bin/true,; s,@[a-z]*dir@,/var," "$srcdir/etc/$name.service.in" >"$work/$name.service"
    cp "$srcdir/etc/berth-steer-undo.timer" "$work"
    check 16 "the unit $name" "$name"
    grep -q "^User=slurm$" "$work/$name.service" || fail "$name: not of Slurm's user"
done

confined=tests/confined/confined
if [ -x "$confined" ]; then
    said=$("$confined" "$work/berthd.service" "$work"/berthd.service.d/*.conf 2>&1)
    [ "$said" = "confined: no command" ] || fail "tests/confined: $said"
fi
exit "$failed"
