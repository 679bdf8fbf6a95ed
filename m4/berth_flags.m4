# SPDX-License-Identifier: GPL-2.0-or-later
# Compiler flags: warnings (errors in CI only), sanitizers, coverage, fuzzing.

AC_DEFUN([BERTH_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [make warnings errors (for CI)])])
  BERTH_CFLAGS="-std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla -fno-common"
  AS_IF([test "x$enable_werror" = xyes], [BERTH_CFLAGS="$BERTH_CFLAGS -Werror"])
  AC_SUBST([BERTH_CFLAGS])
  # without what the macros below add
  AC_SUBST([RUNTIME_CFLAGS], [$BERTH_CFLAGS])
])

AC_DEFUN([BERTH_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers], [build with AddressSanitizer and UndefinedBehaviorSanitizer])])
  AS_IF([test "x$enable_sanitizers" = xyes],
    [BERTH_CFLAGS="$BERTH_CFLAGS -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"])
  AM_CONDITIONAL([SANITIZERS], [test "x$enable_sanitizers" = xyes])
])

AC_DEFUN([BERTH_COVERAGE], [
  AC_ARG_ENABLE([coverage],
    [AS_HELP_STRING([--enable-coverage], [build for gcov; tests/analyse --coverage prints a summary])])
  AS_IF([test "x$enable_coverage" = xyes], [BERTH_CFLAGS="$BERTH_CFLAGS --coverage -DBERTH_GCOV"])
  AM_CONDITIONAL([COVERAGE], [test "x$enable_coverage" = xyes])
])

AC_DEFUN([BERTH_FUZZING], [
  AC_ARG_ENABLE([fuzzing],
    [AS_HELP_STRING([--enable-fuzzing], [build the fuzz targets with libFuzzer (needs clang)])])
  AS_IF([test "x$enable_fuzzing" = xyes], [BERTH_CFLAGS="$BERTH_CFLAGS -fsanitize=fuzzer-no-link"])
  AM_CONDITIONAL([FUZZING], [test "x$enable_fuzzing" = xyes])
])
