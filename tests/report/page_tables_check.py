# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a page, sorted, filtered and copied, and its print form. For page_check.py."""
import base64
import math
import os
import re

from page_contexts_check import read_tree, wanted_tree
from page_driver import is_short, lacks_open, ns, places, rounds_to, rows_of, same_value, wanted_pairs
from page_objects_check import has_teams
from page_ranks_check import compare_cells, least_and_greatest, rank_cells, wanted_ranks


def check_tables(page, tables):
    wrong = []
    for name, (head, rows) in tables.items():
        page.show("tables&table=" + name)
        wrong += check_enter(page)
        people, exact = page.ask("""
            const cells = () => [...document.querySelectorAll('#table tbody tr')].map(
                row => [...row.cells].map(cell => cell.textContent));
            for (let more; (more = document.querySelector('#table .cut button')); )
                more.click();
            const people = cells();
            document.getElementById('exact').click();
            for (let more; (more = document.querySelector('#table .cut button')); )
                more.click();
            return [people, cells()]""")
        if page.ask("return [...document.querySelectorAll('#table th')].map(e => e.innerText.trim())") != head and rows:
            wrong.append(f"{name}: other columns than {head}")
        if len(exact) != min(len(rows), math.ceil(1500 / len(head))):
            wrong.append(f"{name}: {len(exact)} rows, not {len(rows)}")
        told = page.ask("return [document.querySelector('#tables option:checked').textContent, document.getElementById('rows').textContent]")
        wanted = [f"{name} ({len(rows):,})", f"{len(exact):,} of {len(rows):,} row{'s' * (len(rows) != 1)}"]
        if not all(text.startswith(start) for text, start in zip(told, wanted)):
            wrong.append(f"{name}: the page says {told}, not {wanted}")
        for i, row in enumerate(rows[:len(exact)]):
            for column, seen, shown, value in zip(head, exact[i], people[i], row):
                if not same_value(seen, value):
                    wrong.append(f"{name}, row {i}, {column}: {seen}, not {value}")
                elif column in ("path", "caller") or column == "function" and "path" in head:
                    if places(value) not in (None, shown) and (shown, value) != ("-", ""):
                        wrong.append(f"{name}, row {i}, {column}: {shown} for {value}")
                elif (not rounds_to(shown.removesuffix(" %"), value) and not is_short(shown, value)
                      and not (column == "function" and places(value) == shown)):
                    wrong.append(f"{name}, row {i}, {column}: {shown} for {value}")
    return wrong + check_list(page, tables) + check_last_row(page, tables) + check_order(page, tables) + check_filter(page, tables)


OF_VIEWS = {"nodes", "rank,primitive", "rank,context", "instruction_figures", "called", "read_lines", "curves"}


def check_list(page, tables):
    """The list of tables has those with rows, without those that only views need; those without rows are told apart."""
    page.show("tables")
    listed, empty = page.ask("return ['#tables select option', '#empty li a'].map(e => [...document.querySelectorAll(e)].map(e => e.value ?? e.textContent))")
    wanted = {name for name, (_, rows) in tables.items() if rows} - OF_VIEWS | {page.ask("return document.querySelector('#tables select').value")}
    page.compared["empty-tables"] += len(empty)
    wrong = [f"tables without rows: {empty}"] if any(tables.get(name, ((), ()))[1] for name in empty) or OF_VIEWS & set(empty) else []
    return wrong + ([] if set(listed) == wanted else [f"tables in the list: {sorted(listed)}, not {sorted(wanted)}"])


def check_enter(page):
    """Enter on a button of a row that can be chosen is for the button. In Firefox no key that is sent activates a button."""
    if not hasattr(page.driver, "execute_cdp_cmd"):
        return []
    cut = "'#table [tabindex] .cut button'"
    before = page.ask(f"const cut = document.querySelectorAll({cut}); cut[0]?.focus(); return cut.length")
    if not before:
        return []
    page.send_keys("\ue006")
    page.compared["opened-by-key"] += 1
    after = page.ask(f"return document.querySelectorAll({cut}).length")
    return [] if after == before - 1 else [f"Enter on one of {before} cut texts leaves {after}"]


def check_last_row(page, tables):
    """A row that is selected is shown, however far down, and no more rows than otherwise; all are copied."""
    head, rows = tables.get("ranks", ((), ())) # a page of several profiles has none
    if not rows:
        return []
    most, last = math.ceil(1500 / len(head)), rows[-1][head.index("rank")]
    page.show(f"tables&table=ranks&rank={last}")
    seen = page.ask("return [...document.querySelectorAll('#table tbody tr')].map(row => [row.ariaSelected, row.cells[0].title])")
    wrong = [] if ["true", rows[-1][0]] in seen and len(seen) <= most else [f"{len(seen)} rows, rank {last} is not selected"]
    if len(copied_rows(page)) != len(rows) + 1:
        wrong.append(f"{len(copied_rows(page))} lines are copied")
    if len(rows) > most:
        page.ask("[...document.querySelectorAll('#rows button')].find(e => e.textContent === 'Show the first').click()")
        first = page.ask("return document.querySelector('#table tbody tr').cells[0].title")
        wrong += [f"the first row is {first}"] if first != rows[0][0] else []
    return wrong


def copied_rows(page):
    """What the button copies, as rows of cells."""
    copied = page.ask("""
        let text;
        document.execCommand = () => { text = document.activeElement.value; return true; };
        [...document.querySelectorAll('#tables button')].find(e => e.textContent === 'Copy as TSV').click();
        return text""")
    return [line.split("\t") for line in copied.split("\n")[:-1]]


def same_rows(seen, wanted):
    return len(seen) == len(wanted) and all(
        len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b)) for a, b in zip(seen, wanted))


def check_numbers(page, _):
    """Each number and name of the tables of text_test.c and names_test.c has the text there that the report gives it."""
    with open(os.path.join(os.path.dirname(__file__), "../../page/units.js"), encoding="utf-8") as f:
        seen, names = page.ask(f.read() + """
            const forms = {forPeople, exactly};
            return [arguments[0].map(([form, type, value]) => forms[form](type, Number(value))),
                arguments[1].map(([name, , ...others]) => shortName(name, others))]""", page.numbers, page.names)
    page.compared["numbers"] += len(seen)
    page.compared["names"] += len(names)
    return [f"{form} {type_} {value}: {shown}, not {text}"
            for shown, (form, type_, value, text) in zip(seen, page.numbers) if shown != text] + [
                f"{name}: {shown}, not {text}" for shown, (name, text, *_) in zip(names, page.names) if shown != text]


def check_order(page, tables):
    """Rows that are filtered by an expression and sorted by a column: numbers from the greatest on, texts from the least on,
    the other way at the second click, as the head of the column says; the copy has all of them as `report --format tsv`
    does."""
    wrong = []
    for name in ("contexts", "primitives", "ranks"):
        head, rows = tables.get(name, ((), ()))
        page.show("tables&table=" + name)
        if not rows:
            continue
        if not same_rows(copied_rows(page), [head, *rows]):
            wrong.append(f"{name}: the copy is not the table")
        expression = "[2468]" if name == "ranks" else "MPI_[A-S]"
        filtered = [row for row in rows if any(re.search(expression, cell, re.I) for cell in row)]
        page.ask("const e = document.getElementById('search'); e.value = arguments[0]; e.dispatchEvent(new Event('input'))", expression)
        for column in ("primitive", "calls", "wall_s", "host"):
            if column not in head:
                continue
            k = head.index(column)
            numbers = column in ("calls", "wall_s")
            key = lambda row: (not row[k], -float(row[k] or 0) if numbers else row[k])
            wanted = sorted(filtered, key=key)
            for order in (wanted, None):
                page.ask("document.querySelectorAll('#table th button')[arguments[0]].click()", k)
                page.until("return document.getElementById('rows').textContent !== 'Searching.'")
                seen = copied_rows(page)[1:]
                right = same_rows(seen, wanted) if order else [row[k] for row in seen] == [row[k] for row in wanted[::-1]]
                shown = page.ask("return [...document.querySelectorAll('#table tbody tr')].map(row => row.cells[arguments[0]].title)", k)
                if not right or shown != [row[k] for row in seen][:len(shown)] or bool(shown) != bool(seen):
                    wrong.append(f"{name} by {column}: {[row[k] for row in seen][:9]}, shown {shown[:9]}, not {[row[k] for row in wanted][:9]}")
                told = page.ask("return [...document.querySelectorAll('#table th')].map(e => e.ariaSort)")
                rises = "descending" if numbers == (order is not None) else "ascending"
                if told != [rises if i == k else None for i in range(len(head))]:
                    wrong.append(f"{name} by {column}: the heads say {told}, not {rises}")
                page.compared["sorted"] += len(seen)
    return wrong


def filter_rows(page, expression):
    """The numbers of rows that are found, and what is said of an expression that is not valid."""
    page.ask("const e = document.getElementById('search'); e.value = arguments[0]; e.dispatchEvent(new Event('input'))", expression)
    page.until("return document.getElementById('rows').textContent !== 'Searching.'")
    return page.ask("return [[...document.querySelectorAll('#table tbody tr')].map(row => row.innerText),"
                    "document.getElementById('search').ariaInvalid, document.getElementById('wrong')?.innerText]")


def check_filter(page, tables):
    """A filter finds what is shown, and says if it is not valid; it and the order are in the address."""
    wrong = []
    for name in ("primitives", "ranks"):
        head, rows = tables.get(name, ((), ()))
        if not rows:
            continue
        page.show("tables&table=" + name)
        all_rows = page.ask("return [...document.querySelectorAll('#table tbody tr')].map(row => row.innerText)")
        shown = page.ask("return [...document.querySelectorAll('#table tbody tr')].map(row => [...row.cells].map(c => c.textContent))")
        exact = {cell for row in rows for cell in row}
        for text in [cell for row in shown for cell in row if cell not in exact and re.search(r"\d[ ,]", cell)][:2]:
            wanted = [line for line, cells in zip(all_rows, shown) if any(text in cell for cell in cells)]
            seen = filter_rows(page, re.escape(text))
            # Of a long table the first rows are shown at once.
            right = seen[0][:len(wanted)] == wanted and seen[1:] == ["false", ""]
            wrong += [] if right else [f"{name}: {text} finds {seen[0][:9]}, {seen[1:]}, not {wanted[:9]}"]
            page.compared["filtered-by-shown"] += 1
        seen = filter_rows(page, "[")
        if seen[0][:len(all_rows)] != all_rows or seen[1:] != ["true", "Not a regular expression, and not used: ["]:
            wrong.append(f"{name}: an expression that is not valid: {seen}")
        filter_rows(page, "[0-4]")
        for _ in range(2):
            page.ask("document.querySelector('#table th button').click()")
        page.until("return document.getElementById('rows').textContent !== 'Searching.'")
        read = """return [[...document.querySelectorAll('#table tbody tr')].map(row => row.innerText), document.querySelector('#table th').ariaSort,
            document.getElementById('search').value]"""
        wanted, address = page.ask(read), page.ask("return location.hash")
        page.show("summary").show(address[1:]).until("return document.getElementById('rows').textContent !== 'Searching.'")
        seen = page.ask(read)
        wrong += [f"{name}: {address} shows {seen}, not {wanted}"] if seen != wanted or seen[2] != "[0-4]" else []
    return wrong


def check_print(page, tables):
    """All parts are there, the figures of functions are those of the table, and it is a few pages of paper."""
    wrong = []
    page.show("print")
    titles = page.ask("return [...document.querySelectorAll('#print h2')].map(e => e.textContent)")
    known = any(row["inside_s"] and ns(row["wall_s"]) for row in rows_of(tables, "ranks"))
    parts = ["What the run loses", "The run"] + ["Where the time of the ranks goes"] * known + [
        "MPI functions"] * bool(tables["primitives"][1]) + ["Contexts with one percent and more", "Ranks"]
    parts += ["Course of the run"] if tables.get("series", ((), ()))[1] else []
    parts += ["Communication"] if tables.get("pairs", ((), ()))[1] else []
    parts += ["Threads"] * has_teams(tables) + [name.capitalize() for name in ("files", "windows") if tables.get(name, ((), ()))[1]]
    if titles != parts:
        wrong.append(f"the parts are {titles}, not {parts}")
    if page.ask("return [...document.querySelectorAll('#print .controls')].some(e => e.checkVisibility())"):
        wrong.append("controls are shown")
    seen = page.ask("return [...document.querySelectorAll('#functions tbody tr')].map("
                    "r => [...r.cells].map(c => [c.textContent, c.title]))")
    heads = page.ask("return [...document.querySelectorAll('#functions thead th')].map(e => e.textContent)")
    if tables["primitives"][1] and heads != ["primitive", "calls", "time", "of MPI", "mean", "sent", "received"]:
        wrong.append(f"the columns of functions are called {heads}, not as in the report")
    columns = ["primitive", "calls", "time_s", "mpi_exclusive_percent", "mean_s", "bytes_sent", "bytes_received"]
    rows = rows_of(tables, "primitives")[:20]
    if len(seen) != len(rows):
        wrong.append(f"{len(seen)} functions, not {len(rows)}")
    for cells, row in zip(seen, rows):
        for (shown, exact), name in zip(cells, columns):
            if not same_value(exact, row[name]) or not (name == "primitive" or rounds_to(shown.replace(" %", ""), row[name])):
                wrong.append(f"{row['primitive']} {name}: {shown} ({exact}), not {row[name]}")
    wrong += lacks_open(page, tables, titles.count("MPI functions") + titles.count("Contexts with one percent and more") +
                        titles.count("Course of the run"))
    wrong += check_printed(page, tables)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 720, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    narrow, width = page.ask("""return [[...document.querySelectorAll('#tree .label')].filter(e => e.getBoundingClientRect().width < 100).length,
        document.documentElement.scrollWidth]""")
    if narrow or width > 720:
        wrong.append(f"on paper {narrow} names of the tree are narrow, and the page is {width} wide")
    buttons = page.ask("""return [...document.querySelectorAll('#print button:not(.link, thead button)')]
        .filter(e => e.checkVisibility()).map(e => e.textContent)""")
    if buttons:
        wrong.append(f"on paper there are the buttons {buttons}")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    pdf = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    if not 1 <= pages <= 20:
        wrong.append(f"{pages} pages")
    return wrong


def check_printed(page, tables):
    """The figures of contexts, ranks and pairs in the print form."""
    whole, wrong = wanted_tree(tables), []
    if any(whole.values()):
        seen, wrong = read_tree(page)
        times = [time for time in ("mpi", "cpu") if time in whole[""]] or [next(iter(seen[""]))]
        keeps = {time: {path for path, of in whole.items() if of.get(time, 0) >= 0.01 * whole[""][time]}
                 for time in times}
        kept = {path: whole[path] for path in set().union(*keeps.values())}
        page.compared["printed-for-cpu"] += len(set(kept) - keeps[times[0]])
        legend = page.ask("return document.querySelector('#print .legend:not(.colours):not(#thin)').innerText")
        wrong += [f"nothing is chosen in print, but: {legend}"] if "chosen" in legend else []
        wrong += [f"{path} is printed as {seen.get(path)}, not {kept.get(path)}" for path in set(seen) | set(kept)
                  if seen.get(path) != kept.get(path)]
    ranks, cells = [row["rank"] for row in rows_of(tables, "ranks")], rank_cells(page, "heat")
    wanted = wanted_ranks(page, tables, "time", "primitive") or wanted_ranks(page, tables, "cpu", "primitive")
    wrong += compare_cells("printed", cells, {label: least_and_greatest(values, ranks)
                                              for label, values in wanted.items() if any(values[rank] for rank in ranks)}, "time")
    if tables.get("pairs", ((), ()))[1]:
        sums = wanted_pairs(page, tables, "rank", "sent")[0]
        seen = page.ask("return [...document.querySelectorAll('#pairs tbody tr')].map(row => Number(row.cells[2].title))")
        wrong += [f"pairs are printed as {seen}"] if seen != sorted(sums.values(), reverse=True)[:20] else []
    return wrong
