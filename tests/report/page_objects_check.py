# SPDX-License-Identifier: BSD-3-Clause
"""The views of threads, files and windows of a page. For page_check.py."""
import collections
import re

from selenium.webdriver.common.keys import Keys

from page_driver import ns, rounds_to, rows_of

PROGRAM = ("main", "program", "runtime")
PARTS = ("computing", "waits", "mpi")
METRICS = {"computing": "ns", "waits": "ns", "mpi": "ns", "delayed": "ns", "share": "percent"}
FILE_FIGURES = ("time", "calls", "bytes_read", "bytes_written", "collective", "collective_time")
WINDOW_FIGURES = ("time", "sync_time", "calls", "sync_calls", "bytes_put", "bytes_got")


def is_offered(page, view):
    return page.ask("return document.getElementById(arguments[0]) !== null", "to-" + view)


def cells_of(page, table):
    """Of each row the text of its head, and [title, text] of its figures."""
    return page.ask("return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map(row => [row.cells[0].innerText.trim(),"
                    "  [...row.querySelectorAll('td.number')].map(cell => [cell.title, cell.innerText])])", table)


def exact(column, value):
    """A sum as tsv has it."""
    return f"{value / 1e9:.9f}" if "time" in column or column in PARTS + ("delayed",) else str(value)


def compare_figures(page, what, cells, wanted):
    """Titles are exact, texts are rounded; "" stands for a value that is not known."""
    page.compared[what.split(",")[0]] += len(wanted)
    if [title for title, _ in cells] != list(wanted):
        return [f"{what}: {cells}, not {wanted}"]
    return [f"{what}: {shown} for {title}" for title, shown in cells if not rounds_to(shown.removesuffix(" %"), title)]


def threads_of(tables):
    """Rows of threads by rank, with the figures of the view in ns, or None if they are not known."""
    by_rank = collections.defaultdict(list)
    for row in rows_of(tables, "thread_times"):
        known = lambda column, row=row: ns(row[column]) if row[column] else None
        row["computing"] = ns(row["outside_s"]) - ns(row["waits_s"]) if row["outside_s"] else None
        row["waits"], row["mpi"], row["delayed"] = known("waits_s"), known("mpi_s"), known("delayed_s")
        row["share"] = round(float(row["of_mean_percent"]) * 1000) if row["of_mean_percent"] else None
        by_rank[row["rank"]].append(row)
    return by_rank


def check_bars(page, rank, rows, full):
    page.show("threads&rank=" + rank)
    seen, wrong = cells_of(page, "thread-bars"), []
    if [number for number, _ in seen] != [row["thread"] for row in rows]:
        return [f"rank {rank} has threads {[number for number, _ in seen]}"]
    for (number, cells), row in zip(seen, rows):
        wanted = ["" if row[name] is None else exact(name, row[name]) for name in ("computing", "waits", "mpi", "delayed")]
        wrong += compare_figures(page, f"threads, {number} of rank {rank}", cells,
                                 wanted + [row["of_mean_percent"], row["cpu_s"], row["mpi_calls"]])
    widths = page.ask("return [...document.querySelectorAll('#thread-bars .parts')].map(bar =>"
                      "  [...bar.children].map(part => parseFloat(part.style.width)))")
    for row, parts in zip(rows, widths):
        wrong += [f"{name} of thread {row['thread']} of rank {rank} is {width} % wide" for name, width in zip(PARTS, parts)
                  if abs(width - 100 * (row[name] or 0) / full) > 0.01]
    return wrong


def check_thread_map(page, threads, metric):
    """Each pixel has the opacity of its thread, in the order of ranks, or of the greatest one of several ranks."""
    page.show("threads&metric=" + metric)
    width, height, alphas, room = page.ask("""
        const map = document.querySelector('.thread-map'), {width, height} = map;
        const {data} = map.getContext('2d').getImageData(0, 0, width, height);
        return [width, height, Array.from({length: width * height}, (_, i) => data[4 * i + 3]), map.clientWidth]""")
    numbers = max(int(row["thread"]) for rows in threads.values() for row in rows) + 1
    if (width, height) != (min(room, len(threads)), min(numbers, 128)) or numbers > 128:
        return [f"the map has {width} columns and {height} rows"]
    most, wrong = max(row[metric] or 0 for rows in threads.values() for row in rows), []
    peaks = collections.Counter()
    for at, rows in enumerate(threads.values()):
        for row in rows:
            pixel = int(row["thread"]) * width + at * width // len(threads)
            peaks[pixel] = max(peaks[pixel], row[metric] or 0)
    for pixel, value in peaks.items():
        wanted = 255 * (0.08 + 0.92 * value / most) if value else 0
        if abs(alphas[pixel] - wanted) > 1.5:
            wrong.append(f"{metric} of thread {pixel // width}, column {pixel % width} of {width}: {alphas[pixel]}, not {wanted}")
    page.compared["thread-map"] += len(peaks)
    page.compared["several-in-a-pixel"] += len(threads) > width
    return wrong


def check_thread_keys(page, threads):
    """Arrows choose a rank and a thread."""
    page.show("threads")
    ranks, wrong = list(threads), []
    page.ask("document.querySelector('.thread-map').focus()")
    steps = [(Keys.HOME, ranks[0]), (Keys.ARROW_RIGHT, ranks[1]), (Keys.ARROW_DOWN, ranks[1]), (Keys.END, ranks[-1]), (Keys.ARROW_LEFT, ranks[-2])]
    at = 0
    for key, rank in steps:
        page.press(key)
        rows = threads[rank]
        at = min(at + (key == Keys.ARROW_DOWN), len(rows) - 1)
        told = page.ask("return document.getElementById('thread').textContent")
        if not told.startswith(f"Thread {rows[at]['thread']} of rank {rank} ("):
            wrong.append(f"a key leads to: {told}, not thread {rows[at]['thread']} of rank {rank}")
    return wrong


def check_thread_sums(page, threads):
    all_rows = [row for rows in threads.values() for row in rows]
    kinds = list(dict.fromkeys(row["kind"] for row in all_rows))
    seen, wrong = cells_of(page, "thread-kinds"), []
    if [kind for kind, _ in seen] != kinds:
        return [f"kinds {seen}, not {kinds}"]
    for kind, cells in seen:
        rows = [row for row in all_rows if row["kind"] == kind]
        wanted = [str(sum(int(row["threads"]) for row in rows))]
        for name in ("computing", "waits", "mpi", "delayed"):
            known = [row[name] for row in rows if row[name] is not None]
            wanted.append(exact(name, sum(known)) if known else "")
        wrong += compare_figures(page, f"kinds, {kind}", cells, wanted)
    best = [max((row for row in rows if row["share"]), key=lambda row: row["share"], default=None) for rows in threads.values()]
    best = sorted((row for row in best if row), key=lambda row: -row["share"])[:10]
    uneven = cells_of(page, "uneven")
    if [rank for rank, _ in uneven] != [row["rank"] for row in best]:
        return wrong + [f"uneven ranks {uneven}, not {[row['rank'] for row in best]}"]
    for (rank, cells), row in zip(uneven, best):
        wrong += compare_figures(page, f"uneven, rank {rank}", cells, [row["of_mean_percent"], exact("computing", row["computing"])])
    return wrong


def has_teams(tables):
    """True if a rank has several threads of the program."""
    return any(sum(row["kind"] in PROGRAM for row in rows) > 1 for rows in threads_of(tables).values())


def check_threads(page, tables):
    threads, wanted = threads_of(tables), has_teams(tables)
    if is_offered(page, "threads") != wanted:
        return [f"a view of threads is {'not ' * wanted}offered"]
    if not wanted:
        return []
    sums = [sum(row[name] or 0 for name in PARTS) for rows in threads.values() for row in rows]
    full = max(sums + [ns(row["inside_s"]) for row in rows_of(tables, "ranks")])
    told = list(threads) if len(threads) <= 16 else list(threads)[::len(threads) // 8]
    wrong = [each for rank in told for each in check_bars(page, rank, threads[rank], full)]
    wrong += check_thread_sums(page, threads)
    if len(threads) > 1:
        wrong += [each for metric in METRICS for each in check_thread_map(page, threads, metric)] + check_thread_keys(page, threads)
    elif page.ask("return document.querySelector('.thread-map').checkVisibility()"):
        wrong.append("a map of one rank")
    return wrong


def summed(rows, figures):
    return {name: sum((ns if "time" in name else int)(row[name]) for row in rows) for name in figures}


def grouped(rows, *keys):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def may_tell_rate(rows):
    """True if all calls end when their bytes are moved."""
    return not any(re.match(r"MPI_File_(iread|iwrite|.*_(begin|end)$)", row["context"].split(" > ")[-1].split("@")[0]) for row in rows)


def wanted_file(rows, of_context):
    sums = summed(rows, FILE_FIGURES)
    moved = sums["bytes_read"] + sums["bytes_written"]
    mean = int(moved / sums["calls"] + 0.5) if of_context else 0
    rate = int(moved / sums["time"] * 1e9 + 0.5) if may_tell_rate(rows) and sums["time"] else 0
    return ([exact(name, sums[name]) for name in FILE_FIGURES] + [str(mean) if mean else ""] * of_context +
            [f"{rate} bytes/s" if rate else ""])


def compare_file(page, what, cells, rows, of_context=False):
    wanted = wanted_file(rows, int(of_context))
    title, shown = cells[-1]
    wrong = compare_figures(page, what, cells[:-1], wanted[:-1])
    if title != wanted[-1] or not rounds_to(shown.removesuffix("/s"), title.removesuffix(" bytes/s")):
        wrong.append(f"rate of {what}: {cells[-1]}, not {wanted[-1]}")
    return wrong


def check_files(page, tables):
    files = grouped(rows_of(tables, "files") if "files" in tables else [], "file")
    if is_offered(page, "files") != bool(files):
        return [f"a view of files is {'not ' * bool(files)}offered"]
    wrong = []
    sums = {name: summed(rows, FILE_FIGURES) for (name,), rows in files.items()}
    for order in FILE_FIGURES if files else ():
        page.show("files&order=" + order)
        seen = page.ask("return [...document.querySelectorAll('#files-list tbody tr')].map(row => [row.cells[0].title,"
                        "  [...row.querySelectorAll('td.number')].map(cell => [cell.title, cell.innerText])])")
        names = sorted((name for name, in files), key=lambda name: (-sums[name][order], name))
        if [name for name, _ in seen] != names[:50]:
            wrong.append(f"files by {order}: {[name for name, _ in seen]}, not {names[:50]}")
    for k, (name, cells) in enumerate(seen if files else []):
        wrong += compare_file(page, f"files, {name}", cells, files[name,])
        page.ask("document.querySelectorAll('#files-list tbody button')[arguments[0]].click()", k)
        page.settle()
        of = grouped(files[name,], "context_id")
        contexts = page.ask("return [...document.querySelectorAll('#contexts-of-file tbody tr')].map(row => [row.dataset.context,"
                            "  [...row.querySelectorAll('td.number')].map(cell => [cell.title, cell.innerText])])")
        if {context for context, _ in contexts} != {context for context, in of}:
            wrong.append(f"contexts of {name}: {contexts}")
            continue
        for context, figures in contexts:
            wrong += compare_file(page, f"contexts-of-files, {context} of {name}", figures, of[context,], True)
    return wrong


def check_target_strip(page, targets, order):
    """Each column has the opacity of its target; there are fewer targets than columns of pixels."""
    alphas = page.ask("const strip = document.querySelector('#windows .targets .heat'); return strip.checkVisibility()"
                      " ? Array.from(strip.getContext('2d').getImageData(0, 0, strip.width, 1).data).filter((_, i) => i % 4 === 3) : []")
    values = [targets[target][order] for target in sorted(targets, key=int)]
    wanted = [255 * (0.08 + 0.92 * value / max(values)) if value else 0 for value in values] if len(values) > 1 else []
    page.compared["targets-drawn"] += len(wanted)
    right = len(alphas) == len(wanted) and all(abs(a - b) <= 1.5 for a, b in zip(alphas, wanted))
    return [] if right else [f"targets by {order} are drawn as {alphas}, not {wanted}"]


def check_windows(page, tables):
    windows = grouped(rows_of(tables, "windows") if "windows" in tables else [], "window", "domain")
    if is_offered(page, "windows") != bool(windows):
        return [f"a view of windows is {'not ' * bool(windows)}offered"]
    wrong = []
    for (window, domain), rows in windows.items():
        for order in WINDOW_FIGURES:
            page.show(f"windows&order={order}&window={window} {domain}".replace(" ", "%20"))
            seen = page.ask("return [...document.querySelectorAll('#windows-list tbody tr')].map(row => [row.dataset.window, row.cells[1].innerText,"
                            "  [...row.querySelectorAll('td.number')].map(cell => [cell.title, cell.innerText])])")
            targets = {target: summed(of, WINDOW_FIGURES) for (target,), of in grouped(rows, "target").items() if target}
            wrong += check_target_strip(page, targets, order)
            listed = sorted(windows, key=lambda key, order=order: (-summed(windows[key], WINDOW_FIGURES)[order], int(key[0])))
            if [key for key, _, _ in seen] != [" ".join(key) for key in listed]:
                wrong.append(f"windows by {order}: {[key for key, _, _ in seen]}, not {listed}")
        for key, name, cells in seen:
            sums = summed(windows[tuple(key.split(" "))], WINDOW_FIGURES)
            wrong += compare_figures(page, f"windows, {key}", cells, [exact(figure, sums[figure]) for figure in WINDOW_FIGURES])
            if name != (next((row["name"] for row in windows[tuple(key.split(" "))] if row["name"]), "") or "-"):
                wrong.append(f"window {key} is named {name}")
        for target, cells in cells_of(page, "targets"):
            wrong += compare_figures(page, f"targets, {target}", cells, [exact(figure, targets[target][figure]) for figure in WINDOW_FIGURES])
        wrong += check_window_pairs(page, tables, domain)
    return wrong


def check_window_pairs(page, tables, domain):
    figures = ("messages", "bytes")
    pairs = grouped([row for row in rows_of(tables, "pairs") if row["class"] == "rma" and row["domain"] == domain]
                    if "pairs" in tables else [], "source", "destination")
    seen = page.ask("return [...document.querySelectorAll('#window-pairs tbody tr')].map(row => [row.cells[0].innerText, row.cells[1].innerText,"
                    "  [...row.querySelectorAll('td.number')].map(cell => [cell.title, cell.innerText])])")
    if len(seen) != min(len(pairs), 20):
        return [f"pairs of windows: {seen}"]
    wrong = []
    for source, destination, cells in seen:
        sums = summed(pairs[source, destination], figures)
        wrong += compare_figures(page, f"window-pairs, {source} to {destination}", cells, [exact(name, sums[name]) for name in figures])
    return wrong
