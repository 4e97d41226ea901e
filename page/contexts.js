// SPDX-License-Identifier: BSD-3-Clause
// The second view: the tree of contexts as a table that opens and closes, and as a picture.

const mostTreeRows = 2000;

class ContextView {
    constructor(root, options) {
        this.root = root;
        this.metric = root.metrics.some(metric => metric.name === options.get("metric"))
            ? options.get("metric") : root.metrics[0].name;
        this.search = options.get("search") || "";
        this.closed = new Set();
        this.selected = root.byKey.get(options.get("context") || "") || root;
        this.icicle = new Icicle(node => this.select(node));
        this.details = make("div", {id: "details", "aria-live": "polite"});
        this.body = make("tbody", {});
        this.left = make("p", {id: "left-out"});
    }

    makeSearch() {
        return make("input", {type: "search", id: "search", value: this.search,
            placeholder: "a regular expression", oninput: event => {
                this.search = event.target.value;
                remember({search: this.search});
                this.draw();
            }});
    }

    place(place) {
        const choice = makeChoice("Width and order by", this.root.metrics.map(({name, head}) => [name, head]),
            this.metric, metric => {
                this.metric = metric;
                remember({metric});
                this.draw();
            });
        place.append(
            make("p", {class: "controls"}, choice, make("label", {}, "Search ", this.makeSearch()),
                make("button", {type: "button", onclick: () => this.closeAll()}, "Close all"),
                make("button", {type: "button", onclick: () => this.openAll()}, "Open all")),
            make("div", {class: "picture"}, this.icicle.canvas),
            this.details,
            make("p", {class: "legend"}, "A row has the figures of all that was called from it. Lines of calls are " +
                "told below the picture, of the row that is chosen."),
            make("div", {class: "scroll"}, make("table", {role: "treegrid", id: "tree"}, this.makeHead(), this.body)),
            this.left);
        this.draw();
        if (this.selected !== this.root)
            this.reveal();
        window.onresize = () => this.icicle.draw(this.root, this.metric, this.selected);
    }

    makeHead() {
        return make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "context"),
            this.root.metrics.map(({head}) => make("th", {scope: "col", class: "number"}, head))));
    }

    closeNodes() {
        this.root.each(node => node !== this.root && node.children.size && this.closed.add(node));
    }

    closeAll() {
        this.closeNodes();
        this.draw();
    }

    openAll() {
        this.closed.clear();
        this.draw();
    }

    select(node) {
        this.selected = node;
        remember({context: node.key()});
        this.reveal();
    }

    // Opens what leads to the selected row, closes the rest if it stands too far down, and goes there.
    reveal() {
        const open = () => {
            for (let up = this.selected.parent; up; up = up.parent)
                this.closed.delete(up);
        };
        open();
        if (this.visible().indexOf(this.selected) >= mostTreeRows) {
            this.closeNodes();
            open();
        }
        this.draw();
        [...this.body.rows].find(row => row.node === this.selected)?.focus();
    }

    // Nodes with a figure, below each what it called; with a search those that match, and what leads there.
    visible() {
        const rows = [], wanted = this.matches();
        const visit = node => {
            if (wanted && !wanted.has(node))
                return;
            rows.push(node);
            if (wanted || !this.closed.has(node))
                node.by(this.metric).forEach(visit);
        };
        visit(this.root);
        return rows;
    }

    matches() {
        if (!this.search)
            return null;
        let expression;
        try {
            expression = new RegExp(this.search, "i");
        } catch {
            return new Set();
        }
        const wanted = new Set();
        this.root.each(node => {
            if (expression.test(node.label))
                for (let up = node; up; up = up.parent)
                    wanted.add(up);
        });
        return wanted;
    }

    draw() {
        const rows = this.visible();
        this.body.replaceChildren(...rows.slice(0, mostTreeRows).map(node => this.makeRow(node)));
        const more = rows.length - mostTreeRows;
        this.left.textContent = more > 0 ? `${more} more rows are not shown: search, or close rows.`
            : rows.length ? "" : "Nothing matches.";
        this.icicle.draw(this.root, this.metric, this.selected);
        this.drawDetails();
    }

    makeRow(node) {
        const parent = node.children.size > 0, open = !this.closed.has(node);
        const label = make("td", {class: "label"},
            make("span", {class: "mark", "aria-hidden": "true"}, parent ? open ? "▾" : "▸" : ""), node.label);
        label.style.paddingLeft = node.level + "em";
        const row = make("tr", {tabindex: "0", "aria-level": node.level + 1, "data-path": node.path,
            "aria-expanded": parent ? String(open) : null, "aria-selected": String(node === this.selected),
            onclick: () => node === this.selected && parent ? this.toggle(node) : this.select(node),
            onkeydown: event => this.key(event, node, row)},
            label, this.root.metrics.map(metric => this.makeFigure(node, metric)));
        row.node = node;
        return row;
    }

    makeFigure(node, metric) {
        const value = node.figures[metric.name];
        if (value === undefined)
            return make("td", {class: "number"});
        const error = metric.name === "cpu" && node.error && node.error !== "-"
            ? node.error === "few" ? " few" : " ± " + node.error : "";
        return make("td", {class: "number", title: exactly(metric.type, value)},
            forPeople(metric.type, value) + error);
    }

    toggle(node) {
        if (!this.closed.delete(node))
            this.closed.add(node);
        this.select(node);
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
        else if (event.key === "Enter" || event.key === " ")
            this.select(node);
        else
            return;
        event.preventDefault();
    }

    drawDetails() {
        const contexts = this.root.contexts, node = this.selected;
        this.details.replaceChildren(
            make("p", {class: "path"}, node.path || "the whole run"),
            make("ul", {}, node.rows.map(row => make("li", {},
                `${contexts.exact(row, "path")}: ${contexts.shown(row, "calls")} calls, ` +
                `${contexts.shown(row, "time_s")}, mean ${contexts.shown(row, "mean_s")}, ` +
                `on ${contexts.shown(row, "ranks")} ranks`))));
    }
}

async function showContexts(profile, place, options) {
    const root = await readContextTree(profile);
    if (!root.metrics.length) {
        place.append(make("p", {}, "The profile has no contexts: no MPI function was called and nothing was sampled."));
        return;
    }
    new ContextView(root, options).place(place);
}
