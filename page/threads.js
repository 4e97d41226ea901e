// SPDX-License-Identifier: BSD-3-Clause
// The view of threads (table `thread_times`), of profiles in which a rank has several threads of its program: a map of
// threads and ranks, the ranks whose threads differ most, sums by kind, and a bar for each thread of the chosen rank. A
// pixel of the map that stands for several threads has the greatest of their figures. Rows of a rank follow each other.

const threadMetrics = [
    {name: "computing", head: "computing", type: "ns"},
    {name: "waits", type: "ns"}, // its head depends on what runtimes do: it is that of the report
    {name: "mpi", head: "in MPI", type: "ns", of: "mpi_s"},
    {name: "delayed", head: "waiting for a processor", type: "ns", of: "delayed_s"},
    {name: "share", head: "share of the mean of the rank", told: "of the mean of its rank", type: "percent", of: "of_mean_percent"}
];
const barParts = [["computing", "--colour0"], ["waits", "--colour1"], ["mpi", "--colour2"]];
const mostMapRows = 128, mostUnevenRanks = 10, mostBars = 100, threadHeight = 14; // the last one in pixels

// Figures of all threads: a column of numbers for each metric, with a number for each row of the table.
class ThreadFigures {
    constructor(table) {
        const outside = table.numbers("outside_s"), waits = table.numbers("waits_s"), of = table.numbers("rank");
        Object.assign(this, {table, waits, number: table.numbers("thread"),
            computing: Float64Array.from(outside, (value, row) => value - waits[row])});
        for (const {name, of: column} of threadMetrics)
            this[name] ??= table.numbers(column);
        this.first = []; // row of each rank; those of the rank at place p go up to first[p + 1]
        for (let row = 0; row < table.rows; row++)
            if (!row || of[row] !== of[row - 1])
                this.first.push(row);
        this.n = this.first.length;
        this.places = new Map(this.first.map((row, place) => [of[row], place]));
        this.first.push(table.rows);
        this.most = this.number.reduce((most, value) => Math.max(most, value), 0) + 1; // numbers of threads
    }

    // The row of the rank with the greatest known value; its first one, if none is known.
    greatest(place, values) {
        let best = this.first[place];
        for (let row = best + 1; row < this.first[place + 1]; row++)
            best = values[row] > values[best] || Number.isNaN(values[best]) ? row : best;
        return best;
    }

    // Places in the order of ranks, or with the greatest values first.
    ordered(by, values) {
        const places = Array.from({length: this.n}, (_, place) => place);
        if (by === "rank")
            return places;
        const greatest = Float64Array.from(places, place => values[this.greatest(place, values)] || 0);
        return places.sort((a, b) => greatest[b] - greatest[a] || a - b);
    }

    // Time of a thread that its bar has.
    told(row) {
        return barParts.reduce((sum, [name]) => sum + (this[name][row] || 0), 0);
    }
}

class ThreadsView {
    constructor(profile, {threads, ranks, place: bound}, options) {
        this.figures = new ThreadFigures(threads);
        this.metrics = threadMetrics.map(metric => ({head: profile.outside.for_threads.text, ...metric}));
        this.metric = this.metrics.find(({name}) => name === options.get("metric")) || this.metrics[0];
        Object.assign(this, {threads, ranks, bound, order: options.get("order") === "greatest" ? "greatest" : "rank",
            hosts: new Map(rowsOf(ranks).map(row => [ranks.number(row, "rank"), row]))});
        const {figures} = this, place = figures.places.get(Number(options.get("rank") ?? NaN)) ?? 0;
        this.selected = this.rowAt(place, Number(options.get("thread")));
        this.full = rowsOf(ranks).reduce((most, row) => Math.max(most, ranks.number(row, "inside_s") || 0), 0);
        for (let row = 0; row < threads.rows; row++)
            this.full = Math.max(this.full, figures.told(row));
        this.canvas = make("canvas", {class: "thread-map", tabindex: "0", role: "img",
            "aria-label": "Map of threads: arrows choose a rank and a thread",
            onclick: event => this.select(this.under(event)),
            onmousemove: event => this.canvas.title = this.told(this.under(event)),
            onkeydown: event => this.key(event)});
        this.marker = make("div", {class: "marker"});
        this.across = make("div", {class: "across", "aria-hidden": "true"});
        this.down = make("div", {class: "down", "aria-hidden": "true"});
        this.legend = make("p", {class: "legend", id: "threads-legend"});
        this.said = make("p", {id: "thread", "aria-live": "polite"});
        this.bars = make("div", {class: "scroll"});
    }

    rankOf(row) {
        return this.threads.number(row, "rank");
    }

    placeOf(row) {
        return this.figures.places.get(this.rankOf(row));
    }

    // The row of the thread with this number on the rank at the place, or of the last one before it.
    rowAt(place, number) {
        const {first, number: numbers} = this.figures;
        let row = first[place];
        while (row + 1 < first[place + 1] && numbers[row + 1] <= number)
            row++;
        return row;
    }

    place(place) {
        const {figures, threads} = this;
        this.map = make("div", {}, this.legend, make("div", {class: "threads-place"}, this.canvas, this.marker, this.across, this.down));
        this.map.hidden = figures.n < 2;
        place.append(make("p", {class: "controls"},
            makeChoice("Show", this.metrics.map(({name, head}) => [name, head]), this.metric.name, name =>
                this.change({metric: this.metrics.find(metric => metric.name === name)})),
            makeChoice("Order ranks by", [["rank", "rank"], ["greatest", "the greatest of their threads"]], this.order,
                order => this.change({order})),
            this.makeRankChoice()), this.map, this.said, this.makeKeys(), this.bars,
        make("div", {class: "beside"}, this.makeUneven(), this.makeKinds()),
        make("p", {class: "legend"}, "More in the table ", make("a", {href: addressOf("tables", {table: threads.name})}, threads.name), "."));
        this.draw();
        redraws.push(() => this.drawMap());
    }

    makeRankChoice() {
        const input = this.input = make("input", {type: "number", id: "thread-rank", onchange: () => {
            const place = this.figures.places.get(Number(input.value || NaN));
            this.select(place === undefined ? this.selected : this.rowAt(place, this.figures.number[this.selected]));
        }});
        return make("label", {}, "Rank ", input);
    }

    change(what) {
        Object.assign(this, what);
        remember({metric: this.metric.name, order: this.order});
        this.draw();
    }

    select(row) {
        this.selected = row;
        remember({rank: this.threads.exact(row, "rank"), thread: this.threads.exact(row, "thread")});
        this.draw();
    }

    key(event) {
        const {figures, list, selected} = this, at = list.indexOf(this.placeOf(selected)), thread = figures.number[selected];
        const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: list.length - 1}[event.key];
        const row = {ArrowUp: selected - 1, ArrowDown: selected + 1}[event.key] ??
            (list[to] === undefined ? undefined : this.rowAt(list[to], thread));
        if (row === undefined && to === undefined)
            return;
        event.preventDefault();
        if (row >= 0 && row < this.threads.rows && (to !== undefined || this.placeOf(row) === list[at]))
            this.select(row);
    }

    // A figure of a thread for people and, as a title, exactly.
    shown({name, type}, row) {
        const value = this.figures[name][row];
        return Number.isNaN(value) ? ["-", ""] : [forPeople(type, value), exactly(type, value)];
    }

    nameOf(row) {
        const kind = this.threads.exact(row, "kind"), name = this.threads.exact(row, "name");
        return name ? `${kind}, ${name}` : kind;
    }

    told(row) {
        return `thread ${this.threads.exact(row, "thread")} of rank ${this.threads.exact(row, "rank")} (${cutText(this.nameOf(row), mostInLine)}): ` +
            `${this.shown(this.metric, row)[0]} ${this.metric.told || this.metric.head}`;
    }

    draw() {
        const {figures, metric, threads, selected} = this, rank = this.rankOf(selected);
        this.list = figures.ordered(this.order, figures[metric.name]);
        this.input.value = rank;
        this.drawMap();
        this.said.textContent = this.told(selected).replace(/^t/, "T") + ".";
        this.bars.replaceChildren(this.makeBars(this.placeOf(selected)));
    }

    // The row with the greatest figure of each pixel; -1: no thread.
    findPeaks(width, height) {
        const {figures, list} = this, values = figures[this.metric.name], peaks = new Int32Array(width * height).fill(-1);
        list.forEach((place, at) => {
            const x = Math.floor(at * width / list.length);
            for (let row = figures.first[place]; row < figures.first[place + 1]; row++) {
                const i = Math.floor(figures.number[row] * height / figures.most) * width + x;
                if (peaks[i] < 0 || values[row] > values[peaks[i]] || Number.isNaN(values[peaks[i]]))
                    peaks[i] = row;
            }
        });
        return peaks;
    }

    drawMap() {
        const {figures, list, metric, canvas, selected} = this, values = figures[metric.name];
        if (this.map.hidden)
            return;
        const height = Math.min(figures.most, mostMapRows), room = Math.floor(canvas.clientWidth * (window.devicePixelRatio || 1));
        const width = Math.max(1, Math.min(list.length, room));
        const picture = new Pixels(width, height), heat = Pixels.colour(getComputedStyle(document.documentElement), "--heat");
        const most = values.reduce((greatest, value) => value > greatest ? value : greatest, 0);
        Object.assign(this, {width, height, peaks: this.findPeaks(width, height)});
        this.peaks.forEach((row, i) => {
            if (row >= 0)
                picture.fill(0, i, i + 1, heat, opacityOf(values[row] / most));
        });
        picture.put(canvas);
        canvas.style.height = Math.max(2, Math.min(height, 24)) * threadHeight + "px";
        const percent = (at, n) => 100 * at / n + "%";
        Object.assign(this.marker.style, {left: percent(Math.floor(list.indexOf(this.placeOf(selected)) * width / list.length), width),
            top: percent(Math.floor(figures.number[selected] * height / figures.most), height), width: percent(1, width), height: percent(1, height)});
        const names = list.map(place => this.threads.exact(figures.first[place], "rank"));
        const digits = names.reduce((longest, {length}) => Math.max(longest, length), 0);
        this.across.replaceChildren(...makeRankLabels(names, 0, names.length, "left",
            Math.max(1, Math.floor(canvas.clientWidth / (digits + 2) / rankDigit))));
        this.down.replaceChildren(...makeRankLabels(Array.from({length: figures.most}, (_, k) => String(k)), 0, figures.most, "top"));
        this.legend.replaceChildren("Ranks from left to right, their threads by number from top to bottom. 0 ",
            make("span", {class: "heat-key", "aria-hidden": "true"}), ` ${forPeople(metric.type, most)} ${metric.told || metric.head}.`,
            list.length > width || figures.most > height ? " A pixel that stands for several threads has the greatest of them." : "");
    }

    under(event) {
        const box = this.canvas.getBoundingClientRect(), {width, height, list, figures} = this;
        const at = (share, n) => Math.min(n - 1, Math.max(0, Math.floor(share * n)));
        const x = at((event.clientX - box.left) / box.width, width), y = at((event.clientY - box.top) / box.height, height);
        const peak = this.peaks[y * width + x];
        return peak >= 0 ? peak : this.rowAt(list[Math.floor(x * list.length / width)], Math.floor(y * figures.most / height));
    }

    headOf(part) {
        return this.metrics.find(({name}) => name === part).head;
    }

    makeKeys() {
        return make("p", {class: "colours", id: "thread-keys"}, barParts.map(([name, colour]) => makeKey(colour, this.headOf(name))),
            make("span", {title: exactly("ns", this.full)}, `A whole bar is ${forPeople("ns", this.full)}.`));
    }

    makeBar(row) {
        return make("div", {class: "parts", "aria-hidden": "true"}, barParts.map(([name, colour]) => {
            const part = make("span", {title: `${this.shown({name, type: "ns"}, row)[0]} ${this.headOf(name)}`});
            part.style.width = 100 * (this.figures[name][row] || 0) / this.full + "%";
            part.style.background = `var(${colour})`;
            return part;
        }));
    }

    // Names the rank, its host, and its processors if it was bound to some.
    makeCaption(place, rows) {
        const {figures, ranks, bound} = this, rank = this.rankOf(figures.first[place]), at = this.hosts.get(rank);
        const row = bound ? rowsOf(bound).find(each => bound.number(each, "rank") === rank) : undefined;
        const cores = row === undefined ? "" : bound.exact(row, "cores");
        const all = figures.first[place + 1] - figures.first[place];
        return make("caption", {}, `Rank ${rank}` + (at === undefined ? "" : ` on ${ranks.shown(at, "host")}`) +
            (cores ? `, which may run on processors ${cores}` : "") +
            (rows.length < all ? `: ${grouped(rows.length)} of ${counted(all, "thread")}, those with most time.` : `: ${counted(all, "thread")}.`));
    }

    makeBars(place) {
        const {figures, threads, selected} = this, all = [];
        for (let row = figures.first[place]; row < figures.first[place + 1]; row++)
            all.push(row);
        const rows = all.length <= mostBars ? all
            : firstOf(all, mostBars, (a, b) => figures.told(b) - figures.told(a) || a - b).sort((a, b) => a - b);
        return make("table", {id: "thread-bars"}, this.makeCaption(place, rows),
            make("thead", {}, make("tr", {}, ["thread", "", ""].map(head => make("th", {scope: "col"}, head)),
                [...this.metrics.map(({head}) => head), "CPU time", "MPI calls"].map(head => make("th", {scope: "col", class: "number"}, head)))),
            make("tbody", {}, rows.map(row => make("tr", {"aria-selected": String(row === selected), "data-thread": threads.exact(row, "thread")},
                make("th", {scope: "row"}, make("button", {type: "button", class: "link", onclick: () => this.select(row)}, threads.exact(row, "thread"))),
                make("td", {class: "kind"}, makeText(this.nameOf(row)), threads.number(row, "threads") > 1
                    ? ` (${counted(threads.number(row, "threads"), "thread")}, one after the other)` : ""),
                make("td", {class: "bar"}, this.makeBar(row)),
                this.metrics.map(metric => {
                    const [shown, exact] = this.shown(metric, row);
                    return make("td", {class: "number", title: exact}, shown);
                }),
                ["cpu_s", "mpi_calls"].map(column => make("td", {class: "number", title: threads.exact(row, column)}, threads.shown(row, column)))))));
    }

    // Ranks that have a thread far above the mean of its rank.
    makeUneven() {
        const {figures, threads} = this, order = figures.ordered("greatest", figures.share);
        const uneven = order.slice(0, mostUnevenRanks).map(place => figures.greatest(place, figures.share)).filter(row => figures.share[row] > 0);
        return uneven.length ? make("div", {class: "scroll"}, make("table", {id: "uneven"},
            make("caption", {}, "Ranks with a thread that computes most above the mean of its rank."),
            make("thead", {}, make("tr", {}, [["rank"], ["thread"], ["of mean", true], ["computing", true]].map(([head, right]) =>
                make("th", {scope: "col", class: right ? "number" : null}, head)))),
            make("tbody", {}, uneven.map(row => make("tr", {},
                make("th", {scope: "row"}, make("button", {type: "button", class: "link", title: "choose the thread",
                    onclick: () => this.select(row)}, threads.exact(row, "rank"))),
                make("td", {}, threads.exact(row, "thread")),
                ["share", "computing"].map(name => {
                    const [shown, exact] = this.shown(this.metrics.find(metric => metric.name === name), row);
                    return make("td", {class: "number", title: exact}, shown);
                })))))) : "";
    }

    // Sums over all threads of a kind.
    makeKinds() {
        const {figures, threads} = this, names = ["computing", "waits", "mpi", "delayed"], kinds = new Map();
        for (let row = 0; row < threads.rows; row++) {
            const kind = threads.exact(row, "kind"), sums = kinds.get(kind) || [0, ...names.map(() => NaN)];
            sums[0] += threads.number(row, "threads") || 0;
            names.forEach((name, k) => {
                const value = figures[name][row];
                sums[k + 1] = Number.isNaN(value) ? sums[k + 1] : value + (sums[k + 1] || 0);
            });
            kinds.set(kind, sums);
        }
        return make("div", {class: "scroll"}, make("table", {id: "thread-kinds"},
            make("caption", {}, "Sums over the threads of all ranks."),
            make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "kind"), ["threads", ...names.map(name => this.headOf(name))].map(head =>
                make("th", {scope: "col", class: "number"}, head)))),
            make("tbody", {}, [...kinds].map(([kind, [n, ...sums]]) => make("tr", {}, make("th", {scope: "row"}, kind),
                make("td", {class: "number", title: n}, grouped(n)),
                sums.map(sum => make("td", {class: "number", title: Number.isNaN(sum) ? "" : exactly("ns", sum)},
                    Number.isNaN(sum) ? "-" : forPeople("ns", sum))))))));
    }
}

// True if a rank has several threads of the program.
const hasThreads = profile => profile.threaded && profile.byName.get("thread_times")?.rows > 0;

async function showThreads(profile, place, options) {
    const [threads, ranks, bound] = await Promise.all(["thread_times", "ranks", "place"].map(name =>
        profile.byName.has(name) ? profile.table(name) : null));
    new ThreadsView(profile, {threads, ranks, place: bound}, options).place(place);
}
