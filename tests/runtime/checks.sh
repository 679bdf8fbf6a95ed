# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
# checks - programs of a compiler under the preload library; sourced by test_gcc.sh and test_clang.sh with the compiler's name in
# $compiler. Runs in the build folder. Exits with 77 where the compiler or its OpenMP run-time is not installed.
# shellcheck disable=SC2154 # compiler
# shellcheck source=tests/runtime/common.sh
. "${srcdir:-.}/tests/runtime/common.sh"

check_kinds() { # PROGRAM
    make_page threads=3
    same "$1: each kind of region has the page's number" \
        'plain 3 tail 3 many 3 static 3 dynamic 3 guided 3 free 3 free-guided 3 runtime 3 task 3 sections 3' \
        "$(under "$1" plain tail many static dynamic guided free free-guided runtime task sections)"
    same "$1: it is said" 'processes 1 followed 11 own 0 nested 0 surprise 0 detail 0 generation 0 threads 3' "$(said)"
}

check_numbers() { # PROGRAM
    make_page threads=3
    same "$1: the next region has the new number, never more than the program's own, which 0 gives back" \
        'plain 3 plain 5 dynamic 2 plain 1 plain 6 plain 6 plain 4 plain 4 plain 3' \
        "$(under "$1" plain page=5 plain page=2 dynamic page=1 plain page=0 plain page=100 plain set=4 plain page=0 plain page=3 plain)"
    same "$1: what was said of it" 'processes 1 followed 9 own 0 nested 0 surprise 0 detail 0 generation 14 threads 3' "$(said)"
}

check_own() { # PROGRAM
    make_page threads=3
    same "$1: a clause, a false condition and inner regions are the program's" \
        'clause 2 plain 3 if 1 clause-if 1 plain 3 clause 5 if 3 nested 3 inner 4' \
        "$(under "$1" clause=2 plain if=0 clause-if=0 plain clause=5 if=1 nested)"
}

# Where the words of the environment are missing the program is as if the library were not there.
check_off() { # PROGRAM
    make_page threads=3
    same "$1: BERTH_RT=off" 'plain 6' "$(BERTH_RT=off under "$1" plain)"
    same "$1: no page named" 'plain 6' "$(unset BERTH_RT_PAGE; under "$1" plain)"
    same "$1: the feature is off" 'plain 6' "$(make_page threads=3 features=0; under "$1" plain)"
    same "$1: nobody said a thing" 'processes 0 followed 0 own 0 nested 0 surprise 0 detail 0 generation 0 threads 0' "$(said)"
}

# bad_page PROGRAM WHY SURPRISE DETAIL: the page is not believed, the program runs as ever, and it is said once.
bad_page() {
    same "$1: $2" 'plain 6 plain 6' "$(under "$1" plain plain)"
    same "$1: $2: said" "processes 1 followed 0 own 0 nested 0 surprise $3 detail $4 generation 0 threads 0" "$(said)"
}

check_hostile() { # PROGRAM
    make_page threads=3 bytes=100; bad_page "$1" 'a short file' 2 100
    make_page threads=3 bytes=0; bad_page "$1" 'an empty file' 2 0
    make_page threads=3 size=64; bad_page "$1" 'a page of fewer fields' 2 64
    make_page threads=3 magic=0x58585858; bad_page "$1" 'something else' 3 0
    make_page threads=3 version=7; bad_page "$1" 'another version' 4 7
    [ "$(id -u)" != 0 ] || { make_page threads=3; chown 12345 page; bad_page "$1" "another user's page" 8 12345; }
    make_page threads=4000000000; bad_page "$1" 'more threads than can be' 5 -294967296
    make_page threads=3; rm page; bad_page "$1" 'no page' 1 2
    mkdir page; bad_page "$1" 'a folder' 1 22
    rmdir page; ln -s page page; bad_page "$1" 'a circle of links' 1 40
    rm page; mkfifo page; bad_page "$1" 'a FIFO' 1 22
    rm page
    make_page threads=3
    same "$1: a page that is removed later" 'plain 3 plain 3' "$(under "$1" plain remove plain)"
}

# What cannot be said stops nobody; a file that is no FIFO is not written.
check_unheard() { # PROGRAM
    make_page threads=3
    exec 9>&-
    mv page.said kept
    same "$1: without a FIFO" 'plain 3 plain 3' "$(under "$1" plain plain)"
    echo untouched >page.said
    same "$1: a file for a FIFO" 'plain 3' "$(under "$1" plain)"
    same "$1: it is left as it was" untouched "$(cat page.said)"
    mv kept page.said
    make_page threads=3
    head -c 65536 /dev/zero >&9
    same "$1: a FIFO that is full" 'plain 3' "$(under "$1" plain)"
    rm page.said
}

check_counts() { # PROGRAM
    make_page threads=3
    same "$1: threads of the program's own" '' "$(under "$1" threads=8)"
    same "$1: none of their regions is lost, or counted twice" \
        'processes 1 followed 800 own 0 nested 0 surprise 0 detail 0 generation 0 threads 3' "$(said)"
    same "$1: children" 'plain 3 clause 2 plain 3 clause 2 plain 3 clause 2' "$(under "$1" fork=3 plain clause=2)"
    same "$1: each is a process" 'processes 3 followed 3 own 3 nested 0 surprise 0 detail 0 generation 0 threads 3' "$(said)"
    same "$1: children of a process that has counted" 'plain 1 plain 1 plain 1 plain 1' "$(under "$1" page=1 plain plain fork=2 plain)"
    same "$1: they begin with nothing" \
        'processes 3 followed 4 own 0 nested 0 surprise 0 detail 0 generation 2 threads 1' "$(said)"
    make_page threads=3
    same "$1: another program, by exec" 'plain 3' "$(under sh -c "exec ./$1 plain")"
    same "$1: the shell before it has said nothing" \
        'processes 1 followed 1 own 0 nested 0 surprise 0 detail 0 generation 0 threads 3' "$(said)"
}

check_preload() { # PROGRAM
    make_page threads=3
    same "$1: the program's own library stays in front" 'plain 3 own 1' \
        "$(LD_PRELOAD="$work/own.so $library" timeout 600 "$1" plain | tr '\n' ' ' | sed 's/ $//')"
}

# Which region it is, is told by a number that is the same in each run (RT_REGIONS, 16); those within others are not told.
check_regions() { # PROGRAM
    make_page features=16
    under "$1" plain static >/dev/null
    first=$(said | sed -n 's/^begun/begun/p')
    case $first in 'begun 2 now '*[1-9a-f]*) ;; *) same "$1: regions are told" 'begun 2 now ..' "$first" ;; esac
    under "$1" plain static >/dev/null
    same "$1: by the same number in each run" "$first" "$(said | sed -n 's/^begun/begun/p')"
    under "$1" static plain >/dev/null
    [ "$first" != "$(said | sed -n 's/^begun/begun/p')" ] || same "$1: each has its own" 'another one' "$first"
    under "$1" nested >/dev/null
    same "$1: regions within others" 'begun 1' "$(said | sed -n 's/^\(begun [0-9]*\).*/\1/p')"
    make_page threads=3
    under "$1" plain static >/dev/null
    same "$1: nobody wants to know" '' "$(said | sed -n 's/^begun/begun/p')"
}

# The run-time comes with a library that is opened for itself alone, as in Python; another with a run-time of its own has its regions there.
check_opened() { # WORDS-LIBRARY..
    make_page threads=3
    for one; do
        same "$one opened RTLD_LOCAL" 'plain 3 tail 3 clause 2 static 3 dynamic 3 many 3 plain 6' \
            "$(under ./host 1 "./$one" -- page=3 plain tail clause=2 static dynamic many page=0 plain)"
    done
    same "opened and closed: $*" "$(for _ in 1 2 3 4 5 6; do for one; do echo "tail 3 dynamic 3 clause 4"; done; done | tr '\n' ' ' | sed 's/ $//')" \
        "$(make_page threads=3; for one; do set -- "$@" "./$one"; shift; done; under ./host 6 "$@" -- tail dynamic clause=4)"
}

# Constructors of what is opened have regions, and wait for threads, while the dynamic linker's lock is taken.
check_constructors() { # LIBRARY..
    sums='woken 1 sums 499500 999000 999000'
    for features in 15 1 0; do
        make_page features=$features threads=3
        for one; do same "$one, whose constructor works, features $features" "$sums" "$(under ./host 1 "./$one" --)"; done
        same "one after the other: $*" "$(for _; do echo "$sums"; done | tr '\n' ' ' | sed 's/ $//')" \
            "$(for one; do set -- "$@" "./$one"; shift; done; under ./host 1 "$@" --)"
    done
}

# Where a library of gcc's has a run-time of its own by another name, as wheels have.
make_wheel() { # LIBRARY COPY
    runtime=$(ldd "$1" | awk '/libgomp/ { print $3 }')
    [ -n "$runtime" ] || return 1
    sed 's/libgomp\.so\.1/libgomp.so.9/g' "$runtime" >libgomp.so.9
    sed 's/libgomp\.so\.1/libgomp.so.9/g' "$1" >"$2"
}

compile -o host "$sources/host.c" -ldl
compile -shared -fPIC -o own.so "$sources/own.c" -ldl
for level in 0 2; do
    compile -O$level -fopenmp -o regions-O$level "$sources/regions.c" -lpthread
    compile -O$level -fopenmp -fPIC -shared -DLIBRARY -o library-O$level.so "$sources/regions.c" -lpthread
    check_kinds ./regions-O$level
    check_numbers ./regions-O$level
    check_own ./regions-O$level
done
compile -O2 -fopenmp -fPIC -shared -o constructor.so "$sources/constructor.c" -lpthread
check_constructors constructor.so
check_off ./regions-O2
check_hostile ./regions-O2
check_unheard ./regions-O2
check_counts ./regions-O2
