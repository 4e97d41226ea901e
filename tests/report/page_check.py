# SPDX-License-Identifier: BSD-3-Clause
"""Reads a page of `pcollect html` in Chromium and compares each figure with tables of `pcollect report --format
tsv`: page_check.py PAGE FOLDER [PICTURES], where FOLDER has TABLE.tsv of each, in `pattern` that of its messages and in `topology` what `topology --format json` says, in `context,rank` and `context` what `report --by` these
says, in `frames` what `report --format json` says of contexts, in `annotate` what `annotate --min-percent 0 --context 0` does,
and in `numbers` and `names` what `text_test --numbers` and `names_test --names` do.
Prints a line for each view, which begins with "ok" or "not ok", and what differs. Pictures of the views go into the
folder PICTURES."""
import collections
import json
import math
import os
import re
import sys
import tempfile

from selenium.webdriver.common.keys import Keys

from page_address_check import check_address
from page_communication_check import check_communication, check_why_not
from page_contexts_check import (
    check_colours, check_context_waiting, check_contexts, check_errors, check_metrics, check_search, check_shapes, check_spreads)
from page_driver import (
    OPEN_CALLS, Page, is_short, lacks_open, ns, open_times, path_without_lines, ranks_of, read_alone, read_ends, read_notes,
    read_outside, read_program, read_table, read_tables, rounds_to, rows_of, selected, wanted_waiting, with_table)
from page_objects_check import check_files, check_threads, check_windows
from page_ranks_check import check_ranks
from page_source_check import check_source, read_annotate, read_dark
from page_tables_check import check_numbers, check_print, check_tables
from page_window_check import check_window


def check_summary(page, tables):
    page.show("summary")
    page.compared["shown-at-load"] += page.ask("return window.shownAtLoad") or 0
    wrong = []
    header = rows_of(tables, "header")
    facts = page.ask("return [...document.querySelectorAll('#run dd')].map("
                     "e => [e.dataset.column, e.title, e.innerText])")
    program = page.ask("return ['dt', 'dd'].map(e => document.querySelector('#run ' + e)?.innerText)")
    if facts and (facts.pop(0)[0] != "program" or program != page.program):
        wrong.append(f"the program is {program}, not {page.program}")
    page.compared["arguments"] += len(facts) > 0 and program[1] != header[0]["program"]
    if page.alone is not None:
        told = {column: shown for column, _, shown in facts}
        wrong += [f"of a program without MPI: {told}"] if told.pop("without", "")[:5] != "none:" or any("mpi" in each for each in told) else []
        facts = [fact for fact in facts if fact[0] != "without"]
    for shown in [shown for column, _, shown in facts if column == "command"]:
        rows = rows_of(tables, "command_lines")
        begin = shown.split("; and ")[0].removesuffix(" ...")
        if header[0]["mpi_calls"]: # not a recording
            told, wanted = begin.split("; "), [f"{row['command']} ({row['processes']} process{'es' * (row['processes'] != '1')})" for row in rows[:3]]
            wrong += [] if told == wanted else [f"the commands are {told}, not {wanted}"]
            page.compared["commands"] += len(told)
        else:
            wrong += [] if begin and rows[0]["command"].startswith(begin) else [f"the command is {shown}, not {rows}"]
    facts = [fact for fact in facts if fact[0] != "command"]
    for column, title, shown in facts:
        exact = header[0][column]
        if title != exact or not rounds_to(shown.removesuffix(" %"), exact):
            wrong.append(f"{column}: {shown} ({title}), not {exact}")
    told = [column for column, _, _ in facts]
    if "imbalance_percent" in told:
        wrong.append("the imbalance is told without what the report says of it")
    wrong += [f"{column} is not told" for column in ("ranks", "hosts", "wall_s", *("mpi", "mpi_percent", "mpi_calls")[:3 * (page.alone is None)])
              if header and header[0][column] and column not in told]
    told = page.ask("return [...document.querySelectorAll('.ends')].map(e => e.innerText)")
    wrong += [f"of ranks that did not end: {told}, not {page.ends}"] if header and told != page.ends else []
    page.compared["ends"] += len(told)
    told = page.ask("return document.querySelector('p#findings')?.innerText || ''")
    if header and told and told.startswith("Losses are found by calls of MPI") != (header[0]["mpi_calls"] == ""):
        wrong.append(f"without findings the page says: {told}")
    notes, wanted = page.ask("return document.querySelector('#notes')?.innerText || ''"), header[0]["notes"] if header else ""
    if notes.removeprefix("Note: ") != wanted:
        wrong.append(f"notes: {notes}, not {wanted}")
    warnings = page.ask("return [...document.querySelectorAll('#warnings li')].map(e => e.textContent)")
    wrong += [f"the note {note} is not among {warnings}, {notes}" for note in page.notes
              if note not in warnings and note not in notes]
    page.compared["warnings"] += len(warnings)
    seen = page.ask("return [...document.querySelectorAll('#findings .finding')].map(e => e.innerText)")
    wanted = [row["finding"] for row in rows_of(tables, "findings")]
    if seen != wanted:
        wrong.append(f"findings: {seen}, not {wanted}")
    saved = page.ask("return [...document.querySelectorAll('#findings .saves')].map(e => e.innerText)")
    saves = [row["saves_percent"] for row in rows_of(tables, "findings") if float(row["saves_percent"] or 0) > 0]
    if len(saved) != len(saves) or not all(rounds_to(text.removesuffix(" %"), exact) for text, exact in zip(saved, saves)):
        wrong.append(f"findings save {saved}, not {saves}")
    return wrong + (check_band if page.alone is None else check_alone)(page, tables)


def check_alone(page, tables):
    """The wall time of a program without MPI is divided as in the head of the report."""
    seen, parts = collections.Counter(), page.ask(
        "return [...document.querySelectorAll('#band th')].map(e => [e.innerText, e.nextElementSibling.title])")
    for name, exact in parts:
        seen[name.partition(":")[0]] += ns(exact)
    modules, whole = {name: ns(exact) for name, exact in parts if ":" in name}, sum(ns(row["wall_s"]) for row in rows_of(tables, "ranks"))
    wrong = check_modules(modules, collections.Counter(computing=seen["computing"]), tables)
    told = page.ask("return [...document.querySelectorAll('p.outside')].map(e => e.innerText)")
    wrong += [f"wall time: {told}, not {page.alone}"] if told != [f"Wall time {page.alone}."] * bool(page.alone) else []
    for time, name in re.findall(r"([\d.,]+ \w+) (computing|blocked|waiting for a processor)", page.alone):
        wrong += [f"{name}: {seen[name]} ns, not {time}"] if not rounds_to(time, f"{seen[name] / 1e9:.9f}") else []
        page.compared["alone"] += 1
    known = {"computing", "blocked", "waiting for a processor"}
    return wrong + ([] if abs(sum(seen.values()) - whole) <= 3 and set(seen) <= known else [f"parts {seen} of {whole} ns"])


def check_band(page, tables):
    """The parts of the time, added up another way than the page does."""
    wanted = collections.Counter()
    for row in rows_of(tables, "primitives"):
        wanted["MPI: " + row["class"]] += ns(row["mpi_exclusive_s"])
    names = {"before_init_s": "before MPI_Init", "after_s": "after MPI_Finalize", "merge_s": "merge of the profile"}
    for row in ranks_of(page, tables):
        wanted.update(row["parts"])
        for column, name in names.items():
            wanted[name] += ns(row[column])
    told = page.ask("return [...document.querySelectorAll('p.outside')].map(e => e.innerText)")
    say = [f"{name} {text}." for name, text in zip(("Outside MPI", "Imbalance"), page.outside) if text]
    wanted[OPEN_CALLS] = sum(open_times(tables).values())
    page.compared["measuring"] += wanted["pcollect in MPI calls"] > 0
    for row in rows_of(tables, "primitives"):
        wanted["MPI: " + row["class"]] -= ns(row["waiting_s"])
        wanted["MPI: waiting for the rank longest outside"] += ns(row["waiting_s"])
    inside = sum(ns(row["mpi_s"]) for row in rows_of(tables, "ranks"))
    ended = sum(ns(row["mpi_exclusive_s"]) for row in rows_of(tables, "primitives"))
    left = sum(ns(row["time"]) for row in rows_of(tables, "open_calls")) if "open_calls" in tables else 0
    unknown = inside - left - ended
    wanted["MPI: calls that had not ended"] = left
    wanted["MPI: not known in which function"] = unknown if unknown >= inside / 1000 else 0
    seen = {name: ns(exact) for name, exact in page.ask(
        "return [...document.querySelectorAll('#band th')].map(e => [e.innerText, e.nextElementSibling.title])")}
    wrong = check_segments(page, list(seen.items()))
    polls = take_waits(page, seen, wanted, tables, wrong)
    wrong += check_modules({name: seen.pop(name) for name in list(seen) if name.startswith("computing: ")}, wanted, tables, polls)
    wanted = {name: value for name, value in wanted.items() if value}
    right = set(seen) == set(wanted) and all(abs(seen[name] - value) <= 2 for name, value in wanted.items())
    for name in wanted:
        page.compared[name.replace(" ", "-")] += 1
    wrong += [] if told == say else [f"outside MPI: {told}, not {say}"]
    # The shares are of the sum; where other threads than the main ones are a part of it, the page says so.
    others = sum(ns(row["mpi_s"]) - ns(row["mpi_main_s"]) for row in rows_of(tables, "ranks"))
    told = page.ask("return document.querySelector('#band-about')?.innerText || ''")
    if bool(seen) and ("Other threads than the main ones" in told) != (others > 0):
        wrong.append(f"other threads were in MPI for {others} ns: {told}")
    page.compared["threads"] += others > 0
    return wrong + ([] if right else [f"time of the ranks: {seen}, not {wanted}"]) + check_waiting(tables) + check_wall(page, tables)


def take_waits(page, seen, wanted, tables, wrong):
    """The time in which main threads poll for others is that of the head, and no computation. True if there is some."""
    name = "waiting for threads in a runtime library"
    time = re.search(r"([\d.,]+ \w+) " + name, page.outside[0])
    value, ranks = seen.pop(name, 0), len(rows_of(tables, "ranks"))
    wanted["computing"] -= value
    page.compared["polling"] += time is not None
    if time and not rounds_to(time[1], f"{value / ranks / 1e9:.9f}"):
        wrong.append(f"{name}: {value} ns of {ranks} ranks, not {time[1]}")
    return value > 0


def check_segments(page, parts):
    """Each of the first seven parts has a segment and a key of its own colour. All others are one segment, with one key
    for their rows; if several are below 0.5 %, these are hidden behind a row with their sum."""
    rest, whole = parts[7:], sum(value for _, value in parts)
    wanted = [(name, value, 1) for name, value in parts[:7]]
    small = [value for _, value in rest if value < 0.005 * whole]
    small = small if len(small) > 1 else []
    wanted += [(", ".join(name for name, _ in rest), sum(value for _, value in rest), len(rest) + bool(small))] if rest else []
    page.compared["folded"] += bool(small)
    hidden, others = page.ask("""
        const hidden = () => [...document.querySelectorAll('#band th')].filter(e => !e.offsetParent).length, others = document.querySelector('#others');
        const before = hidden(), figure = others?.querySelector('.number').title || '';
        others?.querySelector('button').click();
        return [[before, hidden()], figure]""")
    if hidden != [len(small), 0] or (ns(others) if others else 0) != sum(small):
        return [f"folded parts: {hidden} hidden, {others}, not {small}"]
    page.compared["rest"] += len(rest) > 1
    segments, keys = page.ask("""
        const colour = e => getComputedStyle(e).backgroundColor;
        return [[...document.querySelectorAll('.band span')].map(e => [e.title, Number(e.style.flexGrow), colour(e)]),
            [...document.querySelectorAll('#band .key')].map(e => [colour(e), e.closest('td').rowSpan])]""")
    right = [(title, rows) for title, _, rows in wanted] == [(title, rows) for (title, *_), (_, rows) in zip(segments, keys)] and \
        all(abs(share - 100 * value / whole) < 1e-3 for (_, share, _), (_, value, _) in zip(segments, wanted))
    colours = [colour for *_, colour in segments]
    return [] if right and colours == [colour for colour, _ in keys] and len(set(colours)) == len(wanted) == len(colours) else [
        f"the band has {segments}, with keys {keys}, not {wanted}"]


def check_waiting(tables):
    """Waiting by rank and by function, which the tables have, against the times of each rank in each function."""
    wrong, waited = [], wanted_waiting(tables)
    for table, column, k in (("primitives", "primitive", 0), ("ranks", "rank", 1)):
        for row in rows_of(tables, table):
            wanted = sum(value for key, value in waited.items() if key[k] == row[column])
            if abs(ns(row["waiting_s"]) - wanted) > 1:
                wrong.append(f"{row[column]} waits {row['waiting_s']}, not {wanted} ns")
    return wrong


def check_modules(seen, wanted, tables, polls=False):
    """What is computed, divided as samples lie in modules: all of it, and no part of a percent by itself."""
    rows = {row["module"].split("/")[-1] or "unknown": ns(row["cpu_exclusive_s"]) for row in rows_of(tables, "module_calls")}
    if polls:
        rows.pop("libgomp.so.1", None)
    sampled = sum(rows.values())
    if not sampled or not wanted["computing"]:
        return [f"modules {seen} without samples"] if seen else []
    whole = wanted.pop("computing")
    parts = {"computing: " + name: value * whole / sampled for name, value in rows.items() if value >= 0.01 * sampled}
    rest = whole - sum(parts.values())
    if rest > len(parts):
        parts["computing: other modules"] = rest
    right = set(seen) == set(parts) and all(abs(seen[name] - value) <= len(parts) + 1 for name, value in parts.items())
    return [] if right and sum(seen.values()) == whole else [f"computing: {seen}, not {parts}, in all {whole}"]


def check_wall(page, tables):
    """The parts are the wall time and what other threads than the main ones were in MPI; and what samples cost is told."""
    seen = sum(ns(exact) for exact in page.ask("return [...document.querySelectorAll('#band th')].map(e => e.nextElementSibling.title)"))
    rows, wrong = rows_of(tables, "ranks"), []
    inside = sum(ns(row["mpi_s"]) for row in rows)
    if abs(inside - sum(ns(row["mpi_exclusive_s"]) for row in rows_of(tables, "primitives"))) <= 1e-6 * inside:
        wall = sum(ns(row["wall_s"]) + ns(row["mpi_s"]) - ns(row["mpi_main_s"]) for row in rows if row["inside_s"])
        if abs(seen - wall) > 1e-6 * wall + 10 * len(rows):
            wrong.append(f"parts of {seen} ns, not {wall}")
        caption = page.ask("return document.querySelector('#band-about')?.innerText || ''")
        if seen and "other times of main threads" not in caption:
            wrong.append(f"the caption of the wall time of the ranks is: {caption}")
    cost = sum(ns(row.get("cost")) for row in rows_of(tables, "sampling")) if "sampling" in tables else 0
    told = page.ask("return [...document.querySelectorAll('#cost span')].map(e => [e.title, e.textContent])")
    cpu = sum(ns(row["cpu"]) for row in rows_of(tables, "sampling")) if cost else 0
    if told and (ns(told[0][0]) != cost or not rounds_to(told[0][1], told[0][0]) or told[1][1] != f"{100 * cost / cpu:.1f} %") or \
            bool(told) != bool(cost and cpu):
        wrong.append(f"samples cost {told}, not {cost} of {cpu}")
    return wrong


def check_evidence(page, tables):
    """The link of each finding leads to its context or all of them, its rank or its table."""
    wrong = []
    for i, row in enumerate(rows_of(tables, "findings")):
        page.show("summary")
        page.follow("#findings a", i)
        view, (rows, rank) = page.ask("return document.querySelector('main').firstChild.id"), selected(page)
        table = row["more"].removeprefix("--table ")
        if row["context"]:
            wanted = {path_without_lines(call) for call in rows_of(tables, "contexts") if call["context"] == row["context"]}
            right = view == "contexts" and len(rows) == 1 and set(rows) == wanted
        elif table == "contexts":
            right = view == "contexts" and not rows
        elif table == "ranks":
            right = view == "ranks" and rank == row["rank"]
        else:
            wanted = [cells for cells in tables[table][1] if row["rank"] and cells[0] == row["rank"]]
            right = view == "tables" and [cells[0] for cells in rows] == [cells[0] for cells in wanted]
        if not right:
            wrong.append(f"{row['finding']}: leads to {view}, {rows}, {rank}")
    return wrong


def check_help(page):
    """The list of keys has as many digits as there are views, and at most nine."""
    keys, views = page.ask("return [document.querySelector('#help kbd').textContent, "
                           "document.querySelectorAll('nav a').length]")
    return [] if keys == f"1 to {min(views, 9)}" else [f"the keys {keys} choose {views} views"]


def check_focus(page):
    """A choice that is changed by a key keeps the keyboard focus."""
    wrong = []
    for view in ("ranks", "source", "tables"):
        page.show(view)
        for k in range(page.ask("return document.querySelectorAll('main .controls select').length")):
            before, more = page.ask("""const choice = document.querySelectorAll('main .controls select')[arguments[0]];
                choice.focus();
                return [choice.value, choice.selectedIndex + 1 < choice.options.length]""", k)
            if not more:
                continue
            page.press(Keys.ARROW_DOWN, view=view)
            at, value = page.ask("return [[...document.querySelectorAll('main .controls select')].indexOf(document.activeElement),"
                                 "document.activeElement.value]")
            wrong += [f"choice {k} of {view} is {value} after {before}, choice {at} has the focus"] if at != k or value == before else []
            page.compared["focus"] += 1
    return wrong


def check_keys(page, tables):
    """What is selected by keys in one view is selected in the others."""
    wrong = []
    ranks = [row["rank"] for row in rows_of(tables, "ranks")]
    page.show("summary").press("2", view="contexts")
    if page.ask("return document.getElementById('tree') !== null"):
        page.ask("document.querySelector('#tree tbody tr').focus()")
        page.press(Keys.ARROW_DOWN, Keys.ENTER)
        rows, _ = selected(page)
        second = page.ask("return document.querySelectorAll('#tree tbody tr')[1].node.path")
        page.press("1", view="summary").press("2", view="contexts")
        if [second] != rows or selected(page)[0] != rows:
            wrong.append(f"the tree has {rows} selected, then {selected(page)[0]}, not {second}")
    page.press("3", view="ranks")
    if len(ranks) > 1 and page.ask("return document.getElementById('map') !== null"):
        page.ask("document.getElementById('map').focus()")
        page.press(Keys.HOME, Keys.ARROW_RIGHT)
        if selected(page)[1] != ranks[1]:
            wrong.append(f"rank {selected(page)[1]} is selected, not {ranks[1]}")
        page.show("tables&table=ranks&rank=" + ranks[1])
        if [cells[0] for cells in selected(page)[0]] != [ranks[1]]:
            wrong.append(f"the table has {selected(page)[0]} selected, not rank {ranks[1]}")
    page.press("?").until("return document.getElementById('help').open")
    page.press(Keys.ESCAPE).until("return !document.getElementById('help').open")
    return wrong + check_focus(page) + check_help(page)


def check_fewer_columns(page, tables):
    """A table `pairs` or `series` of another plugin may lack columns that those of topology and series have."""
    wrong = []
    with open(sys.argv[1], encoding="utf-8") as f:
        text = f.read()
    for name, lacking, view, wanted in [("pairs", "domain", "communication", "Pattern"),
                                        ("pairs", "source", "communication", "plugin topology was not used"),
                                        ("series", "width", "time", "its table series has other columns"),
                                        ("series", "mpi_time", "time", "Sums over all ranks"),
                                        ("series", "start", "print", "other columns")]:
        def rename(table, lacking=lacking):
            next(column for column in table["columns"] if column["name"] == lacking)["name"] = "another"
        if not tables.get(name, ((), ()))[1]:
            continue
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".html") as f:
            f.write(with_table(text, name, rename))
            f.flush()
            page.open(f.name)
            page.show(view)
            shown = page.ask("return document.querySelector('main').innerText")
            wrong += [] if wanted in shown else [f"without {lacking}: {shown}"]
    page.open(sys.argv[1])
    page.settle()
    return wrong


COURSE_COLUMNS = [("mpi_time", 1e9), ("cpu_time", 1e9), ("computed", 1e9), ("samples", 1), ("calls", 1), ("bytes_sent", 1),
                  ("bytes_received", 1)]


def region_bins(rows, begin):
    """(path, from, to, time) of each bin of a region: the part beside a bin that the rank was in the region all the time, and
    in the part of the region around it."""
    parts = {}
    width = lambda row: int(row["width"])
    full = {(row["region"], row["rank"], at) for row in rows if ns(row["time"]) >= 0.999 * width(row)
            for at in ((int(row["start"]), "begins"), (int(row["start"]) + width(row), "ends"))}
    for row in sorted(rows, key=lambda row: len(row["region"])):
        path = " > ".join(re.sub(r"^\((?:region )?(.*)\)$", r"\1", label) for label in row["region"].split(" > ")) or "other regions"
        first, last, time = int(row["start"]), int(row["start"]) + width(row), ns(row["time"])
        before = (row["region"], row["rank"], (first, "ends")) in full
        behind = (row["region"], row["rank"], (last, "begins")) in full
        if time < 0.999 * width(row) and before != behind:
            first, last = (first, first + time) if before else (last - time, last)
        around = parts.get((row["region"].rpartition(" > ")[0], row["rank"], row["start"]), (first, last)) if row["region"] else (first, last)
        if around[0] < last and first < around[1]:
            first, last = max(first, around[0]), min(last, around[1])
        parts[row["region"], row["rank"], row["start"]] = first, last
        yield path, first - begin, last - begin, time


def check_lanes(page, rows, begin, end):
    """Each phase and region from its begin to its end, with its time; its lane is dark where it was and pale where it was
    not."""
    wanted = {}
    for path, first, last, time in region_bins(rows, begin):
        one = wanted.setdefault(path, [math.inf, 0, 0, []])
        one[0] = min(one[0], first)
        one[1] = max(one[1], last)
        one[2] += time
        one[3].append((first, last))
        page.compared["cut-bins"] += (last - first) & 0xffffff > 0
    lanes = page.ask("return [...document.querySelectorAll('#regions tbody tr')].map("
                     "r => [r.dataset.path, [...r.querySelectorAll('td')].map(c => c.title)])")
    if {path: [ns(text) for text in cells] for path, cells in lanes} != {path: one[:3] for path, one in wanted.items()}:
        return [f"regions {lanes}, not {wanted}"]
    if not wanted:
        return []
    pixels = page.ask("""
        const canvas = document.getElementById("lanes"), pen = canvas.getContext("2d"), n = arguments[0];
        return Array.from({length: n}, (_, i) => Array.from(pen.getImageData(0, Math.floor((i + 1) * canvas.height / n) - 2,
            canvas.width, 1).data).filter((_, k) => k % 4 === 3));""", len(lanes))
    wrong = []
    for (path, _), row in zip(lanes, pixels):
        column, step = len(row) / (end - begin), 2 + len(row) / 480
        dark = [(low * column, high * column) for low, high in wanted[path][3]]
        for x, alpha in enumerate(row):
            near = any(low - step <= x + 0.5 <= high + step for low, high in dark)
            inside = any(low <= x and x + 1 <= high for low, high in dark)
            if alpha and not near or inside and not alpha:
                wrong.append(f"{path} has {alpha} at {x} of {len(row)}")
    return wrong[:3]


def check_phases(page, rows, regions, begin):
    """Each phase with its begin and end, which are those of its lane if it has one, else of bins, and its sums."""
    wanted = {}
    for row in rows:
        if int(row.get("phase") or 0):
            one = wanted.setdefault(row["phase"], [math.inf, 0] + [0] * len(COURSE_COLUMNS))
            one[0] = min(one[0], int(row["start"]) - begin)
            one[1] = max(one[1], int(row["start"]) + int(row["width"]) - begin)
            for k, (name, unit) in enumerate(COURSE_COLUMNS):
                one[2 + k] += ns(row[name]) if unit == 1e9 else int(row[name])
    for phase, one in wanted.items():
        lane = [(first, last) for path, first, last, _ in region_bins(regions, begin) if path == "phase " + phase]
        one[:2] = [min(first for first, _ in lane), max(last for _, last in lane)] if lane else one[:2]
        page.compared["phases"] += len(lane) > 0
    seen = page.ask("return [...document.querySelectorAll('#phases tbody tr')].map("
                    "r => [r.dataset.phase, [...r.querySelectorAll('td')].map(c => [c.title, c.textContent])])")
    wrong = [f"phase {phase}: {shown} for {exact}" for phase, cells in seen for exact, shown in cells
             if not rounds_to(shown, exact) and not is_short(shown, exact)]
    units = [1e9, 1e9] + [unit for _, unit in COURSE_COLUMNS]
    seen = {phase: [ns(exact) if unit == 1e9 else int(float(exact)) for (exact, _), unit in zip(cells, units)] for phase, cells in seen}
    told = page.ask("return ['phases', 'regions'].map(id => document.querySelector(`#${id} caption`)?.textContent)")
    wrong += [f"which bins? {text}" for text, bins in zip(told, (
        "MPI_Pcontrol); sums" if regions else "from the first bin with a call or a sample to the last",
        "from the first time in them to the last, as far as bins tell")) if text and bins not in text]
    return wrong + ([] if seen == wanted else [f"phases {seen}, not {wanted}"])


def check_axes(page, seconds):
    """Below each picture ticks from 0 on in equal steps, as many as fit, each where its time is."""
    wrong = []
    pictures = page.ask("""return [...document.querySelectorAll('#time .axis')].map(axis => {
        const {left, width} = axis.getBoundingClientRect(), picture = axis.previousElementSibling.getBoundingClientRect();
        return [picture.left, picture.width, [...axis.children].map(tick => {
            const box = tick.getBoundingClientRect();
            return [tick.textContent, tick.className === 'last' ? box.right : box.left, box.right <= left + width + 1]})]})""")
    if len(pictures) != 2 + page.ask("return document.querySelectorAll('#lanes').length"):
        wrong.append(f"{len(pictures)} axes")
    for left, width, ticks in pictures:
        times = [float(text.removesuffix(" s")) for text, _, _ in ticks]
        fitting = [factor * 10.0**power for power in range(-9, 9) for factor in (1, 2, 5) if seconds / max(4, width // 96) <= factor * 10.0**power]
        if len(times) < 2 or abs(times[1] - min(fitting)) > 1e-6 * seconds or times[0] or seconds - times[-1] >= times[1] * 1.001 or \
                any(abs(time - k * times[1]) > 1e-6 * seconds for k, time in enumerate(times)):
            wrong.append(f"ticks {ticks} of {seconds} s")
        wrong += [f"{text} is at {x} of {left} to {left + width}" for time, (text, x, inside) in zip(times, ticks)
                  if not inside or abs(x - left - width * time / seconds) > 3]
    return wrong


def share_out(rows, begin):
    """Sets "from" and "to" of each row: its bin, without the part in which another one of the rank was filled. Time in MPI
    of a narrow bin is before that of the wide one that covers it."""
    bins = collections.defaultdict(list)
    for row in rows:
        row["from"] = int(row["start"]) - begin
        row["to"] = row["from"] + int(row["width"])
        bins[row["rank"], row["from"], row["to"]].append(row)
    time = {key: sum(ns(row["mpi_time"]) for row in of) for key, of in bins.items()}
    for rank, start, end in sorted((key for key in bins if time[key]), key=lambda key: key[2] - key[1]):
        inner = [key for key in bins if key[0] == rank and time[key] and start <= key[1] and key[2] <= end and key[2] - key[1] < end - start]
        if not inner:
            continue
        near = max(inner, key=lambda key: (key[1], key[1] - key[2]))
        room = bins[near][0]["from"] + time[near], end - time[rank, start, end]
        moment = (max(near[1], room[0]) + min(near[2], room[1])) / 2
        moment = min(max(moment, bins[near][0]["from"] + 1), near[2] - 1)
        for row in bins[near]:
            row["to"] = moment
        for row in bins[rank, start, end]:
            row["from"] = moment


def check_merges(page, tables, seen, begin, end):
    """The merge of each rank is right before its time in MPI_Finalize, which ends with the time inside MPI."""
    last = {row["rank"]: ns(row["mpi_exclusive_s"]) for row in rows_of(tables, "rank,primitive") if row["primitive"] == "MPI_Finalize"}
    wanted, width = [0.0] * len(seen), (end - begin) / len(seen)
    for row in rows_of(tables, "ranks"):
        if ns(row["merge_s"] or "0") and row["rank"] in last:
            to = sum(ns(row[name]) for name in ("start_s", "before_init_s", "inside_s")) - last[row["rank"]] - begin
            for k in range(len(seen)):
                wanted[k] += max(0, min(to, (k + 1) * width) - max(to - ns(row["merge_s"]), k * width))
    if not any(wanted):
        return [f"a merge in {seen[0]}"] * (len(seen[0]) > 1 + len(COURSE_COLUMNS))
    page.compared["merges"] += 1
    return [f"merge, interval {k}: {cells[-1]}, not {value}" for k, (cells, value) in enumerate(zip(seen, wanted))
            if len(cells) != 2 + len(COURSE_COLUMNS) or abs(ns(cells[-1][0]) - value) > 1000 or not rounds_to(cells[-1][1], cells[-1][0])]


def check_rank_axis(page, ranks):
    """Numbers of ranks beside the map, each at the middle of its row. No row stands for several ranks."""
    labels, legend = page.ask("""
        const box = document.querySelector('.course[aria-label]').getBoundingClientRect();
        return [[...document.querySelectorAll('#time .down span')].map(label => {
            const {top, bottom} = label.getBoundingClientRect();
            return [label.textContent, ((top + bottom) / 2 - box.top) / box.height];
        }), document.getElementById('course-legend').textContent]""")
    page.compared["rank-axis"] += len(labels)
    wrong = [f"rank {text} is at {at}" for text, at in labels if abs(at * len(ranks) - ranks.index(int(text)) - 0.5) > 0.2]
    wrong += [legend] if ("stands for several ranks" in legend) != (len(ranks) > 400) else []
    return wrong + ([] if labels else ["the map has no numbers of ranks"])


def check_course(page, tables):
    """The sums of each interval and its share of MPI, and that the map has something where the series has."""
    page.show("time")
    if not tables.get("series", ((), ()))[1]:
        return check_why_not(page, tables, "time", "record does not keep it", "plugin series was not used")
    wrong = lacks_open(page, tables)
    rows, regions = rows_of(tables, "series"), rows_of(tables, "series_regions") if "series_regions" in tables else []
    begin = min(int(row["start"]) for row in rows + regions)
    end = max(int(row["start"]) + int(row["width"]) for row in rows + regions)
    seen = page.ask("return [...document.querySelectorAll('#course tbody tr')].map("
                    "r => [...r.cells].slice(1).map(c => [c.title, c.textContent]))")
    n_ranks = len({row["rank"] for row in rows + regions})
    page.compared["intervals"] += len(seen)
    told, high = page.ask("""
        const canvas = document.querySelector('.course'), {width, height} = canvas;
        const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
        const grey = parseInt(getComputedStyle(document.documentElement).getPropertyValue('--unknown').slice(1, 3), 16);
        const first = pixels.findIndex((value, i) => i % 4 === 3 && value > 127 && pixels[i - 3] !== grey);
        return [document.getElementById('course-most').textContent, first < 0 ? 0 : 1 - Math.floor(first / 4 / width) / height]""")
    most = re.search(r"at most ([\d.]+) % in a column; the picture is 100 % high", told)
    if not most or abs(high - float(most[1]) / 100) > 0.02:
        wrong.append(f"the greatest column is {high} high: {told}")
    share_out(rows, begin)
    for k, (share, (exact, _), *_) in enumerate(seen):
        wanted = ns(exact) / ((end - begin) / len(seen) * n_ranks) # of the time in MPI, which is compared below
        if wanted > 1 + 1e-6:
            wrong.append(f"time in MPI, interval {k}: {100 * wanted} %")
        if not rounds_to(share[1].removesuffix(" %"), str(100 * wanted)) or abs(float(share[0]) - 100 * wanted) > 2e-3:
            wrong.append(f"share of MPI, interval {k}: {share}, not {wanted}")
    for m, (name, unit) in enumerate(COURSE_COLUMNS, 1):
        wanted = [0.0] * len(seen)
        for row in rows:
            for k in range(len(seen)):
                low, high = (end - begin) * k / len(seen), (end - begin) * (k + 1) / len(seen)
                part = min(high, row["to"]) - max(low, row["from"])
                wanted[k] += float(row[name]) * unit * max(0, part) / (row["to"] - row["from"])
        whole = sum(wanted)
        for k, value in enumerate(wanted):
            exact, shown = seen[k][m]
            if abs(float(exact) * unit - value) > 1e-4 * whole + 1 or not rounds_to(shown, exact) or unit == 1 and "." in exact:
                wrong.append(f"{name}, interval {k}: {seen[k][m]}, not {value}")
        if abs(sum(round(float(cells[m][0]) * unit) for cells in seen) - whole) > (1 if unit == 1e9 else 0.01):
            wrong.append(f"{name} in all")
    wrong += check_merges(page, tables, seen, begin, end) + check_rank_axis(page, sorted({int(row["rank"]) for row in rows + regions}))
    wrong += check_axes(page, (end - begin) / 1e9) + check_phases(page, rows, regions, begin) + check_lanes(page, regions, begin, end)
    ranks = {row["rank"] for row in rows + regions}
    page.show("time&metric=calls&rank=" + sorted(ranks)[-1])
    height, drawn = page.ask("""
        const canvas = document.querySelector('.course[aria-label]'), pen = canvas.getContext('2d');
        const pixels = pen.getImageData(0, 0, canvas.width, canvas.height).data;
        return [canvas.height, Array.from(pixels).filter((_, i) => i % 4 === 3 && pixels[i] > 0).length]""")
    if height != min(len(ranks), 400) or not drawn:
        wrong.append(f"the map has {height} rows and {drawn} pixels")
    if sorted(ranks)[-1] not in page.ask("return document.getElementById('course-rank').textContent"):
        wrong.append("the rank is not marked")
    order = sorted(ranks, key=int)
    for key, rank in ((Keys.HOME, order[0]), (Keys.ARROW_DOWN, order[:2][-1]), (Keys.ARROW_UP, order[0])):
        page.ask("document.querySelector('.course[aria-label]').focus()")
        page.press(key)
        told = page.ask("return document.getElementById('course-rank').textContent")
        if told != f"Rank {rank} is marked.":
            wrong.append(f"{told}, not {rank}")
    return wrong


def check_safety(page, _):
    """Nothing was asked for but the page, nothing can be, and no name became an element or ran."""
    wrong = []
    for entry in page.driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent" and \
                not message["params"]["request"]["url"].startswith((page.address.split("#")[0], "data:")):
            wrong.append("asks for " + message["params"]["request"]["url"])
    wrong += [e["message"] for e in page.driver.get_log("browser") if e["level"] == "SEVERE"]
    if page.ask("return document.querySelectorAll('img, b, iframe, object, [onerror], [onload]').length"):
        wrong.append("a name became an element")
    if page.ask("return window.ran !== undefined"):
        wrong.append("a name ran as a script")
    answer = page.driver.execute_async_script(
        "document.addEventListener('securitypolicyviolation', e => arguments[0](e.effectiveDirective));"
        "fetch('http://127.0.0.1:9/').then(() => arguments[0]('sent'), () => null)")
    if answer != "connect-src":
        wrong.append(f"a request is not refused by the policy: {answer}")
    return wrong

HEATS = [".heat:not(.strip)", ".course", ".matrix"]


def heats(page):
    """[the heat colour of the style, by kind of canvas the heat colours of both schemes that it has]"""
    return page.ask("""
        const [kinds, heats] = arguments, hex = value => value.toString(16).padStart(2, '0');
        const found = kinds.map(() => new Set());
        kinds.forEach((kind, k) => document.querySelectorAll('#print ' + kind).forEach(canvas => {
            if (!canvas.width || !canvas.height)
                return;
            const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] === 255)
                    found[k].add('#' + [...data.slice(i, i + 3)].map(hex).join(''));
        }));
        return [getComputedStyle(document.documentElement).getPropertyValue('--heat').trim(),
            found.map(colours => heats.filter(heat => colours.has(heat)))]""", HEATS, ["#0b4f8a", "#9ad1ff"])


def check_schemes(page, _):
    """Maps have the colours of their keys when the desktop becomes dark, on paper, and after that."""
    wrong = []
    page.show("print")
    kinds = [kind for kind, colours in zip(HEATS, heats(page)[1]) if colours]
    page.compared["schemes"] += len(kinds)

    def change(what, scheme, event, wanted):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        page.until("return matchMedia('(prefers-color-scheme: dark)').matches === (arguments[0] === 'dark')", scheme)
        # Frames come after the listeners of the change.
        page.ask("return new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        page.ask("dispatchEvent(new Event(arguments[0]))", event)
        heat, found = heats(page)
        if heat != wanted or any(colours != [wanted] for kind, colours in zip(HEATS, found) if kind in kinds):
            wrong.append(f"{what}: the style has {heat}, maps {dict(zip(HEATS, found))}, not {wanted}")
    change("dark", "dark", "none", "#9ad1ff")
    change("dark, printed", "dark", "beforeprint", "#0b4f8a")
    change("dark, after print", "dark", "afterprint", "#9ad1ff")
    change("light", "light", "none", "#0b4f8a")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    return wrong


VIEWS = ["summary", "contexts", "ranks", "time", "source", "communication", "tables", "print"]


def take_pictures(page, folder, views):
    """A picture of each view on a desk and in a hand, light and dark; none is wider than its window."""
    wrong = []
    for width, height in ((1280, 800), (390, 844)):
        for scheme in ("light", "dark"):
            page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
            page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]})
            for view in views:
                page.show(view)
                name = f"{view}-{width}-{scheme}.png"
                page.driver.save_screenshot(os.path.join(folder, name))
                if page.ask("return document.documentElement.scrollWidth") > width or page.ask(
                        "return [...document.querySelectorAll('.controls *')].some(e => e.getBoundingClientRect().right > innerWidth)"):
                    wrong.append(f"{name} is cut at the right")
                cut = page.ask("return [...document.querySelectorAll('caption')].filter(e => e.getBoundingClientRect().right > innerWidth)"
                               ".map(e => e.textContent)")
                wrong += [f"{name}: {caption} is cut" for caption in cut]
    return wrong


def main():
    tables, page = read_tables(sys.argv[2]), Page(sys.argv[1])
    with open(os.path.join(sys.argv[2], "pattern"), encoding="utf-8") as f:
        page.pattern = f.read().strip()
    with open(os.path.join(sys.argv[2], "topology"), encoding="utf-8") as f:
        page.placement = json.loads(f.read() or "{}").get("placement")
    page.program, page.outside, page.notes = read_program(sys.argv[2]), read_outside(sys.argv[2]), read_notes(sys.argv[2])
    page.annotated, page.ends = read_annotate(sys.argv[2]), read_ends(sys.argv[2])
    page.alone = read_alone(sys.argv[2])
    page.dark = read_dark(sys.argv[2])
    with open(os.path.join(sys.argv[2], "frames"), encoding="utf-8") as f:
        page.frames = json.loads(f.read() or "{}").get("contexts", [])
    page.numbers = read_table(sys.argv[2], "numbers")[1]
    page.names = read_table(sys.argv[2], "names")[1]
    page.by_rank = read_table(sys.argv[2], "context,rank")
    page.by_context = read_table(sys.argv[2], "context")
    try:
        checks = [("Summary", check_summary), ("Contexts", check_contexts), ("Metrics", check_metrics), ("Shapes", check_shapes),
                  ("Spreads", check_spreads), ("Waiting", check_context_waiting),
                  ("Errors", check_errors), ("Search", check_search), ("Colours", check_colours),
                  ("Ranks", check_ranks), ("Course", check_course), ("Source", check_source),
                  ("Communication", check_communication), ("Threads", check_threads), ("Files", check_files),
                  ("Windows", check_windows), ("Tables", check_tables), ("Numbers", check_numbers),
                  ("Evidence", check_evidence), ("Keys", check_keys), ("Print", check_print),
                  ("Schemes", check_schemes), ("Address", check_address), ("Window", check_window),
                  ("no request, no markup", check_safety), ("Fewer columns", check_fewer_columns)]
        if len(sys.argv) > 3:
            checks.append(("pictures", lambda page, _: take_pictures(page, sys.argv[3], VIEWS)))
        views = os.environ.get("PC_VIEWS")
        for name, check in checks:
            if views and name not in views.split("; "):
                continue
            wrong = check(page, tables)
            print("not ok" if wrong else "ok", name)
            print("".join(f"  {line}\n" for line in wrong[:20]), end="")
        for kind, n in sorted(page.compared.items()):
            print(f"# compared {kind} {n}")
    finally:
        page.close()


if __name__ == "__main__":
    main()
