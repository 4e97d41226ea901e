// SPDX-License-Identifier: BSD-3-Clause
// The tree of calling contexts by function: MPI figures of the table `contexts`, CPU time of the table `computation`. A
// node is a path of functions without lines; an MPI function is a node below the last. Figures of a node include all
// nodes below it.

// Labels without the line, or without the offset in a nameless function; equal labels share one text.
const withoutLines = new Map();

function withoutLine(label) {
    if (!withoutLines.has(label)) {
        const at = label.lastIndexOf(":"), place = label.slice(at + 1);
        const line = /^\d+$/.test(place) ? label.lastIndexOf("@", at) >= 0 : /^0x[0-9a-f]+$/.test(place);
        withoutLines.set(label, line ? label.slice(0, at) : label);
    }
    return withoutLines.get(label);
}

const mostKey = 2000; // characters of an address
// A tree may have millions of nodes: most share what they do not have.
const noChildren = new Map(), noNodes = [], noRows = [], noEstimates = Object.freeze({});

class ContextNode {
    constructor(label, parent) {
        this.label = label;
        this.parent = parent;
        this.level = parent ? parent.level + 1 : 0;
        this.children = noChildren;
        this.pathLength = !parent ? 0 : parent.parent ? parent.pathLength + pathSeparator.length + label.length : label.length;
        this.figures = {};
        this.own = {}; // of these what nothing below it has
        this.estimates = noEstimates; // of those that are estimated, {error, mark}
        this.samples = null; // row of the table `computation`
        this.rows = noRows; // of the table `contexts`, whose call this node is
        this.row = undefined; // of the table `nodes`
        this.joined = undefined; // the node below that shares its line
        this.origin = undefined; // of a node of another shape: addOrigin
        this.same = null; // of a node of another shape: that of the whole tree with the same values by rank
    }

    addRows(rows) {
        this.rows = this.rows.concat(rows);
    }

    estimate(metric, value, estimate) {
        this.figures[metric] = value;
        this.estimates = {...this.estimates, [metric]: estimate};
    }

    child(label) {
        let node = this.children.get(label);
        if (!node) {
            this.children = this.children === noChildren ? new Map() : this.children;
            this.children.set(label, node = new ContextNode(label, this));
        }
        return node;
    }

    add(metric, value, way = "sum") {
        if (value)
            this.figures[metric] = metric in this.figures ? metricWays[way](this.figures[metric], value) : value;
    }

    // Adds an own figure of this node, here and to all nodes above.
    give({name, way = "sum"}, value) {
        if (!value)
            return;
        this.own[name] = name in this.own ? metricWays[way](this.own[name], value) : value;
        for (let node = this; node; node = node.parent)
            node.add(name, value, way);
    }

    labels() {
        const labels = [];
        for (let node = this; node.parent; node = node.parent)
            labels.push(node.label);
        return labels.reverse();
    }

    // The function in the notation for users, told apart from its siblings.
    shownName() {
        const most = 256; // of many siblings the first, so that a wide tree takes linear time
        const others = this.parent ? [...this.parent.children.keys()].slice(0, most) : [];
        return placeOf(this.label, false, others);
    }

    // The labels of the path without the root, joined; it may be long.
    get path() {
        return this.labels().join(pathSeparator);
    }

    descend(labels) {
        return labels.reduce((node, label) => node.child(label), this);
    }

    // Children, the one with the greatest figure first. The order of the last metric is kept, because every key needs
    // it.
    by(metric) {
        if (!this.children.size)
            return noNodes;
        if (this.sortedBy !== metric || this.sorted.length !== this.children.size) {
            this.sorted = [...this.children.values()].sort((a, b) =>
                (b.figures[metric] || 0) - (a.figures[metric] || 0) || (a.label < b.label ? -1 : 1));
            this.sortedBy = metric;
        }
        return this.sorted;
    }

    // The node in an address: the id, or the path if the profile has no id; for a path that is too long a number.
    key() {
        return this.context || (this.pathLength <= mostKey ? this.path : `path ${this.level}-${this.pathHash()}`);
    }

    // For the root: the node below it that has this key; undefined: there is none.
    nodeOf(key) {
        let found = (key ? key.split(pathSeparator) : []).reduce((node, label) => node?.children.get(label), this);
        if (!found)
            this.each(node => {
                if (node.context === key || node.pathLength > mostKey && node.key() === key)
                    found = node;
            });
        return found;
    }

    pathHash() {
        const below = [];
        for (let node = this; node && node.hash === undefined; node = node.parent)
            below.push(node);
        for (const node of below.reverse())
            node.hash = hashOf(node.label, node.parent ? node.parent.hash : 0);
        return this.hash;
    }

    // This node and all below it, outer ones first. Without recursion: a path may be deeper than the stack of a browser.
    list() {
        const all = [], next = [this];
        for (let node; (node = next.pop()); ) {
            all.push(node);
            const first = next.length;
            for (const child of node.children.values())
                next.push(child);
            for (let i = first, k = next.length - 1; i < k; i++, k--)
                [next[i], next[k]] = [next[k], next[i]];
        }
        return all;
    }

    // Visits them; the list of a whole tree is kept.
    each(visit) {
        (this.all ?? this.list()).forEach(visit);
    }
}

// A function that finds the node of a path by its number. Each label is made and looked up once.
function nodeFinder(root, names, form = label => label) {
    const known = [root];
    return path => {
        const below = [];
        for (; !known[path]; path = names.above[path - 1])
            below.push(path);
        let node = known[path];
        while (below.length) {
            const next = below.pop();
            node = known[next] = node.child(form(names.label(next)));
        }
        return node;
    };
}

function addCalls(root, contexts) {
    const metrics = treeMetrics.filter(metric => metric.of), find = nodeFinder(root, contexts.names, withoutLine);
    root.calls = new Set(); // labels of MPI functions
    for (let row = 0; row < contexts.rows; row++) {
        const leaf = find(contexts.path(row, "path")).child(contexts.exact(row, "primitive"));
        root.calls.add(leaf.label);
        leaf.addRows(row);
        leaf.context = contexts.exact(row, "context");
        for (const {name, of} of metrics) {
            const value = contexts.number(row, of);
            if (value)
                leaf.own[name] = (leaf.own[name] || 0) + value;
        }
    }
    sumUp(root, metrics);
}

// Adds own figures to those of the node and of all above it, each once.
function sumUp(root, metrics) {
    for (const node of root.list().reverse())
        for (const {name} of metrics) {
            node.add(name, node.own[name]);
            node.parent?.add(name, node.figures[name]);
        }
}

// Times of a row already include those of the rows below it.
function addSamples(root, computation) {
    const find = nodeFinder(root, computation.names);
    for (let row = 0; row < computation.rows; row++) {
        const node = find(computation.path(row, "path"));
        const total = computation.number(row, "cpu_inclusive_s");
        node.add("cpu", total);
        const own = computation.number(row, "cpu_exclusive_s");
        node.add("cpu_self", own);
        if (own)
            Object.assign(node.own, {cpu: own, samples: computation.number(row, "samples")});
        node.samples = row;
        if (node.level === 1)
            root.add("cpu", total);
        node.context = computation.exact(row, "context");
    }
}

// Facts of a whole tree: its tables, the metrics that it has.
function finishTree(root, {contexts, computation, known, nodes, modules, colours, functions, ranks, sampled, calls, clocks}) {
    Object.assign(root, {contexts, computation, known, nodes, modules, colours, functions, ranks, sampled, calls, clocks, all: root.list()});
    const found = new Set();
    root.each(node => {
        for (const name in node.figures)
            found.add(name);
    });
    root.metrics = known.filter(({name}) => found.has(name));
    return root;
}

// Says which options name no node of this tree, and what is shown in its place.
function unknownNodes(root, options, instead) {
    return Object.entries(instead).filter(([option]) => options.get(option) && !root.nodeOf(options.get(option))).map(([option, shown]) =>
        makeUnknown(option, `This tree has no context ${options.get(option)}: ${shown}.`));
}

// Reads the tree once for all views.
function readContextTree(profile) {
    return profile.tree ??= makeContextTree(profile);
}

async function makeContextTree(profile) {
    const [contexts, computation, nodes, counts, estimates, ratios, ranks, sampling] = await Promise.all(
        ["contexts", "computation", "nodes", "counts", "estimates", "ratios", "ranks", "sampling"].map(name =>
            profile.byName.has(name) ? profile.table(name) : null));
    const root = new ContextNode("all", null);
    addCalls(root, contexts);
    addSamples(root, computation);
    addSpreads(root, nodes, ranks);
    root.clocks = readClocks(root, ranks, sampling);
    root.sampled = {cpu: 0, squares: 0, lost: profile.lostSamples};
    root.each(({own: {cpu = 0, squares = 0}}) => {
        root.sampled.cpu += cpu;
        root.sampled.squares += squares;
    });
    const known = [...treeMetrics, ...addCounts(root, counts),
        ...addEstimates(root, estimates, "estimate", estimateMetrics(), "event"),
        ...addEstimates(root, ratios, "value", ratioMetrics(), "ratio", "unit", "of", "per"),
        ...addFields(root, nodes, profile.fields)];
    root.computing = root.list().reduce((sum, {own: {cpu = 0, mpi}}) => sum + (mpi ? 0 : cpu), 0); // outside MPI
    return finishTree(root, {...root, contexts, computation, known});
}

// A sentence that says why there are no contexts.
async function tellNoContexts(profile) {
    const calls = (await profile.table("header")).number(0, "mpi_calls");
    if (calls > 0)
        return "The profile has no contexts" + (profile.timed ? "."
            : ": calls were not recorded, because the plugin time was not loaded.");
    return `The profile has no contexts: ${calls === 0 ? "no MPI function was called and " : ""}nothing was sampled.`;
}
