// SPDX-License-Identifier: BSD-3-Clause
// The third view: the time of each rank, as a heat map with a row for each MPI function or context, for each part of the
// time outside MPI, and for calls in which ranks were killed. A column of pixels that stands for several ranks has the
// greatest of their figures. Contexts are those of the table `rank,context`, which has the most important ones; one row
// has the sum of the others. The texts beside the pictures show the same, so screen readers pass over these.

const rankMetrics = [
    {name: "time", head: "time", type: "ns", of: "mpi_exclusive_s"},
    {name: "cpu", head: "CPU time by samples", type: "ns", of: "cpu_exclusive_s"},
    {name: "calls", head: "MPI calls", type: "count", of: "calls"},
    {name: "sent", head: "sent", type: "bytes", of: "bytes_sent"},
    {name: "received", head: "received", type: "bytes", of: "bytes_received"}
];

const heatHeight = 24, markHeight = 4, rankDigit = 8; // pixels

// Places of the least and the greatest value in a list.
function extremes(values) {
    let least = 0, greatest = 0;
    for (let i = 1; i < values.length; i++) {
        least = values[i] < values[least] ? i : least;
        greatest = values[i] > values[greatest] ? i : greatest;
    }
    return {least, greatest};
}

const otherContexts = "other contexts";

// Name of the time of calls in which ranks were killed, which is in no context.
const openCalls = "MPI: calls that had not ended";

// The row in an address: the id of a context, or the label.
const keyOfRow = ({context, label}) => context || label;

// The figures of one metric: rows with a value for each row of the table `ranks`, the greatest row first.
class RankFigures {
    // `outside` has the parts of each rank's time outside MPI, `open` is the table of calls that had not ended, or null.
    // `contexts` is the table of contexts that rows are made of; null: rows are MPI functions.
    constructor({ranks, outside, open, classes, places}, cube, contexts, metric) {
        Object.assign(this, {ranks, outside, open, classes, places, metric, rows: [], without: 0});
        this.byKey = new Map();
        const of = cube.numbers("rank"), values = cube.numbers(metric.of);
        for (let row = 0; row < cube.rows; row++)
            this.add(contexts ? otherContexts : cube.exact(row, "primitive") || "outside MPI functions", of[row], values[row]);
        if (contexts)
            this.addContexts(contexts);
        if (metric.name === "time")
            this.addParts();
        for (const row of this.rows)
            Object.assign(row, extremes(row.values));
        this.rows = this.rows.sort((a, b) => b.values[b.greatest] - a.values[a.greatest]);
        endsOf(this.rows.map(({labels}) => labels)).forEach((name, i) => {
            const row = this.rows[i];
            row.name = row.context === undefined ? row.label : name; // a part of the time is no path
        });
    }

    // Rows without a rank are kept apart.
    add(key, rank, value) {
        if (!value)
            return;
        const place = this.places.get(rank);
        if (place === undefined)
            this.without += value;
        else
            (this.byKey.get(key) || this.addRow(key, [key])).values[place] += value;
    }

    // A row has labels; those of a context are the labels of the path that is its key.
    addRow(key, labels, context) {
        const row = {labels, label: labels.join(pathSeparator), values: new Float64Array(this.ranks.rows), context};
        this.byKey.set(key, row);
        this.rows.push(row);
        return row;
    }

    // Moves the figures of these ranks out of the row of other contexts. There may be some 100,000 rows.
    addContexts(contexts) {
        const others = this.byKey.get(otherContexts), found = [];
        const of = contexts.numbers("rank"), values = contexts.numbers(this.metric.of);
        for (let row = 0; row < contexts.rows; row++) {
            if (!values[row])
                continue;
            const path = contexts.path(row, "path"), place = this.places.get(of[row]);
            const {values: to} = found[path] ??= this.addRow(path, path ? contexts.labels(row, "path") : [""],
                contexts.exact(row, "context"));
            to[place] += values[row];
            others.values[place] -= values[row];
        }
        if (others && !others.values.some(value => value))
            this.rows = this.rows.filter(row => row !== others);
    }

    // Adds what `rank,primitive` lacks of the time of each rank.
    addParts() {
        for (let i = 0; i < this.ranks.rows; i++) {
            const rank = this.ranks.number(i, "rank");
            for (const [name, ns] of this.outside[i])
                this.add(name, rank, ns);
        }
        for (let row = 0; this.open && row < this.open.rows; row++)
            this.add(openCalls, this.open.number(row, "rank"), this.open.number(row, "time"));
    }

    shown(value) {
        return forPeople(this.metric.type, value);
    }

    exact(value) {
        return exactly(this.metric.type, value);
    }

    on(place) {
        return " on " + this.ranks.exact(place, "rank");
    }

    // Places in `ranks` by rank, host or class, or by the values of a row, in descending order; the last order is kept.
    ordered(by) {
        if (this.orderedBy !== by)
            Object.assign(this, {orderedBy: by, order: this.makeOrder(by)});
        return this.order;
    }

    makeOrder(by) {
        const {ranks, classes: {of}} = this, row = this.rows.find(each => keyOfRow(each) === by);
        const places = Array.from({length: ranks.rows}, (_, i) => i), numbers = ranks.numbers("rank");
        const hosts = places.map(place => ranks.exact(place, "host"));
        return places.sort((a, b) => (
            row ? row.values[b] - row.values[a]
                : by === "class" && of[a] !== of[b] ? of[a] - of[b]
                : by === "host" && hosts[a] !== hosts[b] ? hosts[a] < hosts[b] ? -1 : 1 : 0) || numbers[a] - numbers[b]);
    }
}

// A row of the map.
class HeatRow {
    constructor(row, title, onselect) {
        this.row = row;
        this.canvas = make("canvas", {class: "heat", "aria-hidden": "true",
            onclick: event => onselect(this.at(event)),
            onmousemove: event => this.canvas.title = title(this.at(event))});
    }

    // Finds the rank at the pointer: in a column of pixels with several ranks, that with the greatest value.
    at(event) {
        const box = this.canvas.getBoundingClientRect();
        const column = Math.floor((event.clientX - box.left) / box.width * this.columns);
        return this.peak(Math.min(Math.max(column, 0), this.columns - 1));
    }

    peak(column) {
        const {order, columns, row: {values}} = this, n = order.length;
        let peak = order[Math.floor(column * n / columns)];
        for (let i = Math.floor(column * n / columns) + 1; i < Math.floor((column + 1) * n / columns); i++)
            peak = values[order[i]] > values[peak] ? order[i] : peak;
        return peak;
    }

    // `at`: the place of the chosen rank in the order.
    draw(order, width, most, at, {heat, mark}) {
        const {row: {values}} = this, pixels = new Pixels(width, heatHeight), columns = Math.min(order.length, width);
        Object.assign(this, {order, columns});
        for (let column = 0; column < columns; column++)
            pixels.fill(0, Math.floor(column * width / columns), Math.floor((column + 1) * width / columns), heat,
                opacityOf(values[this.peak(column)] / most));
        for (let y = 1; y < heatHeight; y++)
            pixels.words.copyWithin(y * width, 0, width);
        const from = Math.floor(at * width / order.length), to = from + Math.max(2, Math.floor(width / order.length));
        for (let y = 0; y < markHeight; y++)
            pixels.fill(y, from, Math.min(to, width), mark, 1);
        pixels.put(this.canvas);
    }
}

// Names each path by its last function, an MPI function also by its caller, and by as many more functions as make the
// name unique.
function endsOf(split) {
    const numbers = new Map();
    const numbered = split.map(labels => labels.map(label =>
        numbers.get(label) ?? numbers.set(label, numbers.size).get(label)).reverse());
    const sameEnd = (a, b, n) => numbered[a].slice(0, n).every((number, k) => number === numbered[b][k]);
    return split.map((labels, i) => {
        let n = labels[labels.length - 1].startsWith("MPI_") ? 2 : 1;
        while (n < labels.length && split.some((_, k) => k !== i && sameEnd(i, k, n)))
            n++;
        return placesOf(labels.slice(-n).join(pathSeparator));
    });
}

// True if any rank has a number other than 0.
function hasRankFigures(cube, column) {
    const ranks = cube.numbers("rank");
    return cube.numbers(column).some((value, row) => value && !Number.isNaN(ranks[row]));
}

class RanksView {
    constructor({ranks, cube, contexts, classes, outside, open}, options) {
        Object.assign(this, {ranks, cube, contexts, outside, open, order: options.get("order") || "rank",
            scale: options.get("scale") || "all", by: options.get("by") === "context" ? "context" : "primitive"});
        this.places = new Map(Array.from({length: ranks.rows}, (_, i) => [ranks.number(i, "rank"), i]));
        this.classes = new RankClasses(classes, this.places);
        this.made = new Map();
        this.metrics = rankMetrics.filter(metric => hasRankFigures(cube, metric.of) ||
            metric.name === "time" && this.figuresOf(metric).rows.length);
        const wanted = this.metrics.find(({name}) => name === options.get("metric")) || this.metrics[0];
        this.figures = wanted && this.figuresOf(wanted);
        this.wanted = options.get("rank");
        this.selected = this.places.get(Number(this.wanted)) || 0;
        this.map = make("tbody", {});
        // One rank has one figure in each row.
        this.heads = (ranks.rows > 1 ? ["least", "greatest"] : [""]).map(head => make("th", {scope: "col", class: "number"}, head));
        this.axis = make("div", {class: "across"});
        this.several = make("span", {}, " Where a column stands for several ranks, it has the greatest of them.");
        this.ends = make("span", {}, " A thin line is where the ranks of a host end.");
        this.legend = make("p", {class: "legend", id: "heat-legend"});
        this.details = make("div", {id: "rank", "aria-live": "polite"});
    }

    figuresOf(metric) {
        const key = this.by + " " + metric.name;
        if (!this.made.has(key))
            this.made.set(key, new RankFigures(this, this.cube, this.by === "context" ? this.contexts : null, metric));
        return this.made.get(key);
    }

    place(place) {
        place.append(makeUnknownRank(this.wanted, [...this.places.keys()], ` Rank ${this.ranks.exact(this.selected, "rank")} is shown.`),
            this.makeControls(), this.legend,
            make("div", {class: "scroll", id: "map", tabindex: "0", onkeydown: event => this.key(event),
                "aria-label": "Map of ranks: arrows choose a rank"},
            make("table", {id: "heat"}, make("thead", {}, make("tr", {},
                make("th", {scope: "col"}), this.heads,
                make("th", {scope: "col", class: "ranks"}, "ranks", make("div", {class: "along", "aria-hidden": "true"}, this.axis)))),
            this.map)),
            this.classes.list.length ? this.classes.makeTable(first => {
                this.selected = first;
                this.choose({order: "class"});
                remember({rank: this.input.value});
            }) : "",
            this.ranks.rows > 1 ? this.details : "");
        this.change({});
        redraws.push(() => this.drawMap());
    }

    // Applies another metric, order, scale or set of rows that the user has chosen.
    choose(what) {
        this.change(what);
        remember({metric: this.figures.metric.name, order: this.order, scale: this.scale, by: this.by});
    }

    change(what) {
        Object.assign(this, what);
        const {figures} = this, {rows} = figures;
        const orders = [["rank", "rank"], ["host", "host"], ...this.classes.list.length ? [["class", "class"]] : [], ...rows.map(row => [keyOfRow(row), row.name])];
        this.order = orders.some(([value]) => value === this.order) ? this.order : "rank";
        fillChoice(this.orders.querySelector("select"), orders, this.order);
        this.input.value = this.ranks.exact(this.selected, "rank");
        this.heats = rows.map(row => new HeatRow(row,
            place => `${figures.shown(row.values[place])}${figures.on(place)}, ${this.ranks.shown(place, "host")}`, selected => this.select(selected)));
        this.map.replaceChildren(...this.classes.list.length ? [this.classes.makeStrip()] : [],
            ...this.heats.map(heat => this.makeRow(heat)));
        if (this.ranks.rows === 1)
            this.heads[0].textContent = figures.metric.head;
        this.drawLegend();
        this.drawMap();
        this.drawRank();
    }

    // Makes the controls once, because one of them may have the keyboard focus.
    makeControls() {
        return make("p", {class: "controls"},
            makeChoice("Show", this.metrics.map(({name, head}) => [name, head]), this.figures.metric.name,
                chosen => this.choose({figures: this.figuresOf(this.metrics.find(({name}) => name === chosen))})),
            this.contexts.rows ? makeChoice("Rows", [["primitive", "MPI functions"], ["context", "contexts"]], this.by, by => {
                this.by = by;
                this.choose({figures: this.figuresOf(this.figures.metric)});
            }) : "",
            this.orders = makeChoice("Order ranks by", [], this.order, order => this.choose({order})),
            makeChoice("Colours", [["all", "one scale for all rows"], ["row", "a scale for each row"]], this.scale,
                scale => this.choose({scale})),
            this.makeRankChoice());
    }

    makeRankChoice() {
        const value = this.ranks.exact(this.selected, "rank");
        const input = this.input = make("input", {type: "number", id: "rank-choice", value,
            onchange: () => {
                const selected = this.places.get(Number(input.value));
                if (selected === undefined)
                    input.value = this.ranks.exact(this.selected, "rank");
                else
                    this.select(selected);
            }});
        return make("label", {}, "Rank ", input);
    }

    select(selected) {
        this.selected = selected;
        this.input.value = this.ranks.exact(selected, "rank");
        remember({rank: this.input.value});
        this.drawMap();
        this.drawRank();
    }

    // Arrow keys select the next rank in the order of the map.
    key(event) {
        const order = this.figures.ordered(this.order), at = order.indexOf(this.selected);
        const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: order.length - 1}[event.key];
        if (to === undefined)
            return;
        event.preventDefault();
        if (order[to] !== undefined)
            this.select(order[to]);
    }

    makeRow(heat) {
        const {figures} = this, {values, least, greatest} = heat.row, several = values.length > 1;
        const cell = place => make("td", {class: "number", title: figures.exact(values[place])},
            figures.shown(values[place]) + (several ? figures.on(place) : ""));
        return make("tr", {}, this.makeHead(heat.row), cell(least), several ? cell(greatest) : null,
            make("td", {class: "ranks"}, make("div", {class: "hosts"}, heat.canvas)));
    }

    // Names the row: a context by the end of its path, which is a link to it in the tree.
    makeHead({label, name, context}) {
        const head = make("th", {scope: "row", title: cutText(placesOf(label, true))}, context === undefined ? cutText(name, mostInLine)
            : make("a", {href: addressOf("contexts", {...readSelection(), context})}, cutText(name, mostInLine)));
        head.label = label;
        return head;
    }

    mostOf(row) {
        const most = ({values, greatest}) => values[greatest];
        return most(this.scale === "row" ? row : this.figures.rows[0] || {values: [0], greatest: 0});
    }

    drawMap() {
        const order = this.figures.ordered(this.order), at = order.indexOf(this.selected);
        const style = getComputedStyle(document.documentElement);
        const [heat, mark] = ["--heat", "--mark"].map(name => Pixels.colour(style, name));
        const width = Math.max(1, Math.floor((this.heats[0]?.canvas.clientWidth || 0) * (window.devicePixelRatio || 1)));
        for (const each of this.heats)
            each.draw(order, width, this.mostOf(each.row), at, {heat, mark});
        if (this.classes.list.length)
            this.classes.drawStrip(order);
        const lines = ["rank", "host"].includes(this.order) ? hostLines(order.map(place => this.ranks.exact(place, "host")), "right") : "none";
        this.map.style.setProperty("--hosts-across", lines);
        this.ends.hidden = lines === "none";
        this.several.hidden = order.length <= width;
        const names = order.map(place => this.ranks.exact(place, "rank"));
        const digits = names.reduce((longest, {length}) => Math.max(longest, length), 0);
        this.axis.replaceChildren(...makeRankLabels(names, 0, names.length, "left",
            Math.max(1, Math.floor(this.axis.clientWidth / (digits + 2) / rankDigit))));
    }

    drawLegend() {
        const {figures} = this, {without} = figures;
        this.legend.replaceChildren(
            "0 ", make("span", {class: "heat-key", "aria-hidden": "true"}), " ",
            this.scale === "row" ? "the greatest of the row" : figures.shown(this.mostOf(figures.rows[0])),
            ". ", makeKey("--mark", "the chosen rank."), this.several, this.ends,
            ...without ? [" ", make("span", {id: "without", title: figures.exact(without)}, figures.shown(without)),
                " is not here: the profile does not keep it by rank."] : []);
    }

    drawRank() {
        const {ranks, figures, selected} = this;
        this.details.replaceChildren(make("table", {id: "rank-figures"},
            make("caption", {}, `Rank ${ranks.exact(selected, "rank")} on ${ranks.shown(selected, "host")}: ` +
                figures.metric.head),
            make("tbody", {}, figures.rows.map(row => make("tr", {},
                this.makeHead(row),
                make("td", {class: "number", title: figures.exact(row.values[selected])},
                    figures.shown(row.values[selected])))))));
    }
}

const readRankTables = profile =>
    Promise.all(["ranks", "rank,primitive", "rank,context", "classes", "sampling", "open_calls"].map(name =>
        profile.byName.has(name) ? profile.table(name) : null));

async function showRanks(profile, place, options) {
    const [ranks, cube, contexts, classes, sampling, open] = await readRankTables(profile);
    const view = new RanksView({ranks, cube, contexts, classes, open, outside: outsideParts(profile, ranks, sampling)}, options);
    if (!view.figures)
        place.append(make("p", {}, "The profile has no figures by rank."));
    else
        view.place(place);
}
