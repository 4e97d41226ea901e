# SPDX-License-Identifier: BSD-3-Clause
"""Reads a page of `pcollect html` in Firefox, with the checks of page_check.py: page_firefox_check.py PAGE FOLDER.
Firefox is driven by WebDriver BiDi, which it speaks itself on a port that it chooses.
Prints a line for each view, which begins with "ok" or "not ok", and what differs."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import websocket

import page_check
import page_driver

PREFERENCES = {  # Firefox must make no requests of its own: no updates, no news, no portal
    "remote.active-protocols": 1, "browser.shell.checkDefaultBrowser": False, "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.enabled": False,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "browser.newtabpage.enabled": False, "browser.safebrowsing.downloads.remote.enabled": False,
    "browser.startup.homepage_override.mstone": "ignore", "datareporting.policy.firstRunURL": "",
    "browser.aboutwelcome.enabled": False, "extensions.getAddons.cache.enabled": False, "app.normandy.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1", "dom.ipc.processCount": 1}

# A script of the checks in the form for Firefox: its result, which may be a promise, is returned as JSON.
WRAPPED = "async text => JSON.stringify(await (function() { %s }).apply(null, JSON.parse(text)) ?? null)"


class Firefox:
    """What the checks need of a driver."""

    def __init__(self, folder):
        self.folder, self.n_sent, self.events = folder, 0, []
        with open(os.path.join(folder, "user.js"), "w", encoding="utf-8") as f:
            f.writelines(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
        self.log = open(os.path.join(folder, "stderr"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port", "0", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env={**os.environ, "HOME": folder, "MOZ_CRASHREPORTER_DISABLE": "1"})
        self.socket = websocket.create_connection(self.address() + "/session", timeout=page_driver.LONG, suppress_origin=True)
        self.version = self.send("session.new", capabilities={})["capabilities"]["browserVersion"]
        self.context = self.send("browsingContext.getTree")["contexts"][0]["context"]
        self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])

    def address(self):
        """Where Firefox listens, once it says so."""
        while self.process.poll() is None:
            with open(self.log.name, encoding="utf-8", errors="replace") as f:
                said = re.search(r"WebDriver BiDi listening on (ws://\S+)", f.read())
            if said:
                return said[1]
            time.sleep(0.1)
        raise RuntimeError(f"firefox-esr ended with {self.process.returncode}")

    def send(self, method, **params):
        """Answer to a command; events that come before it are kept."""
        self.n_sent += 1
        self.socket.send(json.dumps({"id": self.n_sent, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.n_sent:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
                return answer["result"]
            self.events.append(answer)

    def get(self, address):
        self.send("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def execute_script(self, script, *arguments):
        answer = self.send("script.callFunction", functionDeclaration=WRAPPED % script, awaitPromise=True,
                           target={"context": self.context}, arguments=[{"type": "string", "value": json.dumps(arguments)}])
        if answer["type"] == "exception":
            raise RuntimeError(f"{answer['exceptionDetails']['text']} in {script}")
        return json.loads(answer["result"]["value"])

    def press(self, keys):
        self.send("input.performActions", context=self.context, actions=[{"type": "key", "id": "keyboard", "actions": [
            {"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]}])

    def quit(self):
        try:
            self.send("browser.close")
            self.process.wait(page_driver.LONG)
        finally:
            self.process.kill()


class Page(page_driver.Page):
    def __init__(self, path, firefox):
        self.driver = firefox
        self.open(path)

    def send_keys(self, *keys):
        self.driver.press(keys)


def check_safety(page, _):
    """Nothing was asked for but the page, nothing can be, nothing went wrong, and no name became an element or ran."""
    wrong, page_alone = [], (page.address, "data:", "about:blank")
    for event in page.driver.events:
        params = event.get("params", {})
        if event["method"] == "network.beforeRequestSent" and not params["request"]["url"].startswith(page_alone):
            wrong.append("asks for " + params["request"]["url"])
        if event["method"] == "log.entryAdded" and params["level"] in ("error", "warn"):
            wrong.append(f"console: {params['text']}")
    if page.ask("return document.querySelectorAll('img, b, iframe, object, [onerror], [onload]').length"):
        wrong.append("a name became an element")
    if page.ask("return window.ran !== undefined"):
        wrong.append("a name ran as a script")
    answer = page.ask(
        "return new Promise(done => { document.addEventListener('securitypolicyviolation', e => done(e.effectiveDirective));"
        "  fetch('http://127.0.0.1:9/').then(() => done('sent'), () => null); })")
    if answer != "connect-src":
        wrong.append(f"a request is not refused by the policy: {answer}")
    return wrong


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        firefox = Firefox(folder)
        try:
            page = Page(sys.argv[1], firefox)
            tables = page_driver.read_tables(sys.argv[2])
            page.program, page.outside = page_driver.read_program(sys.argv[2]), page_driver.read_outside(sys.argv[2])
            page.notes, page.ends = page_driver.read_notes(sys.argv[2]), page_driver.read_ends(sys.argv[2])
            page.alone = page_driver.read_alone(sys.argv[2])
            page.by_rank = page_driver.read_table(sys.argv[2], "context,rank")
            page.by_context = page_driver.read_table(sys.argv[2], "context")
            print(f"# Firefox {firefox.version}")
            for name, check in (("Summary", page_check.check_summary), ("Contexts", page_check.check_contexts),
                                ("Ranks", page_check.check_ranks), ("Course", page_check.check_course),
                                ("Tables", page_check.check_tables), ("Evidence", page_check.check_evidence),
                                ("Keys", page_check.check_keys), ("no request, no error, no markup", check_safety)):
                wrong = check(page, tables)
                print("not ok" if wrong else "ok", name)
                print("".join(f"  {line}\n" for line in wrong[:20]), end="")
        finally:
            firefox.quit()


if __name__ == "__main__":
    main()
