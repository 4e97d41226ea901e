// SPDX-License-Identifier: BSD-3-Clause
// The view of communication: the table `pairs` as a matrix, by rank, socket or host. A row sends, a column receives.
// Only pairs that exist are stored; a pixel that stands for several has the greatest of them. The table below the
// picture shows the same in text.

const pairMetrics = [
    {name: "sent", head: "bytes", type: "bytes", of: "bytes"},
    {name: "calls", head: "messages", type: "count", of: "messages"},
    {name: "time", head: "time in calls that only send", type: "ns", of: "time"}
];
const mostPairRows = 20, mostPixels = 600;

// The communicator of a pair; "" if the table does not say it.
const communicatorOf = (pairs, row) => pairs.has("domain") ? pairs.exact(row, "domain") : "";

// The first n of a list in an order, without sorting millions for it.
function firstOf(list, n, compare) {
    const first = [];
    for (const one of list) {
        let at = first.length;
        while (at && compare(one, first[at - 1]) < 0)
            at--;
        if (at === n)
            continue;
        first.splice(at, 0, one);
        first.length = Math.min(first.length, n);
    }
    return first;
}

// Sums over class, communicator and phase by pairs of places: ranks, sockets or hosts.
class PairSums {
    // `names` has the name of the place of each rank, `domain` a communicator or "" for all.
    constructor(pairs, names, domain) {
        this.names = [...new Set(names.values())];
        this.list = [];
        this.places = new Map(this.names.map((name, i) => [name, i]));
        this.byKey = new Map();
        const placeOf = new Map([...names].map(([rank, name]) => [Number(rank), this.places.get(name)]));
        const [sources, destinations] = ["source", "destination"].map(column => pairs.numbers(column));
        const figures = pairMetrics.map(({name, of}) => [name, pairs.numbers(of)]);
        for (let row = 0; row < pairs.rows; row++) {
            const from = placeOf.get(sources[row]), to = placeOf.get(destinations[row]);
            if (from !== undefined && to !== undefined && (!domain || communicatorOf(pairs, row) === domain))
                this.add(from, to, figures, row);
        }
    }

    add(from, to, figures, row) {
        const key = from * this.names.length + to;
        let sum = this.byKey.get(key);
        if (!sum) {
            this.byKey.set(key, sum = {from, to, sent: 0, calls: 0, time: 0});
            this.list.push(sum);
        }
        for (const [name, values] of figures)
            sum[name] += values[row] || 0;
    }

    at(from, to) {
        return this.byKey.get(from * this.names.length + to);
    }
}

class CommunicationView {
    constructor(profile, tables, options) {
        Object.assign(this, {profile, ...tables});
        this.metric = pairMetrics.find(({name}) => name === options.get("metric")) || pairMetrics[0];
        this.by = options.get("by") || "rank";
        this.domain = options.get("domain") || "";
        this.canvas = make("canvas", {class: "matrix", tabindex: "0",
            "aria-label": "Matrix: arrows go from pair to pair, + and - zoom",
            onclick: event => this.select(...this.under(event)),
            ondblclick: () => this.zoom(0.5),
            onmousemove: event => this.canvas.title = this.told(...this.under(event)),
            onkeydown: event => this.key(event)});
        this.legend = make("p", {class: "legend", id: "matrix-legend"});
        this.details = make("p", {id: "pair", "aria-live": "polite"});
        this.body = make("tbody", {});
        this.beside = make("div", {class: "beside"});
        this.list = this.domains ? readCommunicators(this.domains, this.calls) : [];
        this.arrange();
        const at = key => Math.max(0, this.sums.places.get(options.get(key)) || 0);
        this.selected = [at("rank"), at("to")];
    }

    // The name of the place of each rank.
    placeNames() {
        const names = new Map(), {ranks, places} = this, sockets = new Map(), {placement} = this.profile;
        for (let row = 0; places && row < places.rows; row++)
            sockets.set(places.exact(row, "rank"), places.exact(row, "socket"));
        for (let row = 0; row < ranks.rows; row++) {
            const rank = ranks.exact(row, "rank"), host = ranks.shown(row, "host");
            names.set(rank, this.by === "host" ? host
                : this.by === "proposed" && placement ? placement.nodes[placement.node_of_rank[rank]] ?? host
                : this.by === "socket" ? `${host}, socket ${sockets.get(rank) || "unknown"}` : rank);
        }
        return names;
    }

    arrange() {
        this.sums = new PairSums(this.pairs, this.placeNames(), this.domain);
        this.selected = [0, 0];
        this.shown = {from: 0, to: 0, count: this.sums.names.length};
    }

    change(what) {
        Object.assign(this, what);
        if ("by" in what || "domain" in what)
            this.arrange();
        remember({metric: this.metric.name, by: this.by, domain: this.domain});
        this.draw();
    }

    // Shows half or twice the places, around the selected ones.
    zoom(factor) {
        const n = this.sums.names.length;
        const count = Math.min(n, Math.max(1, Math.round(this.shown.count * factor)));
        const begin = at => Math.max(0, Math.min(n - count, at - Math.floor(count / 2)));
        this.shown = {from: begin(this.selected[0]), to: begin(this.selected[1]), count};
        this.draw();
    }

    select(from, to) {
        const n = this.sums.names.length, {shown} = this;
        const into = (at, begin) => at < begin ? at : at >= begin + shown.count ? at - shown.count + 1 : begin;
        if (from < 0 || to < 0 || from >= n || to >= n)
            return;
        this.selected = [from, to];
        shown.from = into(from, shown.from);
        shown.to = into(to, shown.to);
        if (this.by === "rank")
            remember({rank: this.sums.names[from], to: this.sums.names[to]});
        this.draw();
    }

    key(event) {
        const [from, to] = this.selected, step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1],
            ArrowRight: [0, 1]}[event.key];
        if (step)
            this.select(from + step[0], to + step[1]);
        else if (event.key === "+" || event.key === "-")
            this.zoom(event.key === "+" ? 0.5 : 2);
        else
            return;
        event.preventDefault();
    }

    isShown({from, to}) {
        const {shown} = this;
        return from >= shown.from && from < shown.from + shown.count && to >= shown.to && to < shown.to + shown.count;
    }

    // The pixel of a place along one side, `begin` the first that is shown.
    pixel(at, begin) {
        return Math.floor((at - begin) * this.pixels / this.shown.count);
    }

    // The greatest pair of the pixel under the mouse, or the places there if it has none.
    under(event) {
        const box = this.canvas.getBoundingClientRect(), {count, from, to} = this.shown;
        const pixel = share => Math.min(this.pixels - 1, Math.max(0, Math.floor(share * this.pixels)));
        const x = pixel((event.clientX - box.left) / box.width), y = pixel((event.clientY - box.top) / box.height);
        const peak = this.peaks[y * this.pixels + x];
        return peak ? [peak.from, peak.to]
            : [from + Math.floor(y * count / this.pixels), to + Math.floor(x * count / this.pixels)];
    }

    told(from, to) {
        const {names} = this.sums, sum = this.sums.at(from, to), word = this.by === "rank" ? "rank " : "";
        return `${word}${names[from]} to ${word}${names[to]}: ` + (sum
            ? `${forPeople("count", sum.calls)} messages, ${forPeople("bytes", sum.sent)}, ` +
              `${forPeople("ns", sum.time)} in calls that only send` : "no message");
    }

    place(place) {
        place.append(this.makeControls(),
            make("p", {id: "pattern"}, "Pattern: ", make("strong", {}, this.profile.pattern)),
            this.profile.byName.get("pairs_by_distance")?.rows ? make("p", {}, "A rank keeps the pairs with its first partners " +
                "only. Messages of other pairs are not in the matrix; they are summed in the table ",
                make("a", {href: addressOf("tables", {table: "pairs_by_distance"})}, "pairs_by_distance"), ".") : [],
            this.legend,
            make("div", {class: "communication"}, make("div", {}, this.details, this.canvas),
                make("div", {class: "scroll"}, make("table", {id: "pairs"},
                    make("caption", {}, `The first ${mostPairRows} pairs of those in the picture.`),
                    make("thead", {}, make("tr", {}, ["from", "to", ...pairMetrics.map(({head}) => head), "mean size"]
                        .map(head => make("th", {scope: "col"}, head)))), this.body))),
            makePlacement(this.profile), this.beside,
            make("p", {class: "legend"}, "More in tables: ", ["pairs", "pairs_by_distance", "sizes", "collectives", "domains"]
                .filter(name => this.profile.byName.get(name)?.rows)
                .map(name => [make("a", {href: addressOf("tables", {table: name})}, name), " "]).flat()));
        this.draw();
    }

    makeControls() {
        const domains = new Set();
        for (let row = 0; row < this.pairs.rows; row++)
            domains.add(communicatorOf(this.pairs, row));
        return make("p", {class: "controls"},
            makeChoice("Show", pairMetrics.map(({name, head}) => [name, head]), this.metric.name,
                chosen => this.change({metric: pairMetrics.find(({name}) => name === chosen)})),
            makeChoice("by", [["rank", "rank"], ...this.places ? [["socket", "socket"]] : [], ["host", "host"],
                ...this.profile.placement ? [["proposed", "proposed node"]] : []], this.by, by => this.change({by})),
            this.choice = makeChoice("Communicator", [["", "all"], ...[...domains].filter(Boolean).map(id =>
                [id, communicatorName(this.list.find(one => one.id === id) || {id})])], this.domain,
                domain => this.change({domain})),
            make("button", {type: "button", onclick: () => this.zoom(0.5)}, "Closer"),
            make("button", {type: "button", onclick: () => this.zoom(2)}, "Wider"));
    }

    // Its figures are those of the chosen communicator; a click on a name chooses one.
    drawBeside() {
        const choose = domain => {
            this.choice.firstElementChild.value = domain;
            this.change({domain});
        };
        this.beside.replaceChildren(
            this.list.length ? makeCommunicators(this.domains, this.list, this.domain, choose) : "",
            this.sizes?.rows ? makeSizes(this.sizes, this.domain) : "");
    }

    draw() {
        const list = this.sums.list.filter(sum => this.isShown(sum)), {name, type} = this.metric;
        const most = this.sums.list.reduce((value, sum) => Math.max(value, sum[name]), 0);
        this.drawMatrix(list, most);
        const {names} = this.sums, {from, to, count} = this.shown;
        this.legend.replaceChildren("0 ", make("span", {class: "heat-key", "aria-hidden": "true"}),
            ` ${forPeople(type, most)}. A row sends (${names[from]} to ${names[from + count - 1]}), ` +
            `a column receives (${names[to]} to ${names[to + count - 1]}). ` +
            "A pixel that stands for several pairs has the greatest of them.");
        this.details.textContent = this.told(...this.selected);
        this.drawBeside();
        this.body.replaceChildren(...firstOf(list, mostPairRows, (a, b) => b[name] - a[name] || a.from - b.from || a.to - b.to)
            .map(sum => this.makePair(sum)));
    }

    drawMatrix(list, most) {
        const {name} = this.metric, pixels = this.pixels = Math.max(1, Math.min(this.shown.count, mostPixels));
        const style = getComputedStyle(document.documentElement), picture = new Pixels(pixels, pixels);
        const isChosen = ({from, to}) => from === this.selected[0] && to === this.selected[1];
        this.peaks = new Array(pixels * pixels).fill(null);
        for (const sum of list) {
            const at = this.pixel(sum.from, this.shown.from) * pixels + this.pixel(sum.to, this.shown.to);
            if (!this.peaks[at] || sum[name] > this.peaks[at][name])
                this.peaks[at] = sum;
        }
        const [mark, heat] = ["--mark", "--heat"].map(colour => Pixels.colour(style, colour));
        this.peaks.forEach((sum, at) => {
            if (sum)
                picture.fill(0, at, at + 1, isChosen(sum) ? mark : heat, opacityOf(sum[name] / most));
        });
        picture.put(this.canvas);
    }

    makePair(sum) {
        const {names} = this.sums;
        return make("tr", {onclick: () => this.select(sum.from, sum.to)},
            make("td", {}, names[sum.from]), make("td", {}, names[sum.to]),
            pairMetrics.map(({name, type}) => make("td", {class: "number", title: exactly(type, sum[name])},
                forPeople(type, sum[name]))),
            make("td", {class: "number"}, sum.calls ? forPeople("bytes", sum.sent / sum.calls) : "-"));
    }
}

async function showCommunication(profile, place, options) {
    if (!["source", "destination"].every(name => profile.byName.get("pairs")?.has(name))) {
        place.append(make("p", {}, "The profile does not say which ranks communicate: the plugin topology was not used. " +
            "Run with pcollect run --plugins +topology."));
        return;
    }
    const [ranks, pairs, calls, places, domains, sizes] = await Promise.all(
        ["ranks", "pairs", "communicator_calls", "place", "communicators", "sizes"].map(name =>
            profile.byName.has(name) ? profile.table(name) : null));
    new CommunicationView(profile, {ranks, pairs, calls, places, domains, sizes}, options).place(place);
}
