// SPDX-License-Identifier: BSD-3-Clause
// The first view: the run, its losses, and how all ranks spend their time.

// Columns of the header that are shown below the program, and their labels. The imbalance is not among them: it means
// little without what is said of it below the band.
const runFacts = [
    ["mpi", "MPI"], ["started"], ["taken", "a checkpoint of"], ["ranks"], ["hosts"],
    ["wall_s", "wall time of a rank (mean)"], ["mpi_percent", "in MPI"], ["mpi_calls", "MPI calls"], ["mpi_calls_inside", "MPI calls inside of them"],
    ["compute_s", "outside MPI, a rank"], ["merge_s", "merge of the profile, per rank"],
    ["incomplete_ranks"], ["missing_ranks"]
];

// Hides facts that are 0 if that means that nothing is wrong, and those of MPI of a program without it.
function factIsShown(header, name, alone) {
    const quiet = ["incomplete_ranks", "missing_ranks", "mpi_calls_inside"];
    const ofMpi = ["mpi", "mpi_percent", "mpi_calls", "mpi_calls_inside", "compute_s"];
    return !(alone && ofMpi.includes(name)) && header.has(name) && header.exact(0, name) !== "" && !(quiet.includes(name) && header.exact(0, name) === "0");
}

function makeRun(header, {program, alone, otherJobs, incomplete, atEnd, leftOut}) {
    if (!header.rows)
        return make("p", {}, "The profile has no figures of the run.");
    const notes = header.has("notes") ? header.exact(0, "notes") : "";
    const fact = (name, doc, label, exact, shown) => make("div", {}, make("dt", {title: doc}, label),
        make("dd", {"data-column": name, title: exact}, shown));
    return make("div", {}, make("dl", {id: "run"}, fact("program", null, program.label, program.text, program.text),
        program.command ? fact("command", null, program.commands ? "commands" : "command", program.command, program.command) : null,
        alone ? fact("without", null, "MPI", null, "none: the program calls no MPI function") : null,
        runFacts.filter(([name]) => factIsShown(header, name, alone)).map(([name, label]) =>
            fact(name, header.columns[header.find(name)].doc, label || name.replace("_", " "), header.exact(0, name),
                header.shown(0, name)))),
    [["Other jobs", otherJobs], ["Incomplete", incomplete], ["At the end", atEnd]].filter(([, text]) => text).map(([name, text]) =>
        make("p", {class: "ends"}, make("strong", {}, name), " " + text + ".")),
    leftOut.map(text => make("p", {class: "left-out"}, text + ".")),
    notes ? make("p", {id: "notes"}, "Note: " + notes) : "");
}

// Place where the page shows the subject of a finding: its context, its rank, or the table with details.
function evidenceOf(findings, row) {
    const table = findings.exact(row, "more").replace("--table ", "");
    const view = ["contexts", "ranks"].includes(table) ? table : "tables";
    return addressOf(view, {table: view === "tables" ? table : null,
        context: findings.exact(row, "context"), rank: findings.exact(row, "rank")});
}

function makeFindings(findings, header) {
    if (!findings.rows)
        return make("p", {id: "findings"}, header.rows && header.exact(0, "mpi_calls") === ""
            ? "Losses are found by calls of MPI and their times, which this profile does not have."
            : "No rule finds a loss in this run.");
    return make("ol", {id: "findings"}, Array.from({length: findings.rows}, (_, row) => make("li", {},
        make("p", {class: "finding"}, make("a", {href: evidenceOf(findings, row)}, findings.exact(row, "finding"))),
        make("p", {class: "rule"}, "rule ", make("code", {}, findings.exact(row, "rule")),
            // If a cost is not known, `saves` is 0 or missing.
            !(findings.number(row, "saves_percent") > 0) ? null
                : [", saves up to ", make("span", {class: "saves"}, findings.shown(row, "saves_percent"))]))));
}

const rowsOf = table => Array.from({length: table.rows}, (_, row) => row);

const sumOf = (table, column) => rowsOf(table).reduce((sum, row) => sum + (table.number(row, column) || 0), 0);

// Tells the time of calls in which ranks were killed, for views that have only those that ended.
function makeWithoutOpen(open) {
    const ns = open ? sumOf(open, "time") : 0;
    return ns ? make("p", {class: "without-open"}, "Without ", make("span", {title: exactly("ns", ns)}, forPeople("ns", ns)),
        " of calls that had not ended: the table ", make("a", {href: addressOf("tables", {table: "open_calls"})}, "open_calls"),
        " has them.") : "";
}

// Modules with a smaller part of the computation than this have no part of their own.
const leastModuleShare = 0.01;

// [name, ns] of `whole` in proportion to the samples outside MPI in each module but `others`; the sum is `whole`.
function moduleParts(modules, whole, others = []) {
    const sampledIn = row => others.includes(modules.exact(row, "module")) ? 0 : modules.number(row, "cpu_exclusive_s") || 0;
    const rows = rowsOf(modules), sampled = rows.reduce((sum, row) => sum + sampledIn(row), 0), parts = [];
    for (const row of rows) {
        const share = sampledIn(row) / sampled;
        if (share >= leastModuleShare)
            parts.push(["computing: " + (modules.exact(row, "module").split("/").pop() || "unknown"), Math.round(share * whole)]);
    }
    const rest = parts.reduce((sum, [, ns]) => sum - ns, whole);
    if (parts.length && Math.abs(rest) <= parts.length)
        parts[0][1] += rest;
    else
        parts.push([parts.length ? "computing: other modules" : "computing", rest]);
    return parts;
}

// CPU time outside MPI of the main threads, by samples: the first row of each rank. {by rank {ns, library}}; in
// `library`, which is a part of it, pcollect measured calls.
function sampledOutside(sampling) {
    const byRank = new Map();
    for (let row = 0; sampling && row < sampling.rows; row++) {
        const rank = sampling.number(row, "rank"), library = sampling.number(row, "own_time") || 0;
        if (!byRank.has(rank))
            byRank.set(rank, {ns: (sampling.number(row, "compute_time") || 0) + library, library});
    }
    return byRank;
}

// [name, ns] of the parts of each rank's time outside MPI, as far as the profile tells them apart. Where it does not know
// which time was blocked, as of killed ranks, samples tell a part that was on a processor.
function outsideParts({outside: {division, turns}}, ranks, sampling) {
    const byRank = sampledOutside(sampling);
    return Array.from({length: ranks.rows}, (_, row) => {
        const cpu = ranks.number(row, "cpu_s"), [whole, blocked, delayed, forMpi, either, bindings] =
            ["compute_s", "blocked_s", "delayed_s", "for_mpi_s", "turns_s", "bindings_s"].map(name => ranks.number(row, name) || 0);
        if (division === "guessed")
            return [["outside MPI: too short for samples", whole]];
        const sampled = byRank.get(ranks.number(row, "rank")) || {ns: 0, library: 0};
        const busy = whole - forMpi - delayed, ran = Number.isNaN(cpu) ? Math.min(busy, sampled.ns) : cpu - either,
            library = Math.min(sampled.library, ran - bindings);
        const onProcessor = [["computing", ran - library - bindings], ["the MPI library beside its calls", bindings],
            ["pcollect in MPI calls", library], ["waiting for threads that are in MPI", forMpi]];
        if (Number.isNaN(cpu))
            return [...onProcessor, ["outside MPI: not known if computing", busy - ran],
                ["waiting for a processor outside MPI", delayed]];
        if (division === "unsure")
            return [...onProcessor, [turns ? "blocked, waiting for a processor or computing by turns outside MPI"
                : "blocked or waiting for a processor outside MPI", blocked + either + delayed]];
        return [...onProcessor, ["blocked outside MPI", blocked], ["blocked or computing by turns outside MPI", either],
            ["waiting for a processor outside MPI", delayed]];
    });
}

// Explains sums over all threads where not the main threads alone were in MPI: they are more than the time of the ranks.
function threadsText(ranks, whole) {
    const others = sumOf(ranks, "mpi_s") - sumOf(ranks, "mpi_main_s");
    return others > 0 ? ` Other threads than the main ones were in MPI for ${forPeople("ns", others)} of this, beside the time ` +
        `of the ranks: shares are of the sum of all parts, ${forPeople("ns", whole)}.` : "";
}

const waitingName = "MPI: waiting for the rank longest outside";

// Time in MPI of the ranks that no function has, as without the plugin time; 0 if it is less than a thousandth.
function unknownInMpi(ranks, known) {
    const inside = sumOf(ranks, "mpi_s");
    return inside - known >= inside / 1000 ? inside - known : 0;
}

// [name, ns] of the parts of the wall time of a program without MPI.
function aloneParts({profile: {alone: {computing, blocked, delayed}}, ranks, modules}) {
    return computing === undefined ? [["not known if computing", sumOf(ranks, "wall_s")]]
        : [...moduleParts(modules, computing), ["blocked", blocked], ["waiting for a processor", delayed]];
}

// [name, ns] of the parts of the wall time of all ranks with MPI.
function rankParts({profile, ranks, primitives, modules, sampling, open}) {
    const parts = new Map();
    const add = (name, ns) => ns && parts.set(name, (parts.get(name) || 0) + ns);
    let computing = 0;
    for (let row = 0; row < primitives.rows; row++) {
        const waiting = primitives.number(row, "waiting_s") || 0;
        add("MPI: " + primitives.exact(row, "class"), primitives.number(row, "mpi_exclusive_s") - waiting);
        add(waitingName, waiting);
    }
    const left = open ? sumOf(open, "time") : 0; // of killed ranks: in no context
    add(openCalls, left);
    add("MPI: not known in which function", unknownInMpi(ranks, sumOf(primitives, "mpi_exclusive_s") + left));
    for (const [name, ns] of outsideParts(profile, ranks, sampling).flat())
        if (name === "computing")
            computing += ns;
        else
            add(name, ns);
    const {outside: {for_threads: waits}} = profile;
    add(waits.text, waits.ns);
    moduleParts(modules, computing - waits.ns, waits.modules).forEach(([name, ns]) => add(name, ns));
    add("before MPI_Init", sumOf(ranks, "before_init_s"));
    add("after MPI_Finalize", sumOf(ranks, "after_s"));
    add("merge of the profile", sumOf(ranks, "merge_s"));
    return [...parts];
}

const leastShown = 0.5; // percent

// Rows of the parts. Those that share the last colour have one key; the small ones of them are folded into a row that opens.
function makeBandRows(parts, rest, share) {
    const small = rest.filter(([, ns]) => share(ns) < leastShown), folds = small.length > 1;
    const firstSmall = folds ? parts.length - small.length : parts.length;
    const keyOf = i => make("td", {rowspan: i === ownColours ? rest.length + Number(folds) : null}, makeKey(colourOfPlace(i), ""));
    const figuresOf = ns => [make("td", {class: "number", title: exactly("ns", ns)}, forPeople("ns", ns)),
        make("td", {class: "number"}, share(ns).toFixed(1) + " %")];
    const rows = parts.map(([name, ns], i) => make("tr", {},
        i > ownColours || i === ownColours && i === firstSmall ? null : keyOf(i), make("th", {scope: "row"}, name), figuresOf(ns)));
    if (!folds)
        return rows;
    const folded = rows.slice(firstSmall);
    const button = make("button", {type: "button", "aria-expanded": "false", onclick: () => {
        const open = button.getAttribute("aria-expanded") === "false";
        button.setAttribute("aria-expanded", String(open));
        folded.forEach(row => { row.hidden = !open; });
    }}, `${small.length} others, each below ${leastShown} %`);
    folded.forEach(row => { row.hidden = true; });
    return [...rows.slice(0, firstSmall), make("tr", {id: "others"}, firstSmall === ownColours ? keyOf(firstSmall) : null,
        make("td", {}, button), figuresOf(small.reduce((sum, [, ns]) => sum + ns, 0))), ...folded];
}

// The parts, the greatest first, as segments of a band and as rows of a table. Those that share a colour are one segment.
function makeBand(tables) {
    const {profile: {outside, alone}} = tables;
    const parts = (alone ? aloneParts(tables) : rankParts(tables)).filter(([, ns]) => ns).sort((a, b) => b[1] - a[1]);
    if (!parts.length)
        return "";
    const whole = parts.reduce((sum, [, ns]) => sum + ns, 0);
    const share = ns => whole ? 100 * ns / whole : 0;
    const rest = parts.slice(ownColours), segments = [...parts.slice(0, ownColours),
        ...rest.length ? [[rest.map(([name]) => name).join(", "), rest.reduce((sum, [, ns]) => sum + ns, 0)]] : []];
    const makeSegment = ([name, ns], i) => {
        const segment = make("span", {title: name});
        Object.assign(segment.style, {flexGrow: share(ns), background: `var(${colourOfPlace(i)})`});
        return segment;
    };
    return make("div", {}, make("h2", {}, "Where the time of the ranks goes"),
        make("div", {class: "band", "aria-hidden": "true"}, segments.map(makeSegment)),
        make("p", {id: "band-about", class: "legend"}, (alone ? "Wall time of the main thread."
            : "Sums over all ranks: MPI functions of all threads, other times of main threads.") +
            threadsText(tables.ranks, whole) +
            (parts.some(([name]) => name.startsWith("computing: ")) ? " Computation is divided among modules by the samples of all threads" +
                (outside.for_threads.ns ? ", but for those in runtimes of threads." : ".") : "") +
            (parts.some(([name]) => name === waitingName) ? " A rank waits in an MPI function for as long as it is longer " +
                "there than the rank that is longest outside MPI, in functions of messages only if these link it with that rank; " +
                "all waits together are at most the lead of that rank." : "")),
        make("table", {id: "band", "aria-describedby": "band-about"}, make("tbody", {}, makeBandRows(parts, rest, share))),
        [["Wall time", alone?.text], ["Outside MPI", outside.text], ["Imbalance", outside.imbalance]].filter(([, text]) => text).map(([name, text]) =>
            make("p", {class: "outside"}, make("strong", {}, name), " " + text + ".")));
}

// Shows the cost of samples, which is no separate part of the band.
function makeCost(sampling) {
    const cost = sampling ? sumOf(sampling, "cost") : 0, cpu = sampling ? sumOf(sampling, "cpu") : 0;
    return cost && cpu ? make("p", {id: "cost"}, "The samples of pcollect cost ",
        make("span", {title: exactly("ns", cost)}, forPeople("ns", cost)), " of CPU time, ",
        make("span", {}, (100 * cost / cpu).toFixed(1) + " %"), " of it; that is within the parts above.") : "";
}

async function showSummary(profile, place) {
    const [header, findings, ranks, primitives, modules, sampling, open] = await Promise.all(
        ["header", "findings", "ranks", "primitives", "module_calls", "sampling", "open_calls"].map(name =>
            profile.byName.has(name) ? profile.table(name) : null));
    place.append(
        makeWarnings(profile),
        make("h2", {}, "What the run loses"), makeFindings(findings, header),
        make("h2", {}, "The run"), makeRun(header, profile),
        makeBand({profile, ranks, primitives, modules, sampling, open}), makeCost(sampling));
}
