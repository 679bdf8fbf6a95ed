# SPDX-License-Identifier: GPL-2.0-or-later
# fill - makes a schema of its .in: the figures of a step come from packer/fact/facts.def, of which confdoc says lines "PLACE KEY SCHEMA",
# with tabs. @PLACE@ becomes the members of that place, "KEY": SCHEMA, and @names PLACE@ their quoted names: where it stands first in its
# line a line each, else one behind the other.
#
#     confdoc facts | awk -f fill.awk - SCHEMA.in
BEGIN { FS = "\t" }
FNR == NR {
    join = $1 in names ? "\n" : ""
    members[$1] = members[$1] join "\"" $2 "\": " $3
    names[$1] = names[$1] join "\"" $2 "\""
    next
}
{
    while (match($0, /@[a-z_. ]+@/)) {
        before = substr($0, 1, RSTART - 1)
        place = substr($0, RSTART + 1, RLENGTH - 2)
        after = substr($0, RSTART + RLENGTH)
        wanted = sub(/^names /, "", place) ? names[place] : members[place]
        if (wanted == "") {
            print "no figures are told at " place > "/dev/stderr"
            exit 1
        }
        gsub(/\n/, before ~ /^ *$/ ? ",\n" before : ", ", wanted)
        $0 = before wanted after
    }
    print
}
