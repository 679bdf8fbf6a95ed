# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# machines - those that contrib/packages/run tries packages on: each is a folder of Debian in namespaces of its own
# (contrib/packages/machine), with an init, cgroups, and no network; sourced by it alone.

machine=              # the process that ends it
name=berth_packages$$ # of its cgroups
hierarchies=$(awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/self/mounts)

# Prints why there can be none.
machine_missing() {
    awk '$3 == "cgroup" { found = 1 } END { exit !found }' /proc/self/mounts || { echo "no cgroup version 1 here"; return; }
    [ "$(nproc)" -ge 2 ] || { echo "only one CPU"; return; }
    command -v ip >/dev/null || echo "no ip (Debian: iproute2)"
}

# What is installed in a machine is fetched before: it has no network.
fetch() {
    rm -rf "$folders/$1/root/packages" && cp -r "$folders/share" "$folders/$1/root/packages"
    inside "$1: what it will install" "$folders/$1/fetch.log" "$folders/$1/root" /bin/bash -c "
        fetch() { apt-get -q -y --no-install-recommends --download-only install /packages/new/*.deb $machine_packages rpm; }
        fetch || { apt-get -q update && fetch; }"
    local rc=$?
    rm -rf "$folders/$1/root/packages"
    return $rc
}

# make_machine NAME PACKAGES
make_machine() {
    make_debian "$1: its folder" "$folders/$1" "$series" "$2" || verdict 1 "$1: its folder is made" "$folders/$1/folder.log" || return
    fetch "$1" || verdict 1 "$1: what it will install is fetched" "$folders/$1/fetch.log"
}

make_cgroups() {
    local dir file
    for dir in $hierarchies; do
        mkdir "$dir/$name" || return 1
        [ ! -e "$dir/cpuset.cpus" ] || for file in cpuset.cpus cpuset.mems; do cat "$dir/$file" >"$dir/$name/$file" || return 1; done
    done
}

clean_up() {
    local dir
    for dir in $hierarchies; do
        for _ in {1..100}; do
            [ -d "$dir/$name" ] || break
            find "$dir/$name" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.05
        done
    done
    [ ! -e "$folders/upper" ] || remove_folder "$folders/upper"
}

# start_machine FOLDER LOG COMMAND..: it is $machine. Whatever ends this shell ends the machine, with all that runs in it.
start_machine() {
    local folder=$folders/$1/root log=$2
    shift 2
    make_cgroups && mkdir -p "$folders/upper" || return 1
    setpriv --pdeathsig KILL "$top/contrib/packages/machine" "$name" "$folder" "$folders/upper" "$folders/share" "$@" >"$log" 2>&1 </dev/null 8>&- &
    machine=$!
}

stop_machine() {
    [ -z "$machine" ] || kill -KILL "$machine" 2>/dev/null # and with it all that it has started
    [ -z "$machine" ] || wait "$machine" 2>/dev/null
    machine=
    clean_up
}

# told NAME LOG: what was tried, and counts it; with rows of the table, one for each part that the trial has headed.
told() {
    local line part=install figures=
    while IFS= read -r line; do
        case $line in
        "== "*) row "$1: $part" "$figures"; part=${line#== } figures=; continue ;;
        "ok - "*) count 1 0 0 ;;
        "not ok - "*) count 0 1 0 ;;
        "# "*) figures=${line#"# $1: "} ;;
        "    "*) ;;
        *) continue ;;
        esac
        echo "$line"
    done <"$2"
    [ "$(tail -n 1 "$2")" = done ] || verdict 1 "$1: the trial came to its end" "$2"
    row "$1: $part" "$figures"
}

# The only child of unshare, which is $machine.
first_process() {
    local pid
    pid=$(pgrep -P "$machine") && [[ $(cat "/proc/$pid/comm") == @(init|systemd) ]] && echo "$pid"
}

in_machine() {
    # shellcheck disable=SC2016 # for that shell
    bash -c 'for dir in '"${hierarchies//$'\n'/ }"'; do echo $$ >$dir/'"$name"'/cgroup.procs; done; exec "$@"' - \
        nsenter -t "$(first_process)" -m -p -C -u -i -n -- env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# has_booted INIT
has_booted() {
    [ -n "$(first_process)" ] || return
    if [ "$1" = systemd ]; then in_machine systemctl is-active multi-user.target; else in_machine /sbin/runlevel; fi
}

boot() {
    local end=$((SECONDS + 60))
    until has_booted "$1" >/dev/null 2>&1; do
        kill -0 "$machine" 2>/dev/null && ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

# sysvinit has nothing to do but to be there.
declare -A init_command=(
    [systemd]="exec /lib/systemd/systemd --system --unit=multi-user.target --log-target=console --show-status=no"
    [sysvinit]="echo id:2:initdefault: >/etc/inittab; exec /sbin/init")
declare -A init_packages=([systemd]="dbus systemd systemd-sysv" [sysvinit]="sysvinit-core")
declare -A init_of=([sysvinit]=sysvinit [systemd]=systemd [rpm]=systemd)

# try_machine PART: what is tried on a machine for it.
try_machine() {
    local init=${init_of[$1]}
    make_machine "$init" "${init_packages[$init]}" || return
    start_machine "$init" "$folders/boot.log" /bin/sh -c "${init_command[$init]}" || { verdict 1 "$1: a machine is made"; return; }
    boot "$init"
    if verdict $? "$1: it boots" "$folders/boot.log"; then
        in_machine /packages/trial "$1" >"$folders/$1.log" 2>&1 </dev/null 8>&- &
        child=$!
        watch "$1" "$folders/$1.log"
        child=
        told "$1" "$folders/$1.log"
    fi
    stop_machine
}
