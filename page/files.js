// SPDX-License-Identifier: BSD-3-Clause
// The view of files (table `files`, of the plugin object): each file with its calls, bytes, time and rate, and below it
// the contexts of the chosen one. Figures are sums over all ranks.

const fileFigures = [
    {name: "time", head: "time in calls", type: "ns"},
    {name: "calls", head: "calls", type: "count"},
    {name: "bytes_read", head: "read", type: "bytes"},
    {name: "bytes_written", head: "written", type: "bytes"},
    {name: "collective", head: "collective calls", type: "count"},
    {name: "collective_time", head: "time in collective calls", type: "ns"}
];
const fileParts = [["bytes_read", "--colour0"], ["bytes_written", "--colour1"]];
const mostFiles = 50;

// Calls that return before their bytes are moved, or begin or end what is moved meanwhile: their time tells no rate.
const isApart = label => /^MPI_File_(i(read|write)|.*_(begin|end)$)/.test(partsOf(label)[0]);

// {rows, and the sum of each figure} of these rows of a table.
function sumRows(table, rows, figures) {
    const sums = {rows};
    for (const {name} of figures)
        sums[name] = rows.reduce((sum, row) => sum + (table.number(row, name) || 0), 0);
    return sums;
}

// {name, rows, apart, and the sum of each figure} of these rows of the table of files.
function addRows(table, name, rows) {
    return {...sumRows(table, rows, fileFigures), name, apart: rows.some(row => isApart(table.lastLabel(row, "context")))};
}

// Lists of rows by what a function gives for them, in the order of their first rows.
function groupBy(rows, keyOf) {
    const groups = new Map();
    for (const row of rows) {
        const key = keyOf(row);
        if (!groups.has(key))
            groups.set(key, []);
        groups.get(key).push(row);
    }
    return groups;
}

// The folder, with a / at its end, that all of these paths are in; "": none.
function sharedFolder(paths) {
    let shared = paths[0].slice(0, paths[0].lastIndexOf("/") + 1);
    while (!paths.every(path => path.startsWith(shared)))
        shared = shared.slice(0, shared.lastIndexOf("/", shared.length - 2) + 1);
    return shared;
}

class FilesView {
    constructor(table, options) {
        this.table = table;
        this.files = [...groupBy(rowsOf(table), row => table.exact(row, "file"))].map(([name, rows]) => addRows(table, name, rows));
        Object.assign(this, {order: fileFigures.some(({name}) => name === options.get("order")) ? options.get("order") : "time",
            search: options.get("search") || "", most: mostFiles});
        this.folder = sharedFolder(this.files.map(({name}) => name));
        this.selected = this.files.find(({name}) => name === options.get("file"));
        this.wrong = make("p", {"aria-live": "polite"});
        this.said = make("p", {class: "legend", id: "files-shown", "aria-live": "polite"});
        this.body = make("tbody", {});
        this.contexts = make("div", {id: "file-contexts", class: "scroll", "aria-live": "polite"});
    }

    place(place) {
        const search = this.input = make("input", {type: "search", id: "search", placeholder: "expression", value: this.search,
            oninput: () => this.change({search: search.value, most: mostFiles})});
        place.append(make("p", {class: "controls"},
            makeChoice("Order files by", fileFigures.map(({name, head}) => [name, head]), this.order, order => this.change({order})),
            make("label", {}, "Filter ", search)), this.wrong, this.said,
        make("p", {class: "colours"}, fileParts.map(([name, colour]) =>
            makeKey(colour, fileFigures.find(figure => figure.name === name).head))),
        make("div", {class: "scroll"}, make("table", {id: "files-list"}, this.makeHead("file"), this.body)), this.contexts,
        make("p", {class: "legend"}, "Sums over all ranks. The rate is that of one rank: the bytes, divided by the time in all calls, " +
            "also those that open and close the file. Where calls return before their bytes are moved, there is none. " +
            "More in the table ", make("a", {href: addressOf("tables", {table: "files"})}, "files"), "."));
        this.draw();
    }

    change(what) {
        Object.assign(this, what);
        remember({order: this.order, search: this.search});
        this.draw();
    }

    makeHead(what) {
        const ofFile = what === "file";
        return make("thead", {}, make("tr", {}, make("th", {scope: "col"}, what), ofFile ? make("th", {scope: "col"}) : null,
            [...fileFigures.map(({head}) => head), ...ofFile ? [] : ["mean size"], "rate"].map(head => make("th", {scope: "col", class: "number"}, head))));
    }

    // Compares files; those with equal figures by their names.
    compare(a, b) {
        return b[this.order] - a[this.order] || (a.name < b.name ? -1 : 1);
    }

    draw() {
        drawExpressions([this.input], this.wrong);
        const expression = readExpression(this.search), matching = this.files.filter(({name}) => !expression || expression.test(name));
        const shown = firstOf(matching, this.most, (a, b) => this.compare(a, b));
        this.longest = this.files.reduce((most, file) => Math.max(most, file.bytes_read + file.bytes_written), 0);
        this.selected ??= shown[0];
        this.body.replaceChildren(...shown.map(file => this.makeFile(file)));
        this.said.replaceChildren(`${grouped(shown.length)} of ${counted(this.files.length, "file")}`,
            ...this.folder ? [" in ", makeText(this.folder)] : [],
            ...shown.length < matching.length ? [" ", make("button", {type: "button", onclick: () => this.change({most: 10 * this.most})}, "Show more")] : []);
        this.drawContexts();
    }

    select(file) {
        this.selected = file;
        remember({file: file.name});
        this.draw();
    }

    // Cells of all figures. Calls of a context are alike, so that it has a mean size.
    makeFigures(sums, ofContext) {
        const bytes = sums.bytes_read + sums.bytes_written, rate = sums.apart || !sums.time ? 0 : bytes / sums.time * 1e9;
        const cell = (exact, shown) => make("td", {class: "number", title: exact}, shown);
        const mean = ofContext ? Math.round(bytes / sums.calls) : 0;
        return [...fileFigures.map(({name, type}) => cell(exactly(type, sums[name]), forPeople(type, sums[name]))),
            ofContext ? cell(mean || "", mean ? forPeople("bytes", mean) : "-") : null,
            cell(rate ? `${Math.round(rate)} bytes/s` : "", rate ? forPeople("bytes", rate) + "/s" : "-")];
    }

    makeFile(file) {
        const bar = make("div", {class: "parts", "aria-hidden": "true"}, fileParts.map(([name, colour]) => {
            const part = make("span", {});
            part.style.width = 100 * file[name] / this.longest + "%";
            part.style.background = `var(${colour})`;
            return part;
        }));
        return make("tr", {"aria-selected": String(file === this.selected)},
            make("th", {scope: "row", class: "text", title: cutText(file.name)}, make("button", {type: "button", class: "link",
                onclick: () => this.select(file)}, cutText(file.name.slice(this.folder.length) || "(without a name)", mostInLine))),
            make("td", {class: "bar"}, bar), this.makeFigures(file));
    }

    drawContexts() {
        const {table, selected} = this;
        if (!selected)
            return;
        const contexts = [...groupBy(selected.rows, row => table.path(row, "context"))].map(([, rows]) =>
            addRows(table, table.exact(rows[0], "context_id"), rows));
        const shown = firstOf(contexts, mostFiles, (a, b) => this.compare(a, b));
        const names = endsOf(shown.map(({rows}) => table.labels(rows[0], "context")));
        this.contexts.replaceChildren(make("table", {id: "contexts-of-file"},
            make("caption", {}, `${grouped(shown.length)} of ${counted(contexts.length, "context")} with calls on `,
                makeText(selected.name || "a file without a name"), "."),
            this.makeHead("context"), make("tbody", {}, shown.map((context, i) => make("tr", {"data-context": context.name},
                make("th", {scope: "row", class: "text", title: cutText(placesOf(table.exact(context.rows[0], "context"), true))},
                    make("a", {href: addressOf("contexts", {...readSelection(), context: context.name})}, makeText(names[i] || "unknown"))),
                this.makeFigures(context, true))))));
    }
}

// True if the table has rows, and these columns; another plugin may have one of this name.
function hasColumns(profile, name, columns) {
    const table = profile.byName.get(name);
    return table?.rows > 0 && columns.every(column => table.has(column));
}

const hasFiles = profile => hasColumns(profile, "files", ["file", "context", "context_id", ...fileFigures.map(({name}) => name)]);

async function showFiles(profile, place, options) {
    new FilesView(await profile.table("files"), options).place(place);
}
