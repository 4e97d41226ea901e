# SPDX-License-Identifier: BSD-3-Clause
"""Checks what pages say of what they do not show: page_memory_check.py PAGE FOLDER MANY. First of a table for which the
browser has no memory. Makes a page in FOLDER whose list gives the table `primitives` 2^40 rows, more than an array can have, and one whose list gives
it a column that is not there. The views that read the table must tell the two apart each time, and the others must be
shown as before. Then of the placement in the page MANY, whose profile has too many pairs of ranks for it, and what memory its
pairs take.
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
    rows, before = int(page.ask("return document.getElementById('rows').textContent.split(' ')[2]")), heap(page)
    page.show("communication")
    each = (heap(page) - before) / rows
    print("ok" if rows > 200000 and each < 30 else "not ok", f"{each:.0f} bytes of objects for each of {rows} pairs")


def main(path, folder, many):
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
    check_placement(page, many)
    check_pairs(page, many)
    page.close()


main(*sys.argv[1:])
