# SPDX-License-Identifier: GPL-2.0-or-later
# BERTH_NATIVE: the build runs two of its own programs, confdoc and berthctl, which write manuals, schemas and completions. Where it is for
# another machine (configure --host), they are made a second time, for the machine that builds: in the folder native of the
# build folder, by the same sources' configure, with these compilers (Makefile.am). What berth stands on is needed there, too.

AC_DEFUN([BERTH_NATIVE], [
  AC_ARG_VAR([CC_FOR_BUILD], [C compiler for programs that the build itself runs, where it is for another machine])
  AC_ARG_VAR([CFLAGS_FOR_BUILD], [its flags])
  AC_ARG_VAR([PKG_CONFIG_FOR_BUILD], [pkg-config of the machine that builds])
  AS_IF([test "x$cross_compiling" = xyes], [
    AC_CHECK_PROGS([CC_FOR_BUILD], [gcc cc clang])
    AC_CHECK_PROGS([PKG_CONFIG_FOR_BUILD], [pkg-config pkgconf])
    AS_IF([test "x$CC_FOR_BUILD" = x || test "x$PKG_CONFIG_FOR_BUILD" = x],
      [AC_MSG_ERROR([no compiler, or no pkg-config, for programs that the build runs: give CC_FOR_BUILD and PKG_CONFIG_FOR_BUILD])])
    test "x$CFLAGS_FOR_BUILD" != x || CFLAGS_FOR_BUILD=-O1
  ])
  AM_CONDITIONAL([CROSS], [test "x$cross_compiling" = xyes])
  AC_SUBST([NATIVE_SLURM], ["${with_slurm:+--with-slurm=$with_slurm}"])
])
