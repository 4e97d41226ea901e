# SPDX-License-Identifier: BSD-3-Clause
"""The view of communication of a page: its pattern, placement, communicators and matrix. For page_check.py."""
import collections
import math
import re

from page_driver import PAIR_METRICS, check_host_lines, ns, places, rounds_to, rows_of, wanted_pairs


WORLD = "f3d7cc4d7545b6a2"  # id of MPI_COMM_WORLD in every profile


def check_placement(page, tables):
    """What pcollect topology proposes; by it, what goes between nodes is what the placement says."""
    page.show("communication")
    told = page.ask("return [...document.querySelectorAll('#placement span')].map(e => [e.title, e.textContent])")
    if not page.placement:
        return [f"a placement of one node: {told}"] if told else []
    before, after = page.placement["before"], page.placement["after"]
    wanted = [after, before] if after < before else [before]
    wrong = [] if [int(exact) for exact, _ in told] == wanted else [f"placement {told}, not {wanted}"]
    wrong += [f"placement: {shown} for {exact}" for exact, shown in told if not rounds_to(shown, exact)]
    for by, between in (("host", before), ("proposed", after)):
        sums, _ = wanted_pairs(page, tables, by, "sent")
        if sum(value for (source, destination), value in sums.items() if source != destination) != between:
            wrong.append(f"by {by}, not {between} go between nodes")
    return wrong


def check_communicators(page, tables):
    """Each communicator once, below the one that it was made from, with its calls; sizes of messages, of one and of all."""
    page.show("communication")
    wrong, wanted = [], {row["domain"]: [row["parent"], 0, 0, 0] for row in rows_of(tables, "communicators")} \
        if "communicators" in tables else {}
    for row in rows_of(tables, "communicator_calls") if wanted else []:
        for k, column in enumerate(("calls", "time_s", "bytes_sent"), 1):
            if row["communicator"] in wanted:
                wanted[row["communicator"]][k] += ns(row[column]) if column == "time_s" else int(row[column])
    path, seen = [], {}
    for level, name, cells in page.ask("""return [...document.querySelectorAll('#communicators tbody tr')].map(row =>
            [Number(row.dataset.level), row.cells[0].title, [...row.cells].slice(4).map(c => [c.title, c.textContent])])"""):
        path[level:] = [name]
        seen[name] = [path[level - 1] if level else "", *[ns(exact) if k == 1 else int(exact) for k, (exact, _) in enumerate(cells)]]
        wrong += [f"communicator {name}: {shown} for {exact}" for exact, shown in cells if not rounds_to(shown, exact)]
    names = page.ask("return [...document.querySelectorAll('#communicators button')].map(e => e.textContent)")
    if len(set(names)) != len(names):
        wrong.append(f"communicators look alike: {names}")
    page.compared["alike"] += sum(" of " in name for name in names)
    for domain in list(set(wanted) - {row.get("domain") for row in rows_of(tables, "pairs")})[:1]:
        page.ask("[...document.querySelectorAll('#communicators td')].find(e => e.title === arguments[0]).firstChild.click()", domain)
        told, hidden = page.ask("return [document.getElementById('no-pairs').innerText, document.querySelector('.communication').hidden]")
        if not told.startswith("The profile has no messages between its ranks over ") or not hidden:
            wrong.append(f"communicator {domain} without messages: {told}")
        page.compared["no-pairs"] += 1
    if seen != wanted:
        wrong.append(f"communicators {seen}, not {wanted}")
    for domain in ["", *sorted(wanted)[:2]] if "sizes" in tables else []:
        page.show("communication&domain=" + domain)
        sizes = collections.defaultdict(lambda: [0, 0])
        for row in rows_of(tables, "sizes"):
            if not domain or row["domain"] == domain:
                for k, column in enumerate(("sent", "received")):
                    sizes[int(row["from"] or 0)][k] += int(row[column])
        shown = dict(page.ask("return [...document.querySelectorAll('#sizes tbody tr')].map(row =>"
                              "[row.dataset.from, [...row.cells].slice(2).map(c => Number(c.title))])"))
        if {int(size): sums for size, sums in shown.items()} != dict(sizes):
            wrong.append(f"sizes of {domain or 'all'}: {shown}, not {dict(sizes)}")
    return wrong


def read_pairs(page, metric):
    """Names and figure of the pairs of the table: [from, to, exact, shown]."""
    return page.ask("return [...document.querySelectorAll('#pairs tbody tr')].map(row => [row.cells[0].innerText,"
                    "row.cells[1].innerText, row.cells[arguments[0]].title, row.cells[arguments[0]].innerText])",
                    2 + list(PAIR_METRICS).index(metric))


def check_rank_labels(page, names, by):
    """Ranks are named at their rows and columns, and no two labels overlap."""
    wrong, sides = [], page.ask("""
        const box = document.querySelector('.matrix').getBoundingClientRect(), sides = [['across', 'left', 'width'], ['down', 'top', 'height']];
        return sides.map(([side, begin, size]) => [...document.querySelectorAll(`.${side} span`)].map(one => [one, one.getBoundingClientRect()])
            .map(([one, at]) => [one.textContent, (at[begin] - box[begin]) / box[size], at[size] / box[size]]))""")
    for labels in sides:
        wrong += [f"{len(labels)} labels by {by}"] if bool(labels) != (by == "rank") else []
        wrong += [f"{name} is named at {at}, before {after}" for (name, at, size), after in zip(labels, [*(x[1] for x in labels[1:]), 2])
                  if abs(at + size / 2 - (names.index(name) + 0.5) / len(names)) > 0.01 or at + size > after]
    return wrong


def check_matrix(page, tables, by, metric, domain=""):
    """The greatest pairs in text, and each pixel: the greatest of the pairs that it stands for."""
    what = f"{metric} by {by} {domain}"
    sums, names = wanted_pairs(page, tables, by, metric, domain)
    page.show(f"communication&by={by}&metric={metric}&domain={domain}")
    rows = read_pairs(page, metric)
    size, alphas = page.ask("""
        const canvas = document.querySelector('.matrix'), pen = canvas.getContext('2d');
        const pixels = pen.getImageData(0, 0, canvas.width, canvas.width).data;
        return [canvas.width, Array.from(pixels).filter((_, i) => i % 4 === 3)]""")
    seen = [ns(exact) if "time" in PAIR_METRICS[metric] else int(exact) for _, _, exact, _ in rows]
    wrong = [] if seen == sorted(sums.values(), reverse=True)[:20] else [f"{what}: {seen}"]
    wrong += check_rank_labels(page, names, by) if sums else []
    hosts = {row["rank"]: row["host"] for row in rows_of(tables, "ranks")}
    wrong += check_host_lines(page, what, ".matrix-place", [[hosts[name] for name in names]] * 2 if by == "rank" else []) if sums else []
    wrong += [f"{what}: {row}" for row, value in zip(rows, seen) if sums[row[0], row[1]] != value or
              not (row[3] == "-" if "time" in PAIR_METRICS[metric] and not value else rounds_to(row[3], row[2]))]
    told = page.ask("return document.querySelector('#pairs caption').textContent")
    if sums and not told.startswith(f"{min(20, len(sums))} of {len(sums):,} pair"):
        wrong.append(f"{what}: {told}, not of {len(sums)}")
    told = page.ask("return document.getElementById('matrix-legend').textContent")
    if ("several pairs" in told) != (len(names) > size) or told.startswith("No pair has ") != (not any(sums.values())):
        wrong.append(f"{what}: the legend of {size} pixels is {told}")
    ranks, told = {row["rank"] for row in rows_of(tables, "ranks")}, page.ask("return document.getElementById('left-out').textContent")
    left = len({(row["source"], row["destination"]) for row in rows_of(tables, "pairs")
                if domain in ("", row.get("domain")) and not {row["source"], row["destination"]} <= ranks})
    page.compared["left-out"] += left
    if f"{left:,} pair{'s' * (left > 1)} with" not in told if left else told:
        wrong.append(f"{what}: of {left} pairs with other processes the page says: {told}")
    peaks = collections.Counter()
    places, most = {name: i * size // len(names) for i, name in enumerate(names)}, max(sums.values(), default=0)
    for (source, destination), value in sums.items():
        at = places[source] * size + places[destination]
        peaks[at] = max(peaks[at], value)
    return wrong + [f"{what}: pixel {at} has {alpha}, not {peaks[at]} of {most}" for at, alpha in enumerate(alphas)
                    if abs(alpha - (255 * (0.08 + 0.92 * peaks[at] / most) if peaks[at] else 0)) > 1.5]


def told_messages(n):
    return f"{n:,} message{'s' * (n > 1)}, " if n else "no message"


def told_pair(tables, source, destination):
    hosts = {row["rank"]: row["host"] or "-" for row in rows_of(tables, "ranks")}
    return f"rank {source} on {hosts[source]} to rank {destination} on {hosts[destination]}: "


def check_pair(page, tables):
    """A click chooses a pair, + shows the pairs around it only, and the pointer tells the pair below it."""
    calls, names = wanted_pairs(page, tables, "rank", "calls")
    page.show("communication&metric=calls")
    source, destination = max(calls, key=calls.get) if calls else names[0], names[0]
    page.ask("document.querySelector('#pairs tbody tr')?.click()")
    if calls:
        source, destination = read_pairs(page, "calls")[0][:2]
    wanted = told_pair(tables, source, destination) + told_messages(calls[source, destination])
    told = page.ask("return document.getElementById('pair').textContent")
    wrong = [] if told.startswith(wanted) else [f"the chosen pair: {told}, not {wanted}"]
    mark = page.ask("""const mark = document.querySelector('.marker').getBoundingClientRect(), box = document.querySelector('.matrix')
        .getBoundingClientRect(); return [(mark.top - box.top) / box.height, (mark.left - box.left) / box.width]""")
    if calls and any(abs(at - names.index(name) / len(names)) > 0.01 for at, name in zip(mark, (source, destination))):
        wrong.append(f"the mark is at {mark}, not at {source} and {destination} of {len(names)}")
    page.ask("document.querySelector('.matrix').focus()")
    page.send_keys("+")
    legend = page.ask("return document.getElementById('matrix-legend').textContent")
    count = max(1, math.floor(len(names) / 2 + 0.5))
    senders, receivers = [names[names.index(first):names.index(last) + 1] for first, last in re.findall(
        rf"\({count:,} ranks?, (\d+) to (\d+)\)", legend)]
    if len(senders) != count or len(receivers) != count or source not in senders or destination not in receivers:
        wrong.append(f"closer around {source} and {destination}: {legend}")
    seen = [int(exact) for _, _, exact, _ in read_pairs(page, "calls")]
    near = [value for (a, b), value in calls.items() if a in senders and b in receivers]
    if seen != sorted(near, reverse=True)[:20]:
        wrong.append(f"pairs of {senders} and {receivers}: {seen}")
    alone = [(senders[0], receivers[-1])] if count <= 600 else [] # which has a pixel of its own
    for sender, receiver in (*alone, (source, destination)):
        told = page.ask("""
            const canvas = document.querySelector('.matrix'), box = canvas.getBoundingClientRect();
            const [row, column, n] = arguments, at = (begin, size, k) => begin + size * (k + 0.5) / n;
            canvas.dispatchEvent(new MouseEvent('mousemove', {clientX: at(box.left, box.width, column),
                clientY: at(box.top, box.height, row)}));
            return canvas.title""", senders.index(sender), receivers.index(receiver), count)
        messages = calls[sender, receiver]
        wanted = told_pair(tables, sender, receiver) + told_messages(messages)
        wrong += [] if told.startswith(wanted) else [f"the pointer tells {told}, not {wanted}"]
    return wrong + check_closer_hosts(page, tables, names)


def check_closer_hosts(page, tables, names):
    """Lines between hosts are those of the ranks that are shown, here the last ones."""
    page.show(f"communication&metric=calls&rank={names[-1]}&to={names[-1]}")
    page.ask("document.querySelector('.matrix').focus()")
    page.send_keys("+")
    hosts = {row["rank"]: row["host"] for row in rows_of(tables, "ranks")}
    shown = [hosts[name] for name in names[-max(1, math.floor(len(names) / 2 + 0.5)):]]
    return check_host_lines(page, "closer", ".matrix-place", [shown, shown])


def check_why_not(page, tables, view, recorded, collected):
    """The view says why it has nothing: of a program that was sampled from outside another reason than of others."""
    outside = any("sampled from outside" in row["notes"] for row in rows_of(tables, "header"))
    told, reason = page.ask("return document.getElementById(arguments[0]).innerText", view), recorded if outside else collected
    page.compared["recorded"] += outside
    return [] if reason in told else [f"{view} does not say {reason}: {told}"]


def check_communication(page, tables):
    """The pattern, the placement, communicators; the matrix of all and of two of them."""
    page.show("communication")
    if page.alone is not None:
        told = page.ask("return document.getElementById('communication').innerText")
        return [] if told == "There are no messages: the program calls no MPI function." else [told]
    if "pairs" not in tables:
        return check_why_not(page, tables, "communication", "record does not see messages", "plugin topology was not used")
    wrong = []
    pattern = page.ask("return document.querySelector('#pattern strong').textContent")
    if pattern != page.pattern:
        wrong.append(f"the pattern is {pattern}, not {page.pattern}")
    if bool(page.ask("return document.getElementById('collectives')")) != bool("collectives" in tables and rows_of(tables, "collectives")):
        wrong.append("collective operations are named where there are none, or are not")
    wrong += check_placement(page, tables) + check_communicators(page, tables)
    domains = list(dict.fromkeys(row.get("domain", "") for row in rows_of(tables, "pairs")))
    offered = page.ask("return [...[...document.querySelectorAll('.controls label')].find(e => e.textContent.startsWith('Communicator'))"
                       ".querySelectorAll('option')].map(e => [e.value, e.textContent])")[1:]
    known = {domain for domain in domains if domain}
    known |= {row["domain"] for row in rows_of(tables, "communicators")} if "communicators" in tables else set()
    wrong += [] if len(offered) == len(known) else [f"{offered} communicators, not {known}"]
    wrong += [f"communicator {name}" for domain, name in offered if domain == WORLD and "communicators" not in tables and name != "MPI_COMM_WORLD"]
    cases = [("rank", "sent"), ("rank", "calls"), ("host", "sent"), ("host", "time"), ("rank", "receiving"), *([("proposed", "sent")] if page.placement else []),
             *([("socket", "sent")] if "place" in tables else []),
             *[("rank", "sent", domain) for domain in domains[-2:] if domain]]
    for case in cases:
        if PAIR_METRICS[case[1]] in tables["pairs"][0]:
            wrong += check_matrix(page, tables, *case)
    return wrong + check_pair(page, tables)
