# SPDX-License-Identifier: BSD-3-Clause
"""Files of `pcollect export` as speedscope itself reads them, in Chromium.

export_speedscope_check.py PAGE WORK FOLDER...: PAGE is the page of speedscope, each FOLDER is as export_check.py takes it.
Opens folded.METRIC and speedscope of each folder in the way of the command `speedscope`, which writes a script into WORK,
and has them saved again. A line for each check: "ok NAME", or "wrong NAME: ...".
"""
import base64
import collections
import json
import os
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

LONG = 600  # seconds of a wait, longer than any step takes on a slow machine
COLUMNS = {"mpi": "mpi_exclusive_s", "calls": "calls", "sent": "bytes_sent", "received": "bytes_received"}


def start():
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--enable-unsafe-swiftshader"):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.set_page_load_timeout(LONG)
    return driver


def until(driver, script):
    begin = time.monotonic()
    while not (answer := driver.execute_script(script)):
        if time.monotonic() - begin > LONG:
            raise RuntimeError(f"in vain: {script}; {driver.get_log('browser')}")
        time.sleep(0.01)
    return answer


def read_again(driver, page, work, path):
    """The profiles of the file as speedscope saves them."""
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode()
    with open(os.path.join(work, "open.js"), "w", encoding="utf-8") as file:
        file.write(f"speedscope.loadFileFromBase64({json.dumps(os.path.basename(path))}, {json.dumps(data)})")
    driver.get("about:blank")
    driver.get(f"file://{page}#localProfilePath={file.name}")
    until(driver, "return document.title.endsWith(' - speedscope')")
    driver.execute_script("""
        URL.createObjectURL = blob => { blob.text().then(text => window.saved = text); return '#'; };
        HTMLAnchorElement.prototype.click = () => {};""")
    # The key saves what is shown: it is pressed again until that is the file.
    return json.loads(until(driver, """
        window.dispatchEvent(new KeyboardEvent('keydown', {key: 's', ctrlKey: true}));
        return window.saved"""))


def stacks_of(profile, frames):
    """Weights by stack of names, of a profile of events or of samples."""
    found, names = collections.Counter(), [frame["name"] for frame in frames]
    if profile["type"] == "sampled":
        for sample, weight in zip(profile["samples"], profile["weights"]):
            found[tuple(names[i] for i in sample)] += weight
        return found
    stack, since = [], profile["startValue"]
    for event in profile["events"]:
        found[tuple(stack)] += event["at"] - since
        since = event["at"]
        if event["type"] == "O":
            stack.append(names[event["frame"]])
        else:
            stack.pop()
    return found


def non_zero(stacks):
    return {stack: value for stack, value in stacks.items() if value}


def check(name, got, wanted):
    print(f"ok {name}" if got == wanted else f"wrong {name}: got {str(got)[:600]}, wanted {str(wanted)[:600]}")


def totals_of(folder):
    with open(os.path.join(folder, "contexts.tsv"), encoding="utf-8", newline="\n") as file:
        head, *rows = [line.rstrip("\n").split("\t") for line in file]
    return {metric: sum(int(row[head.index(column)].replace(".", "") or 0) for row in rows) for metric, column in COLUMNS.items()}


def check_folder(driver, page, work, folder):
    name, totals = os.path.basename(folder), totals_of(folder)
    for metric in COLUMNS:
        path = os.path.join(folder, "folded." + metric)
        lines = collections.Counter()
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                stack, value = line.rstrip("\n").rsplit(" ", 1)
                lines[tuple(stack.split(";"))] += int(value)
        if not lines:
            continue
        again = read_again(driver, page, work, path)
        seen = non_zero(stacks_of(again["profiles"][0], again["shared"]["frames"]))
        check(f"{name}: stacks of folded.{metric}", seen, non_zero(lines))
        check(f"{name}: total of folded.{metric}", sum(seen.values()), totals[metric])
    path = os.path.join(folder, "speedscope")
    with open(path, encoding="utf-8") as file:
        ours = json.load(file)
    again = read_again(driver, page, work, path)
    check(f"{name}: names of profiles", [one["name"] for one in again["profiles"]], [one["name"] for one in ours["profiles"]])
    check(f"{name}: units", [one["unit"] for one in again["profiles"]], [one["unit"] for one in ours["profiles"]])
    for one, wanted in zip(again["profiles"], ours["profiles"]):
        check(f"{name}: stacks of {wanted['name']}", non_zero(stacks_of(one, again["shared"]["frames"])),
              non_zero(stacks_of(wanted, ours["shared"]["frames"])))


def main(page, work, *folders):
    driver = start()
    try:
        for folder in folders:
            check_folder(driver, page, work, folder)
    finally:
        driver.quit()


main(*sys.argv[1:])
