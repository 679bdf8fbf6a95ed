#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/slurm/inside leaves no process and no mount, whether its command ends, it is told to stop, or its parent is killed; and
# tests/slurm/run and contrib/demo, which start much more, refuse what they do not know, and only print their help.
set -u
srcdir=${srcdir:-.}
inside=$srcdir/tests/slurm/inside
failed=0

wrong() {
    echo "not ok - $*"
    failed=1
}

for words in "sid" "--only nothing" "-b"; do
    # shellcheck disable=SC2086 # words
    said=$("$srcdir/tests/slurm/run" $words 2>&1)
    [ $? = 2 ] && [ "$(echo "$said" | wc -l)" = 1 ] || wrong "run $words: $said"
done
"$srcdir/tests/slurm/run" --help | grep -q '^usage: ' || wrong "run --help"

# The demo can start these two programs, and none else.
work=$(mktemp -d) || exit 99
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir "$work/bin"
ln -s "$(command -v cat)" "$(command -v dirname)" "$work/bin"
for words in "-h" "--help"; do
    said=$(PATH=$work/bin "$srcdir/contrib/demo" "$words" 2>"$work/error") || wrong "demo $words: status $?"
    case $said in "usage: contrib/demo "*) ;; *) wrong "demo $words: $said" ;; esac
    [ ! -s "$work/error" ] || wrong "demo $words: $(cat "$work/error")"
done
for words in "fast" "--helpp" "--help fast"; do
    # shellcheck disable=SC2086 # words
    said=$(PATH=$work/bin "$srcdir/contrib/demo" $words 2>&1)
    [ $? = 2 ] && [ "$(echo "$said" | wc -l)" = 1 ] && [ "${said#demo: }" != "$said" ] || wrong "demo $words: $said"
done

[ "$(id -u)" = 0 ] && "$inside" / true 2>/dev/null || {
    echo "no mount namespace can be made here: inside is not tried"
    exit $failed
}
mkdir "$work/mounted"

# until COMMAND..: waits for it to succeed, for a minute.
until_() {
    left=600
    until "$@" 2>/dev/null; do
        left=$((left - 1))
        [ $left -gt 0 ] || return 1
        sleep 0.1
    done
}

# The daemon that the command leaves is gone, and the host has no mount of its.
gone() {
    ! kill -0 "$(cat "$work/daemon")" 2>/dev/null
}

left_nothing() {
    until_ gone || wrong "$1: the daemon is left"
    grep -q "$work/mounted" /proc/self/mountinfo && wrong "$1: a mount is left"
    rm -f "$work/daemon" "$work/up" "$work/told"
}

# A command that mounts, leaves a daemon, and then does what its argument says.
cat >"$work/command" <<END
trap 'touch $work/told; exit 3' TERM
mount -t tmpfs none $work/mounted || exit 99
setsid sh -c 'trap "" TERM; echo \$\$ >$work/daemon; touch $work/up; while :; do sleep 600; done' &
until [ -e $work/up ]; do sleep 0.1; done
touch $work/mounted/file
[ "\$1" = ends ] && exit 7
touch $work/ready
while :; do sleep 0.1; done
END

"$inside" / sh "$work/command" ends
[ $? = 7 ] || wrong "the command's exit status is another"
left_nothing "an end"

"$inside" / sh "$work/command" stays &
pid=$!
until_ test -e "$work/ready"
kill -TERM $pid
wait $pid
[ -e "$work/told" ] || wrong "SIGTERM: the command was not told"
left_nothing "SIGTERM"

rm -f "$work/ready"
sh -c '"$1" / sh "$2" stays & wait' - "$inside" "$work/command" &
pid=$!
until_ test -e "$work/ready"
kill -KILL $pid
until_ test -e "$work/told" || wrong "the parent's end: the command was not told"
left_nothing "the parent's end"
[ -z "$(ls -A "$work/mounted")" ] || wrong "what the command wrote in its mount is seen outside"
exit $failed
