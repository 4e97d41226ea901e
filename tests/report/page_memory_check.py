# SPDX-License-Identifier: BSD-3-Clause
"""Checks what pages say of what they do not show: page_memory_check.py PAGE FOLDER MANY DEEP. First of a table for which the
browser has no memory. Makes a page in FOLDER whose list gives the table `primitives` 2^40 rows, more than an array can have, and one whose list gives
it a column that is not there. The views that read the table must tell the two apart each time, and the others must be
shown as before. Then of the placement in the page MANY, whose profile has too many pairs of ranks for it, and what memory its
pairs take. Then of the contexts in the page DEEP, of 12,000 frames below each other.
Prints a line for each view, which begins with "ok" or "not ok"."""
import os
import sys

from page_driver import Page, with_table


MEMORY = "This browser has too little memory for this view. Other views may need less, and pcollect report prints"


def make_large(table):
    table.update(rows=2**40, columns=table["columns"][:1])


def spoil(table):
    table["columns"].append(table["columns"][-1])


def check(page, view, expected):
    """Shows the view, which must say no more and no less than what is expected."""
    page.show(view)
    said = page.ask("return document.getElementById('failure')?.textContent || ''")
    rows = page.ask("return document.querySelectorAll('main tbody tr').length")
    right = said.startswith(expected) if expected else not said and rows > 0
    print("ok" if right else "not ok", view, said)


def check_print(page, expected):
    """Parts of the print form that cannot be shown say so, and the others are there."""
    page.show("print")
    said, parts = page.ask("return [[...document.querySelectorAll('#print .part > #failure')].map(e => e.textContent),"
                           "[...document.querySelectorAll('#print > .part > h2')].map(e => e.textContent)]")
    rows = page.ask("return ['functions', 'tree', 'heat'].map(id =>"
                    "document.querySelectorAll(`#${id} tbody tr`).length)")
    right = len(said) == 2 and all(text.startswith(expected) for text in said) and not rows[0] and all(rows[1:]) and \
        parts[:2] == ["MPI functions", "Contexts with one percent and more"]
    print("ok" if right else "not ok", f"print: {said} {parts} {rows}")


def check_left(page, view, other):
    """A view that fails after the user left it does not take the place of the other."""
    page.ask("const [view, other] = arguments; addEventListener('hashchange', () => { location.hash = other; }, {once: true});"
             "location.hash = view", view, other)
    page.settle("#" + other)
    said = page.ask("""return new Promise(done => setTimeout(() => done(document.getElementById('failure')?.textContent), 300))""")
    print("not ok" if said else "ok", f"{view}, left for {other}: {said}")


def check_placement(page, many):
    page.open(many)
    page.show("communication")
    said = page.ask("return document.getElementById('placement')?.textContent || ''")
    print("ok" if said.startswith("There are more than 200,000 pairs of ranks") else "not ok", "placement", said)


def heap(page):
    """Bytes of JavaScript objects that are in use; columns of numbers are not among them."""
    page.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    metrics = page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "JSHeapUsedSize")


def check_pairs(page, many):
    """The view of communication makes no object for each pair: they would have 60 bytes and more."""
    page.driver.execute_cdp_cmd("Performance.enable", {})
    page.open(many)
    page.settle()
    page.show("tables&table=pairs")
    rows, before = int(page.ask("return document.getElementById('rows').textContent.split(' ')[2].replaceAll(',', '')")), heap(page)
    page.show("communication")
    each = (heap(page) - before) / rows
    print("ok" if rows > 200000 and each < 30 else "not ok", f"{each:.0f} bytes of objects for each of {rows} pairs")


def check_deep_names(page):
    """Names of deep rows have room for words, and the marks before them stay there when the tree is scrolled to the side."""
    def set_width(width):
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
    wrong = []
    for width, least in (1280, 150), (375, 130):
        set_width(width)
        room, off, whole = page.ask("""
            const scroll = document.querySelector('#contexts .scroll'), cells = [...document.querySelectorAll('#tree .label')];
            scroll.scrollLeft = 60;
            const room = Math.min(...cells.map(cell => cell.clientWidth - parseFloat(getComputedStyle(cell).paddingLeft)));
            const off = cells.filter(cell => {
                const box = cell.getBoundingClientRect(), mark = cell.querySelector('.mark').getBoundingClientRect();
                return mark.left < box.left || mark.right > box.left + parseFloat(getComputedStyle(cell).paddingLeft) + 1;
            });
            scroll.scrollLeft = 0;
            return [room, off.length, document.documentElement.scrollWidth]""")
        if room < least or off or whole > width:
            wrong.append(f"of {width} pixels names have {room}, {off} marks are elsewhere, the page is {whole} wide")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return wrong


def check_deep(page, deep, frames):
    """Contexts of a recursion that is deeper than the stack of a browser, in each shape of the tree, down to the call."""
    page.open(deep)
    page.settle()
    page.show("tables&table=contexts")
    call, wrong = page.ask("const heads = [...document.querySelectorAll('#table th')].map(head => head.textContent);"
                           "return document.querySelector('#table tbody tr').cells[heads.indexOf('context')].textContent"), []
    for view in "contexts", "contexts&shape=callers", "contexts&shape=flat", "contexts&search=MPI_Send", f"contexts&context={call}":
        page.show(view)
        said = page.ask("return document.getElementById('failure')?.textContent || ''")
        folded = page.ask("return [...document.querySelectorAll('#tree .fold')].map(fold => { fold.click(); return fold.textContent; })")
        if folded != ([f"… {frames:,} frames of app"] if view in ("contexts", f"contexts&context={call}") else []):
            wrong.append(f"{view}: {folded} are folded")
        more = page.ask("return document.getElementById('left-out').textContent.replaceAll(',', '')")
        rows = page.ask("return document.querySelectorAll('#tree tbody tr').length")
        if said or rows + int(more.split()[0] if more else 0) != frames + 2:
            wrong.append(f"{view}: {said} {rows} rows, {more}")
    page.ask("for (let more; (more = document.querySelector('#left-out button')); ) more.click()")
    level, indent = page.ask("const row = document.querySelector('#tree [aria-selected=true]');"
                             "return [Number(row.ariaLevel), parseFloat(getComputedStyle(row.cells[0]).paddingLeft)]")
    if level != frames + 2 or indent > 300:
        wrong.append(f"the call is at level {level}, {indent} pixels to the right")
    wrong += check_deep_names(page)
    left_out, height = page.ask("return [document.getElementById('thin').textContent, document.querySelector('.icicle').offsetHeight]")
    if height != 20 * 500 or "or below its 500 rows" not in left_out:
        wrong.append(f"the picture has {height} pixels: {left_out}")
    print("not ok" if wrong else "ok", "deep", wrong)


def check_width(page, path):
    """The picture of the contexts has as many pixels as its place, also when it is first drawn."""
    page.open(path)
    page.settle()
    page.show("contexts")
    pixels, place = page.ask("const {width, parentNode} = document.querySelector('.icicle'); return [width, parentNode.clientWidth]")
    print("ok" if pixels == place else "not ok", f"a picture of {pixels} pixels in {place}")


def main(path, folder, many, deep):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    page = Page(path)
    for change, expected in (make_large, MEMORY), (spoil, "This view cannot be shown: RangeError"):
        with open(os.path.join(folder, change.__name__ + ".html"), "w", encoding="utf-8") as f:
            f.write(with_table(text, "primitives", change))
        page.open(f.name)
        page.settle()
        for view in "tables&table=primitives", "summary":
            check(page, view, expected)
            check(page, "tables&table=ranks", None)
            check(page, view, expected)
        check_print(page, expected)
        check_left(page, "tables&table=primitives", "tables&table=ranks")
    check_placement(page, many)
    check_pairs(page, many)
    check_deep(page, deep, 12000)
    check_width(page, path)
    page.close()


main(*sys.argv[1:])
