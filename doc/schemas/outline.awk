# SPDX-License-Identifier: GPL-2.0-or-later
# outline - makes a JSON Schema of its outline, a member a line:
#
#     NAME TYPE DESCRIPTION..     ~NAME: it may be missing
#     NAME { DESCRIPTION..        an object, whose members follow until a line }; {! with no other members; {? or null
#     NAME [{ DESCRIPTION..       an array of such objects; [?{ or null
#     @PLACE@                     the figures of a step that packer/fact/facts.def tells there; ~@PLACE@
#     "KEYWORD": JSON             a keyword of the object that it stands in
#     title TEXT, about TEXT      at the top; "def NAME TYPE..": what $NAME stands for, behind all members
#
# TYPE is integer, number, string, boolean, a|b|c (one of these words), $NAME, [TYPE] (an array of such), any of these with ? (or null);
# or a JSON Schema. What confdoc says of the figures, lines "PLACE KEY SCHEMA" with tabs, is read first:
#
#     confdoc facts | awk -f outline.awk - NAME.outline
BEGIN { FS = "\t"; $0 = ""; depth = 0 }
FNR == NR { place[$1] = place[$1] "\n" $2 "\t" $3; next }

function fail(why) { print FILENAME ":" FNR ": " why > "/dev/stderr"; failed = 1; exit 1 }
function quoted(text) { gsub(/[\\"]/, "\\\\&", text); return "\"" text "\"" }
function described(text) { return text == "" ? "" : ", \"description\": " quoted(text) }
function or_null(type, nullable) { return "\"type\": " (nullable ? "[\"" type "\", \"null\"]" : "\"" type "\"") }

# The keywords of a type, without braces.
function keywords(type,    nullable) {
    nullable = sub(/\?$/, "", type)
    if (type ~ /^\[.*\]$/) return or_null("array", nullable) ", \"items\": {" keywords(substr(type, 2, length(type) - 2)) "}"
    if (type ~ /^\$/) return "\"$ref\": \"#/$defs/" substr(type, 2) "\""
    if (type ~ /\|/) { gsub(/\|/, "\", \"", type); return "\"enum\": [\"" type "\"" (nullable ? ", null" : "") "]" }
    if (type !~ /^(integer|number|string|boolean)$/) fail("no type is called " type)
    return or_null(type, nullable)
}
function put(text) { printf "%s\n%*s%s", members[depth]++ ? "," : "", 2 * depth + 2, "", text }
function must(name) { required[depth] = required[depth] (required[depth] == "" ? "" : ", ") quoted(name) }
function open_object(before, closed, behind) {
    put(before)
    depth++
    members[depth] = 0
    required[depth] = more[depth] = ""
    if (closed) more[depth] = ", \"additionalProperties\": false"
    ending[depth] = behind
}
function close_object() {
    printf "\n%*s}%s%s}%s", 2 * depth, "", required[depth] == "" ? "" : ", \"required\": [" required[depth] "]", more[depth], ending[depth]
    depth--
}
function put_figures(name, optional,    n, row, i, part) {
    if (!(name in place)) fail("no figures are told at " name)
    n = split(substr(place[name], 2), row, "\n")
    for (i = 1; i <= n; i++) {
        split(row[i], part, "\t")
        put(quoted(part[1]) ": " part[2])
        if (!optional) must(part[1])
    }
}
function put_member(name, type, text,    array, nullable, closed, object) {
    if (type ~ /^\{"/) { put(quoted(name) ": " type (text == "" ? "" : " " text)); return }
    if (type !~ /\{/) { put(quoted(name) ": {" keywords(type) described(text) "}"); return }
    array = type ~ /^\[/
    nullable = type ~ /\?/
    closed = type ~ /!/
    object = or_null("object", nullable && !array) (array ? "" : described(text)) ", \"properties\": {"
    if (array) open_object(quoted(name) ": {" or_null("array", nullable) described(text) ", \"items\": {" object, closed, "}")
    else open_object(quoted(name) ": {" object, closed, "")
}
# The root's members end where its definitions begin.
function end_members() {
    if (members[0]) printf "\n}%s", required[0] == "" ? "" : ", \"required\": [" required[0] "]"
    members[0] = 0
    in_members = 0
}

FNR == 1 {
    FS = " "
    printf "{\n\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n\"$comment\": \"SPDX-License-Identifier: GPL-2.0-or-later\""
    next
}
{
    line = $0
    sub(/^ +/, "", line)
    name = line; sub(/ .*/, "", name)
    rest = substr(line, length(name) + 2)
    if (depth == 0 && (name == "title" || name == "about")) {
        printf ",\n\"%s\": %s", name == "about" ? "description" : name, quoted(rest)
        next
    }
    if (line ~ /^"/) { if (depth) more[depth] = more[depth] ", " line; else printf ",\n%s", line; next }
    if (line == "}") { close_object(); next }
    if (depth == 0 && name == "def") {
        if (in_members) end_members()
        if (!defines++) printf ",\n\"$defs\": {"
        name = rest; sub(/ .*/, "", name)
        rest = substr(rest, length(name) + 2)
    } else if (depth == 0 && !in_members++) printf ",\n\"type\": \"object\",\n\"properties\": {"
    optional = sub(/^~/, "", name)
    if (name ~ /^@.*@$/) { put_figures(substr(name, 2, length(name) - 2), optional); next }
    type = rest; sub(/ .*/, "", type)
    if (!optional && !(depth == 0 && defines)) must(name)
    put_member(name, type, substr(rest, length(type) + 2))
}
END {
    if (failed) exit 1
    if (depth) fail("a } is missing")
    if (in_members) end_members()
    if (defines) printf "\n}"
    print "\n}"
}
