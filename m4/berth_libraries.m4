# SPDX-License-Identifier: GPL-2.0-or-later
# What berth stands on. Each check says which Debian package brings what is missing.

# BERTH_PKG(VARIABLE, MODULE, MINIMUM, DEBIAN PACKAGE)
AC_DEFUN([BERTH_PKG], [
  PKG_CHECK_MODULES([$1], [$2 >= $3], [],
    [AC_MSG_ERROR([$2 >= $3 not found: install it (Debian: $4)])])
])

# BERTH_LIB(VARIABLE, MODULE, MINIMUM, DEBIAN PACKAGE, LIBRARY, FUNCTION, HEADER, VERSION TEST)
# For libraries that some distributions ship without a pkg-config file.
AC_DEFUN([BERTH_LIB], [
  PKG_CHECK_MODULES([$1], [$2 >= $3], [], [
    AC_CHECK_HEADER([$7], [], [AC_MSG_ERROR([$2 >= $3 not found: no <$7> (Debian: $4)])])
    AC_CHECK_LIB([$5], [$6], [$1_LIBS=-l$5], [AC_MSG_ERROR([$2 >= $3 not found: no lib$5 (Debian: $4)])])
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#include <$7>
#if !($8)
#error too old
#endif
]])], [], [AC_MSG_ERROR([$2 is older than $3: install a newer one (Debian: $4)])])
  ])
])

AC_DEFUN([BERTH_SLURM], [
  AC_ARG_WITH([slurm],
    [AS_HELP_STRING([--with-slurm=PREFIX], [where Slurm's headers are, PREFIX/include/slurm])])
  SLURM_CFLAGS=
  AS_IF([test "x$with_slurm" != x], [SLURM_CFLAGS="-I$with_slurm/include"])
  saved_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $SLURM_CFLAGS"
  AC_CHECK_HEADER([slurm/spank.h], [],
    [AC_MSG_ERROR([no <slurm/spank.h>: install Slurm's headers (Debian: libslurm-dev) or give --with-slurm=PREFIX])])
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#include <slurm/slurm_version.h>
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(22,5,0)
#error too old
#endif
]])], [], [AC_MSG_ERROR([Slurm is older than 22.05])])
  dnl The plugin's file is named by the series: a SPANK plugin fits the Slurm of its own major.minor only.
  AC_COMPUTE_INT([slurm_major], [SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER)], [[#include <slurm/slurm_version.h>]])
  AC_COMPUTE_INT([slurm_minor], [SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER)], [[#include <slurm/slurm_version.h>]])
  SLURM_SERIES=$(printf '%d.%02d' "$slurm_major" "$slurm_minor")
  AC_MSG_NOTICE([the plugin is built for Slurm $SLURM_SERIES])
  CPPFLAGS=$saved_CPPFLAGS
  AC_SUBST([SLURM_CFLAGS])
  AC_SUBST([SLURM_SERIES])
  AC_SUBST([SLURM_SERIES_NUMBER], [$(($slurm_major * 100 + $slurm_minor))])
])

AC_DEFUN([BERTH_LIBRARIES], [
  BERTH_PKG([HWLOC], [hwloc], [2.4], [libhwloc-dev])
  BERTH_PKG([JSONC], [json-c], [0.15], [libjson-c-dev])
  BERTH_PKG([NUMA], [numa], [2.0.12], [libnuma-dev])
  BERTH_PKG([EVENT], [libevent_core], [2.1.11], [libevent-dev])
  BERTH_PKG([EVENT_EXTRA], [libevent_extra], [2.1.11], [libevent-dev])
  BERTH_PKG([INIH], [inih], [53], [libinih-dev])
  BERTH_PKG([SQLITE], [sqlite3], [3.34], [libsqlite3-dev])
  BERTH_PKG([XXHASH], [libxxhash], [0.8], [libxxhash-dev])
  BERTH_PKG([CMOCKA], [cmocka], [1.1.5], [libcmocka-dev])
  # cmocka 2 warns of assertions whose successors cmocka 1 does not have.
  CMOCKA_CFLAGS="$CMOCKA_CFLAGS -DCMOCKA_DISABLE_DEPRECATION_WARNINGS"
  BERTH_LIB([PFM], [libpfm], [4.0], [libpfm4-dev], [pfm], [pfm_initialize], [perfmon/pfmlib.h],
    [LIBPFM_VERSION >= (4 << 16)])
])

# MariaDB's client library, for a ledger of the whole cluster. Without it a ledger is a file.
AC_DEFUN([BERTH_MARIADB], [
  AC_ARG_WITH([mariadb],
    [AS_HELP_STRING([--without-mariadb], [a ledger is a file only])])
  have_mariadb=no
  AS_IF([test "x$with_mariadb" != xno],
    [PKG_CHECK_MODULES([MARIADB], [libmariadb >= 3.1], [have_mariadb=yes], [have_mariadb=no])])
  AS_IF([test "x$have_mariadb" = xno],
    [AC_MSG_NOTICE([no libmariadb (Debian: libmariadb-dev): a ledger is a file only])])
  AM_CONDITIONAL([MARIADB], [test "x$have_mariadb" = xyes])
])

# GLPK, for berthctl alone: its integer solver proves what NuCore finds. Debian's package has no pkg-config file.
AC_DEFUN([BERTH_GLPK], [
  AC_ARG_WITH([glpk],
    [AS_HELP_STRING([--without-glpk], [berthctl cannot prove what NuCore finds])])
  have_glpk=no
  AS_IF([test "x$with_glpk" != xno],
    [PKG_CHECK_MODULES([GLPK], [glpk >= 4.65], [have_glpk=yes],
      [AC_CHECK_HEADER([glpk.h],
        [AC_CHECK_LIB([glpk], [glp_intopt], [have_glpk=yes; GLPK_LIBS=-lglpk])])])])
  AS_IF([test "x$have_glpk" = xno],
    [AC_MSG_NOTICE([no GLPK (Debian: libglpk-dev): berthctl cannot prove what NuCore finds])])
  AM_CONDITIONAL([GLPK], [test "x$have_glpk" = xyes])
])

# libseccomp, for tests/confined alone: berthd makes no filter.
AC_DEFUN([BERTH_SECCOMP], [
  PKG_CHECK_MODULES([SECCOMP], [libseccomp >= 2.4], [have_seccomp=yes], [have_seccomp=no])
  AS_IF([test "x$have_seccomp" = xno],
    [AC_MSG_NOTICE([no libseccomp (Debian: libseccomp-dev): berthd is not tested under its unit file's restrictions])])
  AM_CONDITIONAL([SECCOMP], [test "x$have_seccomp" = xyes])
])

AC_DEFUN([BERTH_TOOLS], [
  AC_PATH_PROG([VALGRIND], [valgrind], [valgrind])
  AC_PATH_PROG([MANDOC], [mandoc])
  AM_CONDITIONAL([HAVE_MANDOC], [test "x$MANDOC" != x])
])
