/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cppcheck, which reads no header of the system, has to know of the macros in them. */
#define TAILQ_HEAD(name, type) struct name { struct type *tqh_first; struct type **tqh_last; }
#define TAILQ_ENTRY(type) struct { struct type *tqe_next; struct type **tqe_prev; }
#define TAILQ_FOREACH(var, head, field) for ((var) = (head)->tqh_first; (var); (var) = (var)->field.tqe_next)
#define STAILQ_HEAD(name, type) struct name { struct type *stqh_first; struct type **stqh_last; }
#define STAILQ_ENTRY(type) struct { struct type *stqe_next; }
#define STAILQ_FOREACH(var, head, field) for ((var) = (head)->stqh_first; (var); (var) = (var)->field.stqe_next)
#define LIST_HEAD(name, type) struct name { struct type *lh_first; }
#define LIST_ENTRY(type) struct { struct type *le_next; struct type **le_prev; }
#define LIST_FOREACH(var, head, field) for ((var) = (head)->lh_first; (var); (var) = (var)->field.le_next)
#define json_object_object_foreach(obj, key, val) for (char *key = json_first_key(obj, &val); key; key = json_next_key(obj, &val))
#define evutil_timercmp(a, b, sign) (timer_compare(a, b) sign 0)
#define SPANK_PLUGIN(name, version) const char plugin_name[] = #name;
/* Tables are arrays here: that they are complete is proved by the compiler (enum_table.h). */
#define BERTH_ENUM_TABLE_H
#define TABLE(name, n) name[n]
#define SPARSE(name, n) name[n]
#define ROW(value) [value]
#define TABLE_COMPLETE(name)
