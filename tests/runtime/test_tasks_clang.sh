#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# clang's programs, with libomp, whose tasks are throttled: tasks.sh
compiler=$("${srcdir:-.}/tests/find-clang")
# shellcheck source=tests/runtime/tasks.sh
. "${srcdir:-.}/tests/runtime/tasks.sh"
