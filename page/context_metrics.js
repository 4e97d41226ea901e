// SPDX-License-Identifier: BSD-3-Clause
// Metrics of nodes of the tree of contexts: figures of MPI calls and samples, which always have a column, and events,
// ratios and fields of plugins, of which only the chosen one has a column.
//
// `way` defines how the figure of a node is computed from the own figures of the node and of all nodes below it:
// usually their sum; "max" and "min" take one of them, and with "alone" a node has only its own figure. The sum also
// gives the order of rows and the width of bars; for other ways the CPU time or the MPI time does, which `spread`
// names: its values over ranks are shown beside the metric, too.

const treeMetrics = [
    {name: "mpi", head: "MPI time", type: "ns", of: "mpi_exclusive_s", spread: "mpi"},
    {name: "waiting", head: "waiting in MPI", type: "ns", of: "waiting_s", spread: "mpi"},
    {name: "cpu", head: "CPU time", type: "ns", spread: "cpu", error: "cpu_inclusive_error_s"},
    {name: "cpu_self", head: "CPU time, own", type: "ns", spread: "cpu", error: "cpu_exclusive_error_s", way: "alone"},
    {name: "calls", head: "MPI calls", type: "count", of: "calls", spread: "mpi"},
    {name: "sent", head: "sent", type: "bytes", of: "bytes_sent", spread: "mpi"},
    {name: "received", head: "received", type: "bytes", of: "bytes_received", spread: "mpi"}
];

const metricWays = {sum: (a, b) => a + b, max: Math.max, min: Math.min};

// Metrics by the texts of rows, each made when a row first has it.
class MetricsOf {
    constructor(makeMetric) {
        Object.assign(this, {makeMetric, list: new Map()});
    }

    of(...texts) {
        const key = texts.join("\0");
        if (!this.list.has(key))
            this.list.set(key, {...this.makeMetric(...texts), extra: true});
        return this.list.get(key);
    }

    all() {
        return [...this.list.values()];
    }
}

// Adds events that were counted all the time.
function addCounts(root, counts) {
    const metrics = new MetricsOf(event => ({name: "count:" + event, head: event, type: "count", spread: "cpu"}));
    const find = nodeFinder(root, counts.names, withoutLine);
    for (let row = 0; row < counts.rows; row++)
        find(counts.path(row, "path")).give(metrics.of(counts.exact(row, "event")), counts.number(row, "count"));
    return metrics.all();
}

// Rows of `estimates` and `ratios`: values with an error, or with a word for the reason why there is none.
function addEstimates(root, table, value, metrics, ...keys) {
    const find = nodeFinder(root, table.names);
    for (let row = 0; row < table.rows; row++) {
        const metric = metrics.of(...keys.map(key => table.exact(row, key)));
        find(table.path(row, "path")).estimate(metric.name, table.number(row, value),
            {error: table.number(row, "error"), mark: table.exact(row, "mark")});
    }
    return metrics.all();
}

const estimateMetrics = () => new MetricsOf(event => (
    {name: "estimate:" + event, head: event + ", own, estimated", type: "real", spread: "cpu", way: "alone"}));
const ratioMetrics = () => new MetricsOf((ratio, unit, of, per) => (
    {name: ["ratio", ratio, of, per].join(":"), head: `${ratio}, ${unit}, of ${of}`, type: "real", spread: "cpu", way: "alone"}));

// "largest sent (volume)" of the field "volume.largest_sent".
const fieldHead = name => name.replace(/^([^.]*)\.(.*)$/, "$2 ($1)").replaceAll("_", " ");

// Fields of plugins, which the table `nodes` has for each node alone.
function addFields(root, nodes, fields) {
    const metrics = fields.filter(({name}) => nodes.has(name)).map(({name, way}) => ({name: "field:" + name, head: fieldHead(name),
        column: name, type: nodes.columns[nodes.find(name)].type, spread: "mpi", way, extra: true}));
    root.each(node => {
        if (node.row !== undefined)
            for (const metric of metrics)
                node.give(metric, nodes.number(node.row, metric.column) || 0);
    });
    return metrics;
}

// Metric that gives the order of rows and the width of bars if this one is chosen; null: there is none.
function orderOf(root, metric) {
    const adds = ({way}) => !way || way === "sum";
    return adds(metric) ? metric.name
        : (root.metrics.find(({name}) => name === metric.spread) || root.metrics.find(adds))?.name || null;
}

// Half of the 95 % interval of a CPU time in another shape of the tree or a part of it, as the report computes it: a sample
// in the part deviates by its time times (1 - p), one elsewhere by that times -p, if p is the part. undefined: not sampled;
// NaN: too few samples.
function sampledError({sampled: all}, {figures}, metric) {
    const self = metric.name === "cpu_self" ? "_self" : "", least = 10, squared = 1e6; // ns^2 in one us^2
    const [ns, samples, squares = 0] = ["cpu", "samples", "squares"].map(name => figures[name + self]);
    if (!samples || samples < least)
        return samples && NaN;
    const part = ns / all.cpu, others = Math.max(0, all.squares - squares);
    return 1.96 * Math.sqrt(squared * (squares * (1 - part) ** 2 + others * part ** 2)) + all.lost;
}

// The figure of a node as text, with its error if there is one.
function tellFigure(root, node, metric) {
    const value = node.figures[metric.name], estimate = node.estimates[metric.name];
    if (estimate)
        return estimate.mark === "few" ? "few" : withError("real", value, estimate.error || 0) + " " + estimate.mark;
    const {computation} = root, known = metric.error && node.samples !== null;
    const made = metric.error && !known ? sampledError(root, node, metric) : undefined;
    if (made !== undefined)
        return Number.isNaN(made) ? forPeople(metric.type, value) + " few" : withError(metric.type, value, made);
    const error = known ? computation.number(node.samples, metric.error) : NaN;
    return Number.isNaN(error)
        ? forPeople(metric.type, value) + (known && computation.shown(node.samples, metric.error) === "few" ? " few" : "")
        : withError(metric.type, value, error);
}
