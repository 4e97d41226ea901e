# SPDX-License-Identifier: BSD-3-Clause
"""The page in the window of a phone and on paper. For page_check.py."""

# Rows with figures that are shown: where their names end and where their first figures begin and end, in the window.
ROWS = """
    return [...document.querySelectorAll(arguments[0])].flatMap(table => [...table.querySelectorAll('tbody tr')].slice(0, 50)).map(row => {
        const name = row.cells[0].getBoundingClientRect(), figure = row.querySelector('.number')?.getBoundingClientRect();
        return figure?.width && [name.left, name.right, figure.left, figure.right, innerWidth];
    }).filter(row => row);"""
TABLES = "#tree, #table, #functions, #regions, #course, #phases, #losses, #changes, #heat, #rank-figures"
SHOWN = ("contexts", "ranks", "time", "tables&table=primitives", "tables&table=ranks", "tables&table=contexts", "print")
PRINTED = ".icicle, #lanes"
PICTURES = " [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"


def set_window(page, width, media=""):
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False})
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})


def leave_window(page):
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def check_phone(page):
    """In a narrow window a row's name is beside its first figure, and stays there when others are scrolled to."""
    wrong = []
    for address in SHOWN:
        set_window(page, 390)
        page.show(address)
        rows = page.ask(ROWS, TABLES)
        page.compared["phone"] += len(rows)
        out = [row for row in rows if row[0] < 0 or row[3] > row[4] or row[1] - row[0] < 30]
        wrong += [f"{address} in a narrow window: {len(out)} names or figures are out of it, as {out[0]}"] if out else []
        page.ask("document.querySelectorAll('.scroll').forEach(e => e.scrollLeft = 1e6)")
        away = [row for row in page.ask(ROWS, "#tree, #table") if row[0] < 0]
        wrong += [f"{address}: names are scrolled away, as {away[0]}"] if away else []
    leave_window(page)
    return wrong


def check_paper(page):
    """Pictures with text fill the paper and keep their shape, whatever the window was."""
    wrong = []
    for address in ("contexts", "time", "print"):
        for window in (390, 1920):
            set_window(page, window)
            page.show(address)
            # A browser prints the canvases as they are when printing begins.
            drawn = page.ask("dispatchEvent(new Event('beforeprint')); return" + PICTURES + ".map(e => [e.width, e.height])", PRINTED)
            set_window(page, 700, "print")
            pictures = page.ask("return" + PICTURES + """.map(e => {
                const {width, height} = e.getBoundingClientRect();
                return [e.className || e.id, width, height, e.parentNode.clientWidth];
            })""", PRINTED)
            for (own_width, own_height), (name, width, height, room) in zip(drawn, pictures):
                page.compared["paper"] += 1
                if abs(width - room) > 1 or abs(width / height / (own_width / own_height) - 1) > 0.02:
                    wrong.append(f"{address} of {window} pixels on paper: {name} is {width} x {height} in {room}, drawn as {own_width} x {own_height}")
            leave_window(page)
            page.ask("dispatchEvent(new Event('afterprint'))")
    return wrong


def check_window(page, _):
    return check_phone(page) + check_paper(page)
