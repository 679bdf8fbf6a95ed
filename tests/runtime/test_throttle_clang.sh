#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# clang's programs, with libomp, whose loops are throttled: throttle.sh
compiler=$("${srcdir:-.}/tests/find-clang")
# shellcheck source=tests/runtime/throttle.sh
. "${srcdir:-.}/tests/runtime/throttle.sh"
