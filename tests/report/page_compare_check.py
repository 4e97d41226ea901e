# SPDX-License-Identifier: BSD-3-Clause
"""Reads a page of several profiles in Chromium and compares it with what `pcollect scale` and `pcollect diff` print as
tsv: page_compare_check.py scale|diff PAGE FOLDER [PICTURES]. FOLDER has the tables of scale as TABLE.tsv, and in
`predicted` that of contexts with --predict; or that of diff as difference.tsv. Prints as page_check.py does."""
import collections
import os
import re
import sys
import urllib.parse

import page_check as check
import page_driver as driver

QUIET = ("same", "noise", "unsure")


def read_cells(page, table):
    """The cells of a table of figures: {column: (title, shown)} of each row."""
    return page.ask("return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map(row => Object.fromEntries("
                    "[...row.cells].map(cell => [cell.dataset.column || 'predicted', [cell.title, cell.textContent]])))", table)


def compare_rows(what, seen, wanted, seconds=()):
    """Cells against rows of tsv; those of `seconds` are shown as times."""
    wrong = [] if len(seen) == min(len(wanted), 500) else [f"{what}: {len(seen)} rows, not {len(wanted)}"]
    for i, (cells, row) in enumerate(zip(seen, wanted)):
        for column, (title, shown) in cells.items():
            if column not in row:
                continue
            short = shown.removesuffix(" %")
            if not driver.same_value(title, row[column]) or not (
                    driver.rounds_to(short, row[column]) or driver.is_short(short, row[column]) or column in seconds and
                    abs(float(row[column])) < 1e-9):
                wrong.append(f"{what}, row {i}, {column}: {shown} ({title}), not {row[column]}")
    return wrong


def width_of(row):
    """The threads of a row, if these are compared, or its ranks."""
    return int(row["threads"] or row["ranks"])


def large_contexts(largest, contexts, predicted):
    """The places of the contexts with 1 % of the run or more: of what is lost, of the time, or of what is predicted."""
    def number(text):
        return float(text) if text else float("nan")
    measured = float(largest["core_s"]) / width_of(largest)
    expected = [number(future["predicted_s"] or row["last_s"]) for row, future in zip(contexts, predicted)]
    whole = sum(value for value in expected if value == value)
    return [i for i, row in enumerate(contexts) if not all(abs(part) < 0.01 for part in (
        number(row["lost_percent"]) / 100, number(row["last_s"]) / measured, expected[i] / whole if whole else float("nan")))]


def check_told(page):
    """The names of the files in the heading, and what the text says of both sides as the report does."""
    with open(os.path.join(sys.argv[3], "heading"), encoding="utf-8") as file:
        heading = file.read().strip()
    shown = page.ask("return document.querySelector('h1').textContent")
    if shown != heading:
        return [f"the heading is {shown}, not {heading}"]
    with open(os.path.join(sys.argv[3], "told"), encoding="utf-8") as file:
        lines = [line for line in file.read().split("\n") if line]
    seen = page.ask("""return [document.querySelector('#told caption').textContent,
        ...[...document.querySelectorAll('#told tr')].map(row => [...row.cells].map(cell => cell.textContent))]""")
    wanted = [lines[0]] + [[cell.strip() for cell in (line[2:25], line[25:39], line[39:])] for line in lines[1:]]
    return [] if seen == wanted else [f"{seen}, not {wanted}"]


def check_scaling(page, tables):
    page.show("scaling")
    wrong = compare_rows("scales", read_cells(page, "scales"), driver.rows_of(tables, "scales"))
    contexts, losses = driver.rows_of(tables, "contexts"), read_cells(page, "losses")
    head, rows = driver.read_table(sys.argv[3], "predicted")
    predicted = [dict(zip(head, row)) for row in rows]
    large = large_contexts(driver.rows_of(tables, "scales")[-1], contexts, predicted)
    wrong += compare_rows("contexts", losses, [contexts[i] for i in large])
    told = page.ask("const told = document.querySelector('#small'); told?.querySelector('button').click(); return told?.textContent || ''")
    if told.split(" ")[0] != (str(len(contexts) - len(large)) if len(large) < len(contexts) else ""):
        wrong.append(f"{len(large)} of {len(contexts)} contexts have a row, and the page says: {told}")
    losses = read_cells(page, "losses")
    wrong += compare_rows("all contexts", losses, contexts[:200])
    widths = page.ask("return Object.fromEntries([...document.querySelector('#losses tbody tr').cells].map("
                      "cell => [cell.dataset.column || 'predicted', cell.getBoundingClientRect().width]))") if losses else {}
    if widths and widths["place"] < max(widths.values()):
        wrong.append(f"contexts are narrower than another column: {widths}")
    wrong += check_chart(page)
    for column in ("efficiency_percent", "growth") if losses else ():
        if (column in losses[0]) != any(row[column] for row in contexts[:200]):
            wrong.append(f"{column} is a column of {list(losses[0])}, or has values and is none")
    if not any(row["predicted_s"] for row in predicted):
        said = page.ask("return document.querySelector('#scaling').innerText")
        return wrong + ([] if "nothing is predicted" in said or "Models need three" in said else [said]) + check_models(page, tables, contexts)
    for cells, row in zip(losses, predicted):
        title, shown = cells["predicted"]
        parts = shown.replace("(", "").replace(")", "").replace(" to ", ",").replace("s ", "s,").split(",") if title else []
        if title != row["predicted_s"] or title and not all(driver.rounds_to(part.strip(), row[column]) for part, column in zip(
                parts, ("predicted_s", "low_s", "high_s"))):
            wrong.append(f"{row['path']}: {shown} is predicted, not {row['predicted_s']}, {row['low_s']}, {row['high_s']}")
    return wrong + check_models(page, tables, contexts)


def opening_of(area):
    """The greatest height of an area whose path goes along its lower side and back along the upper one."""
    heights = [float(point.split()[1]) for point in re.split("[ML]", area.rstrip("Z"))[1:]]
    return max((low - high for low, high in zip(heights, reversed(heights))), default=0)


def check_chart(page):
    """Of numbers and names of a chart none is over another one, and no name is over a line that is longer than its own."""
    sources = []
    for name in ("dom", "units", "chart"):
        with open(os.path.join(os.path.dirname(__file__), f"../../page/{name}.js"), encoding="utf-8") as file:
            sources.append(file.read())
    wrong = []
    for ranks in ((1, 2, 4), (512, 4096, 100000, 200000), (90000, 100000, 1000000, 1100000), (1000000, 2000000)):
        texts, end = page.ask("".join(sources) + """
            const [xs] = arguments, points = xs.map(x => [x, 2e9]);
            const lines = [{name: "measured", style: "line0", points: points.slice(0, -1)}, {name: "model", style: "line1", points}];
            const {svg} = new Chart({lines, least: 0, form: value => forPeople("ns", value), title: "Time a rank"});
            document.body.append(svg);
            const boxes = [...svg.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect().toJSON()]);
            const ends = [...svg.querySelectorAll(".chart-line:not(.thin)")].map(e => e.getBoundingClientRect().right);
            svg.remove();
            return [boxes, Math.max(...ends)]""", ranks)
        wrong += [f"{one} is over {other}" for i, (one, a) in enumerate(texts) for other, b in texts[:i]
                  if a["left"] < b["right"] and b["left"] < a["right"] and a["top"] < b["bottom"] and b["top"] < a["bottom"]]
        wrong += [f"{name} is over a line" for name, box in texts if name in ("measured", "model") and box["left"] < end]
        numbers = [text for text, _ in texts]
        wrong += [] if f"{ranks[0]:,}" in numbers and len(numbers) > 8 else [f"the chart of {ranks} says {numbers}"]
    line, marks = page.ask("".join(sources) + """
        const points = [[1, NaN], [2, 4], [4, 5], [8, NaN], [16, 6], [32, NaN]];
        const {svg} = new Chart({lines: [{name: "a", style: "line0", points}, {name: "b", style: "line1", points: [[2, NaN]]}],
            least: 0, form: String, title: "gaps"});
        return [svg.querySelector(".chart-line").getAttribute("d"), svg.querySelectorAll("circle").length]""")
    if re.sub(r"[\d. ]+", "", line) != "MLM" or marks != 3:
        wrong.append(f"a line with gaps is {line}, with {marks} marks")
    return wrong


def check_models(page, tables, contexts):
    """The points of a context are its known costs, its model is told; the legend speaks of an area only if there is one."""
    wrong, costs = [], collections.defaultdict(list)
    for row in driver.rows_of(tables, "costs"):
        if row["core_s"]:
            costs[row["path"]].append((float(row["core_s"]) / width_of(row), width_of(row)))
    for i, row in enumerate(contexts[:4]):
        page.ask("document.querySelectorAll('#losses tbody tr')[arguments[0]].click()", i)
        points = page.ask("return [...document.querySelectorAll('#model circle title')].map(e => e.textContent)")
        wanted = costs[row["path"]]
        if len(points) != len(wanted) or not all(point.endswith(f" on {ranks}") and driver.rounds_to(
                point.removeprefix("measured: ").removesuffix(f" on {ranks}"), str(value)) for point, (value, ranks) in zip(points, wanted)):
            wrong.append(f"{row['path']}: points {points}, not {wanted}")
        told = page.ask("return document.querySelector('#model code')?.textContent || ''")
        if told != row["model"]:
            wrong.append(f"{row['path']}: model {told}, not {row['model']}")
        area, legend = page.ask("""return [document.querySelector('#model .band-area')?.getAttribute('d') || '',
            document.querySelector('#model .legend')?.textContent || '']""")
        if ("area" in legend) != (opening_of(area) > 2):
            wrong.append(f"{row['path']}: the area is {area}, and the legend says: {legend}")
    return wrong


def check_difference(page, tables):
    page.show("difference")
    rows = driver.rows_of(tables, "difference")
    large = [row for row in rows if not (row["run_percent"] and abs(float(row["run_percent"])) < 1)]
    wrong = compare_rows("large changes", read_cells(page, "changes"), large, ("before", "after", "change"))
    told = page.ask("const told = document.querySelector('#small'); told?.click(); return told?.textContent || ''")
    if re.sub(r"\D+", " ", told).split()[:1] != [str(len(rows) - len(large))] * (len(large) < len(rows)):
        wrong.append(f"{len(large)} of {len(rows)} changes are large, and the page says: {told}")
    wrong += compare_rows("contexts", read_cells(page, "changes"), rows, ("before", "after", "change"))
    heads = page.ask("return [...document.querySelectorAll('#changes thead th')].map(e => e.textContent)")
    if len(set(heads)) < len(heads):
        wrong.append(f"columns have the heads {heads}")
    with open(os.path.join(sys.argv[3], "delays"), encoding="utf-8") as file:
        delays, shown = file.read().splitlines(), page.ask("return [...document.querySelectorAll('#sides .delay')].map(e => e.textContent)")
    if shown != delays:
        wrong.append(f"left out is {shown}, not {delays}")
    wrong += check_told(page)
    quiet = page.ask("return [...document.querySelectorAll('#changes tbody tr')].map(row => row.className === 'quiet')")
    if quiet != [row["verdict"] in QUIET for row in rows]:
        wrong.append(f"grey rows are {quiet}")
    sums = collections.defaultdict(lambda: [0.0, 0.0, 0.0, 0])
    for row in rows:
        path, sure = (row["path"] or row["place"]).split(" > "), row["verdict"] not in QUIET
        before, after = float(row["before"]), float(row["after"])
        for n in range(len(path) + 1):
            for i, value in enumerate((before, after, (after - before) * sure, int(sure))):
                sums[" > ".join(path[:n])][i] += value
    for path in sorted(sums, key=lambda path: -sum(sums[path][:2]))[:6]:
        page.show("difference&path=" + urllib.parse.quote(path))
        seen = page.ask("return ['.before', '.after'].map(name => Number(document.querySelector('#details ' + name).title))")
        if any(abs(a - b) > 1e-6 * (1 + abs(b)) for a, b in zip(seen, sums[path])):
            wrong.append(f"{path}: {seen}, not {sums[path]}")
    return wrong + check_colours(page, sums)


def compare_lines(page, selector, name):
    seen = page.ask("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)
    with open(os.path.join(sys.argv[3], name), encoding="utf-8") as file:
        lines = file.read().splitlines()
    return [] if seen == lines else [f"{seen}, not {lines}"]


def check_warnings(page, _):
    """The remarks of the command on the runs and on what is lost, and no other."""
    page.show("scaling" if sys.argv[1] == "scale" else "difference")
    wrong = compare_lines(page, "#warnings li", "remarks") + check.check_help(page)
    return wrong + (compare_lines(page, "#scaling .loss", "loss") if sys.argv[1] == "scale"
                    else compare_lines(page, "#sides .command", "commands"))


def colour_of(before, _, real, sure):
    if not sure:
        return "--unknown"
    part = real / before if before else (real > 0) - (real < 0)
    return "--less2" if part <= -0.5 else "--less1" if part <= -0.05 else "--level" if part < 0.05 else \
        "--more1" if part < 0.5 else "--more2"


def check_colours(page, sums):
    """The bars below the whole run, by the pixels in their middle."""
    page.show("difference&noise=no").show("difference")
    bars = sorted((path for path in sums if path and " > " not in path), key=lambda path: (-sum(sums[path][:2]), path))
    at, whole, wrong = 0, sum(sums[""][:2]), []
    for path in bars:
        share = sum(sums[path][:2]) / whole
        if share > 0.02:
            seen, wanted = page.ask("""
                const canvas = document.querySelector('.icicle'), pen = canvas.getContext('2d');
                const one = document.createElement('canvas').getContext('2d');
                one.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(arguments[1]);
                one.fillRect(0, 0, 1, 1);
                return [[...pen.getImageData(arguments[0] * canvas.width, canvas.height / canvas.clientHeight * 21, 1, 1).data],
                    [...one.getImageData(0, 0, 1, 1).data]]""", at + 0.9 * share, colour_of(*sums[path]))
            if seen != wanted:
                wrong.append(f"{path}: colour {seen}, not {wanted} of {colour_of(*sums[path])}")
        at += share
    return wrong


def main():
    kind, tables, page = sys.argv[1], driver.read_tables(sys.argv[3]), driver.Page(sys.argv[2])
    checks = [("Scaling", check_scaling)] if kind == "scale" else [("Difference", check_difference)]
    checks += [("Warnings", check_warnings), ("Tables", check.check_tables), ("no request, no markup", check.check_safety)]
    try:
        for name, each in checks:
            wrong = each(page, tables)
            print("not ok" if wrong else "ok", name)
            print("".join(f"  {line}\n" for line in wrong[:20]), end="")
        if len(sys.argv) > 4:
            wrong = check.take_pictures(page, sys.argv[4], ["scaling" if kind == "scale" else "difference"])
            print("not ok" if wrong else "ok", "pictures", *wrong)
    finally:
        page.close()


main()
