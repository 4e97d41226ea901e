// SPDX-License-Identifier: BSD-3-Clause
// The last view: every table of the report, sorted by a column, filtered by an expression, copied as TSV.

const mostTableRows = 1000;

class TableView {
    constructor(table) {
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

    makeCell(row, column, k) {
        return make("td", {class: column.type === "text" ? "text" : "number", title: this.table.exact(row, k)},
            this.exact ? this.table.exact(row, k) : this.table.shown(row, k));
    }

    draw() {
        const rows = this.rows(), {table} = this;
        this.head.replaceChildren(...table.columns.map((column, k) => this.makeHeadCell(column, k)));
        this.body.replaceChildren(...rows.slice(0, this.most).map(row =>
            make("tr", {}, table.columns.map((column, k) => this.makeCell(row, column, k)))));
        this.said.textContent = `${Math.min(rows.length, this.most)} of ${table.rows} rows`;
        if (rows.length > this.most)
            this.said.append(" ", make("button", {type: "button", onclick: () => {
                this.most *= 10;
                this.draw();
            }}, "Show more"));
    }

    controls() {
        const filter = make("input", {type: "search", id: "search", placeholder: "a regular expression",
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
        this.draw();
    }
}

async function showTables(profile, place, options) {
    const name = profile.byName.has(options.get("table")) ? options.get("table") : "primitives";
    const names = profile.tables.map(table => [table.name, `${table.name} (${table.rows})`]);
    const controls = make("p", {class: "controls"}, makeChoice("Table", names, name,
        chosen => location.hash = "tables&table=" + encodeURIComponent(chosen)));
    place.append(controls);
    new TableView(await profile.table(name)).place(place, controls);
}
