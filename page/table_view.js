// SPDX-License-Identifier: BSD-3-Clause
// The last view: every table of the page, sorted by a column, filtered by an expression, copied as TSV.

const mostTableRows = 200;

class TableView {
    constructor(table, selection) {
        this.selection = selection;
        this.keys = ["context", "rank"].filter(key => table.has(key));
        Object.assign(this, {table, sort: null, reversed: false, filter: "", exact: false, most: mostTableRows});
        this.head = make("tr", {});
        this.body = make("tbody", {});
        this.said = make("p", {id: "rows", "aria-live": "polite"});
    }

    // Numbers of the rows that pass the filter, in order.
    rows() {
        const {table} = this;
        let rows = Array.from({length: table.rows}, (_, row) => row);
        if (this.filter) {
            let expression;
            try {
                expression = new RegExp(this.filter, "i");
            } catch {
                return [];
            }
            rows = rows.filter(row => table.columns.some((_, k) => expression.test(table.exact(row, k))));
        }
        if (this.sort !== null)
            rows.sort((a, b) => (this.reversed ? -1 : 1) * table.compare(this.sort, a, b));
        return rows;
    }

    tsv() {
        const lines = this.rows().map(row => this.table.columns.map((_, k) => this.table.exact(row, k)));
        return [this.table.columns.map(({name}) => name), ...lines].map(cells => cells.join("\t") + "\n").join("");
    }

    // Without the Clipboard API: pages that are opened from a disk may not have it.
    copy() {
        const text = make("textarea", {}, this.tsv());
        document.body.append(text);
        text.select();
        const done = document.execCommand("copy");
        text.remove();
        this.said.textContent = done ? "Copied." : "The browser refuses to copy.";
    }

    order(k) {
        this.reversed = this.sort === k && !this.reversed;
        this.sort = k;
        this.draw();
        this.head.children[k].firstChild.focus();
    }

    makeHeadCell({name, doc}, k) {
        const sorted = this.sort === k ? this.reversed ? "ascending" : "descending" : null;
        return make("th", {scope: "col", title: doc, "aria-sort": sorted},
            make("button", {type: "button", onclick: () => this.order(k)}, name));
    }

    // True if it is of the context and the rank that are selected.
    isSelected(row) {
        const known = this.keys.filter(key => this.selection[key]);
        return known.length > 0 && known.every(key => this.table.exact(row, key) === this.selection[key]);
    }

    select(row) {
        for (const key of this.keys)
            this.selection[key] = this.table.exact(row, key);
        remember(this.selection);
        for (const each of this.body.rows)
            each.setAttribute("aria-selected", String(this.isSelected(each.number)));
    }

    key(event, line) {
        const near = {ArrowDown: line.nextSibling, ArrowUp: line.previousSibling}[event.key];
        if (near)
            near.focus();
        else if (event.key === "Enter" || event.key === " ")
            this.select(line.number);
        else
            return;
        event.preventDefault();
    }

    // A row that has a context or a rank can be selected.
    makeRow(row) {
        const cells = this.table.columns.map((column, k) => this.makeCell(row, column, k));
        if (!this.keys.length)
            return make("tr", {}, cells);
        const line = make("tr", {tabindex: "0", "aria-selected": String(this.isSelected(row)),
            onclick: () => this.select(row), onkeydown: event => this.key(event, line)}, cells);
        line.number = row;
        return line;
    }

    makeCell(row, column, k) {
        return make("td", {class: column.type === "text" ? "text" : "number", title: cutText(this.table.exact(row, k))},
            makeText(this.exact ? this.table.exact(row, k) : this.table.shown(row, k)));
    }

    draw() {
        const rows = this.rows(), {table} = this;
        this.head.replaceChildren(...table.columns.map((column, k) => this.makeHeadCell(column, k)));
        this.body.replaceChildren(...rows.slice(0, this.most).map(row => this.makeRow(row)));
        this.said.textContent = `${Math.min(rows.length, this.most)} of ${table.rows} rows`;
        if (rows.length > this.most)
            this.said.append(" ", make("button", {type: "button", onclick: () => {
                this.most *= 10;
                this.draw();
            }}, "Show more"));
    }

    controls() {
        const filter = make("input", {type: "search", id: "search", placeholder: "expression",
            oninput: () => {
                this.filter = filter.value;
                this.draw();
            }});
        const exact = make("input", {type: "checkbox", id: "exact", onchange: () => {
            this.exact = exact.checked;
            this.draw();
        }});
        return [make("label", {}, "Filter ", filter), make("label", {}, exact, " exact values, as in tsv"),
            make("button", {type: "button", onclick: () => this.copy()}, "Copy as TSV")];
    }

    place(place, controls) {
        controls.append(...this.controls());
        place.append(make("p", {}, this.table.doc), this.said, make("div", {class: "scroll"},
            make("table", {id: "table"}, make("thead", {}, this.head), this.body)));
        this.most = Math.max(this.most, this.rows().findIndex(row => this.isSelected(row)) + 1);
        this.draw();
        this.body.querySelector("[aria-selected=true]")?.focus();
    }
}

async function showTables(profile, place, options) {
    const name = profile.byName.has(options.get("table")) ? options.get("table") : profile.byName.has("primitives") ? "primitives" : profile.tables[0].name;
    const names = profile.tables.map(table => [table.name, `${table.name} (${table.rows})`]);
    const controls = make("p", {class: "controls"}, makeChoice("Table", names, name,
        chosen => location.hash = addressOf("tables", {table: chosen, ...readSelection()})));
    place.append(controls);
    new TableView(await profile.table(name), readSelection()).place(place, controls);
}
