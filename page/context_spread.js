// SPDX-License-Identifier: BSD-3-Clause
// Distribution of the time of each node of the tree over the ranks: the table `nodes`, which has the nodes of the tree
// of functions, outer ones first. Colours of the picture of the tree are computed from it.

const pictureDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// Gives each node of the tree its row, and what it computes outside MPI.
function addSpreads(root, nodes, ranks) {
    const above = [root], modules = new Map();
    for (let row = 0; row < nodes.rows; row++) {
        const level = nodes.number(row, "level");
        const node = level ? above[level - 1]?.children.get(nodes.exact(row, "label")) : root;
        above.length = level;
        above[level] = node;
        if (!node)
            continue;
        node.row = row;
        if (nodes.number(row, "joins"))
            node.parent.joined = node;
        modules.set(node.label, nodes.exact(row, "module"));
        addComputed(node, nodes.number(row, "computed_s"));
        if (node.own.samples)
            node.own.squares = nodes.number(row, "cpu_squares");
    }
    root.each(node => node.own.computed === 0 && delete node.own.computed);
    Object.assign(root, {nodes, modules, ranks: ranks.rows});
    root.colours = moduleColours(root);
    root.functions = functionColours(root);
}

// Colours of modules, in the order of the time in them, which all shapes and parts of the tree share.
function moduleColours(root) {
    const times = new Map();
    for (const node of root.list().slice(1)) {
        const name = moduleOf(node, root), {mpi = 0, cpu = 0} = node.own;
        times.set(name, (times.get(name) || 0) + mpi + cpu);
    }
    const names = [...times.keys()].sort((a, b) => times.get(b) - times.get(a) || (a < b ? -1 : 1));
    return new Map(names.map((name, place) => [name, colourOfPlace(place)]));
}

// Colours of functions, each the same in all shapes and parts of the tree: of those that are not yet taken by a function
// that calls it, that it calls or that is beside it in the order of a time, or else of that with least of its time.
// Functions with most time choose first.
function functionColours(root) {
    const times = new Map(), near = new Map(), colours = new Map(), all = 8;
    const add = (to, label, ns) => to.set(label, (to.get(label) || 0) + ns);
    const meet = (label, other, ns) => add(near.get(label) || near.set(label, new Map()).get(label), other, ns);
    const timeOf = ({figures: {mpi = 0, cpu = 0}}) => mpi + cpu + 1;
    const meetBoth = (one, other) => {
        const ns = Math.min(timeOf(one), timeOf(other));
        if (one.label !== other.label) {
            meet(one.label, other.label, ns);
            meet(other.label, one.label, ns);
        }
    };
    for (const node of root.list()) {
        if (node !== root)
            add(times, node.label, timeOf(node) - 1);
        if (node.parent && node.parent !== root)
            meetBoth(node, node.parent);
        for (const metric of node.children.size > 1 ? ["cpu", "mpi"] : []) // node.by() would keep the order
            [...node.children.values()].filter(({figures}) => figures[metric]).sort((a, b) => b.figures[metric] - a.figures[metric])
                .forEach((each, i, all) => i && meetBoth(all[i - 1], each));
    }
    for (const label of [...times.keys()].sort((a, b) => times.get(b) - times.get(a) || (a < b ? -1 : 1))) {
        const taken = new Array(all).fill(0), first = hashOf(label) % all;
        for (const [other, ns] of near.get(label) || [])
            if (colours.has(other))
                taken[colours.get(other)] += ns;
        const order = taken.map((_, i) => (first + i) % all);
        colours.set(label, order.reduce((best, each) => taken[each] < taken[best] ? each : best));
    }
    return colours;
}

// The time is that of the node and of all below it.
function addComputed(node, ns) {
    if (!ns)
        return;
    node.figures.computed = ns;
    node.own.computed = (node.own.computed || 0) + ns;
    if (node.parent)
        node.parent.own.computed -= ns;
}

const spreadNames = {mpi: "MPI time", cpu: "CPU time"};

// {ranks, known, places, picture} of a node; null: no values by rank are kept. The median of two ranks is no third value.
function readSpread(nodes, node, of) {
    const {row} = node.same || node;
    if (row === undefined || !nodes.number(row, of + "_ranks"))
        return null;
    const at = (word, unit) => nodes.number(row, `${of}_${word}${unit}`);
    const place = word => ({word, ns: at(word, "_s"), rank: nodes.exact(row, `${of}_${word}_rank`)});
    const ranks = at("ranks", ""), words = ranks < 3 ? ["min", "max"] : ["min", "median", "max"];
    return {ranks, known: at("known", "_s"), places: words.map(place), picture: nodes.exact(row, of + "_picture")};
}

// A small picture: a bar for each digit, whose height is the digit.
function makePicture(digits, label) {
    const most = pictureDigits.length - 1, width = digits.length > 16 ? 1 : 0.9;
    return makeSvg("svg", {viewBox: `0 0 ${digits.length} ${most}`, preserveAspectRatio: "none", class: "spread",
        "aria-hidden": "true"}, makeSvg("title", {}, label), makeSvg("path", {d: [...digits].map((digit, i) => {
        const height = pictureDigits.indexOf(digit);
        return height ? `M${i} ${most}v${-height}h${width}v${height}z` : "";
    }).join("")}));
}

const spreadText = ({places}) =>
    places.map(({word, ns, rank}) => `${word} ${forPeople("ns", ns)} on rank ${rank}`).join(", ");

// Sentences about the chosen node, with links to the ranks.
function makeSpreadDetails(nodes, node, of, figure) {
    const spread = readSpread(nodes, node, of);
    if (!spread)
        return figure ? make("p", {class: "over-ranks"},
            `The profile keeps no values of the ${spreadNames[of]} by rank here.`) : "";
    const part = figure ? 100 * spread.known / figure : 100;
    return make("p", {class: "over-ranks", "data-of": of},
        makePicture(spread.picture, ""), ` ${spreadNames[of]} over ${counted(spread.ranks, "rank")}: `,
        spread.places.map(({word, ns, rank}, i) => [i ? ", " : "", word + " ",
            make("span", {class: "over-" + word, title: exactly("ns", ns)}, forPeople("ns", ns)), " on ",
            make("a", {href: addressOf("ranks", {...readSelection(), rank})}, "rank " + rank)]).flat(),
        part < 99.95 ? `. Values by rank are kept of ${part.toFixed(1)} % of it.` : ".");
}

/* ---- Colours ---------------------------------------------------------------------------------- */

// Steps from pale to strong, all of them light enough for black letters.
const colourSteps = 5;
const stepOf = (part, most) => Math.min(colourSteps - 1, Math.floor(part / most * colourSteps));

// Each function gives the colour of a node, as the name of a variable of the style; the list has [variable, text] of
// its key.
const treeColours = {
    function: {title: "function", of: (node, root) => node.parent ? "--colour" + root.functions.get(node.label) : "--unknown",
        key: () => []},
    module: {
        title: "module",
        of: (node, root) => root.colours.get(moduleOf(node, root)) || "--unknown",
        key: root => {
            const shown = new Set(), names = new Map();
            root.each(node => node.parent && shown.add(moduleOf(node, root)));
            for (const [name, colour] of root.colours)
                if (shown.has(name))
                    names.set(colour, [...names.get(colour) || [], name]);
            return [...names].map(([colour, all]) => [colour, cutText(all.join(", "))]);
        }
    },
    imbalance: {
        title: "imbalance",
        of: (node, root, metric) => {
            const imbalance = imbalanceOf(node, root, metric);
            return imbalance === null ? "--unknown" : "--step" + stepOf(imbalance, 1);
        },
        key: () => [["--step0", "max at most 20 % above the mean of all ranks"], ["--step1", "40 %"], ["--step2", "60 %"],
            ["--step3", "80 %"], ["--step4", "more"], ["--unknown", "no values by rank of this sum"]]
    },
    efficiency: {
        title: "efficiency",
        of: (node, root) => {
            const [least, most] = (outsideRange(node, root) || [0, 1]).map(part => stepOf(1 - part, 1));
            return least === most ? "--step" + least : "--unknown";
        },
        key: () => [["--step0", "more than 80 % of the time outside MPI"], ["--step1", "60 %"], ["--step2", "40 %"],
            ["--step3", "20 %"], ["--step4", "less"],
            ["--unknown", "not known: samples do not tell where threads are blocked or wait for a processor"]]
    }
};

function moduleOf(node, {nodes, modules}) {
    const own = node.row === undefined ? modules.get(node.label) : nodes.exact(node.row, "module");
    return own || (node.label.startsWith("MPI_") ? "MPI" : "unknown");
}

// (max - mean) / mean over all ranks of the profile; null: not known.
function imbalanceOf(node, root, metric) {
    const spread = readSpread(root.nodes, node, metric.spread);
    if (!spread || !spread.known)
        return null;
    const mean = spread.known / root.ranks;
    return (spread.places.at(-1).ns - mean) / mean;
}

// Sums over the ranks that bound the time of the main threads outside MPI in a node: that in all, that in MPI, the part of
// the first in which they were on no processor, the CPU time of other threads, the time of other threads in MPI.
function readClocks(root, ranks, sampling) {
    const [outside, inside, all] = ["compute_s", "mpi_main_s", "mpi_s"].map(name => sumOf(ranks, name));
    const sampled = [...sampledOutside(sampling).values()].reduce((sum, {ns, library}) => sum + ns - library, 0);
    return {outside, inside, idle: Math.max(0, outside - sampled), inOthers: all - inside,
        byOthers: Math.max(0, (root.figures.computed || 0) - sampled), whole: root.figures};
}

// [least, most] of the part of the main threads' time that is outside MPI; null: not known. Samples tell where CPU time
// was, but not of which thread, nor where the main threads were on no processor.
function outsideRange(node, {clocks, calls}) {
    const {parent, figures: {computed = 0, mpi = 0, cpu}} = node, {outside, inside, whole} = clocks;
    if (!mpi)
        return computed ? [1, 1] : null;
    for (let up = node; up.parent; up = up.parent)
        if (calls.has(up.label))
            return [0, 0];
    if (!parent && mpi === whole.mpi && cpu === whole.cpu)
        return outside + inside ? [outside / (outside + inside), outside / (outside + inside)] : null;
    const least = Math.max(0, computed - clocks.byOthers), most = computed + clocks.idle;
    return [least / (least + mpi), most / (most + Math.max(0, mpi - clocks.inOthers))];
}
