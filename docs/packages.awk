# Turns Debian's package index (apt-cache dumpavail) into three files for COPY:
#
#   apt-cache dumpavail | awk -f packages.awk
#
# packages.tsv  name, version, section, priority, maintainer, installed size in KiB
# depends.tsv   package, what it depends on (alternatives split, each once)
# provides.tsv  package, what it provides besides itself
#
# A package that is listed twice counts once, as it is listed first.

BEGIN { OFS = "\t" }

# A blank line ends a paragraph; a line that begins with a blank goes on with the field before it.
/^$/ { paragraph(); next }
/^[ \t]/ { field[last] = field[last] " " $0; next }
{ last = substr($0, 1, index($0, ":") - 1); field[last] = substr($0, index($0, ":") + 2) }
END { paragraph() }

function paragraph(   name, key) {
    name = field["Package"]
    if (name != "" && !(name in seen)) {
        seen[name] = 1
        print name, field["Version"], text("Section"), text("Priority"), text("Maintainer"), number("Installed-Size") > "packages.tsv"
        names(name, field["Depends"], "depends.tsv")
        names(name, field["Provides"], "provides.tsv")
    }
    for (key in field) delete field[key]
}

# names prints each name of a list such as "libc6 (>= 2.34), awk | gawk:any" once.
function names(name, list, file,   i, n, part, once) {
    n = split(list, part, /[,|]/)
    for (i = 1; i <= n; i++) {
        gsub(/\([^)]*\)|[ \t]|:.*/, "", part[i])
        if (part[i] != "" && !(part[i] in once)) {
            once[part[i]] = 1
            print name, part[i] > file
        }
    }
}

# text escapes a field for COPY; \N is NULL.
function text(key,   s) {
    s = field[key]
    if (s == "") return "\\N"
    gsub(/\\/, "\\\\", s)
    gsub(/\t/, "\\t", s)
    return s
}

function number(key) { return field[key] ~ /^[0-9]+$/ ? field[key] : "\\N" }
