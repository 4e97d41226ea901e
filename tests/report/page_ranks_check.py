# SPDX-License-Identifier: BSD-3-Clause
"""The view of ranks of a page: its heat map and classes. For page_check.py."""
import collections
import re
import urllib.parse

from page_driver import OPEN_CALLS, check_host_lines, ns, open_times, path_without_lines, ranks_of, rounds_to, rows_of, selected

RANK_METRICS = {"time": "mpi_exclusive_s", "cpu": "cpu_exclusive_s", "calls": "calls", "sent": "bytes_sent",
                "received": "bytes_received"}
MOST_CONTEXTS = 48


def wanted_ranks(page, tables, metric, by):
    """Figures by row of the heat map and rank; what is kept for no rank has the rank ""."""
    wanted = collections.defaultdict(collections.Counter)
    column = RANK_METRICS[metric]
    value_of = lambda row: ns(row[column]) if column.endswith("_s") else int(row[column] or 0)
    head, rows = page.by_rank
    chosen = chosen_contexts(page) if by == "context" else None
    for row in (dict(zip(head, row)) for row in rows) if chosen is not None else rows_of(tables, "rank,primitive"):
        label = path_without_lines(row).removesuffix(" > ") if chosen is not None else row["primitive"] or "outside MPI functions"
        wanted[label if chosen is None or row["rank"] and label in chosen else "other contexts"][row["rank"]] += value_of(row)
    for row in ranks_of(page, tables) if metric == "time" else []:
        for name, value in row["parts"].items():
            wanted[name][row["rank"]] += value
    wanted[OPEN_CALLS].update(open_times(tables) if metric == "time" else {})
    return {label: values for label, values in wanted.items() if any(values.values())}


def chosen_contexts(page):
    """The contexts with most time, of all ranks or of one, each as a part of the most that a context has."""
    times = collections.defaultdict(collections.Counter)
    head, rows = page.by_rank
    for row in (dict(zip(head, row)) for row in rows):
        if row["rank"]:
            times[path_without_lines(row).removesuffix(" > ")][row["rank"]] += ns(row["mpi_exclusive_s"]) + ns(row["cpu_exclusive_s"])
    peaks = {path: max(values.values()) for path, values in times.items()}
    sums = {path: sum(values.values()) for path, values in times.items()}
    weight = lambda path: max(peaks[path] / max(peaks.values()), sums[path] / max(sums.values()))
    return set(sorted((path for path in times if sums[path]), key=weight, reverse=True)[:MOST_CONTEXTS])


def check_ranks(page, tables):
    ranks = [row["rank"] for row in rows_of(tables, "ranks")]
    wrong = []
    told = ranks if len(ranks) <= 16 else ranks[::len(ranks) // 8] + ranks[-1:]
    for metric, by in [(metric, by) for metric in RANK_METRICS for by in ("primitive", "context")]:
        wanted = wanted_ranks(page, tables, metric, by)
        if not wanted or by == "context" and not chosen_contexts(page):
            continue
        if not any(values[rank] for values in wanted.values() for rank in ranks):
            page.show("ranks")
            if metric in page.ask("return [...document.querySelectorAll('#ranks .controls option')].map(e => e.value)"):
                wrong.append(f"{metric} is offered, which is kept for no rank")
            continue
        for rank in told if by == "primitive" else told[-1:]:
            page.show(f"ranks&metric={metric}&by={by}&rank={rank}")
            seen = rank_cells(page, "rank-figures" if len(ranks) > 1 else "heat")
            figures = {label: values[rank] for label, values in wanted.items() if any(values[r] for r in ranks)}
            wrong += compare_cells(f"{metric} of rank {rank}", seen, {k: [v] for k, v in figures.items()}, metric)
        wrong += compare_cells(metric, rank_cells(page, "heat"), {
            label: least_and_greatest(values, ranks)
            for label, values in wanted.items() if any(values[rank] for rank in ranks)}, metric)
        wrong += [f"{label} is named {name}" for label, name in names_of_parts(page) if name != label]
        without = page.ask("return document.getElementById('without')?.title || '0'")
        if rank_value(without, metric) != sum(values[""] for values in wanted.values()):
            wrong.append(f"{metric} without a rank: {without}")
        wrong += check_heat(page, metric, by, wanted, tables)
    return wrong + check_classes(page, tables)


def class_by_rank(tables):
    """{rank: its class} of the table of classes, {} if all ranks are alike; and the first rank of each."""
    classes, first = {}, {}
    for row in rows_of(tables, "classes"):
        for part in row["ranks"].split(","):
            begin, end, step = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(\d+))?", part).groups()
            for rank in range(int(begin), int(end or begin) + 1, int(step or 1)):
                classes[str(rank)] = int(row["class"])
                first.setdefault(int(row["class"]), str(rank))
    return (classes, first) if len(first) > 1 else ({}, {})


def check_classes(page, tables):
    """The table of classes, the strip over the map, and what a click on a class does."""
    page.show("ranks")
    if page.ask("return document.getElementById('map') === null"):
        return []
    wrong, (classes, first) = [], class_by_rank(tables)
    seen = page.ask("return [...document.querySelectorAll('#classes tbody tr')].map(row => [row.dataset.class,"
                    "  [...row.querySelectorAll('td.number')].map(cell => [cell.title, cell.innerText])])")
    wanted = [[row["class"], [row[name] for name in ("n_ranks", "compute_s", "there_s", "all_there_s")]]
              for row in rows_of(tables, "classes") if first]
    if [[number, [exact for exact, _ in cells]] for number, cells in seen] != wanted:
        wrong.append(f"classes {seen}, not {wanted}")
    wrong += [f"class {number}: {shown} for {exact}" for number, cells in seen for exact, shown in cells if not rounds_to(shown, exact)]
    for number in sorted(first)[:2]:
        page.show("ranks")
        page.ask("[...document.querySelectorAll('#classes tbody tr')].find(e => e.dataset.class === arguments[0])"
                 ".querySelector('button').click()", str(number))
        page.settle()
        if selected(page)[1] != first[number]:
            wrong.append(f"class {number} leads to rank {selected(page)[1]}")
        order = sorted(classes, key=lambda rank: (classes[rank], int(rank)))
        drawn, colours = page.ask("""
            const strip = document.querySelector('#heat .strip'), style = getComputedStyle(document.documentElement);
            const pixels = strip.getContext('2d').getImageData(0, 0, strip.width, 1).data;
            return [Array.from({length: strip.width}, (_, x) => '#' + Array.from(pixels.slice(4 * x, 4 * x + 3)).map(
                value => value.toString(16).padStart(2, '0')).join('')),
                Array.from({length: 8}, (_, k) => style.getPropertyValue('--colour' + k).trim())]""")
        columns = min(len(order), len(drawn))
        for column in range(columns):
            wanted_colour = colours[classes[order[column * len(order) // columns]] % 8]
            if drawn[column * len(drawn) // columns] != wanted_colour:
                wrong.append(f"class {number}: column {column} is {drawn[column * len(drawn) // columns]}, not {wanted_colour}")
                break
    return wrong


def least_and_greatest(values, ranks):
    """The figures of a row of the map: one rank has one."""
    return [pick(values[rank] for rank in ranks) for pick in (min, max)[:len(ranks)]]


def rank_value(text, metric):
    return ns(text) if metric in ("time", "cpu") else int(text)


def rank_cells(page, table):
    return page.ask("return [...document.querySelectorAll(`#${arguments[0]} tbody tr:not(.of-classes)`)].map(row => [row.cells[0].label,"
                    "  [...row.querySelectorAll('td.number')].map(cell => [cell.title, cell.innerText])])", table)


def names_of_parts(page):
    """The label and the text of rows that are no contexts."""
    return page.ask("return [...document.querySelectorAll('#heat tbody tr:not(.of-classes) th')].filter(head => !head.querySelector('a'))"
                    "  .map(head => [head.label, head.innerText])")


def compare_cells(what, seen, wanted, metric):
    wrong = [f"{what}: {label}: {shown} for {title}" for label, cells in seen for title, shown in cells
             if not rounds_to(re.sub(r" on \d+$", "", shown), title)]
    seen = {label: [rank_value(title, metric) for title, _ in cells] for label, cells in seen}
    return wrong + ([] if seen == wanted else [f"{what}: {seen}, not {wanted}"])


def context_ids(tables):
    ids = {row["path"]: row["context"] for row in rows_of(tables, "computation")}
    ids.update({path_without_lines(row): row["context"] for row in rows_of(tables, "contexts")})
    return {path: context for path, context in ids.items() if context}


def check_axis(page, order):
    """Numbers of ranks over the map, in the order of its columns. The legend tells of columns of several ranks where there are some."""
    labels, width, legend = page.ask("""
        const canvas = document.querySelector('#heat .heat:not(.strip)'), box = canvas.getBoundingClientRect();
        return [[...document.querySelectorAll('#heat .across span')].map(label => {
            const {left, right} = label.getBoundingClientRect();
            return [label.textContent, ((left + right) / 2 - box.left) / box.width];
        }), canvas.width, document.getElementById('heat-legend').innerText]""")
    page.compared["rank-axis"] += len(labels)
    wrong = [f"rank {text} is at {at}, not that of place {order.index(text)} of {len(order)}" for text, at in labels
             if abs(at * len(order) - order.index(text) - 0.5) > 0.2 + len(order) / width]
    if not labels or "the chosen rank" not in legend or ("stands for several ranks" in legend) != (len(order) > width):
        wrong.append(f"{len(labels)} numbers of ranks over {width} columns: {legend}")
    return wrong


def check_heat(page, metric, by, wanted, tables):
    """The pixels: each column has the greatest value of its ranks, in each order."""
    hosts = {row["rank"]: row["host"] for row in rows_of(tables, "ranks")}
    label, classes = min(wanted), class_by_rank(tables)[0]
    orders = {"rank": int, "host": lambda rank: (hosts[rank], int(rank)),
              urllib.parse.quote(context_ids(tables).get(label, label)): lambda rank: (-wanted[label][rank], int(rank))}
    if classes:
        orders["class"] = lambda rank: (classes[rank], int(rank))
    wrong = []
    for name, key in orders.items():
        order = sorted(hosts, key=key)
        page.show(f"ranks&metric={metric}&by={by}&order={name}&scale=row")
        wrong += check_axis(page, order)
        wrong += check_host_lines(page, f"{metric} by {name}", "#heat .hosts",
                                  [[hosts[rank] for rank in order]] if name in ("rank", "host") else [])
        told = page.ask("const map = document.querySelector('#heat .hosts canvas'), box = map.getBoundingClientRect();"
                        "map.dispatchEvent(new MouseEvent('mousemove', {clientX: box.right - 1, clientY: box.top})); return map.title")
        if len(order) < 100 and not told.endswith(f" on {order[-1]}, {hosts[order[-1]] or '-'}"):
            wrong.append(f"{metric} by {name}: the pointer tells {told}, not rank {order[-1]} on {hosts[order[-1]]}")
        for label_seen, width, alphas in page.ask("""
                return [...document.querySelectorAll('#heat tbody tr:not(.of-classes)')].map(row => {
                    const canvas = row.querySelector('canvas');
                    const pixels = canvas.getContext('2d').getImageData(0, canvas.height / 2, canvas.width, 1).data;
                    return [row.cells[0].label, canvas.width, Array.from(pixels).filter((_, i) => i % 4 === 3)];
                })"""):
            values = wanted[label_seen]
            n, most = len(order), max(values[rank] for rank in order)
            columns = min(n, width)
            for column in range(columns):
                peak = max(values[rank] for rank in order[column * n // columns:(column + 1) * n // columns])
                share = 0.08 + 0.92 * peak / most if peak else 0
                if abs(alphas[column * width // columns] - 255 * share) > 1.5:
                    wrong.append(f"{metric} by {name}: {label_seen}, column {column} of {columns}: "
                                 f"{alphas[column * width // columns]}, not {255 * share}")
    return wrong
