# SPDX-License-Identifier: BSD-3-Clause
"""The view of contexts of a page: its tree, shapes, metrics and spreads. For page_check.py."""
import collections
import itertools
import math
import re
import time
import urllib.parse

from page_driver import lacks_open, ns, path_without_lines, people_value, places, rounds_to, rows_of

MPI_COLUMNS = {"mpi": "mpi_exclusive_s", "waiting": "waiting_s", "calls": "calls", "sent": "bytes_sent", "received": "bytes_received"}
METRICS = {"MPI time": "mpi", "waiting in MPI": "waiting", "CPU time": "cpu", "CPU time, own": "cpu_self", "MPI calls": "calls", "sent": "sent",
           "received": "received"}


def wanted_tree(tables):
    """Figures by path of functions: MPI ones summed by path, CPU times as the table of computation has them."""
    wanted = collections.defaultdict(collections.Counter)
    for row in rows_of(tables, "contexts"):
        path = path_without_lines(row).split(" > ")
        for metric, column in MPI_COLUMNS.items():
            value = ns(row[column]) if column.endswith("_s") else int(row[column] or 0)
            for n in range(len(path) + 1):
                wanted[" > ".join(path[:n])][metric] += value
    for row in rows_of(tables, "computation"):
        wanted[row["path"]]["cpu"] += ns(row["cpu_inclusive_s"])
        wanted[row["path"]]["cpu_self"] += ns(row["cpu_exclusive_s"])
        if " > " not in row["path"]:
            wanted[""]["cpu"] += ns(row["cpu_inclusive_s"])
    return {path: {k: v for k, v in figures.items() if v} for path, figures in wanted.items()}


def tell_no_contexts(tables):
    """Why a profile has none. The profiles of the tests in which calls are counted lack the plugin time."""
    calls = "".join(row["mpi_calls"] for row in rows_of(tables, "header"))
    return "The profile has no contexts: " + ("nothing was sampled." if not calls
        else "no MPI function was called and nothing was sampled." if calls == "0"
        else "calls were not recorded, because the plugin time was not loaded.")


def own_figures(tables):
    """Paths as lists of functions, and what each has of its own."""
    for row in rows_of(tables, "contexts"):
        yield path_without_lines(row).split(" > "), {
            metric: ns(row[column]) if column.endswith("_s") else int(row[column] or 0)
            for metric, column in MPI_COLUMNS.items()}
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
    wrong += check_own_time(page, tables) + check_names(page) + check_bar_names(page) + check_zoom(page, tables)
    return wrong + check_least(page, tables) + check_spread(page, tables)


def check_own_time(page, tables):
    """Bottom-up there is CPU time alone, which is that of the function itself: the choice, the columns and the order are by it."""
    if not any("cpu" in figures for figures in wanted_tree(tables).values()):
        return []
    wrong = []
    for shape, head, says in (("callers", "CPU time", True), ("flat", "CPU time, own", False)):
        page.show(f"contexts&metric=cpu_self&shape={shape}")
        choice, seen, order, legend = page.ask("""
            const select = [...document.querySelectorAll('#contexts .controls select')][1];
            return [select.selectedOptions[0].text, document.querySelectorAll('#tree th')[1].innerText,
                [...document.querySelectorAll('#tree tbody tr')].filter(row => row.node.level === 1).map(row => row.node.figures[arguments[0]] || 0),
                document.querySelector('#contexts .legend:not(.colours):not(#thin)').innerText]""", "cpu" if says else "cpu_self")
        if (choice, seen) != (head, head) or order != sorted(order, reverse=True) or ("There is no CPU time, own here" in legend) != says:
            wrong.append(f"own CPU time, {shape}: chosen {choice}, column {seen}, order {order[:9]}, {legend}")
    return wrong


def check_names(page):
    """Names are those of their labels, and a line may break behind their parts."""
    page.show("contexts")
    pieces = page.ask("""return [...document.querySelectorAll('#tree .label')].flatMap(cell =>
        cell.innerHTML.replace(/<(?!wbr)[^>]*>/g, '').split('<wbr>'))""")
    whole = [piece for piece in pieces if re.search(r"(::|_).", piece)]
    return [f"no line can break in {whole[:9]}"] * bool(whole) + [f"{label} is shown as {title}" for label, title in page.ask(
        "return [...document.querySelectorAll('#tree tbody tr')].map(row => [row.node.label, row.cells[0].title])")
        if label and len(label) < 200 and places(label) not in (None, title)]


def check_bar_names(page):
    """Names in the picture of the tree: each has room in its bar, and is whole, without its place, or marked as cut."""
    page.ask("""
        const pen = CanvasRenderingContext2D.prototype, {fillRect, fillText} = pen;
        window.drawn = [];
        pen.fillRect = function(x, y, width, height) {
            this.right = x + width;
            fillRect.call(this, x, y, width, height);
        };
        pen.fillText = function(text, x, y) {
            window.drawn.push([text, x + this.measureText(text).width <= this.right]);
            fillText.call(this, text, x, y);
        };
        window.restore = () => Object.assign(pen, {fillRect, fillText})""")
    page.show("contexts")
    show_all_rows(page)
    narrow = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    page.ask("dispatchEvent(new Event('resize'))")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    drawn, names = page.ask("window.restore(); return [window.drawn, [...document.querySelectorAll('#tree tbody tr')]"
                            ".map(row => row.node.shownName())]")
    known = {name for whole in names for name in (whole, re.sub(r" \([^()]*\)$", "", whole))}
    known |= {re.sub(r"^(.*)([+]0x[0-9a-f]+)$", r"\2 \1", name, flags=re.S) for name in known}
    page.compared["bar-names"] += len(drawn)
    page.compared["cut-bar-names"] += sum(text.endswith("…") for text, _ in drawn)
    return [f"a bar has the name {text}" for text, fits in drawn if text and not (fits and (
            text in known or text.endswith("…") and any(name.startswith(text[:-1]) for name in known)))]


# A line on the bar at a part of the width and a row, after this event there.
BAR = """
    const canvas = document.querySelector('.icicle'), [type, part, row] = arguments;
    for (const each of [type, 'mousemove']) {
        const {left, top, width} = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new MouseEvent(each, {bubbles: true, clientX: left + part * width, clientY: top + 20 * row + 10}));
    }
    return canvas.title.split('\\n').at(-1)"""


def told_bar(figures, path):
    """What is told of a bar: its time, its share of all, what it has of its own."""
    whole, value = figures[""]["mpi"], figures[path]["mpi"]
    below = sum(of.get("mpi", 0) for each, of in figures.items() if each and (each.rpartition(" > ")[0] == path) and each != path)
    return value / 1e9, 100 * value / whole, (value - below) / 1e9


def same_bar(told, wanted):
    seen = re.fullmatch(r"MPI time: (.*), ([\d.]+) % of all; own (.*)", told)
    return seen and rounds_to(seen[1], str(wanted[0])) and abs(float(seen[2]) - wanted[1]) <= 0.0501 and rounds_to(seen[3], str(wanted[2]))


def check_zoom(page, tables):
    """Bars tell their figures. The one that is clicked twice, or chosen and entered, becomes as wide as the picture; a button
    leads back. Rows have the share of all."""
    figures, wrong = wanted_tree(tables), []
    bars = [bar for bar in bars_of(figures, "mpi") if " > " in bar[0] and bar[2] > 0.01]
    if not bars:
        return []
    path, left, width = max(bars, key=lambda bar: any(each.startswith(bar[0] + " > ") for each in figures) and 1 - bar[2])
    row, middle = path.count(" > ") + 1, left + width / 2
    inner = [bar for bar in bars_of(figures, "mpi") if bar[0].rpartition(" > ")[0] == path and bar[2] > 0.01 * width]
    page.show("contexts&metric=mpi")
    steps = [("mousemove", middle, row, path), ("dblclick", middle, row, None), ("mousemove", 0.999, 0, path)]
    steps += [("mousemove", (x + part / 2 - left) / width, 1, each) for each, x, part in inner]
    steps += [(None, "Whole picture", 0, None), ("mousemove", middle, row, path), ("click", middle, row, path),
              (None, "Zoom to the chosen bar", 0, None), ("mousemove", 0.001, 0, path), ("dblclick", 0.5, 0, None),
              ("mousemove", 0.001, 0, path.rpartition(" > ")[0]), ("Enter", None, 0, None), ("mousemove", 0.001, 0, path)]
    for event, at, y, told_path in steps:
        if event is None:
            page.ask("[...document.querySelectorAll('#zoom button')].find(e => e.textContent === arguments[0] && !e.hidden).click()", at)
        elif event == "Enter":
            page.ask("document.querySelector('#tree [aria-selected=true]').dispatchEvent("
                     "new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
        else:
            told = page.ask(BAR, event, at, y)
            if told_path is not None and not same_bar(told, told_bar(figures, told_path)):
                wrong.append(f"{event} at {at}, {y}: {told}, not {told_path} {told_bar(figures, told_path)}")
            page.compared["bars"] += told_path is not None
    page.show("contexts").show("contexts&metric=mpi")
    show_all_rows(page)
    for each, share in page.ask("return [...document.querySelectorAll('#tree tbody tr')].map(row => [row.node.path, row.cells[2].textContent])"):
        value = figures[each].get("mpi")
        if bool(share) != bool(value) or value and abs(float(share.removesuffix(" %")) - 100 * value / figures[""]["mpi"]) > 0.0501:
            wrong.append(f"share of {each}: {share}, not {value} of {figures['']['mpi']}")
    return wrong


def check_least(page, tables):
    """Rows below a share of the whole are hidden."""
    wrong, whole = [], wanted_tree(tables)
    page.show("contexts&metric=calls&least=5")
    seen, _ = read_tree(page)
    calls = {path: figures.get("calls", 0) for path, figures in whole.items()}
    if any(calls.values()):
        kept = {path for path, n in calls.items() if n >= 0.05 * calls[""]}
        wrong += [f"rows from 5 %: {sorted(seen)}, not {sorted(kept)}"] if set(seen) != kept else []
    return wrong


def extra_metrics(page, tables):
    """{head: {path: (exact figure, the text that is shown where that is known)}} of what is a column when it is chosen: what
    events came to and fields of plugins there and below, estimates and ratios of the row alone."""
    wanted = collections.defaultdict(dict)
    paths = lambda path: [" > ".join(path[:n]) for n in range(len(path) + 1)]
    for row in rows_of(tables, "counts"):
        path = path_without_lines({**row, "primitive": ""}).removesuffix(" > ").split(" > ") if row["path"] else []
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
            plugin, name = field.split(".")
            head = f"{name.replace('_', ' ')} ({plugin})"
            for place in paths(path) if value else ():
                had = wanted[head].get(place, 0)
                wanted[head][place] = max(had, value) if field.startswith("volume.largest") else had + value
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
            page.compared["metrics"] += 1
            page.compared["estimates"] += isinstance(wanted[head].get(path), tuple)
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
    """The ranks with least and most of a call, or the only one, told of the row that is selected."""
    wrong = []
    for row in rows_of(tables, "contexts")[:5]:
        page.show("contexts&context=" + row["context"])
        if row["ranks"] == "1" and row["min_rank"]:
            told = page.ask("return [...document.querySelectorAll('#details ul li')].map(e => e.innerText)")
            wrong += [f"{row['path']}: {told}"] if not any(text.endswith(f", on rank {row['min_rank']}") for text in told) else []
            continue
        for word, time, rank in (("least", "rank_min_s", "min_rank"), ("most", "rank_max_s", "max_rank")):
            told = page.ask("return [...document.querySelectorAll('#details ul .' + arguments[0])].map("
                            "e => [e.title, e.nextElementSibling.textContent])", word)
            if row[rank] and [row[time], "rank " + row[rank]] not in told:
                wrong.append(f"{row['path']}, {row['primitive']}: {word} {told}, not {row[time]} on {row[rank]}")
    computed = rows_of(tables, "computation")
    for row in computed[:4] + sorted(computed, key=lambda row: -ns(row["cpu_exclusive_s"]))[:4]:
        page.show("contexts&context=" + (row["context"] or urllib.parse.quote(row["path"])))
        told = page.ask("return [...document.querySelectorAll('#details .samples')].map(e => [e.querySelector('.own')?.title, e.innerText])")
        if [exact for exact, _ in told] != [row["cpu_exclusive_s"]] * (ns(row["cpu_exclusive_s"]) > 0) or \
                any(text.startswith("CPU time of its own, by samples: ") is False for _, text in told):
            wrong.append(f"{row['path']}: own CPU time {told}, not {row['cpu_exclusive_s']}")
        page.compared["own"] += len(told)
        page.compared["no-own"] += not told
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
        if row["rank"] and row["primitive"] and (row["primitive"] == "MPI_Finalize" or
                                                 functions[row["primitive"]]["class"] != "environment"):
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
    """Pictures of all rows of the tree, and exact figures of some."""
    wrong, ranks = [], [int(row["rank"]) for row in rows_of(tables, "ranks")]
    for time, wanted in wanted_spreads(page).items():
        page.show("contexts&metric=" + time)
        if len(ranks) == 1:
            if page.ask("return document.querySelector('#tree .spread') !== null"):
                wrong.append(f"{time}: a picture of one rank")
            continue
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


def told_error(shown, title, error):
    """True if a time is shown with the error that the report gives it, or with the word for its lack."""
    if not error:
        return shown.endswith(" few")
    parts = [people_value(part) for part in shown.split(" ± ")]
    return all(part and abs(part[0] - float(text)) <= part[1] + 5.01e-4 * float(text) for part, text in zip(parts, (title, error))) \
        and len(parts) == (2 if float(error) > 1e-5 * float(title) else 1)


def check_errors(page, tables):
    """CPU times of the tree have the errors of `computation`."""
    wrong = []
    page.show("contexts")
    for head, time in (("CPU time", "cpu_inclusive"), ("CPU time, own", "cpu_exclusive")):
        rows = {row["path"]: row for row in rows_of(tables, "computation") if ns(row[time + "_s"])}
        seen = {path: cell for path, cell in read_column(page, head).items() if path} if rows else {}
        wrong += [f"{head} of {path}: {shown}, not {rows.get(path)}" for path, (title, shown) in seen.items()
                  if path not in rows or not told_error(shown, title, rows[path][time + "_error_s"])]
        wrong += [f"{head}: rows {sorted(seen)}, not {sorted(rows)}"] if set(seen) != set(rows) else []
        page.compared["errors"] += len(seen)
    return wrong + check_shape_errors(page, tables) if wanted_tree(tables) else wrong


def check_shape_errors(page, tables):
    """CPU times of functions have the errors of `functions`: bottom-up and flat of the function itself, flat of all below it too.
    A flat time that is the sum of two rows of the report is not compared."""
    wrong, rows = [], collections.defaultdict(list)
    for row in rows_of(tables, "functions"):
        rows[row["function"] + ("@" + row["file"].split("/")[-1] if row["file"] else "")].append(row)
    for shape, head, time in (("callers", "CPU time", "cpu_exclusive"), ("flat", "CPU time, own", "cpu_exclusive"),
                              ("flat", "CPU time", "cpu_inclusive")):
        page.show(f"contexts&shape={shape}")
        seen = read_column(page, head) if any(float(row[time + "_s"]) for [row, *_] in rows.values()) else {}
        for label, (title, shown) in seen.items():
            if len(rows[label]) != 1 or ns(title) != ns(rows[label][0][time + "_s"]):
                continue
            page.compared[shape + "-errors"] += 1
            if not told_error(shown, title, rows[label][0][time + "_error_s"]):
                wrong.append(f"{shape}: {head} of {label}: {shown}, not {rows[label][0]}")
    return wrong


# ---- Search ----


def check_search(page, tables):
    """An expression leaves the rows that it matches and those above them; one that is not valid leaves all and is marked."""
    wrong, paths = [], {path for path, figures in wanted_tree(tables).items() if figures or not path}
    if not any(paths):
        return wrong
    labels = sorted({path.split(" > ")[-1] for path in paths if path})
    name = re.match(r"\w*", labels[-1])[0] or "none"
    for text, matches in ((name[:40].upper(), lambda label: name[:40].lower() in label.lower()), ("^mpi_[a-l]", lambda label: re.match("mpi_[a-l]", label, re.IGNORECASE)),
                          ("no such name|^x{99}", lambda _: False), ("(", lambda _: True)):
        page.show("contexts").show("contexts&search=" + urllib.parse.quote(text))
        show_all_rows(page)
        seen = set(page.ask("return [...document.querySelectorAll('#tree tbody tr')].map(row => row.node.path)"))
        found = {path for path in paths if path and matches(path.split(" > ")[-1])}
        wanted = {path for path in paths if any(each == path or not path or each.startswith(path + " > ") for each in found)}
        if seen != wanted:
            wrong.append(f"search for {text}: {sorted(seen)}, not {sorted(wanted)}")
        page.compared["searches"] += len(wanted)
        wrong += check_matched(page, tables, found if text != "(" else set())
    page.show("contexts")
    page.ask("const e = document.getElementById('search'); e.value = '('; e.dispatchEvent(new Event('input'))")
    said = page.ask("const of = id => document.getElementById(id); return [of('search').ariaInvalid, of('wrong').innerText]")
    if said != ["true", "Not a regular expression, and not used: ("]:
        wrong.append(f"an expression that is not valid: {said}")
    page.show("contexts&focus=(&search=" + urllib.parse.quote(name))
    said = page.ask("return [...document.querySelectorAll('#contexts input')].map(e => e.ariaInvalid)")
    if said != ["false", "true", "false"]:
        wrong.append(f"an expression of the address that is not valid: {said}")
    return wrong + check_no_match(page)


def check_matched(page, tables, found):
    """The figure of all that a search finds, in which a context below another one is once, and its share."""
    said, wanted = page.ask("return document.getElementById('matched').textContent"), wanted_tree(tables)
    head = page.ask("return document.querySelectorAll('#tree th')[1].textContent")
    if not found or head not in METRICS:
        return [f"the search for nothing: {said}"] if said and not found else []
    outer = [path for path in found if not any(path.startswith(other + " > ") for other in found)]
    whole, value = wanted[""].get(METRICS[head], 0), sum(wanted[path].get(METRICS[head], 0) for path in outer)
    seen = re.fullmatch(r"The search matches ([\d,]+) contexts?: (.*) ([\d.]+ \w+), ([\d.]+) % of all(; one below another counts once)?\.", said)
    page.compared["matched"] += 1
    if not seen or int(seen[1].replace(",", "")) != len(found) or seen[2] != head or not rounds_to(seen[3], str(value / 1e9)) or \
            abs(float(seen[4]) - 100 * value / whole) > 0.0501 or bool(seen[5]) != (len(outer) < len(found)):
        return [f"the search for {len(found)} contexts: {said}, not {value} of {whole}"]
    return []


def check_no_match(page):
    """A focus on nothing leaves no row, and says so; the order of rows stays chosen. A flat list has no colours."""
    wrong = []
    page.show("contexts")
    chosen = page.ask("return document.querySelectorAll('#contexts .controls select')[1].selectedIndex")
    for shape in "tree", "callers", "flat":
        page.show(f"contexts&shape={shape}&focus=no%20such%20name")
        rows, left, by, wrong_text, colour = page.ask("""
            const selects = [...document.querySelectorAll('#contexts .controls select')];
            return [document.querySelectorAll('#tree tbody tr').length, document.getElementById('left-out').innerText,
                selects[1].selectedIndex, document.getElementById('wrong').innerText, selects[3].checkVisibility()]""")
        if (rows, left, by, wrong_text, colour) != (0, "Nothing matches.", chosen, "", shape != "flat"):
            wrong.append(f"{shape} of no such name: {rows} rows, {left}, by {by}, {wrong_text}, colour {colour}")
    return wrong


# ---- Colours ----

COLOURS = [f"--colour{k}" for k in range(8)] + [f"--step{k}" for k in range(5)] + ["--unknown"]


def bars_of(figures, metric):
    """(path, left, width) of the bars of the picture, as parts of its whole width."""
    below = collections.defaultdict(list)
    for path in figures:
        if path:
            below[" > ".join(path.split(" > ")[:-1])].append(path)
    whole = figures.get("", {}).get(metric, 0)

    def lay(path, left):
        yield path, left, figures[path].get(metric, 0) / whole
        for child in sorted(below[path], key=lambda child: (-figures[child].get(metric, 0), child)):
            yield from lay(child, left)
            left += figures[child].get(metric, 0) / whole
    return list(lay("", 0)) if whole else []


def modules_of(folder_rows):
    """{label: names of modules} of the frames of contexts."""
    modules = collections.defaultdict(set)
    for row in folder_rows:
        for label, frame in zip(row["path"].split(" > "), row["frames"]):
            if frame.get("module"):
                modules[re.sub(r"(@.*):\d+$", r"\1", label)].add(frame["module"].split("/")[-1])
    return modules


def origins_of(tables, shape, figures, whole):
    """{path: the path of the whole tree that has all of its times}."""
    if shape == "tree":
        return {path: path for path in figures if all(figures[path].get(of) == whole[path].get(of) for of in ("mpi", "cpu"))}
    own = collections.defaultdict(collections.Counter)
    for path, figures_of in own_figures(tables):
        own[" > ".join(path)].update({of: figures_of.get(of, 0) for of in ("mpi", "cpu")})
    found = collections.defaultdict(set)
    for path, times in own.items():
        labels = path.split(" > ")[::-1]
        for n in range(1, len(labels) + 1) if any(times.values()) else ():
            found[" > ".join(labels[:n])].add(path)
    return {place: path for place, (path, *more) in ((place, sorted(paths)) for place, paths in found.items())
            if not more and all(own[path][of] == whole[path].get(of, 0) for of in ("mpi", "cpu"))}


def step_of(part):
    """Steps that the part may have: two where it is at the limit between them."""
    return {f"--step{max(0, min(4, math.floor(5 * part + slip)))}" for slip in (-1e-6, 1e-6)}


def wanted_colours(page, tables, shape, focus):
    """{colour: {path: names of colours, of which one is right}}."""
    ranks, primitives = len(rows_of(tables, "ranks")), {row["primitive"] for row in rows_of(tables, "primitives")}
    whole, figures, spreads = wanted_tree(tables), wanted_shape(tables, shape, focus, ""), wanted_spreads(page)["mpi"]
    computed = collections.Counter()
    for row in rows_of(tables, "computation"):
        path = row["path"].split(" > ")
        if set(path) & primitives or focus and not any(re.search(focus, label, re.I) for label in path):
            continue
        order = path[::-1] if shape == "callers" else path
        for n in range(len(order) + 1):
            computed[" > ".join(order[:n])] += ns(row["cpu_exclusive_s"])
    origins, modules, wanted = origins_of(tables, shape, figures, whole), modules_of(page.frames), collections.defaultdict(dict)
    for path, of in figures.items():
        label = path.split(" > ")[-1]
        wanted["function"][path] = set(COLOURS[:8])
        if label in primitives or label in modules:
            wanted["module"][path] = {page.module_colours.get(name, name) for name in (["MPI"] if label in primitives else modules[label])}
        values = spreads.get(origins.get(path), {})
        wanted["imbalance"][path] = step_of(max(values.values()) / (sum(values.values()) / ranks) - 1) if values else {"--unknown"}
        wanted["efficiency"][path] = outside_steps(tables, path, computed[path], of, whole[""], primitives)
    return wanted


def outside_steps(tables, path, computed, figures, whole, primitives):
    """The step of the part of the main threads' time that is outside MPI, where it has one: CPU time of other threads, and time
    of main threads on no processor, may be in any context with MPI calls below it; the whole run has the times of its ranks."""
    mpi, ranks = figures.get("mpi", 0), rows_of(tables, "ranks")
    if not mpi:
        return {"--step0"} if computed else {"--unknown"}
    if set(path.split(" > ")) & primitives:
        return {"--step4"}
    outside, main, others = (sum(ns(row[name]) * sign for row in ranks for name, sign in names) for names in (
        [("compute_s", 1)], [("mpi_main_s", 1)], [("mpi_s", 1), ("mpi_main_s", -1)]))
    if not path and (mpi, figures.get("cpu")) == (whole.get("mpi"), whole.get("cpu")):
        return step_of(main / (outside + main)) if outside + main else {"--unknown"}
    main_threads = {row["rank"]: row for row in reversed(rows_of(tables, "sampling") if "sampling" in tables else [])}
    sampled = sum(ns(row.get("compute_time") or "0") for row in main_threads.values())
    everywhere = sum(ns(row["cpu_exclusive_s"]) for row in rows_of(tables, "computation") if not set(row["path"].split(" > ")) & primitives)
    low, high = max(0, computed - max(0, everywhere - sampled)), computed + max(0, outside - sampled)
    low, high = (step_of(inside / (inside + out)) if inside + out else {"--unknown"}
                 for inside, out in ((mpi, low), (max(0, mpi - others), high)))
    return (low | high if low & high else set()) | ({"--unknown"} if len(low | high) > 1 else set())


def check_palette(page):
    """The least difference of two of the eight colours in CIELAB, for eyes with all cones and for those that lack one sort
    (Machado et al. 2009), and the least luminance, on which letters are black."""
    eyes = ([1, 0, 0, 0, 1, 0, 0, 0, 1],
            [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
            [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881],
            [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900])
    codes = page.ask("const style = getComputedStyle(document.documentElement);"
                     "return arguments[0].map(name => style.getPropertyValue(name).trim())", COLOURS[:8])
    parts = [[int(code[i:i + 2], 16) / 255 for i in (1, 3, 5)] for code in codes]
    light = [[c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055)**2.4 for c in part] for part in parts]

    def lab(colour, eye):
        r, g, b = (min(1, max(0, sum(eye[3 * i + k] * colour[k] for k in range(3)))) for i in range(3))
        xyz = ((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * b,
               (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
        x, y, z = (t**(1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
        return 116 * y - 16, 500 * (x - y), 200 * (y - z)
    least = min(math.dist(lab(a, eye), lab(b, eye)) for eye in eyes for i, a in enumerate(light) for b in light[:i])
    darkest = min(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in light)
    return [] if least >= 19 and darkest >= 0.175 else [f"colours differ by {least}, the darkest has {darkest}: {codes}"]


def check_module_key(page, tables):
    """Modules by the time in them: each of the first seven has a colour of its own, the others share one. Sets
    page.module_colours."""
    page.show("contexts&colour=module")
    key = page.ask("return [...document.querySelectorAll('#colours > span')].map(e => [e.querySelector('.key').style.background, e.innerText])")
    names = [(name, re.fullmatch(r"var\((--colour\d)\)", colour)[1]) for colour, text in key for name in text.strip().split(", ")]
    page.module_colours = dict(names)
    times, modules = collections.Counter(), modules_of(page.frames)
    primitives = {row["primitive"] for row in rows_of(tables, "primitives")}
    for path, figures in own_figures(tables):
        found = {"MPI"} if path[-1] in primitives else modules.get(path[-1], ())
        for name in found if len(found) == 1 else ():
            times[name] += figures.get("mpi", 0) + figures.get("cpu", 0)
    order = [name for name, _ in names if name in times]
    wrong = []
    if all(len(found) == 1 for found in modules.values()) and order != sorted(order, key=lambda name: (-times[name], name)):
        wrong.append(f"modules {names} have {times}")
    if [colour for _, colour in names] != [f"--colour{min(7, place)}" for place in range(len(names))]:
        wrong.append(f"colours of modules: {names}")
    page.compared["modules"] += len(names)
    return wrong


def beside(figures, metric):
    """Labels of bars that touch and are called from the same place."""
    bars = [(path.rpartition(" > ")[0], path.split(" > ")[-1], path.count(" > "))
            for path, _, width in bars_of(figures, metric) if path and width]
    bars.sort(key=lambda bar: bar[2]) # those of a row stay in their order
    return [(label, other) for (above, label, level), (same, other, row) in itertools.pairwise(bars) if (above, level) == (same, row)]


def check_functions(page, pixels, names, neighbours, whole):
    """A function has one colour on all pictures. Bars that lie on each other have two, and so have those beside each other of
    one caller, but for functions with so many neighbours that the colours are not enough."""
    wrong, few = [], lambda *labels: max(len(neighbours[label]) for label in labels) < 8
    for (path, pixel), (other, next_pixel) in itertools.pairwise(sorted(pixels.items(), key=lambda item: item[0].count(" > "))) if whole else ():
        labels = [each.split(" > ")[-1] for each in (path, other)]
        if labels[0] != labels[1] and labels[1] in neighbours[labels[0]] and few(*labels) and \
                path.rpartition(" > ")[0] == other.rpartition(" > ")[0]:
            page.compared["beside"] += 1
            wrong += [f"{path} has the colour of {other} beside it"] if pixel == next_pixel else []
    for path, pixel in pixels.items():
        above, _, label = path.rpartition(" > ")
        had, on = page.function_colours.setdefault(label, names[pixel]), above.rpartition(" > ")[2]
        if had != names[pixel]:
            wrong.append(f"{path} has {names[pixel]}, and {label} had {had}")
        if above in pixels and on != label and few(label, on):
            page.compared["apart"] += 1
            wrong += [f"{path} has the colour of {on}"] if pixels[above] == pixel else []
    return wrong


def check_chosen(page, figures):
    """The chosen bar keeps its colour, and has a frame."""
    bars = sorted((bar for bar in bars_of(figures, "mpi") if bar[0]), key=lambda bar: -bar[2])
    if not bars:
        return []
    path, left, width = bars[0]
    page.show("contexts&metric=mpi&context=" + urllib.parse.quote(path))
    edge, inside, text = page.ask("""
        const canvas = document.querySelector('.icicle'), pen = canvas.getContext('2d'), hex = value => value.toString(16).padStart(2, '0');
        const [x, y, name] = arguments, at = inset => '#' + [...pen.getImageData(Math.floor(x * canvas.width) - inset, 20 * y + 10, 1, 1).data]
            .slice(0, 3).map(hex).join('');
        return [at(2), at(6), getComputedStyle(document.documentElement).getPropertyValue('--text').trim()]""",
        left + width, path.count(" > ") + 1, "")
    colour = page.ask("return getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim()",
                      page.function_colours[path.split(" > ")[-1]])
    return [] if (edge, inside) == (text, colour) else [f"the chosen bar {path} has {edge} around {inside}, not {text} around {colour}"]


def check_colours(page, tables):
    """Bars of the picture by the pixels at their right ends, which no name covers."""
    wrong = check_palette(page) + (check_module_key(page, tables) if wanted_tree(tables) else [])
    page.function_colours, neighbours = {}, collections.defaultdict(set)
    whole = wanted_tree(tables)
    for label, other in [pair for path in whole for pair in itertools.pairwise(path.split(" > "))] + beside(whole, "mpi") + beside(whole, "cpu"):
        neighbours[label] |= {other} - {label}
        neighbours[other] |= {label} - {other}
    labels = sorted({path[0] for path, _ in own_figures(tables)} - {"MPI_Init", "MPI_Finalize", ""})
    for shape, focus in (("tree", ""), ("callers", ""), ("tree", "^" + re.escape(labels[-1]) + "$" if labels else "none")):
        figures, wanted = wanted_shape(tables, shape, focus, ""), wanted_colours(page, tables, shape, focus)
        for colour in ("function", "module", "imbalance", "efficiency"):
            page.show(f"contexts&metric=mpi&shape={shape}&focus={urllib.parse.quote(focus)}&colour={colour}")
            bars = [bar for bar in bars_of(figures, "mpi") if (bar[0] or colour == "efficiency") and bar[0] in wanted[colour]]
            seen, names = page.ask("""
                const canvas = document.querySelector('.icicle'), pen = canvas?.getContext('2d');
                const style = getComputedStyle(document.documentElement), hex = value => value.toString(16).padStart(2, '0');
                return [arguments[0].map(([x, width, y]) => width * canvas.width < 6 ? '' : '#' + [...pen.getImageData(
                    Math.floor((x + width) * canvas.width - (y ? 3 : 6)), 20 * y + 10, 1, 1).data].slice(0, 3).map(hex).join('')),
                    Object.fromEntries(arguments[1].map(name => [name, style.getPropertyValue(name).trim()]))]""",
                [[left, width, path.count(" > ") + bool(path)] for path, left, width in bars], COLOURS)
            thin = sum(0 < width < 0.0005 for _, _, width in bars_of(figures, "mpi"))
            told = page.ask("return document.getElementById('thin')?.textContent || ''")
            n = re.search(r"leaves out ([\d,]+) bars? narrower than 0.05 % of it\.$", told)
            if (n[1].replace(",", "") if n else "0") != str(thin):
                wrong.append(f"{shape} of {focus}: {told}, not {thin} narrow bars")
            page.compared["thin"] += thin
            for (path, _, _), pixel in zip(bars, seen):
                if pixel and pixel not in {names[name] for name in wanted[colour][path]}:
                    wrong.append(f"{shape} of {focus}, {colour} of {path}: {pixel}, not {[names[name] for name in wanted[colour][path]]}")
                page.compared[f"colours-{shape}-{colour}"] += bool(pixel) and "--unknown" not in wanted[colour][path]
            if colour == "function":
                wrong += check_functions(page, {path: pixel for (path, _, _), pixel in zip(bars, seen) if pixel},
                                         {pixel: name for name, pixel in names.items()}, neighbours, shape == "tree" and not focus)
    return wrong + check_chosen(page, whole)


def show_all_rows(page):
    page.ask("for (let more; (more = document.querySelector('#left-out button, #tree .fold')); ) more.click()")


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
    wrong += lacks_open(page, tables)
    if not any(wanted.values()):
        told = page.ask("return document.getElementById('contexts').innerText")
        return wrong if told == tell_no_contexts(tables) else [f"without contexts: {told}"]
    for path in sorted(set(wanted) | set(seen)):
        if seen.get(path) != wanted.get(path):
            wrong.append(f"{path}: {seen.get(path)}, not {wanted.get(path)}")
    return wrong + check_first_metric(page, tables, wanted)


def check_first_metric(page, tables, wanted):
    """The tree opens by CPU time if more of it is outside of MPI calls than time is in them."""
    calls = {path_without_lines(row) for row in rows_of(tables, "contexts") if ns(row["mpi_exclusive_s"])}
    computing = sum(figures.get("cpu_self", 0) for path, figures in wanted.items() if path not in calls)
    mpi, first = wanted[""].get("mpi", 0), page.ask("return document.querySelectorAll('#tree th')[1].innerText")
    if mpi and (first == "CPU time") != (computing > mpi):
        return [f"the tree opens by {first}: {computing} ns of computation, {mpi} ns in MPI"]
    return []
