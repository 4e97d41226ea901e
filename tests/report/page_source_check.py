# SPDX-License-Identifier: BSD-3-Clause
"""The view of source files of a page: its lines, what is chosen in it, its instructions. For page_check.py."""
import collections
import math
import os
import re
import urllib.parse

from page_contexts_check import tell_no_contexts, wanted_tree
from page_driver import ns, plain, rows_of


def columns_of(heads):
    """The columns of `pcollect annotate` before the number of the line: (column of the page, begin, end)."""
    names, begin = {"of MPI": "mpi_inclusive_s", "own": "mpi_exclusive_s", "called": "mpi_called_s", "calls": "calls",
                    "of CPU": "cpu_inclusive_s", "self": "cpu_exclusive_s"}, 0
    for head in re.finditer(r"of MPI|of CPU|\S+", heads.removesuffix("   line  source")):
        yield names[head[0]], begin, head.end()
        begin = head.end()
        names["called"] = "cpu_called_s" if head[0] == "self" else names["called"]


def read_annotate(folder):
    """{file: {line: (cells by column, text)}} of the text of `pcollect annotate`."""
    files, name, columns = {}, None, []
    with open(os.path.join(folder, "annotate"), encoding="utf-8") as f:
        lines = f.read().split("\n")
    for before, line in zip([""] + lines, lines):
        if line.startswith(("  of MPI", "  of CPU")) and line.endswith("line  source"):
            name = re.sub(r" \([^()]*\)$", "", before)
            columns = list(columns_of(line))
            files[name] = {}
        number = name and line.startswith(" ") and re.fullmatch(r" *(\d+)", line[columns[-1][2]:columns[-1][2] + 7])
        if number:
            cells = {of: line[begin:end].strip() for of, begin, end in columns if line[begin:end].strip()}
            files[name][int(number[1])] = cells, line[columns[-1][2] + 9:]
    return files


def read_dark(folder):
    """What `pcollect annotate` says of code without lines, without its advice."""
    with open(os.path.join(folder, "annotate"), encoding="utf-8") as f:
        told = re.search(r"[\d.]+ % of the time in MPI and of sampled computation is in code without lines, the most in (?:(?!\. Built|, a runtime).)+",
                         " ".join(f.read().split()))
    return told[0] + "." if told else ""


def same_shown(seen, wanted):
    """Equal, but for a half that is rounded up or down; a figure with error is rounded by that, and +- is written otherwise."""
    if seen == wanted:
        return True
    numbers, words = zip(*((re.findall(r"[\d.]+", text.replace(",", "")), re.sub(r"[\d.,]+", "", text).replace("+-", "±"))
                           for text in (seen, wanted)))
    if words[0] != words[1] and not ("±" in words[0] and "±" in words[1]) or len(numbers[0]) != len(numbers[1]):
        return False
    last = 10.0 ** -len(numbers[1][0].partition(".")[2])
    if len(numbers[0]) == 2: # of percent
        last = 0.06 + 0.5 * 10 ** math.ceil(math.log10(max(float(numbers[0][1]), 0.1)) - 1)
    return all(abs(float(a) - float(b)) <= 1.01 * last for a, b in zip(*numbers))


def same_text(seen, wanted):
    """Equal, but for the middle that annotate leaves out of a long line."""
    ends = re.fullmatch(r"(.*) \.\.\. \(\d+ characters left out\) \.\.\. (.*)", wanted)
    return seen.startswith(ends[1]) and seen.endswith(ends[2]) if ends else seen == wanted


def check_source(page, tables):
    """Each line that annotate has, its figures and its text."""
    page.show("source")
    if not page.annotated:
        told = page.ask("return document.getElementById('source').innerText")
        wanted = "The lines of the program are not known" if wanted_tree(tables) else tell_no_contexts(tables)
        leads_on = not wanted_tree(tables) or "The contexts have the functions that are known." in told
        return [] if told.startswith(wanted) and leads_on else [f"without lines: {told}, not {wanted}"]
    told = page.ask("return document.querySelector('#dark')?.innerText || ''")
    wrong, stored = [] if told == page.dark else [f"of code without lines: {told}, not {page.dark}"], {(row["file"], int(row["line"])) for row in rows_of(tables, "source_lines")} if "source_lines" in tables else ()
    files = page.ask("return [...document.querySelectorAll('#source .controls select')][0].innerText.split('\\n')")
    known = {row["file"] for row in rows_of(tables, "lines") if row["file"] and row["line"]}
    first = page.ask("return document.querySelector('#source .controls select').value")
    if stored and first not in {file for file, _ in stored}:
        wrong.append(f"begins with {first}, which has no text")
    if set(files) != known or not known >= set(page.annotated):
        wrong.append(f"files {files}, not {sorted(known)} with {sorted(page.annotated)}")
    for name, lines in page.annotated.items():
        page.show("source&file=" + urllib.parse.quote(name))
        seen = {int(line): (dict(cells), text) for line, cells, text in page.ask("""
            return [...document.querySelectorAll('#source-lines tbody [data-line]')].map(row => [row.dataset.line,
                [...row.querySelectorAll('[data-of]')].filter(cell => cell.textContent).map(cell =>
                    [cell.dataset.of, cell.textContent]), row.querySelector('.code').textContent])""")}
        page.compared["source-lines"] += sum(bool(text.strip()) for _, text in lines.values())
        for line, (cells, text) in lines.items():
            told = seen.get(line, ({}, ""))
            for of in set(cells) | set(told[0]):
                if not same_shown(told[0].get(of, ""), cells.get(of, "")):
                    wrong.append(f"{name}:{line}: {of} {told[0].get(of)}, not {cells.get(of)}")
            if not same_text(told[1].expandtabs().rstrip(), text.rstrip()):
                wrong.append(f"{name}:{line}: {told[1]}, not {text}")
        wrong += [f"{name}:{line} has {cells}" for line, (cells, _) in seen.items() if cells and line not in lines]
    return wrong + check_source_links(page, tables) + check_instructions(page, tables) + check_functions_of_lines(page, tables) + \
        check_chosen_line(page)


def check_instructions(page, tables):
    """The chosen line has the instructions that are stored of it, and their figures add up to those of the line, as far as
    all of its code is stored: that of the line that computes most is."""
    wrong, wanted = [], collections.defaultdict(list)
    for row in rows_of(tables, "instructions") if "instructions" in tables else []:
        wanted[row["file"], row["line"]].append((row["offset"], row["text"]))
    lines = [row for row in rows_of(tables, "lines") if row["file"] and row["line"]]
    lines.sort(key=lambda row: -ns(row["cpu_exclusive_s"]) - ns(row["mpi_exclusive_s"]))
    for k, row in enumerate(lines[:6] if wanted else []):
        page.show("source&file=" + urllib.parse.quote(row["file"]) + "&line=" + row["line"])
        seen = page.ask("""return [...document.querySelectorAll('#line-instructions [data-offset]')].map(row =>
            [row.dataset.offset, row.querySelector('.code').textContent,
             row.querySelector('[data-of=cpu]').title, row.querySelector('[data-of=mpi]').title])""")
        if [tuple(each[:2]) for each in seen] != wanted[row["file"], row["line"]]:
            wrong.append(f"{row['file']}:{row['line']}: {seen[:3]}, not {wanted[row['file'], row['line']][:3]}")
        for column, at in (("cpu_exclusive_s", 2), ("mpi_exclusive_s", 3)):
            own, summed = sum(ns(each[column]) for each in lines if (each["file"], each["line"]) == (row["file"], row["line"])), \
                sum(ns(each[at]) for each in seen)
            if summed > own + 1 or not k and abs(summed - own) > 1:
                wrong.append(f"{row['file']}:{row['line']}: {column} {own} ns, of instructions {summed} ns")
    return wrong


def check_chosen_line(page):
    """Whichever line is chosen, its whole row has the colour of what is chosen."""
    page.show("source")
    chosen, seen = page.ask("""
        const colour = element => getComputedStyle(element).backgroundColor, probe = document.createElement('p');
        document.body.append(probe);
        probe.style.background = 'var(--chosen)';
        const chosen = colour(probe);
        probe.remove();
        return [chosen, [...document.querySelectorAll('#source-lines [tabindex]')].slice(0, 50).map(row => {
            row.click();
            return [row.dataset.line, colour(row)];
        })]""")
    page.compared["chosen-lines"] += len(seen)
    return [f"the chosen line {line} has {colour}, not {chosen}" for line, colour in seen if colour != chosen]


def check_functions_of_lines(page, tables):
    """A line of several functions names each of them once, also where instances of a template share a short name."""
    wrong, functions = [], collections.defaultdict(set)
    for row in rows_of(tables, "lines"):
        if row["file"] and row["line"]:
            functions[row["file"], row["line"]].add(row["function"])
    for file, line in [place for place, names in functions.items() if len(names) > 1][:5]:
        page.show("source&file=" + urllib.parse.quote(file) + "&line=" + line)
        told = page.ask("return document.querySelector('#line p').innerText")
        names = re.split(r"(?<=\)), ", told.partition(", in ")[2].removesuffix("."))
        wrong += [f"{file}:{line}: {told}"] if len(set(names)) != len(names) else []
        page.compared["shared-lines"] += 1
    return wrong


def check_source_links(page, tables):
    """The lines of a selected context are marked, in the file that has its function; a line leads to its contexts."""
    wrong, files = [], collections.defaultdict(list)
    for row in rows_of(tables, "lines"):
        if row["file"] and row["line"]:
            files[os.path.basename(row["file"]), row["line"]].append((row["function"], row["file"]))
    for row in rows_of(tables, "contexts")[:6]:
        where = re.findall(r"@([^@:>]*):(\d+)(?: > |$)", row["path"])
        if not where or not row["context"]:
            continue
        page.show("source&context=" + row["context"])
        chosen, marked = page.ask("""return [document.querySelector('#source-lines [aria-selected=true]')?.dataset.line,
            [...document.querySelectorAll('#source-lines .marked')].map(row => row.dataset.line)]""")
        links = page.ask("return [...document.querySelectorAll('#line a')].map(a => a.getAttribute('href'))")
        function = plain(row["path"].split(" > ")[-1].rpartition("@")[0])
        wanted = [file for name, file in files[where[-1]] if name == function]
        file = page.ask("return document.querySelector('#source .controls select').value")
        wrong += [f"{row['path']}: in {file}, not {wanted}"] if wanted and file not in wanted else []
        page.compared["alike-files"] += len({file for _, file in files[where[-1]]}) > 1
        if chosen != where[-1][1] or chosen not in marked or not any("context=" + row["context"] in link for link in links):
            wrong.append(f"{row['path']}: line {chosen} of {marked}, links {links}")
    return wrong
