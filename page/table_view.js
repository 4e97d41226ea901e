// SPDX-License-Identifier: BSD-3-Clause
// The last view: every table of the page, sorted by a column, filtered by an expression, copied as TSV.

const mostTableCells = 1500, sliceMs = 40; // a page answers keys after each slice of its work

// The first `most` of the rows, in order.
function firstOf(rows, most, compare) {
    let best = [], full = false;
    for (const row of rows) {
        if (full && compare(row, best[most - 1]) > 0)
            continue;
        best.push(row);
        if (best.length >= 2 * most) {
            best = best.sort(compare).slice(0, most);
            full = true;
        }
    }
    return best.sort(compare).slice(0, most);
}

class TableView {
    constructor(table, selection, options) {
        this.selection = selection;
        this.keys = ["context", "rank"].filter(key => table.has(key));
        Object.assign(this, {table, sort: table.find(options.get("sort")) ?? null, reversed: options.get("reversed") === "yes",
            filter: options.get("search") || "", exact: options.get("exact") === "yes", from: 0,
            most: Math.ceil(mostTableCells / table.columns.length)});
        this.head = make("tr", {});
        this.body = make("tbody", {});
        this.said = make("p", {id: "rows", "aria-live": "polite"});
        this.copied = make("span", {role: "status"});
        this.wrong = make("p", {id: "wrong", "aria-live": "polite"});
    }

    // A function that is true if a row passes the filter. One that is not valid is not used.
    makeFilter() {
        const {table} = this, expression = readExpression(this.filter);
        if (!expression)
            return () => true;
        const matchers = table.columns.map((_, k) => table.matcher(k, expression));
        return row => matchers.some(matches => matches(row));
    }

    makeOrder() {
        const compare = this.table.comparer(this.sort);
        return this.reversed ? (a, b) => compare(b, a) : compare;
    }

    // Calls `use` with the numbers of the first `most` rows that pass the filter, in order, unless another search has
    // begun by then. Searches in slices.
    search(most, use) {
        const {table} = this, passes = this.makeFilter(), rows = [], search = this.searching = {};
        const enough = this.sort === null ? most : Infinity;
        let row = this.from;
        const look = () => {
            const end = performance.now() + sliceMs;
            do
                for (const next = Math.min(row + 256, table.rows); row < next && rows.length < enough; row++)
                    if (passes(row))
                        rows.push(row);
            while (row < table.rows && rows.length < enough && performance.now() < end);
            if (row < table.rows && rows.length < enough) {
                this.said.textContent = "Searching.";
                setTimeout(() => this.searching === search && look());
            } else
                use(this.sort === null ? rows : firstOf(rows, most, this.makeOrder()));
        };
        look();
    }

    tsv() {
        const {table} = this, rows = Array.from({length: table.rows}, (_, row) => row).filter(this.makeFilter());
        if (this.sort !== null)
            rows.sort(this.makeOrder());
        const lines = rows.map(row => table.columns.map((_, k) => table.exact(row, k)));
        return [table.columns.map(({name}) => name), ...lines].map(cells => cells.join("\t") + "\n").join("");
    }

    // Works without the Clipboard API, which pages opened from a disk may not have.
    copy() {
        const text = make("textarea", {}, this.tsv());
        document.body.append(text);
        text.select();
        const done = document.execCommand("copy");
        text.remove();
        this.copied.textContent = done ? " Copied." : " The browser refuses to copy.";
    }

    order(k) {
        this.reversed = this.sort === k && !this.reversed;
        this.sort = k;
        this.from = 0;
        remember({sort: this.table.columns[k].name, reversed: this.reversed ? "yes" : null});
        this.draw();
        this.head.children[k].firstChild.focus();
    }

    // Texts are sorted from the least on, numbers from the greatest on, unless the order is reversed.
    makeHeadCell({name, doc, type}, k) {
        const rises = (type === "text") !== this.reversed;
        const sorted = this.sort === k ? rises ? "ascending" : "descending" : null;
        return make("th", {scope: "col", class: type === "text" ? null : "number", title: doc, "aria-sort": sorted},
            make("button", {type: "button", onclick: () => this.order(k)}, name));
    }

    // True if the row belongs to the selected context and rank.
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
        else if ((event.key === "Enter" || event.key === " ") && event.target === line)
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
        drawExpressions([this.input], this.wrong);
        this.head.replaceChildren(...this.table.columns.map((column, k) => this.makeHeadCell(column, k)));
        this.search(this.most + 1, rows => this.drawRows(rows.slice(0, this.most), rows.length > this.most));
    }

    drawRows(rows, more) {
        const button = (text, change) => [" ", make("button", {type: "button", onclick: () => {
            change();
            this.draw();
        }}, text)];
        this.body.replaceChildren(...rows.map(row => this.makeRow(row)));
        [...this.head.children].forEach((cell, k) => cell.style.setProperty("--longest",
            [...this.body.rows].reduce((most, row) => Math.max(most, row.cells[k].textContent.length), 0)));
        this.said.replaceChildren(`${grouped(rows.length)} of ${counted(this.table.rows, "row")}`,
            ...this.from ? [`, from row ${grouped(this.from + 1)} on`, ...button("Show the first", () => this.from = 0)] : [],
            ...more ? button("Show more", () => this.most *= 10) : []);
    }

    // The first row of all, or one a little above the selected row, if that would not be shown otherwise.
    firstShown() {
        let row = 0;
        if (!this.keys.some(key => this.selection[key]))
            return 0;
        while (row < this.table.rows && !this.isSelected(row))
            row++;
        return row < this.most || row === this.table.rows ? 0 : row - Math.floor(this.most / 2);
    }

    controls() {
        const filter = this.input = make("input", {type: "search", id: "search", placeholder: "expression", value: this.filter,
            oninput: () => {
                this.filter = filter.value;
                this.from = 0;
                this.copied.textContent = "";
                remember({search: this.filter});
                this.draw();
            }});
        const exact = make("input", {type: "checkbox", id: "exact", checked: this.exact, onchange: () => {
            this.exact = exact.checked;
            remember({exact: this.exact ? "yes" : null});
            this.draw();
        }});
        return [make("label", {}, "Filter ", filter), make("label", {}, exact, " exact values, as in tsv"),
            make("span", {}, make("button", {type: "button", onclick: () => this.copy()}, "Copy as TSV"), this.copied)];
    }

    place(place, controls) {
        controls.append(...this.controls());
        place.append(make("p", {}, this.table.doc), this.wrong, this.said, make("div", {class: "scroll"},
            make("table", {id: "table"}, make("thead", {}, this.head), this.body)));
        this.from = this.filter || this.sort !== null ? 0 : this.firstShown();
        this.draw();
        this.body.querySelector("[aria-selected=true]")?.focus();
    }
}

// Tables that other views are made from, which `pcollect report` does not have. An address may name them.
const tablesOfViews = new Set(["nodes", "rank,primitive", "rank,context", "instruction_figures", "called", "read_lines", "curves"]);

async function showTables(profile, place, options) {
    const wanted = options.get("table"), name = profile.byName.has(wanted) ? wanted : profile.byName.has("primitives") ? "primitives" : profile.tables[0].name;
    const names = profile.tables.filter(table => table.name === name || table.rows && !tablesOfViews.has(table.name))
        .map(table => [table.name, `${table.name} (${grouped(table.rows)})`]);
    const empty = profile.tables.filter(table => !table.rows && !tablesOfViews.has(table.name));
    const controls = make("p", {class: "controls"}, makeChoice("Table", names, name,
        chosen => location.hash = addressOf("tables", {table: chosen, ...readSelection()})));
    place.append(controls, wanted && wanted !== name ? makeUnknown("table", `The page has no table ${wanted}. The list above has its tables, and ${name} is shown.`) : "");
    new TableView(await profile.table(name), readSelection(), options).place(place, controls);
    if (empty.length)
        place.append(make("details", {id: "empty"}, make("summary", {}, `${counted(empty.length, "table")} without rows: this run has nothing of the kind, or it was not collected`),
            make("ul", {}, empty.map(({name, doc}) => make("li", {}, make("a", {href: addressOf("tables", {table: name, ...readSelection()})}, name), ": " + doc)))));
}
