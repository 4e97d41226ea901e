# SPDX-License-Identifier: BSD-3-Clause
"""A page of `pcollect html` in Chromium, and what the tables of `pcollect report --format tsv` say: for the checks of
the views, page_check.py and others."""
import base64
import collections
import json
import math
import os
import re
import time

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50,
         "EiB": 2**60, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def read_table(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        lines = f.read().split("\n")[:-1]
    return lines[0].split("\t") if lines else [], [line.split("\t") for line in lines[1:]]


def read_tables(folder):
    return {name[:-4]: read_table(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".tsv")}


def with_table(text, name, change):
    """The text of the page, after a change of the table in its list."""
    data = re.search(r'id="data0" data-deflated="no">([^<]*)', text)[1]
    listed = json.loads(base64.b64decode(data))
    change(next(table for table in listed["tables"] if table["name"] == name))
    return text.replace(data, base64.b64encode(json.dumps(listed).encode()).decode())


def rows_of(tables, name):
    head, rows = tables[name]
    return [dict(zip(head, row)) for row in rows]


def read_outside(folder):
    """What the text of the report says of the time outside MPI, and of the imbalance; "" where it says nothing."""
    with open(os.path.join(folder, "text"), encoding="utf-8") as f:
        lines = f.read().split("\n")
    return ["".join(line[15:] for line in lines if line.startswith(f"  {name} ")) for name in ("outside MPI", "imbalance")]


def read_alone(folder):
    """What the text of the report says of the wall time of a process without MPI; None: it has MPI, or there are several."""
    with open(os.path.join(folder, "text"), encoding="utf-8") as f:
        said = f.read()
    if not re.search("^  MPI +none: ", said, re.M) or not re.search("^  ranks +1 ", said, re.M):
        return None
    return (re.findall("^(?:  main thread  |               )(.* computing.*)$", said, re.M) or [""])[0]


def read_ends(folder):
    """What the text of the report says of other jobs, of ranks that did not end, and of where they were."""
    with open(os.path.join(folder, "text"), encoding="utf-8") as f:
        lines = f.read().split("\n")
    return [f"{name.capitalize()} {line[15:]}." for name in ("other jobs", "incomplete", "at the end") for line in lines
            if line.startswith(f"  {name} ")]


def read_program(folder):
    """What the text of the report says of the program: its label, and the program with its arguments."""
    with open(os.path.join(folder, "text"), encoding="utf-8") as f:
        said = re.search(r"^  (programs?) +(.*)$", f.read(), re.M)
    return list(said.groups()) if said else None


def read_notes(folder):
    """The notes of the text of the report."""
    with open(os.path.join(folder, "text"), encoding="utf-8") as f:
        return [line[15:].rstrip("\n") for line in f if re.match("  note ", line)]


def ranks_of(page, tables):
    """Of each rank {name: ns} of the parts of its time outside MPI. It computes while it is neither delayed nor blocked nor
    in pcollect or bindings of MPI. If blocked time is not known, it runs for as long as the first of its threads was
    sampled; if the report says that a part is either of two, or nothing, it is not divided."""
    rows, sampled, library = rows_of(tables, "ranks"), {}, {}
    for row in rows_of(tables, "sampling") if "sampling" in tables else []:
        sampled.setdefault(row["rank"], ns(row.get("compute_time")) + ns(row.get("own_time")))
        library.setdefault(row["rank"], ns(row.get("own_time")))
    for row in rows:
        busy, parts = ns(row["compute_s"]) - ns(row["for_mpi_s"]) - ns(row["delayed_s"]), row.setdefault("parts", {})
        if "too short for samples" in page.outside[0]:
            parts["outside MPI: too short for samples"] = ns(row["compute_s"])
            continue
        ran = ns(row["cpu_s"]) - ns(row["turns_s"]) if row["cpu_s"] else min(busy, sampled.get(row["rank"], 0))
        bindings = ns(row["bindings_s"])
        parts["the MPI library beside its calls"] = bindings
        parts["pcollect in MPI calls"] = min(library.get(row["rank"], 0), ran - bindings)
        parts["computing"] = ran - bindings - parts["pcollect in MPI calls"]
        parts["waiting for threads that are in MPI"] = ns(row["for_mpi_s"])
        if not row["cpu_s"]:
            parts["outside MPI: not known if computing"] = busy - ran
        if " waiting for a processor or computing by turns" in page.outside[0] or " or waiting for a processor" in page.outside[0]:
            name = "blocked, waiting for a processor or computing by turns" if " by turns" in page.outside[0] else "blocked or waiting for a processor"
            parts[name + " outside MPI"] = ns(row["blocked_s"]) + ns(row["turns_s"]) + ns(row["delayed_s"])
        else:
            parts["blocked or computing by turns outside MPI"] = ns(row["turns_s"])
            parts["blocked outside MPI"], parts["waiting for a processor outside MPI"] = ns(row["blocked_s"]), ns(row["delayed_s"])
    return rows


def open_times(tables):
    """{rank: ns} of calls that had not ended when the rank was killed, which are in no context."""
    times = collections.Counter()
    for row in rows_of(tables, "open_calls") if "open_calls" in tables else []:
        times[row["rank"]] += ns(row["time"])
    return times


def lacks_open(page, tables, places=1):
    """Views that have only calls that had ended tell the time of the others."""
    wanted = sum(open_times(tables).values())
    told = page.ask("return [...document.querySelectorAll('.without-open span')].map(e => [e.title, e.textContent])")
    page.compared["without-open"] += len(told)
    right = len(told) == (places if wanted else 0) and all(ns(exact) == wanted and rounds_to(shown, exact) for exact, shown in told)
    return [] if right else [f"of {wanted} ns in calls that had not ended it says: {told}"]


def check_host_lines(page, what, place, hosts_of_sides):
    """Lines over a picture are where a host of its side follows another one, up to 100 a side; the legend says what they are."""
    drawn, size, canvas, legend = page.ask("""
        const place = document.querySelector(arguments[0]), style = getComputedStyle(place, '::after'), box = place.querySelector('canvas');
        return [style.backgroundImage, [parseFloat(style.width), parseFloat(style.height)], [box.clientWidth, box.clientHeight],
            document.querySelector('#heat-legend, #matrix-legend').innerText]""", place)
    sides = [[float(percent) for percent in re.findall(r"calc\(([\d.e-]+)% \+ 0.5px", side)] for side in re.split("none|linear-gradient", drawn)
             if side.strip(", ")]
    wanted = [[100 * i / len(hosts) for i in range(1, len(hosts)) if hosts[i] != hosts[i - 1]] for hosts in hosts_of_sides]
    wanted = [lines for lines in wanted if 0 < len(lines) <= 100]
    page.compared["host-lines"] += sum(len(lines) for lines in wanted)
    wrong = [] if len(sides) == len(wanted) and all(
        len(a) == len(b) and all(abs(x - y) < 1e-3 for x, y in zip(a, b)) for a, b in zip(sides, wanted)) else [
            f"{what}: lines between hosts {drawn}, not {wanted}"]
    wrong += [f"{what}: lines over {size}, not {canvas}"] if any(abs(a - b) > 1 for a, b in zip(size, canvas)) else []
    return wrong + ([f"{what}: {legend}"] if ("a host end" in legend) != bool(wanted) else [])


def ns(text):
    return round(float(text or 0) * 1e9)


def same_value(seen, wanted):
    """Equal texts, or reals that are written in another way."""
    if seen == wanted:
        return True
    try:
        return math.isclose(float(seen), float(wanted), rel_tol=2e-9) and "e" in (seen + wanted)
    except ValueError:
        return False


def people_value(shown):
    """A shown figure in the unit of tsv, and half of its last digit; None: no figure."""
    m = re.fullmatch(r"(-?[\d,]+(?:\.(\d+))?)(?: (\S+))?", shown)
    if not m:
        return None
    factor = UNITS.get(m[3], 1) / (1e9 if m[3] in ("ns", "us", "ms", "s") else 1)
    return float(m[1].replace(",", "")) * factor, 0.500001 * 10.0 ** -len(m[2] or "") * factor


def rounds_to(shown, exact):
    if shown == exact or (shown in ("-", "few") and exact == ""):
        return True
    value = people_value(shown)
    if not value or not exact:
        return False
    # Rounds a time, which may be a mean, to nanoseconds before it is written with four digits.
    first = 0.5e-9 if shown.endswith("s") else 0
    return abs(value[0] - float(exact)) <= first + max(value[1], 6e-4 * abs(float(exact)) if "." not in shown else 0)


def is_short(shown, value):
    """A real with four digits."""
    try:
        return math.isclose(float(shown), float(value), rel_tol=6e-4)
    except ValueError:
        return False


def plain(text):
    """A part of a label without escapes, but for those of a > that ends no arguments of a template."""
    shown, depth, before = [], 0, " "
    for escape, sign in re.findall(r"(\\?)(.)", text, re.S):
        shown.append(sign if sign == "@" or sign == ">" and depth else escape + sign)
        depth += (sign == "<" and before != " ") - (sign == ">" and depth > 0)
        before = sign
    return "".join(shown)


def places(path):
    """A path as people read it; None where the name of a function is shortened."""
    shown = []
    for label in path.split(" > "):
        parts = re.fullmatch(r"((?:\\.|[^\\@])*)@(.*)", label, re.S)
        name, file = parts.groups() if parts else (label, None)
        if parts and len(name) > 40:
            return None
        nameless = re.sub(r"(\+0x[0-9a-f]+):(0x[0-9a-f]+)$", r"\1 (\2)", plain(name))
        shown.append(nameless if file is None else f"{plain(name)} ({plain(file)})")
    return " > ".join(shown)


# Columns of the table pairs by the figure of the matrix, in the order of the columns of the list.
PAIR_METRICS = {"sent": "bytes", "calls": "messages", "time": "time", "receiving": "receive_time"}


def wanted_pairs(page, tables, by, metric, domain=""):
    """Sums by pair of names, of a communicator or of all, and the names in their order."""
    hosts = {row["rank"]: row["host"] if by == "host" else row["rank"] for row in rows_of(tables, "ranks")}
    if by == "socket":
        names = {"": "socket not known", "0": "not bound to one socket"}
        sockets = {row["rank"]: row["socket"] for row in rows_of(tables, "place")}
        hosts = {row["rank"]: f"{row['host']}, " + (names.get(socket) or f"socket {int(socket) - 1}")
                 for row in rows_of(tables, "ranks") for socket in [sockets.get(row["rank"], "")]}
    if by == "proposed":
        nodes = list(dict.fromkeys(row["host"] for row in rows_of(tables, "ranks")))
        hosts = {rank: nodes[page.placement["node_of_rank"][int(rank)]] for rank in hosts}
    sums = collections.Counter()
    for row in rows_of(tables, "pairs"):
        if row["source"] in hosts and row["destination"] in hosts and domain in ("", row.get("domain")):
            column = PAIR_METRICS[metric]
            sums[hosts[row["source"]], hosts[row["destination"]]] += (ns if "time" in column else int)(row[column])
    return sums, list(dict.fromkeys(hosts.values()))


# Functions that the programs of the tests call, and in which nothing is sent or completed.
LOCAL = {"MPI_" + name for name in ("Comm_size", "Comm_rank", "Comm_group", "Comm_get_name", "Comm_set_name", "Comm_compare",
                                    "Comm_get_parent", "Get_count", "Get_elements", "Op_create", "Op_free", "Reduce_local",
                                    "Cart_coords", "Cart_rank", "Cart_shift", "Cart_get", "Dims_create", "Topo_test", "Buffer_attach")}


def may_wait(primitive, kind):
    """False for functions of MPI in which a rank never waits for another."""
    if primitive == "MPI_Finalize": # for ranks that come late
        return True
    if kind == "file":
        return bool(re.search("_all|_ordered|_shared", primitive)) or primitive in {
            "MPI_File_" + name for name in ("open", "close", "sync", "set_view", "set_size", "set_atomicity", "preallocate")}
    return kind not in ("environment", "datatype", "group", "attribute", "info", "error", "tool") and primitive not in LOCAL


def wanted_waiting(tables):
    """{(primitive, rank): ns}: how much longer the rank is in functions of MPI than the rank that is longest outside, all
    together at most its lead. Where its main thread may have waited for other threads in MPI is no lead."""
    outside = {row["rank"]: ns(row["compute_s"]) - ns(row["for_mpi_s"]) for row in rows_of(tables, "ranks")}
    if not outside:
        return {}
    longest = max(outside, key=outside.get)
    lead = sum(outside[longest] - value for value in outside.values())
    classes = {row["primitive"]: row["class"] for row in rows_of(tables, "primitives")}
    spent = collections.Counter()
    for row in rows_of(tables, "rank,primitive"):
        spent[row["primitive"], row["rank"]] += ns(row["mpi_exclusive_s"])
    waited = {(primitive, rank): max(0, value - spent.get((primitive, longest), 0)) for (primitive, rank), value in spent.items()
              if rank in outside and may_wait(primitive, classes.get(primitive, "environment"))}
    scale = min(1, lead / sum(waited.values())) if any(waited.values()) else 0
    return {key: value * scale for key, value in waited.items()}


MOST_CHANGES = 150  # of the address in 10 s: after 200 Chromium ignores one
OPEN_CALLS = "MPI: calls that had not ended"  # a part of the time of killed ranks
LONG = 600  # seconds of a wait, longer than any step takes on a slow machine


class Page:
    compared = collections.Counter() # figures of each kind
    changes = []

    def __init__(self, path):
        options = Options()
        options.debugger_address = os.environ["PC_CHROMIUM"]
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.switch_to.new_window("tab")
        self.driver.set_script_timeout(LONG)
        self.driver.set_page_load_timeout(LONG)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source":
            "addEventListener('load', () => { window.shownAtLoad = document.querySelectorAll('main > [data-ready]').length; })"})
        self.open(path)

    def close(self):
        self.driver.close()
        self.driver.quit()

    def open(self, path):
        self.address = "file://" + os.path.abspath(path).replace("%", "%25").replace("#", "%23").replace("?", "%3F")
        self.driver.get(self.address)

    def show(self, fragment):
        """The view of this fragment, made."""
        view = fragment.split("&")[0]
        self.pace()
        # A browser that thinks that the address changes too often leaves it, and only writes so on its console.
        for _ in range(6):
            if self.ask("location.hash = arguments[0]; return location.hash === '#' + arguments[0]", fragment):
                break
            time.sleep(10)
        return self.settle("#" + fragment, view)

    def pace(self):
        """Waits so that the address does not change too often."""
        now = time.monotonic()
        self.changes = [each for each in self.changes if now - each < 10] + [now]
        if len(self.changes) > MOST_CHANGES:
            time.sleep(10 - (now - self.changes[0]))

    def until(self, script, *arguments):
        """Waits until the script returns something true."""
        begin = time.monotonic()
        while not self.driver.execute_script(script, *arguments):
            if time.monotonic() - begin > LONG:
                raise RuntimeError(f"{arguments} in vain at {self.ask('return location.hash')}: {script}")
            time.sleep(0.01)
        return self

    def settle(self, address=None, view=None):
        """Waits for the view of the address, or of this one."""
        return self.until(
            "const e = document.querySelector('main').firstChild;"
            "return e !== null && e.id === (arguments[1] || e.id) && e.dataset.ready === (arguments[0] || location.hash)",
            address, view)

    def press(self, *keys, view=None):
        """Presses keys that change the view that is shown, or lead to another one."""
        self.pace()
        self.send_keys(*keys)
        return self.settle(view=view)

    def send_keys(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def follow(self, links, place):
        """Clicks on one of the links, and waits for the view that it leads to: a browser goes there when it likes."""
        self.pace()
        return self.settle(self.ask("const link = document.querySelectorAll(arguments[0])[arguments[1]];"
                                    "link.click(); return link.hash", links, place))

    def ask(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)


def path_without_lines(row):
    frames = row["path"].split(" > ") if row["path"] else []
    return " > ".join([re.sub(r"(@.*):\d+$|(\+0x[0-9a-f]+):0x[0-9a-f]+$", r"\1\2", frame) for frame in frames] + [row["primitive"]])


def selected(page):
    """Of the view: the path, the rank, or the cells of the row that is selected."""
    return page.ask("""
        const rows = [...document.querySelectorAll('#tree [aria-selected=true], #table [aria-selected=true]')];
        return [rows.map(row => row.node?.path ?? [...row.cells].map(cell => cell.title)),
            document.getElementById('rank-choice')?.value]""")
