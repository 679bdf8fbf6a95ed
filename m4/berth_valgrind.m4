# SPDX-License-Identifier: GPL-2.0-or-later
# BERTH_VALGRIND: can our own tool of valgrind be built? It is valgrind's core, linked with probe/trace/tool, without libc. It wants
# valgrind's headers for tools and its static libraries (Debian has them in valgrind itself). Without it, or with a compiler told to
# instrument, `berthctl profile` only says that it cannot trace.

AC_DEFUN([BERTH_VALGRIND], [
  AC_ARG_ENABLE([valgrind-tool],
    [AS_HELP_STRING([--disable-valgrind-tool], [do not build what berthctl profile traces with])])
  VALGRIND_PLATFORM= VALGRIND_TOOL_CPPFLAGS= VALGRIND_TOOL_CFLAGS= VALGRIND_TOOL_LIBS= VALGRIND_PRELOAD=
  AS_CASE(["$enable_valgrind_tool/$CC $CFLAGS"],
    [no/*|*-fsanitize*|*--coverage*], [],
    [PKG_CHECK_EXISTS([valgrind >= 3.15], [BERTH_VALGRIND_TRY])])
  AC_MSG_CHECKING([for what valgrind's tools are made of])
  AS_IF([test "x$VALGRIND_PLATFORM" != x], [AC_MSG_RESULT([$VALGRIND_PLATFORM])],
    [AC_MSG_RESULT([no: berthctl profile will not work])])
  AM_CONDITIONAL([VALGRIND_TOOL], [test "x$VALGRIND_PLATFORM" != x])
  AC_SUBST([VALGRIND_PLATFORM])
  AC_SUBST([VALGRIND_TOOL_CPPFLAGS])
  AC_SUBST([VALGRIND_TOOL_CFLAGS])
  AC_SUBST([VALGRIND_TOOL_LIBS])
  AC_SUBST([VALGRIND_PRELOAD])
])

# Sets VALGRIND_PLATFORM when a tool can be linked.
AC_DEFUN([BERTH_VALGRIND_TRY], [
  berth_platform=`$PKG_CONFIG --variable=platform valgrind`
  berth_arch=`$PKG_CONFIG --variable=arch valgrind`
  berth_load=`$PKG_CONFIG --variable=valt_load_address valgrind`
  berth_prefix=`$PKG_CONFIG --variable=prefix valgrind`
  berth_libdir=`$PKG_CONFIG --variable=libdir valgrind`
  VALGRIND_TOOL_CFLAGS="-std=gnu11 -O2 -g -ffreestanding -fno-builtin -fno-stack-protector -fno-pie -fno-strict-aliasing"
  VALGRIND_TOOL_CFLAGS="$VALGRIND_TOOL_CFLAGS -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes"
  VALGRIND_TOOL_CPPFLAGS="-isystem `$PKG_CONFIG --variable=includedir valgrind` -DVGA_$berth_arch=1 -DVGO_linux=1 -DVGP_${berth_arch}_linux=1 -DVGPV_${berth_arch}_linux_vanilla=1"
  VALGRIND_TOOL_CFLAGS="$VALGRIND_TOOL_CFLAGS $VALGRIND_TOOL_CPPFLAGS"
  VALGRIND_TOOL_LIBS="-static -nodefaultlibs -nostartfiles -u _start -Wl,-Ttext-segment=$berth_load -Wl,--build-id `$PKG_CONFIG --libs valgrind`"
  dnl On arm64 what libgcc's atomics ask of libc is in a library of valgrind's own.
  AS_IF([test -r "$berth_libdir/valgrind/libgcc-sup-$berth_platform.a"],
    [VALGRIND_TOOL_LIBS="$VALGRIND_TOOL_LIBS -lgcc-sup-$berth_platform"])
  for berth_folder in "$berth_prefix/libexec/valgrind" "$berth_libdir/valgrind" "$berth_prefix/lib/valgrind"; do
    AS_IF([test "x$VALGRIND_PRELOAD" = x && test -r "$berth_folder/vgpreload_core-$berth_platform.so"],
      [VALGRIND_PRELOAD=$berth_folder/vgpreload_core-$berth_platform.so])
  done
  berth_cflags=$CFLAGS berth_libs=$LIBS berth_ldflags=$LDFLAGS
  CFLAGS=$VALGRIND_TOOL_CFLAGS LIBS=$VALGRIND_TOOL_LIBS LDFLAGS=
  AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include <stddef.h>
#include "pub_tool_basics.h"
#include "pub_tool_guest.h"
#include "pub_tool_machine.h"
#include "pub_tool_tooliface.h"
#include "libvex_ir.h"
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT, UInt, Int, Off64T);
extern void VG_(vg_yield)(void);
extern Bool VG_(is_valid_tid)(ThreadId tid);
extern Bool VG_(is_exiting)(ThreadId tid);
char has_counter[offsetof(VexGuestArchState, host_EvC_COUNTER) + 1];
static void before_options(void)
{
    VG_(am_shared_mmap_file_float_valgrind)(0, 0, 0, 0);
    VG_(vg_yield)();
    VG_(is_exiting)(VG_(is_valid_tid)(1));
    VG_(needs_syscall_wrapper)(NULL, NULL);
    VG_(track_start_client_code)(NULL);
}
VG_DETERMINE_INTERFACE_VERSION(before_options)
]])], [AS_CASE(["$berth_platform/$VALGRIND_PRELOAD"],
    [amd64-linux/?*|arm64-linux/?*], [VALGRIND_PLATFORM=$berth_platform])])
  CFLAGS=$berth_cflags LIBS=$berth_libs LDFLAGS=$berth_ldflags
])
