# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emulated - programs of arm64 run on this machine as its own do, and can start each other: the kernel has qemu run them. Sourced by bash
# scripts.

# emulate_arm64 [EMULATOR]: by this one, or by that of this machine's own qemu-user-static, which is installed where it is missing. The kernel keeps
# the file open, so that it is there in other folders, too, and asks who was registered last, until the machine is started anew. Fails
# where it cannot be done.
emulate_arm64() {
    local emulator=${1:-/usr/bin/qemu-aarch64-static} name=qemu-aarch64${1:+-${1//\//_}} binfmt=/proc/sys/fs/binfmt_misc
    local head='\x7fELF\x02\x01\x01' zeros='\x00\x00\x00\x00\x00\x00\x00\x00\x00' ones='\xff\xff\xff\xff\xff\xff\xff'
    [ $# -gt 0 ] || [ -e "$emulator" ] || apt-get -qq -y --no-install-recommends install qemu-user-static </dev/null >/dev/null
    [ -e "$emulator" ] || return
    [ -e $binfmt/register ] || mount -t binfmt_misc binfmt_misc $binfmt || return
    [ ! -e "$binfmt/$name" ] || return 0
    printf '%s' ":$name:M::$head$zeros"'\x02\x00\xb7\x00:'"$ones"'\x00'"$ones"'\xff\xfe\xff\xff\xff:'"$emulator:F" >$binfmt/register
}
