# SPDX-License-Identifier: BSD-3-Clause
"""What a page of `pcollect html` takes in headless Chromium: html_cost.py PAGE [ROUNDS]. For bench/html.sh.

In each round a page that only inflates the same bytes is opened, then the page: the time from the start of the
navigation to the last byte inflated, and to the first figures on the screen. Then keys and clicks, each timed from the
event to the next frame behind it. Prints medians, least and most."""
import os
import re
import statistics
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

# Inflates every element of the page, as page/data.js does.
INFLATE = """<script>(async () => {
    for (const element of document.querySelectorAll("script[type='text/plain']")) {
        const packed = atob(element.textContent), bytes = new Uint8Array(packed.length);
        for (let i = 0; i < packed.length; i++)
            bytes[i] = packed.charCodeAt(i);
        if (element.dataset.deflated === "yes")
            await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
    }
    requestAnimationFrame(() => setTimeout(() => window.benchDone = performance.now()));
})();</script>"""

# Records when the first view exists and was drawn.
WATCH = """new MutationObserver((_, observer) => {
    if (document.querySelector("main > [data-ready]")) {
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => window.benchDone = performance.now()));
    }
}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["data-ready"]});"""

# arguments: an element, an action on it, then a callback that gets the milliseconds to the next frame after the view is
# ready; null: the page has no such element.
ACT = """const [find, act, done] = arguments, element = eval(find), begin = performance.now();
if (!element)
    return done(null);
eval(act);
const look = () => document.querySelector("main > [data-ready]")?.dataset.ready === location.hash
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)))
    : setTimeout(look, 1);
setTimeout(look);"""

CLICK = "element.click()"


def press(key, what, place="body"):
    return f"document.querySelector('{place}')", f"element.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))", what


def click(selector, i, what):
    return f"document.querySelectorAll('{selector}')[{i}]", CLICK, what


def row(i, what="choose a row"):
    return click("tbody tr[tabindex]", i, what)


def button(text):
    return f"[...document.querySelectorAll('button')].find(e => e.textContent === '{text}')", CLICK, text


def choose(label, value):
    """Chooses in the control of that name."""
    return (f"[...document.querySelectorAll('.controls label')].find(e => e.firstChild.textContent.trim() === '{label}')?.lastChild",
            f"element.value = '{value}'; element.dispatchEvent(new Event('change'))", f"{label} {value}")


def search(text):
    return "document.getElementById('search')", f"element.value = '{text}'; element.dispatchEvent(new Event('input'))", f"search '{text}'"


ACTIONS = [press("2", "Contexts"), *[row(i) for i in (1, 5, 20, 80, 3)], button("Close all"), button("Open all"),
           *[choose("by", name) for name in ("calls", "sent", "mpi")],
           *[choose("colour", name) for name in ("module", "imbalance", "efficiency", "function")],
           *[search(text) for text in ("Allreduce", "x", "")], *[choose("Show", name) for name in ("callers", "flat", "tree")],
           press("3", "Ranks"), *[choose("Order ranks by", name) for name in ("host", "MPI_Send", "rank")],
           choose("Rows", "context"), choose("Order ranks by", "host"), choose("Rows", "primitive"),
           *[choose("Show", name) for name in ("calls", "sent", "time")], press("ArrowRight", "next rank", "#map"),
           press("4", "Time"), press("5", "Source"), press("6", "Communication"), press("7", "Tables"),
           *[click("thead button", i, "sort") for i in (1, 2, 0, 3)],
           *[choose("Table", name) for name in ("ranks", "rank,context", "contexts")],
           *[click("thead button", i, "sort contexts") for i in (0, 2, 8, 8)], search("Send"), search(""),
           press("1", "Summary"), press("2", "Contexts again"), press("3", "Ranks again"), press("7", "Tables again"),
           press("1", "Summary again"), press("2", "Contexts once more"), row(2), row(9)]


def open_page(driver, path):
    driver.get("about:blank")
    driver.get("file://" + path)
    WebDriverWait(driver, 300).until(lambda d: d.execute_script("return window.benchDone !== undefined"))
    return driver.execute_script("return window.benchDone")


def spread(values, form):
    return f"{form(statistics.median(values))} ({form(min(values))} to {form(max(values))})"


def milliseconds(value):
    return f"{value:.0f} ms"


def main():
    path, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with open(path, encoding="utf-8") as f:
        elements = re.findall(r'<script type="text/plain".*?</script>', f.read(), re.S)
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,800",
                     "--no-first-run", "--disable-background-networking"):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.set_script_timeout(120)
    inflated, first, answers = [], [], []
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as bare:
            bare.write("<!DOCTYPE html><meta charset=utf-8><body>" + "\n".join(elements) + INFLATE)
            bare.flush()
            watch = None
            for _ in range(rounds):
                inflated.append(open_page(driver, bare.name))
                watch = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})["identifier"]
                first.append(open_page(driver, path))
                driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": watch})
        driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
        driver.get("about:blank")
        driver.get("file://" + path)
        WebDriverWait(driver, 300).until(lambda d: d.execute_script("return document.querySelector('main > [data-ready]') !== null"))
        for find, act, what in ACTIONS:
            answers.append((driver.execute_async_script(ACT, find, act), what))
    finally:
        driver.quit()
    answers = [(time, what) for time, what in answers if time is not None]
    print("  all bytes inflated: " + spread(inflated, milliseconds))
    print("  first figures: " + spread(first, milliseconds) + ", ratio " +
          spread([b / a for a, b in zip(inflated, first)], lambda value: f"{value:.2f}"))
    print(f"  {len(answers)} keys and clicks: " + spread([time for time, _ in answers], milliseconds))
    print("  slowest: " + ", ".join(f"{what} {time:.0f} ms" for time, what in sorted(answers, reverse=True)[:12]))


main()
