# SPDX-License-Identifier: BSD-3-Clause
# Files of page/ as C: the first is the style, the others are the script, in one function. Comments that
# take whole lines are left out.
function open_text(name) {
    printf "const char %s[] =\n", name
}

function put(line) {
    gsub(/\\/, "&&", line)
    gsub(/["?]/, "\\\\&", line) # ?? would begin a trigraph
    printf "    \"%s\\n\"\n", line
}

BEGIN {
    print "/* Made by page/page_text.awk. */"
    print "#include \"view/page.h\""
    open_text("pct_page_style")
}
FNR == 1 { file++ }
FNR == 1 && file == 2 {
    print "    ;"
    open_text("pct_page_script")
    put("(() => {")
    put("\"use strict\";")
}
/^[ ]*(\/\/|\/\*.*\*\/$)/ || /^$/ { next }
{ put($0) }
END {
    put("})();")
    print "    ;"
}
