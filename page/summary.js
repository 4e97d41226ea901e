// SPDX-License-Identifier: BSD-3-Clause
// The first view: the run, what it loses, and where the time of all ranks goes.

const runFacts = [
    ["program"], ["mpi", "MPI"], ["started"], ["ranks"], ["hosts"],
    ["wall_s", "wall time of a rank (mean)"], ["mpi_percent", "in MPI"], ["mpi_calls", "MPI calls"],
    ["compute_s", "outside MPI, a rank"], ["imbalance_percent", "imbalance of computation"],
    ["merge_s", "merge of the profile, a rank"], ["incomplete_ranks"], ["missing_ranks"], ["lost"]
];

// Nothing that is 0 and says that nothing is wrong.
function factIsShown(header, name) {
    const quiet = ["incomplete_ranks", "missing_ranks", "lost"];
    return header.has(name) && header.exact(0, name) !== "" &&
        !(quiet.includes(name) && header.exact(0, name) === "0");
}

function makeRun(header) {
    if (!header.rows)
        return make("p", {}, "The profile has no figures of the run.");
    return make("dl", {id: "run"}, runFacts.filter(([name]) => factIsShown(header, name)).map(
        ([name, label]) => make("div", {},
            make("dt", {title: header.columns[header.find(name)].doc}, label || name.replace("_", " ")),
            make("dd", {"data-column": name, title: header.exact(0, name)}, header.shown(0, name)))));
}

// Place where the page shows what a finding speaks of: its context, its rank, or the table that has more.
function evidenceOf(findings, row) {
    const table = findings.exact(row, "more").replace("--table ", "");
    const view = ["contexts", "ranks"].includes(table) ? table : "tables";
    return addressOf(view, {table: view === "tables" ? table : null,
        context: findings.exact(row, "context"), rank: findings.exact(row, "rank")});
}

function makeFindings(findings) {
    if (!findings.rows)
        return make("p", {id: "findings"}, "No rule finds a loss in this run.");
    return make("ol", {id: "findings"}, Array.from({length: findings.rows}, (_, row) => make("li", {},
        make("p", {class: "finding"}, make("a", {href: evidenceOf(findings, row)}, findings.exact(row, "finding"))),
        make("p", {class: "rule"}, "rule ", make("code", {}, findings.exact(row, "rule")),
            // A cost that is not known saves 0, or nothing is said of it.
            !(findings.number(row, "saves_percent") > 0) ? null
                : [", saves up to ", make("span", {class: "saves"}, findings.shown(row, "saves_percent"))]))));
}

const sumOf = (table, column) => {
    let sum = 0;
    for (let row = 0; row < table.rows; row++)
        sum += table.number(row, column) || 0;
    return sum;
};

// [name, ns] of what the wall time of all ranks consists of, the greatest first.
function timeParts(ranks, primitives) {
    const parts = new Map();
    const add = (name, ns) => ns && parts.set(name, (parts.get(name) || 0) + ns);
    for (let row = 0; row < primitives.rows; row++)
        add("MPI: " + primitives.exact(row, "class"), primitives.number(row, "mpi_exclusive_s"));
    for (let row = 0; row < ranks.rows; row++) {
        const own = ranks.number(row, "own_s");
        add("outside MPI", Number.isNaN(own) ? ranks.number(row, "compute_s") || 0 : 0);
        add("computing", own || 0);
        add("blocked outside MPI", ranks.number(row, "blocked_s") || 0);
        add("waiting for a processor", ranks.number(row, "delayed_s") || 0);
    }
    add("before MPI_Init", sumOf(ranks, "before_init_s"));
    add("after MPI_Finalize", sumOf(ranks, "after_s"));
    add("merge of the profile", sumOf(ranks, "merge_s"));
    return [...parts].sort((a, b) => b[1] - a[1]);
}

function makeBand(ranks, primitives) {
    const parts = timeParts(ranks, primitives);
    const whole = parts.reduce((sum, [, ns]) => sum + ns, 0);
    const share = ns => whole ? 100 * ns / whole : 0;
    const band = make("div", {class: "band", "aria-hidden": "true"}, parts.map(([name], i) =>
        make("span", {class: "colour" + Math.min(i, 7), title: name})));
    parts.forEach(([, ns], i) => band.children[i].style.flexGrow = share(ns));
    return make("div", {},
        band,
        make("table", {id: "band"}, make("caption", {}, "Sums over all ranks and threads."),
            make("tbody", {}, parts.map(([name, ns], i) => make("tr", {},
                make("td", {}, make("span", {class: "key colour" + Math.min(i, 7)})),
                make("th", {scope: "row"}, name),
                make("td", {class: "number", title: exactly("ns", ns)}, forPeople("ns", ns)),
                make("td", {class: "number"}, share(ns).toFixed(1) + " %"))))));
}

async function showSummary(profile, place) {
    const [header, findings, ranks, primitives] = await Promise.all(
        ["header", "findings", "ranks", "primitives"].map(name => profile.table(name)));
    place.append(
        profile.warnings.length
            ? make("ul", {id: "warnings"}, profile.warnings.map(text => make("li", {}, text))) : "",
        make("h2", {}, "What the run loses"), makeFindings(findings),
        make("h2", {}, "The run"), makeRun(header),
        make("h2", {}, "Where the time of the ranks goes"), makeBand(ranks, primitives));
}
