# SPDX-License-Identifier: BSD-3-Clause
# Reads the pages of `pcollect html` in Chromium, for the tests of pages: source it after tests/lib.sh.

# shellcheck disable=SC2034 # show is for the scripts
show=$PC_BUILD/tests/report/show
python=
for each in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! $each -c 'import selenium' 2>/dev/null || python=$each
done
no_browser=
[ -n "$python" ] && command -v chromium >/dev/null && [ -x /usr/bin/chromedriver ] ||
    no_browser='chromium, chromium-driver or python3-selenium is not installed'

# begin_browser: starts the browser in which each page of this script is a tab of its own, unless it runs; its address is
# PC_CHROMIUM.
begin_browser() {
    [ -z "${PC_CHROMIUM-}" ] || return 0
    chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --window-size=1280,800 --no-first-run \
        --disable-background-networking --disable-extensions --user-data-dir="$work/chromium" --remote-debugging-port=0 \
        about:blank >"$work/chromium.log" 2>&1 &
    chromium=$!
    trap 'kill $chromium; wait $chromium; rm -rf "$spool"' EXIT
    address=$work/chromium/DevToolsActivePort # its first line is the port
    until_true test -s "$address"
    PC_CHROMIUM=localhost:$(head -n 1 "$address")
    export PC_CHROMIUM
}

# write_tables NAME PROFILE: output of `report` and similar commands for the profile, into NAME.tsv.
write_tables() {
    mkdir -p "$work/$1.tsv"
    for table in $("$pcollect" report --table help | sed -n '/^Tables of the library/q; s/^  \([a-z_]*\)  .*/\1/p') \
        $("$pcollect" info "$2" | sed -n 's/^table: \([^ ]*\).*/\1/p'); do
        [ "$table" != frames ] || continue # shown only if it is named: the page has none
        "$pcollect" report --format tsv --table "$table" "$2" >"$work/$1.tsv/$table.tsv" 2>/dev/null
    done
    "$pcollect" report --table contexts --columns "$(sed -n '1s/\t/,/gp' "$work/$1.tsv/contexts.tsv"),waiting_s" "$2" \
        >"$work/$1.tsv/all_contexts" 2>/dev/null
    mv "$work/$1.tsv/all_contexts" "$work/$1.tsv/contexts.tsv"
    "$pcollect" report --format tsv --by rank,primitive "$2" >"$work/$1.tsv/rank,primitive.tsv" 2>/dev/null
    for keys in context,rank context; do
        "$pcollect" report --format tsv --by $keys "$2" >"$work/$1.tsv/$keys" 2>/dev/null
    done
    "$pcollect" report --format json --table contexts "$2" >"$work/$1.tsv/frames" 2>/dev/null
    "$pcollect" report --width 1000000 "$2" >"$work/$1.tsv/text" 2>/dev/null
    "$pcollect" annotate --min-percent 0 --context 0 "$2" >"$work/$1.tsv/annotate" 2>/dev/null
    "$pcollect" topology --width 1000000 "$2" 2>/dev/null | sed -n 's/^  pattern  *//p' >"$work/$1.tsv/pattern"
    "$pcollect" topology --format json "$2" >"$work/$1.tsv/topology" 2>/dev/null
    "$PC_BUILD/tests/report/text_test" --numbers >"$work/$1.tsv/numbers"
    "$PC_BUILD/tests/report/names_test" --names >"$work/$1.tsv/names"
}

# read_pages PROGRAM ARGUMENT...: a check of pages, which looks at them in the browser.
read_pages() {
    begin_browser
    program=$1
    shift
    $python -B -u "$PC_SRC/tests/report/$program" "$@"
}

# all_read NAME WHAT VIEWS: the log of a check has a line "ok" for each view, and nothing else; it is shown if not.
all_read() {
    grep -v -e '^ok' -e '^# ' "$work/$1.log" >"$work/$1.wrong"
    empty "$work/$1.wrong" "$1: $2"
    is "$(grep -c '^ok' "$work/$1.log")" "$3" "$1: all views were read" || note "$(cat "$work/$1.log")"
}

# check NAME PROFILE [PICTURES]: compares its page with its tables; PC_VIEWS='NAME; ...' limits it to these checks of
# page_check.py.
check() {
    "$pcollect" html -o "$work/$1.html" "$2"
    ok $? "$1: the page is written" || return
    sed -n '/^<pre>/,/^<\/pre>/{s/^<pre>//;/^<\/pre>/d;s/&lt;/</g;s/&amp;/\&/g;p;}' "$work/$1.html" >"$work/$1.in_page"
    "$pcollect" report --width 100 "$2" >"$work/$1.printed" 2>/dev/null
    same "$work/$1.in_page" "$work/$1.printed" "$1: readers without scripts get the report"
    if [ -n "$no_browser" ]; then
        skip "$1: the page shows the tables" "$no_browser"
        return
    fi
    write_tables "$1" "$2"
    read_pages page_check.py "$work/$1.html" "$work/$1.tsv" ${3:+"$3"} >"$work/$1.log" 2>&1
    views=$((24 + $#))
    [ -z "${PC_VIEWS-}" ] || views=$(echo "$PC_VIEWS" | tr ';' '\n' | wc -l)
    all_read "$1" 'the page shows the tables' "$views"
}

# compared NAME KIND LEAST: the check of the page has compared so many figures of this kind.
compared() {
    [ -z "$no_browser" ] || return
    holds "$(sed -n "s/^# compared $2 //p" "$work/$1.log" | grep . || echo 0)" -ge "$3" "$1: $2 are compared"
}

# compare scale|diff ROWS OPTION...: compares the page of a comparison with the output of the command.
compare() {
    kind=$1 rows=$2
    shift 2
    "$pcollect" html -o "$work/$kind.html" "$@"
    ok $? "$kind: the page is written" || return
    if [ -n "$no_browser" ]; then
        skip "$kind: the page shows the tables" "$no_browser"
        return
    fi
    read_pages page_compare_check.py "$kind" "$work/$kind.html" "$work/$kind.tsv" \
        "$work/pictures" >"$work/$kind.log" 2>&1
    all_read "$kind" 'the page shows what the command does' "$rows"
}
