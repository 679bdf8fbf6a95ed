#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# gcc's programs, with libgomp, whose loops are throttled: throttle.sh
compiler=gcc
# shellcheck source=tests/runtime/throttle.sh
. "${srcdir:-.}/tests/runtime/throttle.sh"
