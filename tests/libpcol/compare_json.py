# SPDX-License-Identifier: BSD-3-Clause
# The tables of FOLDER, as a user of libpcol has written them, are those of a JSON report: all tables of the
# report, with the same cells, except columns that the report shows only if they are named. Prints differences.
# Arguments: REPORT FOLDER
import json
import os
import sys


ASKED = {"contexts": ("waiting_s", "frame"), "counts": ("frame",), "computation": ("parent",)}


def text_of(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def number_of(text):
    try:
        return float(text)
    except ValueError:
        return text


with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file, parse_float=str, parse_int=str)
compared = 0
for name, rows in report.items():
    path = os.path.join(sys.argv[2], name + ".tsv")
    if not isinstance(rows, (dict, list)) or not os.path.exists(path):
        continue
    # Frames of a path are only in JSON.
    rows = [{key: cell for key, cell in row.items() if not isinstance(cell, list)}
            for row in ([rows] if isinstance(rows, dict) else rows)]
    with open(path, encoding="utf-8", newline="\n") as file:
        head, *lines = file.read().rstrip("\n").split("\n")
    head = head.split("\t")
    lines = [line.split("\t") for line in lines]
    shown = [i for i, column in enumerate(head) if column not in ASKED.get(name, ()) and not column.endswith("_frame")]
    lines = [[line[i] for i in shown] for line in lines]
    head = [head[i] for i in shown]
    if rows and list(rows[0]) != head:
        print(f"{name}: columns {list(rows[0])} are not {head}")
    theirs = sorted([text_of(row[column]) for column in row] for row in rows)
    ours = sorted(lines)
    if [list(map(number_of, row)) for row in theirs] != [list(map(number_of, row)) for row in ours]:
        print(f"{name}: {len(theirs)} rows of the report are not the {len(ours)} of the library")
    compared += 1
if compared < 20:
    print(f"{compared} tables were compared")
