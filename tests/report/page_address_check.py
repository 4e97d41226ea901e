# SPDX-License-Identifier: BSD-3-Clause
"""Addresses of a page that name what it does not have, and the zoom of the picture of contexts. For page_check.py."""
import urllib.parse

from page_contexts_check import BAR, bars_of, same_bar, told_bar, wanted_tree
from page_driver import rows_of


def notes(page):
    return page.ask("return [...document.querySelectorAll('.unknown')].map(e => e.innerText)")


def ranges(numbers):
    """The numbers in words, by their gaps."""
    firsts = [n for n in numbers if n - 1 not in numbers]
    lasts = [n for n in numbers if n + 1 not in numbers]
    pieces = [str(a) if a == b else f"{a} to {b}" for a, b in zip(firsts, lasts)]
    return ", ".join(pieces[:8]) + ", …" * (len(pieces) > 8)


def check_unknown(page, tables):
    """What the page does not have is said, with what it has; and no more when something else is chosen."""
    wrong, ranks = [], sorted(int(row["rank"]) for row in rows_of(tables, "ranks"))
    known = ["summary", "tables&table=ranks", *(["ranks&rank=%d" % ranks[-1]] if ranks else [])]
    wrong += [f"{address}: {notes(page)}" for address in known if notes(page.show(address))]
    page.ask("location.hash = 'nothing&rank=0'")
    page.settle("#nothing&rank=0", "summary")
    wanted = ["The page has no view nothing: Summary is shown."]
    wrong += [f"a view: {notes(page)}"] if notes(page) != wanted else []
    page.show("tables&table=nothing")
    shown = page.ask("return document.querySelector('#tables select').value")
    wanted = [f"The page has no table nothing. The list above has its tables, and {shown} is shown."]
    wrong += [f"a table: {notes(page)}"] if notes(page) != wanted else []
    page.show("contexts&context=nothing%20at%20all")
    if page.ask("return document.getElementById('tree') !== null"):
        wanted = ["This tree has no context nothing at all: the whole run is chosen."]
        wrong += [f"a context: {notes(page)}"] if notes(page) != wanted else []
        page.ask("document.querySelectorAll('#tree tbody tr')[0].click()")
        wrong += [f"a context that is chosen: {notes(page)}"] if notes(page) else []
    page.show("ranks&rank=987654")
    if ranks and page.ask("return document.getElementById('map') !== null"):
        wanted = [f"There is no rank 987654 here. The ranks are {ranges(ranks)}. Rank {rows_of(tables, 'ranks')[0]['rank']} is shown."]
        wrong += [f"a rank: {notes(page)}, not {wanted}"] if notes(page) != wanted else []
        page.ask("const e = document.getElementById('rank-choice'); e.value = arguments[0]; e.dispatchEvent(new Event('change'))", ranks[-1])
        wrong += [f"a rank that is chosen: {notes(page)}"] if notes(page) else []
        page.compared["unknown"] += 1
    return wrong


def check_zoom_address(page, tables):
    """A zoom is in the address: the address shows it, Back undoes it, and another tree does not have it."""
    figures, wrong = wanted_tree(tables), []
    bars = [bar for bar in bars_of(figures, "mpi") if " > " in bar[0] and 0.01 < bar[2] < 0.99]
    if not bars:
        return []
    path, left, width = bars[0]
    row = path.count(" > ") + 1
    page.show("contexts&metric=mpi")
    whole = page.ask("return location.hash")
    page.ask(BAR, "dblclick", left + width / 2, row)
    zoomed = page.ask("return location.hash")
    if "zoom=" not in zoomed:
        return [f"the zoom is not in {zoomed}"]

    def top(what, wanted):
        told = page.ask(BAR, "mousemove", 0.001, 0)
        if not same_bar(told, told_bar(figures, wanted)):
            wrong.append(f"{what}: the top is {told}, not {wanted}")
        page.compared["zooms"] += 1
    top("zoomed", path)
    page.driver.back()
    page.settle(whole, "contexts")
    top("back", "")
    page.driver.forward()
    page.settle(zoomed, "contexts")
    top("forward", path)
    page.show("summary").show(zoomed[1:])
    top("a link", path)
    page.ask("const e = document.querySelector('#contexts select'); e.value = 'callers'; e.dispatchEvent(new Event('change'))")
    address = page.ask("return location.hash")
    wrong += [f"another tree has {address}"] if "zoom=" in address else []
    page.show("contexts&metric=mpi&zoom=" + urllib.parse.quote("no > where"))
    top("an unknown zoom", "")
    wrong += [f"an unknown zoom: {notes(page)}"] if notes(page) != ["This tree has no context no > where: the picture has all."] else []
    return wrong


def check_address(page, tables):
    return check_unknown(page, tables) + check_zoom_address(page, tables)
