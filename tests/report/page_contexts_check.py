# SPDX-License-Identifier: BSD-3-Clause
"""The view of contexts of a page: its tree, shapes, metrics and spreads. For page_check.py."""
import collections
import math
import re
import time
import urllib.parse

from page_driver import ns, path_without_lines, people_value, places, rounds_to, rows_of

MPI_COLUMNS = {"mpi": "mpi_exclusive_s", "waiting": "waiting_s", "calls": "calls", "sent": "bytes_sent", "received": "bytes_received"}
METRICS = {"MPI time": "mpi", "waiting in MPI": "waiting", "CPU time": "cpu", "CPU time, own": "cpu_self", "MPI calls": "calls", "sent": "sent",
           "received": "received"}


def wanted_tree(tables):
    """Figures by path of functions: MPI ones summed by path, CPU times as the table of computation has them."""
    wanted = collections.defaultdict(collections.Counter)
    for row in rows_of(tables, "contexts"):
        path = path_without_lines(row).split(" > ")
        for metric, column in MPI_COLUMNS.items():
            value = ns(row[column]) if column.endswith("_s") else int(row[column])
            for n in range(len(path) + 1):
                wanted[" > ".join(path[:n])][metric] += value
    for row in rows_of(tables, "computation"):
        wanted[row["path"]]["cpu"] += ns(row["cpu_inclusive_s"])
        wanted[row["path"]]["cpu_self"] += ns(row["cpu_exclusive_s"])
        if " > " not in row["path"]:
            wanted[""]["cpu"] += ns(row["cpu_inclusive_s"])
    return {path: {k: v for k, v in figures.items() if v} for path, figures in wanted.items()}


def own_figures(tables):
    """Paths as lists of functions, and what each has of its own."""
    for row in rows_of(tables, "contexts"):
        yield path_without_lines(row).split(" > "), {
            metric: ns(row[column]) if column.endswith("_s") else int(row[column]) for metric, column in MPI_COLUMNS.items()}
    for row in rows_of(tables, "computation"):
        yield row["path"].split(" > "), {"cpu": ns(row["cpu_exclusive_s"])}


def wanted_shape(tables, shape, focus, ignore):
    """The figures of a shape, of the paths with and without an expression."""
    wanted = collections.defaultdict(collections.Counter)
    for path, own in own_figures(tables):
        if focus and not any(re.search(focus, label, re.I) for label in path) or \
                ignore and any(re.search(ignore, label, re.I) for label in path):
            continue
        order = path[::-1] if shape == "callers" else path
        for place in {"", *path} if shape == "flat" else {" > ".join(order[:n]) for n in range(len(order) + 1)}:
            wanted[place].update(own)
        if shape != "callers" and "cpu" in own:
            wanted[path[-1] if shape == "flat" else " > ".join(path)]["cpu_self"] += own["cpu"]
    wanted = {path: {k: v for k, v in figures.items() if v} for path, figures in wanted.items()}
    return {path: figures for path, figures in wanted.items() if figures}


def check_shapes(page, tables):
    wrong = []
    labels = sorted({label for path, _ in own_figures(tables) for label in path if re.fullmatch(r"\w+(@[\w.]+)?", label)})
    some = labels[len(labels) // 2] if labels else "none"
    for shape, focus, ignore in (("callers", "", ""), ("flat", "", ""), ("tree", some, ""), ("tree", "", some),
                                 ("callers", some, ""), ("flat", "", "MPI_[A-M]")):
        wanted = wanted_shape(tables, shape, focus, ignore)
        page.show(f"contexts&shape={shape}&focus={urllib.parse.quote(focus)}&ignore={urllib.parse.quote(ignore)}")
        seen, differs = read_tree(page)
        seen = {path: figures for path, figures in seen.items() if figures}
        wrong += [f"{shape} of {focus}, not {ignore}: {line}" for line in differs]
        wrong += [f"{shape} of {focus}, not {ignore}: {path}: {seen.get(path)}, not {wanted.get(path)}"
                  for path in sorted(set(wanted) | set(seen)) if seen.get(path) != wanted.get(path)]
    page.show("contexts")
    wrong += [f"{label} is shown as {title}" for label, title in page.ask(
        "return [...document.querySelectorAll('#tree tbody tr')].map(row => [row.node.label, row.cells[0].title])")
        if label and len(label) < 200 and places(label) not in (None, title)]
    whole = wanted_tree(tables)
    page.show("contexts&metric=calls&least=5")
    seen, _ = read_tree(page)
    calls = {path: figures.get("calls", 0) for path, figures in whole.items()}
    if any(calls.values()):
        kept = {path for path, n in calls.items() if n >= 0.05 * calls[""]}
        wrong += [f"rows from 5 %: {sorted(seen)}, not {sorted(kept)}"] if set(seen) != kept else []
    return wrong + check_spread(page, tables)


def extra_metrics(page, tables):
    """{head: {path: (exact figure, the text that is shown where that is known)}} of what is a column when it is chosen: what
    events came to and fields of plugins there and below, estimates and ratios of the row alone."""
    wanted = collections.defaultdict(dict)
    paths = lambda path: [" > ".join(path[:n]) for n in range(len(path) + 1)]
    for row in rows_of(tables, "counts"):
        path = [re.sub(r"(@.*):\d+$", r"\1", frame) for frame in row["path"].split(" > ")] if row["path"] else []
        for place in paths(path) if int(row["count"]) else ():
            wanted[row["event"]][place] = wanted[row["event"]].get(place, 0) + int(row["count"])
    for table, head, value in (("estimates", "{event}, own, estimated", "estimate"), ("ratios", "{ratio}, {unit}, of {of}", "value")):
        for row in rows_of(tables, table):
            wanted[head.format(**row)][row["path"]] = row[value], row["error"], row["mark"]
    heads, rows = page.by_context
    fields = [head for head in heads if "." in head and head + ".max" not in heads and head.count(".") == 1]
    for row in (dict(zip(heads, row)) for row in rows):
        path = path_without_lines(row).removesuffix(" > ").split(" > ")
        for field in fields:
            value = ns(row[field]) if "." in row[field] else int(row[field] or 0)
            for place in paths(path) if value else ():
                had = wanted[field].get(place, 0)
                wanted[field][place] = max(had, value) if field.startswith("volume.largest") else had + value
    return wanted


def check_metrics(page, tables):
    """What is chosen to measure contexts by is a column with the figures of the tables, and all is to be chosen."""
    page.show("contexts")
    if page.ask("return document.getElementById('tree') === null"):
        return []
    wrong, wanted = [], extra_metrics(page, tables)
    offered = page.ask("return [...document.querySelectorAll('#contexts .controls select')[1].options].map(e => [e.value, e.text])")
    if {head for _, head in offered} - set(METRICS) != {head for head, figures in wanted.items() if figures}:
        wrong.append(f"offers {offered}, not {sorted(wanted)}")
    for name, head in offered:
        if head in METRICS:
            continue
        page.show("contexts&metric=" + urllib.parse.quote(name))
        seen = read_column(page, head)
        if set(seen) != set(wanted[head]):
            wrong.append(f"{head}: rows {sorted(seen)}, not {sorted(wanted[head])}")
        for path, (exact, shown) in seen.items():
            if not same_metric(exact, shown, wanted[head].get(path)):
                wrong.append(f"{head} of {path}: {shown} ({exact}), not {wanted[head].get(path)}")
    return wrong


def same_metric(exact, shown, wanted):
    """A sum, or an estimate with its error and the word for what it lacks."""
    if not isinstance(wanted, tuple):
        return wanted is not None and (ns(exact) if "." in exact else int(exact)) == wanted and rounds_to(shown, exact)
    value, error, mark = wanted
    if not math.isclose(float(exact), float(value), rel_tol=2e-9):
        return False
    if mark == "few":
        return shown == "few"
    parts = [people_value(part) for part in shown.removesuffix(" " + mark).strip().split(" ± ")]
    return shown.endswith(mark) and len(parts) <= 2 and all(part and abs(part[0] - float(text)) <= part[1] + 5.01e-4 * float(text)
                                                         for part, text in zip(parts, (value, error)))


def read_column(page, head):
    """{path: [exact figure, as it is shown]} of the column with this head."""
    show_all_rows(page)
    return dict(page.ask("""
        const at = [...document.querySelectorAll('#tree th')].findIndex(e => e.textContent === arguments[0]);
        return [...document.querySelectorAll('#tree tbody tr')].filter(row => row.cells[at].textContent).map(row =>
            [row.node.path, [row.cells[at].title, row.cells[at].textContent]])""", head))


def check_spread(page, tables):
    """The ranks with least and most of a call, told of the row that is selected."""
    wrong = []
    for row in rows_of(tables, "contexts")[:5]:
        page.show("contexts&context=" + row["context"])
        for word, time, rank in (("least", "rank_min_s", "min_rank"), ("most", "rank_max_s", "max_rank")):
            told = page.ask("return [...document.querySelectorAll('#details ul .' + arguments[0])].map("
                            "e => [e.title, e.nextElementSibling.textContent])", word)
            if row[rank] and [row[time], "rank " + row[rank]] not in told:
                wrong.append(f"{row['path']}, {row['primitive']}: {word} {told}, not {row[time]} on {row[rank]}")
    return wrong

PICTURE_DIGITS, PICTURE_BARS = 61, 32


def wanted_spreads(page):
    """{time: {path: {rank: ns}}} of all that was called from a path, added up from the rows of contexts and ranks."""
    wanted = {"mpi": collections.defaultdict(collections.Counter), "cpu": collections.defaultdict(collections.Counter)}
    head, rows = page.by_rank
    for row in (dict(zip(head, row)) for row in rows):
        if not row["rank"]:
            continue
        path = path_without_lines(row).removesuffix(" > ").split(" > ")
        for time, column in (("mpi", "mpi_exclusive_s"), ("cpu", "cpu_exclusive_s")):
            for n in range(len(path) + 1) if ns(row[column]) else ():
                wanted[time][" > ".join(path[:n])][int(row["rank"])] += ns(row[column])
    return wanted


def check_context_waiting(page, tables):
    """Contexts share the wait of their function by how much longer ranks are there than the rank that is longest outside.
    Rows of one context that differ by line alone have no values by rank here: of their functions the sum is compared."""
    outside = {row["rank"]: ns(row["compute_s"]) for row in rows_of(tables, "ranks")}
    longest = max(outside, key=outside.get) if outside else None
    functions = {row["primitive"]: row for row in rows_of(tables, "primitives")}
    contexts = list(rows_of(tables, "contexts"))
    rows = collections.Counter((row["primitive"], row["context"]) for row in contexts)
    by_line = {primitive for (primitive, _), n in rows.items() if n > 1}
    spent = collections.defaultdict(collections.Counter)
    for row in (dict(zip(page.by_rank[0], row)) for row in page.by_rank[1]):
        if row["rank"] and row["primitive"] and functions[row["primitive"]]["class"] != "environment":
            spent[row["primitive"], row["context"]][row["rank"]] += ns(row["mpi_exclusive_s"])
    longer = {key: sum(max(0, value - by[longest]) for value in by.values()) for key, by in spent.items()}
    whole, waits, wrong = collections.Counter(), collections.Counter(), []
    for (primitive, _), value in longer.items():
        whole[primitive] += value
    for row in contexts:
        waited = ns(functions[row["primitive"]]["waiting_s"])
        waits[row["primitive"]] += ns(row["waiting_s"])
        share = longer.get((row["primitive"], row["context"]), 0)
        wanted = share and share * min(1, waited / whole[row["primitive"]])
        if row["primitive"] not in by_line and abs(ns(row["waiting_s"]) - wanted) > 2:
            wrong.append(f"{row['primitive']} in {row['path']} waits {row['waiting_s']}, not {wanted} ns")
    for primitive, value in waits.items():
        if abs(value - ns(functions[primitive]["waiting_s"])) > len(contexts):
            wrong.append(f"contexts of {primitive} wait {value} ns, not {functions[primitive]['waiting_s']}")
    return wrong


def spread_places(values):
    """{word: (ns, rank)}; of equal ranks the lowest, but of the median one that has it. Two ranks have no median."""
    order = sorted((value, rank) for rank, value in values.items())
    most = min((rank for value, rank in order if value == order[-1][0]))
    places = {"min": order[0], "median": order[(len(order) - 1) // 2], "max": (order[-1][0], most)}
    return places if len(values) > 2 else {word: places[word] for word in ("min", "max")}


def check_spreads(page, tables):
    """Pictures of all rows of the tree, exact figures of some, and colours by imbalance of its bars."""
    wrong, ranks = [], [int(row["rank"]) for row in rows_of(tables, "ranks")]
    for time, wanted in wanted_spreads(page).items():
        page.show("contexts&metric=" + time)
        rows = page.ask("""return [...document.querySelectorAll('#tree tbody tr')].map(row => [row.node.path,
            row.querySelector('.spread path')?.getAttribute('d') || '', row.querySelector('.spread title')?.textContent || ''])""")
        if page.ask("return !document.querySelector('#tree th:last-child')?.innerText.toLowerCase().startsWith(arguments[0])", time):
            continue
        for path, drawn, title in rows:
            values, bars = wanted.get(path, {}), min(len(ranks), PICTURE_BARS)
            seen = {int(x): int(height) for x, height in re.findall(r"M(\d+) \d+v-(\d+)", drawn)}
            most, heights = max(values.values(), default=0), {}
            for k in range(bars):
                part = ranks[k * len(ranks) // bars:(k + 1) * len(ranks) // bars]
                peak = max(values.get(rank, 0) for rank in part)
                if peak:
                    heights[k] = 1 + int(peak / most * (PICTURE_DIGITS - 1))
            if seen != heights:
                wrong.append(f"{time} of {path}: bars {seen}, not {heights}")
            told = {word: (value, int(rank)) for word, value, rank in re.findall(r"(\w+) ([^,]+?) on rank (-?\d+)", title)}
            places = spread_places(values) if values else {}
            if set(told) - set(places):
                wrong.append(f"{time} of {path}: {title}, of {len(values)} ranks")
            for word, (value, rank) in places.items():
                if word not in told or told[word][1] != rank or not rounds_to(told[word][0], str(value / 1e9)):
                    wrong.append(f"{time} of {path}: {title}, not {word} {value} ns on {rank}")
        for path, _, _ in rows[:4]:
            page.ask("const row = [...document.querySelectorAll('#tree tbody tr')].find(e => e.node.path === arguments[0]);"
                     "if (row.ariaSelected === 'false') row.click()", path)
            places = spread_places(wanted[path]) if wanted.get(path) else {}
            for word, (value, rank) in places.items():
                told = page.ask("const e = document.querySelector('#details .over-' + arguments[0]);"
                                "return e && [e.title, e.nextElementSibling.textContent]", word)
                if not told or ns(told[0]) != value or told[1] != f"rank {rank}":
                    wrong.append(f"{time} of {path}, chosen: {word} {told}, not {value} ns on {rank}")
    return wrong


def show_all_rows(page):
    page.ask("for (let more; (more = document.querySelector('#left-out button')); ) more.click()")


def read_tree(page):
    """Exact figures by path, and those that are shown otherwise."""
    show_all_rows(page)
    rows = page.ask("""
        const heads = [...document.querySelectorAll('#tree th')].map(e => e.innerText);
        return [...document.querySelectorAll('#tree tbody tr')].map(row => [row.node.path,
            [...row.cells].slice(1).map((cell, i) => [heads[i + 1], cell.title, cell.innerText]).filter(
                ([head]) => !head.endsWith('over ranks'))])""")
    seen, wrong = {}, []
    for path, cells in rows:
        seen[path] = {}
        for head, title, shown in cells:
            if not title:
                continue
            metric = METRICS[head]
            is_time = metric in ("mpi", "waiting", "cpu", "cpu_self")
            seen[path][metric] = ns(title) if is_time else int(title)
            if not rounds_to(re.sub(r" (few|± .*)$", "", shown), title):
                wrong.append(f"{path}: {head} {shown}, not {title}")
    return seen, wrong


def check_contexts(page, tables):
    wanted = wanted_tree(tables)
    page.show("contexts")
    seen, wrong = read_tree(page)
    if not any(wanted.values()):
        return wrong if not seen else ["a tree of nothing"]
    for path in sorted(set(wanted) | set(seen)):
        if seen.get(path) != wanted.get(path):
            wrong.append(f"{path}: {seen.get(path)}, not {wanted.get(path)}")
    return wrong
