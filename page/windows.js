// SPDX-License-Identifier: BSD-3-Clause
// The view of windows (table `windows`, of the plugin object): each window with its bytes, the time in calls that move
// them and in calls that synchronise; a strip of the targets of the chosen one; and which ranks put into whom, and get
// from whom, over its communicator (rows of class rma of the table `pairs`). Figures are sums over all ranks.

const windowFigures = [
    {name: "time", head: "time moving data", type: "ns"},
    {name: "sync_time", head: "time synchronising", type: "ns"},
    {name: "calls", head: "calls moving data", type: "count"},
    {name: "sync_calls", head: "calls synchronising", type: "count"},
    {name: "bytes_put", head: "put", type: "bytes"},
    {name: "bytes_got", head: "got", type: "bytes"}
];
const windowPairs = [{name: "messages", head: "calls", type: "count"}, {name: "bytes", head: "bytes", type: "bytes"}];
const mostWindows = 50, mostTargets = 20;

class WindowsView {
    constructor(profile, {windows, pairs, domains}, options) {
        Object.assign(this, {profile, table: windows, pairs, figure: windowFigures.find(({name}) => name === options.get("order")) || windowFigures[0],
            communicators: new Map(domains ? rowsOf(domains).map(row => [domains.exact(row, "domain"), domains.exact(row, "name")]) : [])});
        this.windows = [...groupBy(rowsOf(windows), row => `${windows.exact(row, "window")} ${windows.exact(row, "domain")}`).values()].map(rows => ({
            ...sumRows(windows, rows, windowFigures), key: `${windows.exact(rows[0], "window")} ${windows.exact(rows[0], "domain")}`,
            number: windows.exact(rows[0], "window"), domain: windows.exact(rows[0], "domain"),
            title: [...new Set(rows.map(row => windows.exact(row, "name")).filter(Boolean))].join(", ")}));
        this.selected = this.windows.find(({key}) => key === options.get("window"));
        this.said = make("p", {class: "legend", id: "windows-shown", "aria-live": "polite"});
        this.body = make("tbody", {});
        this.strip = make("canvas", {class: "heat", role: "img",
            onmousemove: event => this.strip.title = this.told(this.under(event))});
        this.across = make("div", {class: "across", "aria-hidden": "true"});
        this.legend = make("p", {class: "legend", id: "targets-legend"});
        this.beside = make("div", {class: "beside"});
    }

    place(place) {
        place.append(make("p", {class: "controls"}, makeChoice("Show", windowFigures.map(({name, head}) => [name, head]), this.figure.name, name => {
            this.figure = windowFigures.find(figure => figure.name === name);
            remember({order: name});
            this.draw();
        })), this.said, make("div", {class: "scroll"}, make("table", {id: "windows-list"},
            this.makeHead(["window", "name", "communicator"], windowFigures), this.body)),
        this.legend, this.picture = make("div", {class: "targets"}, make("div", {class: "along"}, this.across), this.strip), this.beside,
        make("p", {class: "legend"}, "Sums over all ranks. Calls that synchronise are those of fences, epochs, locks and flushes, and those that make or free " +
            "the window; a rank may wait for others in them. More in the table ", make("a", {href: addressOf("tables", {table: "windows"})}, "windows"), "."));
        this.draw();
        redraws.push(() => this.drawStrip());
    }

    makeHead(texts, figures) {
        return make("thead", {}, make("tr", {}, texts.map(head => make("th", {scope: "col"}, head)),
            figures.map(({head}) => make("th", {scope: "col", class: "number"}, head))));
    }

    makeFigures(sums, figures) {
        return figures.map(({name, type}) => make("td", {class: "number", title: exactly(type, sums[name])}, forPeople(type, sums[name])));
    }

    nameOf({domain}) {
        return this.communicators.get(domain) || this.profile.communicators.get(domain) || domain || "not known";
    }

    draw() {
        const {windows, figure: {name}} = this, shown = firstOf(windows, mostWindows, (a, b) => b[name] - a[name] || a.number - b.number || (a.key < b.key ? -1 : 1));
        this.selected ??= shown[0];
        this.said.textContent = `${grouped(shown.length)} of ${counted(windows.length, "window")}`;
        this.body.replaceChildren(...shown.map(one => make("tr", {"aria-selected": String(one === this.selected), "data-window": one.key},
            make("th", {scope: "row"}, make("button", {type: "button", class: "link", onclick: () => {
                this.selected = one;
                remember({window: one.key});
                this.draw();
            }}, one.number)),
            make("td", {class: "text"}, makeText(one.title || "-")), make("td", {}, makeText(this.nameOf(one))), this.makeFigures(one, windowFigures))));
        this.drawTargets();
    }

    drawTargets() {
        const {table, selected, figure} = this;
        this.targets = [...groupBy(selected.rows.filter(row => table.exact(row, "target") !== ""), row => table.number(row, "target"))].map(([target, rows]) =>
            ({target, ...sumRows(table, rows, windowFigures)})).sort((a, b) => a.target - b.target);
        const rest = sumRows(table, selected.rows.filter(row => table.exact(row, "target") === ""), windowFigures);
        this.values = this.targets.map(one => one[figure.name]);
        this.picture.hidden = this.targets.length < 2;
        const most = this.values.reduce((greatest, value) => Math.max(greatest, value), 0);
        this.legend.replaceChildren(`Window ${selected.number}: ${counted(this.targets.length, "target")} by the rank in its group.`,
            ...this.picture.hidden ? [] : [" 0 ", make("span", {class: "heat-key", "aria-hidden": "true"}), ` ${forPeople(figure.type, most)} ${figure.head}.`],
            rest[figure.name] ? ` Calls that name no target have ${forPeople(figure.type, rest[figure.name])}.` : "");
        this.drawStrip();
        const shown = firstOf(this.targets, mostTargets, (a, b) => b[figure.name] - a[figure.name] || a.target - b.target);
        this.beside.replaceChildren(shown.length ? make("div", {class: "scroll"}, make("table", {id: "targets"},
            make("caption", {}, `${grouped(shown.length)} of ${counted(this.targets.length, "target")} by ${figure.head}.`),
            this.makeHead(["target"], windowFigures), make("tbody", {}, shown.map(one => make("tr", {"data-target": one.target},
                make("th", {scope: "row"}, String(one.target)), this.makeFigures(one, windowFigures)))))) : "", this.makePairs());
    }

    told(place) {
        const {figure} = this, {target} = this.targets[place];
        return `target ${target}: ${forPeople(figure.type, this.values[place])} ${figure.head}`;
    }

    // The place of the greatest target of a column of the strip.
    peak(column) {
        const n = this.values.length;
        let peak = Math.floor(column * n / this.columns);
        for (let i = peak + 1; i < Math.floor((column + 1) * n / this.columns); i++)
            peak = this.values[i] > this.values[peak] ? i : peak;
        return peak;
    }

    under(event) {
        const box = this.strip.getBoundingClientRect(), column = Math.floor((event.clientX - box.left) / box.width * this.columns);
        return this.peak(Math.min(this.columns - 1, Math.max(0, column)));
    }

    drawStrip() {
        const {values, strip, targets} = this, n = values.length;
        if (this.picture.hidden)
            return;
        const most = values.reduce((greatest, value) => Math.max(greatest, value), 0);
        this.columns = Math.max(1, Math.min(n, Math.floor(strip.clientWidth * (window.devicePixelRatio || 1))));
        const picture = new Pixels(this.columns, 1), heat = Pixels.colour(getComputedStyle(document.documentElement), "--heat");
        for (let column = 0; column < this.columns; column++)
            picture.fill(0, column, column + 1, heat, opacityOf(values[this.peak(column)] / most));
        picture.put(strip);
        strip.setAttribute("aria-label", `Strip of ${counted(n, "target")}; the table has those with most.`);
        this.across.replaceChildren(...makeRankLabels(targets.map(({target}) => String(target)), 0, n, "left"));
    }

    // Pairs of ranks of one-sided communication over the communicator of the window, of all windows made over it.
    makePairs() {
        const {pairs, selected: {domain}} = this;
        if (!pairs)
            return "";
        const isRma = pairs.equals("class", "rma"), isHere = domain ? pairs.equals("domain", domain) : () => true, rows = [];
        for (let row = 0; row < pairs.rows; row++)
            if (isRma(row) && isHere(row))
                rows.push(row);
        const [source, destination] = [pairs.numbers("source"), pairs.numbers("destination")];
        const list = [...groupBy(rows, row => source[row] * 2 ** 26 + destination[row]).values()].map(of =>
            ({source: source[of[0]], destination: destination[of[0]], ...sumRows(pairs, of, windowPairs)}));
        const shown = firstOf(list, mostTargets, (a, b) => b.bytes - a.bytes || a.source - b.source || a.destination - b.destination);
        return shown.length ? make("div", {class: "scroll"}, make("table", {id: "window-pairs"},
            make("caption", {}, `${grouped(shown.length)} of ${counted(list.length, "pair")} of ranks by bytes, in all windows` +
                (domain ? ` over ${this.nameOf(this.selected)}.` : ".")),
            this.makeHead(["from", "to"], windowPairs), make("tbody", {}, shown.map(pair => make("tr", {},
                make("td", {}, String(pair.source)), make("td", {}, String(pair.destination)), this.makeFigures(pair, windowPairs))))),
        make("p", {class: "legend"}, "A put goes from the rank that calls to its target, a get from the target to the rank that calls. ",
            make("a", {href: addressOf("communication", {...readSelection(), domain})}, "The matrix"), " has all messages.")) : "";
    }
}

const hasWindows = profile => hasColumns(profile, "windows", ["window", "target", "domain", "name", ...windowFigures.map(({name}) => name)]);

async function showWindows(profile, place, options) {
    const pairs = hasColumns(profile, "pairs", ["source", "destination", "class", "domain", ...windowPairs.map(({name}) => name)]);
    const domains = hasColumns(profile, "communicators", ["domain", "name"]);
    const [windows, pairsTable, domainsTable] = await Promise.all([profile.table("windows"), pairs ? profile.table("pairs") : null,
        domains ? profile.table("communicators") : null]);
    new WindowsView(profile, {windows, pairs: pairsTable, domains: domainsTable}, options).place(place);
}
