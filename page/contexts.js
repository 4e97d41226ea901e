// SPDX-License-Identifier: BSD-3-Clause
// The second view: the tree of contexts as a table whose rows open and close, and as a picture.

const firstTreeRows = 100, mostInTitle = 20, mostIndent = 16; // em

// The indent of a row in em, which grows less and less, so that names of a deep recursion stay in the window.
const indentOf = level => mostIndent * level / (mostIndent + level);

const shareOf = (part, whole) => percentText(1e5 * part / whole);

class ContextView {
    constructor(whole, options) {
        this.whole = whole;
        this.shape = treeShapes.some(([name]) => name === options.get("shape")) ? options.get("shape") : "tree";
        this.most = firstTreeRows;
        this.expressions = {};
        for (const name of ["search", "focus", "ignore", "least"])
            this[name] = options.get(name) || "";
        this.printed = options.has("printed"); // without controls, and nothing is chosen
        this.wanted = options.get("metric") || (whole.computing > (whole.figures.mpi || 0) ? "cpu" : null);
        this.colour = treeColours[options.get("colour")] ? options.get("colour") : "function";
        this.head = make("tr", {});
        this.icicle = new Icicle({onselect: node => this.select(node, {preventScroll: true}), // it may be clicked twice
            ondraw: () => this.drawPicture(), tell: node => this.tellBar(node)});
        this.arrange(options.get("context"), options.get("zoom"));
        this.unknown = unknownNodes(this.root, options, {context: "the whole run is chosen", zoom: "the picture has all"});
        this.details = make("div", {id: "details", "aria-live": "polite"});
        this.body = make("tbody", {});
        this.left = make("p", {id: "left-out"});
        this.wrong = make("p", {id: "wrong", "aria-live": "polite"});
        this.legend = make("p", {class: "legend"});
        this.colourKey = make("p", {class: "legend colours", id: "colours"});
        this.thin = make("p", {class: "legend", id: "thin"});
        this.matched = make("p", {id: "matched", "aria-live": "polite"});
    }

    // The chosen metric; if the tree does not have it, the time to which it belongs.
    get metric() {
        const {metrics} = this.root, find = wanted => metrics.find(({name}) => name === wanted);
        return find(this.wanted) || find(this.chosen?.spread) || metrics[0] || {};
    }

    get chosen() {
        return this.whole.metrics.find(({name}) => name === this.wanted);
    }

    // The name of the metric by which rows are ordered. Flat rows only have their own order.
    get order() {
        return this.shape === "flat" ? this.metric.name : orderOf(this.root, this.metric);
    }

    // The names of figures of which a row needs the least share in one, if small rows are hidden.
    get compared() {
        const times = ["mpi", "cpu"].filter(name => this.printed && this.root.figures[name]);
        return times.length ? times : [this.order];
    }

    // The metrics that have a column; the chosen one comes first, because screens may be narrow.
    get columns() {
        const {metric} = this;
        return metric.name ? [metric, ...this.root.metrics.filter(each => !each.extra && each !== metric)] : [];
    }

    // The figure of which those of the chosen metric are shares; undefined: they are shares of nothing.
    get sharedBy() {
        const {metric: {name, way = "sum"}, root: {figures}} = this;
        return name === "cpu_self" ? figures.cpu : way === "sum" ? figures[name] : undefined;
    }

    // Makes the chosen shape of the tree, and selects the node with this key in it. Its picture has the node with the other
    // key at its top.
    arrange(key, top) {
        this.root = arrangeTree(this.whole, this);
        this.icicle.begin(this.root, top);
        this.closed = new Set();
        this.unfolded = new Set();
        this.selected = this.root.nodeOf(key) || this.root;
    }

    change(what) {
        const {metric, ...rest} = what;
        Object.assign(this, rest);
        this.wanted = metric || this.wanted;
        remember(what);
        if ("shape" in what || "focus" in what || "ignore" in what)
            this.arrange(this.selected.key());
        if ("colour" in what)
            this.drawPicture();
        else
            this.draw();
        remember({zoom: this.icicle.top.key()}); // another tree or metric may not have it
    }

    makeExpression(name, label, event) {
        const input = this.expressions[name] = make("input", {type: "search", id: name, value: this[name],
            placeholder: "expression", [event]: () => this.change({[name]: input.value})});
        return make("label", {}, label + " ", input);
    }

    makeControls() {
        return make("p", {class: "controls"},
            makeChoice("Show", treeShapes, this.shape, shape => this.change({shape})),
            this.choice = makeChoice("by", this.whole.metrics.map(({name, head}) => [name, head]), this.metric.name,
                metric => this.change({metric})),
            makeChoice("hide", [["", "nothing"], ["0.1", "below 0.1 %"], ["1", "below 1 %"], ["5", "below 5 %"]],
                this.least, least => this.change({least})),
            this.colourChoice = makeChoice("colour",
                Object.entries(treeColours).map(([name, {title}]) => [name, title]), this.colour,
                colour => this.change({colour})),
            this.makeExpression("search", "Search", "oninput"),
            this.makeExpression("focus", "Focus", "onchange"),
            this.makeExpression("ignore", "Ignore", "onchange"),
            make("button", {type: "button", onclick: () => this.closeAll()}, "Close all"),
            make("button", {type: "button", onclick: () => this.openAll()}, "Open all"));
    }

    place(place) {
        place.append(
            ...this.unknown, this.makeControls(), this.wrong,
            make("div", {class: "picture"}, this.icicle.canvas), this.icicle.zoomed, this.matched, this.colourKey, this.thin,
            this.details,
            this.legend,
            make("div", {class: "scroll"},
                make("table", {role: "treegrid", id: "tree"}, make("thead", {}, this.head), this.body)),
            this.left);
        if (this.selected === this.root)
            this.draw();
        else
            this.reveal();
        redraws.push(() => this.drawPicture());
    }

    // Functions of a flat list overlap: they have no picture.
    drawPicture() {
        const colours = treeColours[this.colour];
        for (const each of [this.icicle.canvas, this.icicle.zoomed, this.colourKey, this.thin, this.colourChoice])
            each.hidden = this.shape === "flat";
        if (this.shape === "flat")
            return;
        this.icicle.draw(this.order, this.selected, node => colours.of(node, this.root, this.metric),
            node => this.found !== null && !this.found.has(node));
        const {leftOut, isDeep} = this.icicle;
        this.thin.textContent = leftOut ? `The picture leaves out ${counted(leftOut, "bar")} ` +
            `narrower than ${100 * leastBar} % of it${isDeep ? ` or below its ${mostBarRows} rows` : ""}.` : "";
        this.colourKey.replaceChildren(...colours.key(this.root).map(([colour, text]) => makeKey(colour, text)));
    }

    // "MPI time: 1.234 s, 12.3 % of all; own 0.123 s". The bars below one have its callers if the tree is bottom-up.
    tellBar(node) {
        const {root, order} = this, {type, head} = root.metrics.find(({name}) => name === order), value = node.figures[order];
        const own = [...node.children.values()].reduce((left, {figures}) => left - (figures[order] || 0), value);
        return `${head}: ${forPeople(type, value)}, ${shareOf(value, root.figures[order])} of all` +
            (this.shape === "tree" ? `; own ${forPeople(type, Math.max(0, own))}` : "");
    }

    // The figures of what the search has found. Functions of a flat list overlap: they have no sum.
    tellMatched() {
        const {root, order, found} = this, metric = root.metrics.find(({name}) => name === order);
        if (!found?.size)
            return "";
        const covered = new Set();
        let sum = 0;
        root.each(node => {
            if (covered.has(node.parent) || found.has(node.parent))
                covered.add(node);
            else if (found.has(node))
                sum += node.figures[order] || 0;
        });
        const nested = [...found].some(node => covered.has(node));
        return `The search matches ${counted(found.size, "context")}` + (this.shape === "flat" || !root.figures[order] ? "." :
            `: ${metric.head} ${forPeople(metric.type, sum)}, ${shareOf(sum, root.figures[order])} of all` +
            (nested ? "; one below another counts once." : "."));
    }

    // Parts and other shapes of the tree have no spreads, and one rank has none.
    hasSpreads() {
        return this.root === this.whole && this.root.ranks > 1;
    }

    drawHead() {
        const heads = this.columns.map(({head}) => head);
        if (this.sharedBy)
            heads.splice(1, 0, "share");
        this.head.replaceChildren(make("th", {scope: "col"}, "context"),
            ...heads.map(head => make("th", {scope: "col", class: "number"}, head)));
        if (this.hasSpreads())
            this.head.append(make("th", {scope: "col", title: "From rank to rank; a bar is the greatest of its ranks."},
                spreadNames[this.metric.spread] + " over ranks"));
    }

    closeNodes() {
        this.root.each(node => node !== this.root && node.children.size && this.closed.add(node));
    }

    closeAll() {
        this.closeNodes();
        this.unfolded.clear();
        this.draw();
    }

    openAll() {
        this.closed.clear();
        this.root.each(node => this.unfolded.add(node));
        this.draw();
    }

    // Marks existing rows; rows are made only if the tree changes.
    select(node, focus) {
        this.selected = node;
        remember({context: node.key()});
        const row = this.rowOf(node);
        if (!row)
            return this.reveal(focus);
        for (const each of this.body.rows)
            each.setAttribute("aria-selected", String(each === row));
        row.focus(focus);
        this.drawPicture();
        this.drawDetails();
    }

    rowOf(node) {
        return [...this.body.rows].find(row => row.node === node);
    }

    // Opens the rows above the selected row, closes the others if it would be too far down, and scrolls there.
    reveal(focus) {
        const open = () => {
            for (let up = this.selected.parent; up; up = up.parent)
                this.closed.delete(up);
        };
        open();
        if (this.visible().indexOf(this.selected) >= this.most) {
            this.closeNodes();
            open();
            this.most = Math.max(this.most, this.visible().indexOf(this.selected) + 1);
        }
        this.draw();
        this.rowOf(this.selected)?.focus(focus);
    }

    // Nodes with a figure, each followed by its open children; with a search the matching nodes and those above them.
    visible() {
        const rows = [], wanted = this.matches(), {order} = this;
        const least = this.compared.map(name => [name, this.least / 100 * (this.root.figures[name] || 0)]);
        const next = this.root.metrics.length ? [this.root] : [];
        this.folds = new Map();
        this.levels = new Map([[this.root, 0]]); // of rows
        for (let node; (node = next.pop()); ) {
            if (wanted && !wanted.has(node) || least.every(([name, part]) => (node.figures[name] || 0) < part))
                continue;
            rows.push(node);
            const chain = wanted ? [node] : this.chainOf(node);
            if (chain.length > 1)
                this.folds.set(node, chain);
            const children = wanted || !this.closed.has(node) ? chain.at(-1).by(order) : noNodes;
            for (let i = children.length - 1; i >= 0; i--) {
                next.push(children[i]);
                this.levels.set(children[i], this.levels.get(node) + 1);
            }
        }
        return rows;
    }

    // Nodes from a node on that share a row: the table `nodes` says which, by time; other figures may be elsewhere. The
    // chosen one has its own row.
    chainOf(node) {
        const chain = [node], {order} = this;
        const isOne = each => each && each !== this.selected && !this.unfolded.has(each) &&
            (each.figures[order] || 0) >= 0.99 * [...each.parent.children.values()].reduce((sum, {figures}) => sum + (figures[order] || 0), 0);
        if (this.root === this.whole && !this.unfolded.has(node))
            for (let next = node.joined; isOne(next); next = next.joined)
                chain.push(next);
        return chain;
    }

    // "… 3 frames of libc.so.6", "fib, task × 12 frames", "fall × 4 times"
    chainText(chain) {
        const passer = this.root.nodes.exact(chain[0].row, "passer"), n = grouped(chain.length);
        if (passer)
            return `… ${n} frames of ${passer}`;
        const firsts = chain.filter(({label}, i) => chain.findIndex(each => each.label === label) === i);
        return `${firsts.map(each => each.shownName()).join(", ")} × ${n} ${firsts.length > 1 ? "frames" : "times"}`;
    }

    matches() {
        const expression = readExpression(this.search);
        this.found = expression && new Set(); // nodes that match
        if (!expression)
            return null;
        const wanted = new Set(), known = new Map(); // by labels, which many nodes share
        const matches = label => known.get(label) ??
            known.set(label, expression.test(label) || expression.test(placesOf(label, true))).get(label);
        this.root.each(node => {
            if (!matches(node.label))
                return;
            this.found.add(node);
            for (let up = node; up && !wanted.has(up); up = up.parent)
                wanted.add(up);
        });
        return wanted;
    }

    draw() {
        const rows = this.visible();
        drawExpressions(Object.values(this.expressions), this.wrong);
        this.drawHead();
        this.body.replaceChildren(...rows.slice(0, this.most).map(node => this.makeRow(node)));
        const more = rows.length - this.most;
        this.left.replaceChildren(more > 0 ? `${grouped(more)} more rows are not shown: search, or close rows. `
            : rows.length ? "" : "Nothing matches.", more > 0 ? make("button", {type: "button", onclick: () => {
                this.most *= 5;
                this.draw();
            }}, "Show more") : "");
        this.choice.querySelector("select").value =
            (this.metric.name ? this.metric : this.chosen || this.whole.metrics[0]).name;
        this.matched.textContent = this.tellMatched();
        this.legend.textContent = this.legendText();
        this.drawPicture();
        this.drawDetails();
    }

    // Explains the figures of a row, the order of rows if it is not by the metric: estimates of parts do not add up.
    legendText() {
        const {metric, order, chosen} = this;
        const by = this.root.metrics.find(({name}) => name === order);
        return shapeLegends[this.shape] +
            (chosen && chosen.name !== metric.name ? ` There is no ${chosen.head} here: ${metric.head || "nothing"} is shown.` : "") +
            (this.sharedBy ? ` Shares are of the first row's ${metric.name === "cpu_self" ? "CPU time" : metric.head}.` : "") +
            (metric.way === "alone" ? ` ${metric.head} is that of the row alone.` : "") +
            (metric.way === "max" || metric.way === "min" ? ` ${metric.head} is the ${metric.way} of them.` : "") +
            (by && by !== metric ? ` ${by.head} orders the rows and sets the width of the bars.` : "") +
            (this.printed ? "" : " For the chosen row, the lines of its calls are listed above.");
    }

    makeRow(node) {
        const parent = node.children.size > 0, open = !this.closed.has(node), chain = this.folds.get(node), level = this.levels.get(node);
        const label = make("td", {class: "label", title: cutText(placesOf(node.label, true))},
            make("span", {class: "mark", "aria-hidden": "true"}, parent ? open ? "▾" : "▸" : ""),
            chain ? this.makeFold(node, chain) : makeText(node.shownName()));
        label.style.setProperty("--indent", indentOf(level) + "em");
        const row = make("tr", {tabindex: "0", "aria-level": level + 1,
            "aria-expanded": parent ? String(open) : null, "aria-selected": String(node === this.selected),
            onclick: () => node === this.selected && parent ? this.toggle(node) : this.select(node),
            onkeydown: event => this.key(event, node, row)},
            label, this.makeFigures(node),
            this.hasSpreads() ? this.makeSpreadCell(node) : null);
        row.node = node;
        return row;
    }

    // A button that gives each frame of a chain a row of its own.
    makeFold(node, chain) {
        return make("button", {type: "button", class: "link fold", title: cutText(chain.slice(0, mostInTitle).map(each => each.shownName()).join(pathSeparator)),
            onclick: event => {
                event.stopPropagation();
                chain.forEach(each => this.unfolded.add(each));
                this.draw();
                this.rowOf(node).focus();
            }}, makeName(this.chainText(chain)));
    }

    makeFigures(node) {
        const cells = this.columns.map(metric => this.makeFigure(node, metric)), {sharedBy} = this, value = node.figures[this.metric.name];
        if (sharedBy)
            cells.splice(1, 0, make("td", {class: "number share"}, value === undefined ? "" : shareOf(value, sharedBy)));
        return cells;
    }

    makeFigure(node, metric) {
        const value = node.figures[metric.name];
        if (value === undefined)
            return make("td", {class: "number"});
        return make("td", {class: "number", title: exactly(metric.type, value)}, tellFigure(this.root, node, metric));
    }

    makeSpreadCell(node) {
        const spread = readSpread(this.root.nodes, node, this.metric.spread);
        return make("td", {class: "over-ranks"}, spread ? makePicture(spread.picture, spreadText(spread)) : "");
    }

    toggle(node) {
        if (!this.closed.delete(node))
            this.closed.add(node);
        this.selected = node;
        remember({context: node.key()});
        this.reveal();
    }

    key(event, node, row) {
        const near = {ArrowDown: row.nextSibling, ArrowUp: row.previousSibling}[event.key];
        if (near)
            near.focus();
        else if (event.key === "ArrowLeft" && node.children.size && !this.closed.has(node))
            this.toggle(node);
        else if (event.key === "ArrowLeft" && node.parent)
            this.select(node.parent);
        else if (event.key === "ArrowRight" && this.closed.has(node))
            this.toggle(node);
        else if ((event.key === "Enter" || event.key === " ") && event.target === row)
            if (event.key === "Enter" && node === this.selected && this.shape !== "flat")
                this.icicle.zoom(node);
            else
                this.select(node);
        else
            return;
        event.preventDefault();
    }

    drawDetails() {
        const contexts = this.root.contexts, node = this.selected;
        this.details.replaceChildren(
            make("p", {class: "path"}, makeText(placesOf(node.path, true) || "the whole run")),
            this.hasSpreads() ? makeSpreadDetails(this.root.nodes, node, this.metric.spread,
                node.figures[this.metric.spread]) : "",
            make("ul", {}, node.rows.map(row => make("li", {},
                makeText(placesOf(contexts.exact(row, "path"), true)), `: ${counted(contexts.exact(row, "calls"), "call")}, ` +
                `${contexts.shown(row, "time_s")}, mean ${contexts.shown(row, "mean_s")}`, this.makeSpread(contexts, row)))),
            this.makeOwn(node));
    }

    // A sentence on the CPU time in the function itself.
    makeOwn({samples}) {
        const {computation} = this.root;
        if (samples === null || this.root !== this.whole || !computation.number(samples, "cpu_exclusive_s"))
            return "";
        return make("p", {class: "samples"}, "CPU time of its own, by samples: ",
            make("span", {class: "own", title: computation.exact(samples, "cpu_exclusive_s")},
                computation.shown(samples, "cpu_exclusive_s")), this.makeSpread(computation, samples));
    }

    // The number of ranks, and those with the least and the greatest value, as links. One rank has one value.
    makeSpread(table, row) {
        const link = rank => make("a", {href: addressOf("ranks", {...readSelection(), rank})}, "rank " + rank);
        const count = table.exact(row, "ranks"), only = table.exact(row, "min_rank");
        if (count === "1" && only !== "")
            return [", on ", link(only)];
        return [`, on ${counted(count, "rank")}`,
            ...[["least", "rank_min_s", "min_rank"], ["most", "rank_max_s", "max_rank"]].map(([word, time, rank]) =>
                table.exact(row, rank) === "" ? "" : [`; ${word} `,
                    make("span", {class: word, title: table.exact(row, time)}, table.shown(row, time)), " on ",
                    link(table.exact(row, rank))]).flat()];
    }
}

async function showContexts(profile, place, options) {
    const root = await readContextTree(profile);
    place.append(makeWithoutOpen(await profile.openCalls()));
    if (!root.metrics.length) {
        place.append(make("p", {}, await tellNoContexts(profile)));
        return;
    }
    new ContextView(root, options).place(place);
}
