# SPDX-License-Identifier: GPL-2.0-or-later
# BERTH_SLURMDB: can berth-comment be built, which writes to slurmdbd? It wants libslurm and its accounting part. After BERTH_SLURM.

AC_DEFUN([BERTH_SLURMDB], [
  AC_ARG_ENABLE([admin-comment],
    [AS_HELP_STRING([--disable-admin-comment], [do not build berth-comment, which writes jobs' figures to slurmdbd])])
  AS_IF([test "x$with_slurm" != x], [SLURMDB_LIBS="-L$with_slurm/lib -lslurm"], [SLURMDB_LIBS=-lslurm])
  berth_slurmdb=no berth_cppflags=$CPPFLAGS berth_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $SLURM_CFLAGS" LIBS="$LIBS $SLURMDB_LIBS"
  AC_MSG_CHECKING([for libslurm's slurmdb_job_modify])
  AS_IF([test "x$enable_admin_comment" != xno],
    [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <slurm/slurm.h>
#include <slurm/slurmdb.h>]], [[slurm_init(0); return !slurmdb_job_modify(0, 0, 0);]])], [berth_slurmdb=yes])])
  CPPFLAGS=$berth_cppflags LIBS=$berth_libs
  AS_IF([test $berth_slurmdb = yes], [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no: berth-comment is not built, admin_comment of berth.conf has no use (Debian: libslurm-dev)])])
  AM_CONDITIONAL([HAVE_SLURMDB], [test $berth_slurmdb = yes])
  AC_SUBST([SLURMDB_LIBS])
])
