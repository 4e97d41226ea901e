// SPDX-License-Identifier: BSD-3-Clause
// The view of communication: the table `pairs` as a matrix, by rank, socket or host. A row sends, a column receives.
// Only pairs that exist are stored; a pixel that stands for several has the greatest of them. The table below the
// picture shows the same in text.

const pairMetrics = [
    {name: "sent", head: "bytes", type: "bytes", of: "bytes"},
    {name: "calls", head: "messages", type: "count", of: "messages"},
    {name: "time", head: "time in calls that only send", type: "ns", of: "time"},
    {name: "receiving", head: "time in calls that receive", type: "ns", of: "receive_time"}
];
const mostPairRows = 20, mostPixels = 600;

// Columns of figures by pairs of places (ranks, sockets or hosts): sums over class, communicator and phase. A pair is a
// number, because there may be millions. Pairs are in the order of the place that sends: those of place p are
// first[p] up to first[p + 1].
class PairSums {
    // `names` has the name of the place of each rank, `domain` a communicator or "" for all.
    constructor(pairs, names, domain) {
        this.names = [...new Set(names.values())];
        this.places = new Map(this.names.map((name, i) => [name, i]));
        const placeOf = [];
        names.forEach((name, rank) => placeOf[rank] = this.places.get(name));
        const wanted = domain ? pairs.equals("domain", domain) : () => true;
        const sources = pairs.numbers("source"), destinations = pairs.numbers("destination");
        const from = new Int32Array(pairs.rows).fill(-1), to = new Int32Array(pairs.rows);
        this.leftOut = 0; // pairs with ranks that have no place; rows of a pair follow each other
        for (let row = 0, last = -1; row < pairs.rows; row++) {
            const sender = placeOf[sources[row]], receiver = placeOf[destinations[row]];
            if (!wanted(row))
                continue;
            if (sender !== undefined && receiver !== undefined) {
                from[row] = sender;
                to[row] = receiver;
            } else if (sources[row] !== sources[last] || destinations[row] !== destinations[last]) {
                this.leftOut++;
                last = row;
            }
        }
        const pairOf = this.number(from, to);
        for (const {name, of} of pairMetrics)
            this[name] = this.sum(pairOf, pairs.numbers(of));
    }

    // Numbers the pairs; returns the one of each row, -1 for rows that are left out.
    number(from, to) {
        const n = this.names.length, {first, rows} = groupRows(from, n), pairOf = new Int32Array(from.length).fill(-1);
        const last = new Int32Array(n).fill(-1); // the pair that was last found to each place
        Object.assign(this, {count: 0, first: new Uint32Array(n + 1), from: new Uint32Array(rows.length), to: new Uint32Array(rows.length)});
        for (let sender = 0; sender < n; sender++) {
            const begin = this.first[sender] = this.count;
            for (let i = first[sender]; i < first[sender + 1]; i++) {
                const receiver = to[rows[i]];
                if (last[receiver] < begin) {
                    this.from[this.count] = sender;
                    this.to[this.count] = receiver;
                    last[receiver] = this.count++;
                }
                pairOf[rows[i]] = last[receiver];
            }
        }
        this.first[n] = this.count;
        return pairOf;
    }

    sum(pairOf, values) {
        const sums = new Float64Array(this.count);
        for (let row = 0; row < pairOf.length; row++)
            if (pairOf[row] >= 0)
                sums[pairOf[row]] += values[row] || 0;
        return sums;
    }

    // The number of a pair; -1: it has exchanged no message.
    at(from, to) {
        return this.to.subarray(0, this.first[from + 1]).indexOf(to, this.first[from]);
    }

    // Numbers of the pairs of these places.
    shown({from, to, count}) {
        const shown = new Uint32Array(this.first[from + count] - this.first[from]);
        let n = 0;
        for (let pair = this.first[from]; pair < this.first[from + count]; pair++)
            if (this.to[pair] >= to && this.to[pair] < to + count)
                shown[n++] = pair;
        return shown.subarray(0, n);
    }
}

// Rows by place, in order: those of place p are rows[first[p]] up to rows[first[p + 1]]. Rows of no place have -1.
function groupRows(places, n) {
    const first = new Uint32Array(n + 1);
    for (const place of places)
        if (place >= 0)
            first[place + 1]++;
    for (let place = 0; place < n; place++)
        first[place + 1] += first[place];
    const next = first.slice(), rows = new Uint32Array(first[n]);
    places.forEach((place, row) => {
        if (place >= 0)
            rows[next[place]++] = row;
    });
    return {first, rows};
}

// Names a socket of the table `place`, which has 1 + its number, or 0 for a rank that was bound to several or none.
const socketName = socket => Number.isNaN(socket) ? "socket not known" : socket ? `socket ${socket - 1}` : "not bound to one socket";

class CommunicationView {
    constructor(profile, tables, options) {
        Object.assign(this, {profile, ...tables});
        this.metrics = pairMetrics.filter(({of}) => this.pairs.has(of));
        this.metric = this.metrics.find(({name}) => name === options.get("metric")) || pairMetrics[0];
        this.by = options.get("by") || "rank";
        this.domain = options.get("domain") || "";
        this.canvas = make("canvas", {class: "matrix", tabindex: "0",
            "aria-label": "Matrix: arrows go from pair to pair, + and - zoom",
            onclick: event => this.select(...this.under(event)),
            ondblclick: () => this.zoom(0.5),
            onmousemove: event => this.canvas.title = this.told(...this.under(event)),
            onkeydown: event => this.key(event)});
        this.hosts = new Map(rowsOf(this.ranks).map(row => [this.ranks.exact(row, "rank"), this.ranks.shown(row, "host")]));
        this.marker = make("div", {class: "marker"}); // around the chosen cell
        this.across = make("div", {class: "across", "aria-hidden": "true"});
        this.down = make("div", {class: "down", "aria-hidden": "true"});
        this.matrix = make("div", {class: "matrix-place hosts"}, this.canvas, this.marker, this.across, this.down);
        this.empty = make("p", {id: "no-pairs"});
        this.leftOut = make("p", {id: "left-out"});
        this.caption = make("caption", {});
        this.legend = make("p", {class: "legend", id: "matrix-legend"});
        this.details = make("p", {id: "pair", "aria-live": "polite"});
        this.body = make("tbody", {});
        this.beside = make("div", {class: "beside"});
        this.list = this.domains ? readCommunicators(this.domains, this.calls) : [];
        this.arrange();
        this.unknown = this.by === "rank" ? ["rank", "to"].map(key =>
            makeUnknownRank(options.get(key), this.sums.names.map(Number), "", key)) : [];
        this.selected = ["rank", "to"].map((key, i) => this.sums.places.get(options.get(key)) ?? this.selected[i]);
    }

    // The name of the place of each rank.
    placeNames() {
        const names = new Map(), {ranks, places} = this, sockets = new Map(), {placement} = this.profile;
        for (let row = 0; places && row < places.rows; row++)
            sockets.set(places.exact(row, "rank"), socketName(places.number(row, "socket")));
        for (let row = 0; row < ranks.rows; row++) {
            const rank = ranks.exact(row, "rank"), host = ranks.shown(row, "host");
            names.set(rank, this.by === "host" ? host
                : this.by === "proposed" && placement ? placement.nodes[placement.node_of_rank[rank]] ?? host
                : this.by === "socket" ? `${host}, ${sockets.get(rank) ?? socketName(NaN)}` : rank);
        }
        return names;
    }

    arrange() {
        this.sums = new PairSums(this.pairs, this.placeNames(), this.domain);
        const {[this.metric.name]: values, from, to, count, names} = this.sums;
        const greatest = values.reduce((best, value, pair) => value > values[best] ? pair : best, 0);
        this.selected = count ? [from[greatest], to[greatest]] : [0, 0];
        this.shown = {from: 0, to: 0, count: names.length};
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
        return peak >= 0 ? [this.sums.from[peak], this.sums.to[peak]]
            : [from + Math.floor(y * count / this.pixels), to + Math.floor(x * count / this.pixels)];
    }

    told(from, to) {
        const {names, calls, sent} = this.sums, pair = this.sums.at(from, to);
        const nameOf = at => this.by === "rank" ? `rank ${names[at]} on ${this.hosts.get(names[at])}` : names[at];
        return `${nameOf(from)} to ${nameOf(to)}: ` + (pair >= 0
            ? [counted(calls[pair], "message"), forPeople("bytes", sent[pair]),
                ...this.metrics.filter(({name, type}) => type === "ns" && this.sums[name][pair])
                    .map(({name, type, head}) => `${forPeople(type, this.sums[name][pair])} ${head.replace("time ", "")}`)].join(", ")
            : "no message");
    }

    place(place) {
        place.append(...this.unknown, this.makeControls(),
            make("p", {id: "pattern"}, "Pattern: ", make("strong", {}, this.profile.pattern)),
            this.profile.byName.get("pairs_by_distance")?.rows ? make("p", {}, "A rank keeps the pairs with its first partners " +
                "only. Messages of other pairs are not in the matrix; they are summed in the table ",
                make("a", {href: addressOf("tables", {table: "pairs_by_distance"})}, "pairs_by_distance"), ".") : [],
            this.profile.byName.get("collectives")?.rows ? make("p", {id: "collectives"}, "Collective operations are not in the matrix; " +
                "the table ", make("a", {href: addressOf("tables", {table: "collectives"})}, "collectives"), " has them.") : [],
            this.leftOut, this.empty, this.legend,
            this.picture = make("div", {class: "communication"}, make("div", {}, this.details, this.matrix),
                make("div", {class: "scroll"}, make("table", {id: "pairs"},
                    this.caption,
                    make("thead", {}, make("tr", {}, ["from", "to", ...this.metrics.map(({head}) => head), "mean size"]
                        .map(head => make("th", {scope: "col"}, head)))), this.body))),
            makePlacement(this.profile), this.beside,
            make("p", {class: "legend"}, "More in tables: ", ["pairs", "pairs_by_distance", "sizes", "collectives", "domains"]
                .filter(name => this.profile.byName.get(name)?.rows)
                .map(name => [make("a", {href: addressOf("tables", {table: name})}, name), " "]).flat()));
        this.draw();
        redraws.push(() => this.redraw());
    }

    nameOf(domain) {
        return this.list.find(({id}) => id === domain)?.shown || this.profile.communicators.get(domain) || domain;
    }

    makeControls() {
        return make("p", {class: "controls"},
            makeChoice("Show", this.metrics.map(({name, head}) => [name, head]), this.metric.name,
                chosen => this.change({metric: pairMetrics.find(({name}) => name === chosen)})),
            makeChoice("by", [["rank", "rank"], ...this.places ? [["socket", "socket"]] : [], ["host", "host"],
                ...this.profile.placement ? [["proposed", "proposed node"]] : []], this.by, by => this.change({by})),
            this.choice = makeChoice("Communicator", [["", "all"], ...this.list.map(({id, shown}) => [id, shown]),
                ...this.pairs.different("domain").filter(id => !this.list.some(one => one.id === id)).map(id => [id, this.nameOf(id)])], this.domain,
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
        const {sums, metric: {name, head, type}} = this, {names, from: sender, to: receiver} = sums, values = sums[name];
        this.picture.hidden = this.legend.hidden = !sums.count;
        const over = this.domain ? ` over ${this.nameOf(this.domain)}` : "";
        this.empty.textContent = sums.count || this.profile.pattern?.startsWith("not known: ") ? "" : `The profile has no messages between its ranks${over}.`;
        this.leftOut.replaceChildren(...sums.leftOut ? [`The matrix leaves out ${counted(sums.leftOut, "pair")} with processes ` +
            "that are not in this profile; they are in the table ", make("a", {href: addressOf("tables", {table: "pairs"})}, "pairs"), "."] : []);
        const list = sums.shown(this.shown), most = values.reduce((value, each) => Math.max(value, each), 0);
        this.redraw = () => this.drawMatrix(list, most);
        this.redraw();
        const {from, to, count} = this.shown, byRank = this.by === "rank";
        this.across.replaceChildren(...byRank ? makeRankLabels(names, to, count, "left") : []);
        this.down.replaceChildren(...byRank ? makeRankLabels(names, from, count, "top") : []);
        const lines = (first, direction) => byRank ? hostLines(names.slice(first, first + count).map(name => this.hosts.get(name)), direction) : "none";
        const across = lines(to, "right"), down = lines(from, "bottom"), hasLines = across !== "none" || down !== "none";
        this.matrix.style.setProperty("--hosts-across", across);
        this.matrix.style.setProperty("--hosts-down", down);
        const ranks = byRank ? counted(count, "rank") + ", " : "";
        const range = first => `(${ranks}${names[first]} to ${names[first + count - 1]})`;
        this.legend.replaceChildren(...most ? ["0 ", make("span", {class: "heat-key", "aria-hidden": "true"}),
            ` ${forPeople(type, most)}, a linear scale of colours`] : [`No pair has ${head}`], `. A row sends ${range(from)}, a column receives ${range(to)}.` +
            (count > mostPixels ? " A pixel that stands for several pairs has the greatest of them." : "") +
            (hasLines ? " A thin line is where the ranks of a host end." : ""));
        this.details.textContent = this.told(...this.selected);
        this.caption.textContent = `${grouped(Math.min(list.length, mostPairRows))} of ${counted(list.length, "pair")} in the picture; ` +
            `those with most ${head} first.`;
        this.drawBeside();
        this.body.replaceChildren(...firstOf(list, mostPairRows, (a, b) => values[b] - values[a] || sender[a] - sender[b] ||
            receiver[a] - receiver[b]).map(pair => this.makePair(pair)));
    }

    drawMatrix(list, most) {
        const {from, to, [this.metric.name]: values} = this.sums, {shown} = this;
        const pixels = this.pixels = Math.max(1, Math.min(shown.count, mostPixels));
        const style = getComputedStyle(document.documentElement), picture = new Pixels(pixels, pixels);
        this.peaks = new Int32Array(pixels * pixels).fill(-1);
        for (const pair of list) {
            const at = this.pixel(from[pair], shown.from) * pixels + this.pixel(to[pair], shown.to);
            if (this.peaks[at] < 0 || values[pair] > values[this.peaks[at]])
                this.peaks[at] = pair;
        }
        const heat = Pixels.colour(style, "--heat"), percent = pixel => 100 * pixel / pixels + "%";
        this.peaks.forEach((pair, at) => {
            if (pair >= 0)
                picture.fill(0, at, at + 1, heat, opacityOf(values[pair] / most));
        });
        picture.put(this.canvas);
        Object.assign(this.marker.style, {top: percent(this.pixel(this.selected[0], shown.from)),
            left: percent(this.pixel(this.selected[1], shown.to)), width: percent(1), height: percent(1)});
    }

    makePair(pair) {
        const {names, from, to, sent, calls} = this.sums;
        return make("tr", {onclick: () => this.select(from[pair], to[pair])},
            make("td", {}, names[from[pair]]), make("td", {}, names[to[pair]]),
            this.metrics.map(({name, type}) => make("td", {class: "number", title: exactly(type, this.sums[name][pair])},
                type === "ns" && !this.sums[name][pair] ? "-" : forPeople(type, this.sums[name][pair]))),
            make("td", {class: "number"}, calls[pair] ? forPeople("bytes", sent[pair] / calls[pair]) : "-"));
    }
}

async function showCommunication(profile, place, options) {
    if (profile.alone) {
        place.append(make("p", {}, "There are no messages: the program calls no MPI function."));
        return;
    }
    if (!["source", "destination"].every(name => profile.byName.get("pairs")?.has(name))) {
        place.append(make("p", {}, "The profile does not say which ranks communicate: " + (await profile.isRecorded()
            ? "pcollect record does not see messages; pcollect run does."
            : "the plugin topology was not used. Run with pcollect run --plugins +topology.")));
        return;
    }
    const [ranks, pairs, calls, places, domains, sizes] = await Promise.all(
        ["ranks", "pairs", "communicator_calls", "place", "communicators", "sizes"].map(name =>
            profile.byName.has(name) ? profile.table(name) : null));
    new CommunicationView(profile, {ranks, pairs, calls, places, domains, sizes}, options).place(place);
}
