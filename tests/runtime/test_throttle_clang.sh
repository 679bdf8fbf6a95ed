#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# clang's programs, with libomp, whose loops are throttled: throttle.sh
compiler=clang
command -v clang >/dev/null || compiler=$(command -v clang-19 clang-16 clang-14 | head -n 1)
# shellcheck source=tests/runtime/throttle.sh
. "${srcdir:-.}/tests/runtime/throttle.sh"
