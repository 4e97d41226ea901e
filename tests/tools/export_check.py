# SPDX-License-Identifier: BSD-3-Clause
"""Files of `pcollect export` against the tables of `pcollect report`, read by Python's csv and json, by protoc and by pprof.

export_check.py FOLDER: what is in it as tests/tools/export.test makes it. A line for each check: "ok NAME", or
"wrong NAME: ...".
"""
import collections
import csv
import json
import os
import re
import sys

folder = sys.argv[1]
UNITS = {"bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds"}  # of speedscope
METRICS = {"time": "time", "computation": "computation", "mpi": "mpi", "calls": "calls", "sent": "bytes_sent",
           "received": "bytes_received"}
TITLES = {"time in MPI, and CPU time outside MPI": "time", "CPU time in MPI and outside, by samples": "time",
          "CPU time outside MPI, by samples": "computation",
          "time in MPI calls": "mpi", "MPI calls": "calls", "bytes described by send arguments": "bytes_sent",
          "bytes described by receive arguments": "bytes_received"}


def path(name):
    return os.path.join(folder, name)


def check(name, got, wanted):
    if got == wanted:
        print("ok", name)
        return
    if isinstance(got, dict) and isinstance(wanted, dict):
        keys = [k for k in {**got, **wanted} if got.get(k) != wanted.get(k)][:3]
        got, wanted = {k: got.get(k) for k in keys}, {k: wanted.get(k) for k in keys}
    print("wrong %s: got %s, wanted %s" % (name, str(got)[:600], str(wanted)[:600]))


def table(name):
    with open(path(name + ".tsv"), encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def ns(text):
    return int(text.replace(".", "")) if text else 0


def stack_of(label_path):
    """Functions of a path of the report: what stands before the @ of each element."""
    names = []
    for label in label_path.split(" > "):
        name = re.match(r"((?:[^\\@]|\\.)*)", label).group(1)
        names.append(name.replace("\\@", "@").replace("\\>", ">"))
    return tuple(names)


def folded(metric):
    stacks = collections.Counter()
    if os.path.exists(path("folded." + metric)):
        with open(path("folded." + metric), encoding="utf-8", newline="\n") as file:
            for line in file:
                names, value = line.rstrip("\n").rsplit(" ", 1)
                stacks[tuple(name.replace("\\x3b", ";") for name in names.split(";"))] += int(value)
    return stacks


stacks = {name: folded(metric) for metric, name in METRICS.items()}

# ---- Folded stacks against the tables ----

primitives = collections.Counter()
totals = collections.Counter()
for row in table("contexts"):
    primitives[row["primitive"]] += int(row["calls"] or 0)  # empty: sampled from outside
    totals["mpi"] += ns(row["mpi_exclusive_s"])
    totals["bytes_sent"] += int(row["bytes_sent"] or 0)
    totals["bytes_received"] += int(row["bytes_received"] or 0)
by_function = collections.Counter()
for stack, value in stacks["calls"].items():
    by_function[stack[-1]] += value
check("calls of each MPI function", dict(by_function), {k: v for k, v in primitives.items() if v})
for name in ("mpi", "bytes_sent", "bytes_received"):
    check(name + " in all", sum(stacks[name].values()), totals[name])
computed, sampled = collections.Counter(), collections.Counter()
for row in table("computation"):
    stack = stack_of(row["path"])
    if ns(row["cpu_exclusive_s"]):
        sampled[stack] += ns(row["cpu_exclusive_s"])
        if stack[-1] not in primitives:
            computed[stack] += ns(row["cpu_exclusive_s"])
check("computation of each stack", dict(stacks["computation"]), dict(computed))
outside = "pcollect record" in table("header")[0]["notes"]
if outside:
    check("time is all that was sampled", dict(stacks["time"]), dict(sampled))
    check("some of it is in MPI", sampled != computed, True)
elif stacks["computation"]:
    check("time is both", dict(stacks["time"]),
          {k: v for k, v in (stacks["computation"] + stacks["mpi"]).items() if v})

# ---- speedscope ----

with open(path("speedscope"), encoding="utf-8") as file:
    scope = json.load(file)
names = [frame["name"] for frame in scope["shared"]["frames"]]
seen = {}
for profile in scope["profiles"]:
    found = collections.Counter()
    for sample, weight in zip(profile["samples"], profile["weights"]):
        found[tuple(names[i] for i in sample)] += weight
    seen[TITLES[profile["name"]]] = dict(found)
    good = (profile["type"] == "sampled" and profile["unit"] in UNITS and profile["startValue"] == 0
            and profile["endValue"] == sum(profile["weights"]) and len(profile["samples"]) == len(profile["weights"]))
    check("speedscope: form of " + TITLES[profile["name"]], good, True)
check("speedscope: the same stacks", seen, {name: dict(of) for name, of in stacks.items() if of})

# ---- Hatchet ----


def walk(node, above, found):
    stack = above + (node["frame"]["name"],)
    below = collections.Counter()
    for child in node["children"]:
        below.update(walk(child, stack, found))
    own = {}
    for name in node["metrics"]:
        if not name.endswith(" (inc)"):
            value = node["metrics"][name]
            own[name] = round(value * 1e9) if isinstance(value, float) else value
            found[name][stack] += own[name]
    total = collections.Counter(below)
    total.update(own)
    for name in own:
        value = node["metrics"][name + " (inc)"]
        value = round(value * 1e9) if isinstance(value, float) else value
        if value != total[name]:
            print("wrong hatchet: %s of %s with all below: %s, wanted %s" % (name, stack, value, total[name]))
    return total


with open(path("hatchet"), encoding="utf-8") as file:
    roots = json.load(file)
found = collections.defaultdict(collections.Counter)
for root in roots:
    walk(root, (), found)
known = ["computation", "time"] if outside else sorted(set(METRICS.values()) - (
    set() if stacks["computation"] else {"computation", "time"}))
check("hatchet: the figures that are known", sorted(found), known)
check("hatchet: the same stacks",
      {name: {k: v for k, v in of.items() if v} for name, of in found.items() if any(of.values())},
      {name: dict(of) for name, of in stacks.items() if of})

# ---- pprof, as protoc prints it ----


def read_message(lines):
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            message[line[:-1].strip()].append(read_message(lines))
            continue
        key, value = line.split(": ", 1)
        if value.startswith('"'):
            raw = re.sub(rb'\\([0-7]{3}|.)', lambda m: bytes([int(m.group(1), 8)]) if len(m.group(1)) == 3
                         else {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(m.group(1), m.group(1)), value[1:-1].encode())
            message[key].append(raw.decode())
        else:
            message[key].append(value == "true" if value in ("true", "false") else int(value))
    return message


if os.path.exists(path("pprof.text")):
    with open(path("pprof.text"), encoding="utf-8") as file:
        profile = read_message(iter(file.read().split("\n")[:-1]))
    texts = profile["string_table"]
    types = [texts[t["type"][0]] for t in profile["sample_type"]]
    functions = {f["id"][0]: texts[f["name"][0]] for f in profile["function"]}
    locations = {at["id"][0]: functions[at["line"][0]["function_id"][0]] for at in profile["location"]}
    lines_of = {at["id"][0]: at["line"][0]["line"][0] if at["line"][0]["line"] else 0 for at in profile["location"]}
    found = {name: collections.Counter() for name in types}
    by_line = collections.Counter()
    for sample in profile["sample"]:
        leaf = sample["location_id"][0]
        if "computation" in types:
            by_line[locations[leaf], lines_of[leaf]] += sample["value"][types.index("computation")]
        stack = tuple(locations[i] for i in reversed(sample["location_id"]))
        for name, value in zip(types, sample["value"]):
            found[name][stack] += value
    check("pprof: the first string is empty", texts[0], "")
    check("pprof: the figures that are known", sorted(types), known)
    modules = {m["id"][0]: texts[m["filename"][0]] for m in profile["mapping"]}
    check("pprof: modules that say what they have",
          sum(m["has_functions"] + m["has_filenames"] + m["has_line_numbers"] == [True] * 3 for m in profile["mapping"]),
          len(set(modules.values())))
    check("pprof: locations are in these modules or in none",
          {i for at in profile["location"] for i in at["mapping_id"]} - set(modules), set())
    check("pprof: the same stacks",
          {name: {k: v for k, v in of.items() if v} for name, of in found.items() if any(of.values())},
          {name: dict(of) for name, of in stacks.items() if of})

    computing = collections.Counter()
    for row in table("tables/lines"):
        computing[row["function"], int(row["line"] or 0)] += ns(row["cpu_exclusive_s"])
    far = {key: (by_line[key], computing[key]) for key in {**by_line, **computing}
           if key[1] and abs(by_line[key] - computing[key]) > len(profile["sample"])}
    check("pprof: the lines that compute", far, {})

# ---- pprof, by its own output ----

for given, name in METRICS.items():
    if not os.path.exists(path("top." + given)):
        continue
    with open(path("top." + given), encoding="utf-8") as file:
        lines = file.read().split("\n")[:-1]
    number = lambda text: int(re.fullmatch(r"(\d+)(?:ns|B)?", text)[1])
    head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["flat", "flat%"])
    total = re.search(r"% of (\d+)(?:ns|B)? total", lines[head - 1])
    rows = [line.split(maxsplit=5) for line in lines[head + 1:]]
    own, all_below = collections.Counter(), collections.Counter()
    for stack, value in stacks[name].items():
        own[stack[-1]] += value
        for function in set(stack):
            all_below[function] += value
    check("go tool pprof: the total " + name, int(total[1]), sum(own.values()))
    check("go tool pprof: functions by themselves, " + name, {row[5]: number(row[0]) for row in rows if number(row[0])},
          {k: v for k, v in own.items() if v})
    check("go tool pprof: and with what they call, " + name, {row[5]: number(row[3]) for row in rows if number(row[3])},
          {k: v for k, v in all_below.items() if v})

# ---- Chrome ----

if os.path.exists(path("chrome")):
    with open(path("chrome"), encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    last, sums = {}, collections.Counter()
    for event in (e for e in events if e["ph"] == "C"):
        key = event["pid"], event["name"]
        if key in last:
            value, since = last[key]
            sums[event["name"]] += value * (event["ts"] - since) * 1e-6
        last[key] = event["args"]["value"], event["ts"]
    check("chrome: nothing goes on after the end", {v for v, _ in last.values()}, {0})
    series = collections.Counter()
    for row in table("series"):
        series["MPI calls per second"] += int(row["calls"])
        series["bytes sent per second"] += int(row["bytes_sent"])
        series["bytes received per second"] += int(row["bytes_received"])
        series["threads in MPI"] += ns(row["mpi_time"]) * 1e-9
    for name, value in series.items():
        check("chrome: " + name, abs(sums[name] - value) <= 1e-6 * value + 1e-6, True)

# ---- CSV ----

tables = sorted(name[:-4] for name in os.listdir(path("tables")) if name.endswith(".csv"))
for name in tables:
    with open(path(f"tables/{name}.csv"), encoding="utf-8", newline="") as file:
        check(f"the table {name} as CSV", [dict(row) for row in csv.DictReader(file)], table("tables/" + name))
check("tables as CSV", len(tables) >= 10 and "contexts" in tables, True)
