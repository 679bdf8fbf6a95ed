# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# folders - Debian in a folder: made from where this machine's apt takes its packages, entered in a mount namespace of its own
# (tests/slurm/inside), removed when nothing is mounted there; sourced by bash scripts, which set and define
#
#   top            the source's root
#   folders        the folder, below the build folder, that has all of theirs
#   die TEXT RC    says why, and exits
#   clean_up       is called when a command inside has ended

child= # what runs inside, or makes a folder

minutes() {
    printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# progress [TEXT]: the line of a terminal that says what is under way.
progress() {
    [ ! -t 2 ] || printf '\r\033[K%s' "${1:-}" >&2
}

# watch LABEL LOG: while the child runs.
watch() {
    local began=$SECONDS
    while kill -0 "$child" 2>/dev/null; do
        progress "$1 $(minutes $((SECONDS - began))): $(tail -n 1 "$2" 2>/dev/null | tr -cd '[:print:]' | cut -c -80)"
        sleep 1
    done
    progress
}

# inside LABEL LOG FOLDER COMMAND..: runs it in a mount namespace of its own; its exit status.
inside() {
    local label=$1 log=$2 rc
    shift 2
    "$top/tests/slurm/inside" "$@" >"$log" 2>&1 </dev/null 8>&- &
    child=$!
    watch "$label" "$log"
    wait "$child"
    rc=$?
    child=
    clean_up
    return $rc
}

# interrupted STATUS: what runs inside is told to end; then all that is left is killed with its namespaces.
interrupted() {
    trap '' INT TERM HUP
    if [ -n "$child" ]; then
        progress "stopping"
        kill -TERM "$child" 2>/dev/null
        wait "$child"
    fi
    clean_up
    progress
    exit "$1"
}

# Removes a folder that nothing is mounted in: whatever is there, is ours.
remove_folder() {
    local real
    [ -e "$1" ] || return 0
    real=$(realpath "$1") && [[ $real == "$(realpath "$folders")"/* ]] || die "$1 is not below $folders" 1
    ! awk -v dir="$real" 'index($5 "/", dir "/") == 1 { found = 1 } END { exit !found }' /proc/self/mountinfo || die "something is mounted in $real: it is left alone" 1
    rm -rf --one-file-system "$real"
}

# The archive that this machine's own series comes from: "URI KEYRING".
archive() {
    # shellcheck disable=SC2016 # for apt
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(SIGNED_BY)' 'Created-By: Packages' |
        awk -v own="$(. /etc/os-release && echo "$VERSION_CODENAME")" '$2 == own && $3 == "main" { print $1, ($4 ~ /^\//) ? $4 : ""; exit }'
}

# apt's options of this machine that say whether and how its archive can be reached.
apt_options() {
    apt-config dump | sed -n 's/^\(Acquire::[A-Za-z:-]*\) "\([^" ]*\)";$/--aptopt=\1 "\2"/p' | grep -i 'check\|proxy'
}

# make_debian LABEL DIR SERIES PACKAGES [OPTION..]: DIR/root gets the series with the packages (a list of words), unless DIR/made-by
# says that it has them; DIR/folder.log has what was said.
make_debian() {
    local label=$1 dir=$2 series=$3 list=$4 uri keyring options made_by
    shift 4
    made_by="$series $list"
    [ "$(cat "$dir/made-by" 2>/dev/null)" != "$made_by" ] || return 0
    read -r uri keyring < <(archive) || die "apt has no archive of this machine's own series" 77
    keyring=${keyring:-/usr/share/keyrings/debian-archive-keyring.gpg}
    mapfile -t options < <(apt_options)
    list=$(tr -s ' \n' ',' <<<"$list")
    [ "${list%,}" = "" ] || set -- --include="${list%,}" "$@"
    remove_folder "$dir"
    mkdir -p "$dir" || return 1
    inside "$label" "$dir/folder.log" / mmdebstrap --mode=root --variant=minbase \
        --aptopt='APT::Install-Recommends "false"' "${options[@]}" --dpkgopt=force-unsafe-io "$@" \
        "$series" "$dir/root" "deb [signed-by=$keyring] $uri $series main" || return 1
    rm -rf --one-file-system "$dir"/root/var/cache/apt/archives/*.deb
    printf '127.0.0.1 localhost %s\n' "$series" >"$dir/root/etc/hosts"
    cp /etc/resolv.conf "$dir/root/etc/resolv.conf"
    echo "$made_by" >"$dir/made-by"
}
