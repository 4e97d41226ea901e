// SPDX-License-Identifier: BSD-3-Clause
// The tables of the profile, which are stored in the page deflated. A table is inflated when it is first needed.
// view/page_column.c describes the format of a column, view/page_names.c that of names.

async function readElement(number) {
    const element = document.getElementById("data" + number);
    const packed = atob(element.textContent);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++)
        bytes[i] = packed.charCodeAt(i);
    if (element.dataset.deflated !== "yes")
        return bytes;
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

const u32Of = (bytes, at) => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);

// n numbers that are stored as planes, with the bytes of each place together, the lowest first: of 1 to 4 planes.
function wordsOf(bytes, at, n, width) {
    const out = new Uint32Array(n);
    for (let plane = 0, from = at; plane < width; plane++, from += n)
        for (let i = 0; i < n; i++)
            out[i] |= bytes[from + i] << 8 * plane;
    return out;
}

function doublesOf(bytes, at, n) {
    const low = wordsOf(bytes, at, n, 4), high = wordsOf(bytes, at + 4 * n, n, 4), out = new Uint32Array(2 * n);
    for (let i = 0; i < n; i++) {
        out[2 * i] = low[i];
        out[2 * i + 1] = high[i];
    }
    return new Float64Array(out.buffer);
}

// Integers begin with their width in bytes; the planes follow.
const integersSize = (bytes, at, n) => 4 + u32Of(bytes, at) * n;

function integersOf(bytes, at, n) {
    const width = u32Of(bytes, at), low = wordsOf(bytes, at + 4, n, Math.min(width, 4));
    if (width <= 4)
        return low;
    const high = wordsOf(bytes, at + 4 + 4 * n, n, width - 4), out = new Float64Array(n);
    for (let i = 0; i < n; i++)
        out[i] = high[i] * 2 ** 32 + low[i];
    return out;
}

// Numbers of integers, of which 0 is none and k is k - 1; unsigned if they are small and all known.
function wholeOf(integers) {
    const n = integers.length, known = !integers.includes(0), out = known ? integers : new Float64Array(n);
    for (let i = 0; i < n; i++)
        out[i] = integers[i] ? integers[i] - 1 : NaN;
    return out;
}

// Array of texts that each end with a 0 in the bytes, from place 1 on; `none` is at 0.
function textsOf(bytes, at, count, size, none) {
    const texts = new TextDecoder().decode(bytes.subarray(at, at + size)).split("\0");
    texts.length = count;
    texts.unshift(none);
    return texts;
}

// Names of functions and paths over them, which the columns of all tables share. Paths may be long: their texts are
// made when they are needed, and kept if they are short. Equal labels share one text.
const mostKept = 4000;

class Names {
    constructor(bytes) {
        const size = u32Of(bytes, 4), n = u32Of(bytes, 8 + size);
        let at = 12 + size;
        const next = () => {
            const numbers = integersOf(bytes, at, n);
            at += integersSize(bytes, at, n);
            return numbers;
        };
        Object.assign(this, {names: textsOf(bytes, 8, u32Of(bytes, 0), size, ""), above: next(), name: next(), rest: next(),
            known: new Map(), texts: [""]});
    }

    // The last label of a path.
    label(path) {
        const {names, known} = this, name = this.name[path - 1], rest = this.rest[path - 1];
        const key = name * names.length + rest;
        if (!known.has(key))
            known.set(key, names[name] + names[rest]);
        return known.get(key);
    }

    labels(path) {
        const labels = [];
        for (let up = path; up; up = this.above[up - 1])
            labels.push(this.label(up));
        return labels.reverse();
    }

    text(path) {
        const text = this.texts[path] ?? this.labels(path).join(pathSeparator);
        if (text.length <= mostKept)
            this.texts[path] = text;
        return text;
    }

    // A function that compares paths as their texts compare: by the first labels that differ, unless one is the
    // beginning of the other.
    comparer() {
        const known = [], labels = path => known[path] ??= this.labels(path);
        return (a, b) => {
            const x = labels(a), y = labels(b), i = x.findIndex((label, k) => label !== y[k]);
            if (i < 0 || i === y.length)
                return x.length - y.length;
            const [p, q] = x[i].startsWith(y[i]) || y[i].startsWith(x[i]) ? [this.text(a), this.text(b)] : [x[i], y[i]];
            return p < q ? -1 : 1;
        };
    }
}

// Finds the columns of a table in its bytes, and decodes each when it is first needed.
class ColumnReader {
    constructor(bytes, n, columns) {
        Object.assign(this, {bytes, n, decoded: []});
        let at = 0;
        this.places = Array.from({length: columns}, () => {
            const place = at, kind = u32Of(bytes, at);
            at += 4 + (kind === 0 ? 8 + u32Of(bytes, at + 8) : 0);
            at += kind === 1 ? 8 * n : integersSize(bytes, at, n);
            return place;
        });
    }

    column(k) {
        return this.decoded[k] ??= this.decode(this.places[k]);
    }

    decode(at) {
        const {bytes, n} = this, kind = u32Of(bytes, at);
        if (kind === 1)
            return {numbers: doublesOf(bytes, at + 4, n)};
        if (kind === 2)
            return {paths: integersOf(bytes, at + 4, n)};
        if (kind === 3)
            return {numbers: wholeOf(integersOf(bytes, at + 4, n))};
        const size = u32Of(bytes, at + 8);
        return {texts: textsOf(bytes, at + 12, u32Of(bytes, at + 4), size, null), index: integersOf(bytes, at + 12 + size, n)};
    }
}

class Table {
    // `loadNames` is called for the names if a column has paths.
    constructor(head, element, loadNames) {
        Object.assign(this, {name: head.name, doc: head.doc, rows: head.rows, columns: head.columns, element, loadNames});
        this.byName = new Map(head.columns.map((column, i) => [column.name, i]));
    }

    // Loads the table once, or again if there was no memory for it; must have ended before a value is read.
    load() {
        const named = this.rows && this.columns.some(({paths}) => paths);
        this.loading ??= Promise.all([readElement(this.element), named ? this.loadNames() : null]).then(([bytes, names]) => {
            this.reader = new ColumnReader(bytes, this.rows, this.columns.length);
            this.names = names;
        }).catch(error => {
            this.loading = undefined;
            throw error;
        });
        return this.loading;
    }

    has(name) {
        return this.byName.has(name);
    }

    find(column) {
        return typeof column === "number" ? column : this.byName.get(column);
    }

    // Number of the path in a column that has paths, the same for equal paths of all tables; 0: none.
    path(row, column) {
        return this.reader.column(this.find(column)).paths[row];
    }

    // The labels of that path, outermost first.
    labels(row, column) {
        return this.names.labels(this.path(row, column));
    }

    // The last of them; "": the cell has none.
    lastLabel(row, column) {
        const path = this.path(row, column);
        return path ? this.names.label(path) : "";
    }

    // The text of the cell as in tsv; "" if it is not known.
    exact(row, column) {
        const k = this.find(column), {texts, index, numbers, paths} = this.reader.column(k);
        if (paths)
            return this.names.text(paths[row]);
        if (texts)
            return texts[index[row]] ?? "";
        return Number.isFinite(numbers[row]) ? exactly(this.columns[k].type, numbers[row]) : "";
    }

    // The value in the smallest unit of its type; NaN if it is not known. A column of texts has numbers that a double
    // cannot have to the last digit.
    number(row, column) {
        const k = this.find(column);
        if (k === undefined)
            return NaN;
        const {texts, index, numbers} = this.reader.column(k);
        if (numbers)
            return Number.isFinite(numbers[row]) ? numbers[row] : NaN;
        if (!texts)
            return NaN;
        const text = texts[index[row]], unit = unitOf[this.columns[k].type];
        return text === null ? NaN : unit ? Math.round(Number(text) * unit) : Number(text);
    }

    // The numbers of a column, as number() returns them: for callers that read many rows.
    numbers(column) {
        const k = this.find(column), {numbers} = k === undefined ? {} : this.reader.column(k);
        if (numbers && !numbers.includes(Infinity))
            return numbers;
        const all = new Float64Array(this.rows);
        for (let row = 0; row < this.rows; row++)
            all[row] = this.number(row, k);
        return all;
    }

    // The text of the cell for users; "-" if it is not known.
    shown(row, column) {
        const k = this.find(column), type = this.columns[k].type;
        if (type === "text") {
            const text = this.exact(row, k), {labels, name} = this.columns[k];
            return (labels ? placesOf(text) : name === "function" ? offsetApart(text) : text) || "-";
        }
        if (this.reader.column(k).numbers?.[row] === Infinity)
            return "few";
        const value = this.number(row, k);
        return Number.isNaN(value) ? "-" : forPeople(type, value);
    }

    // A function that compares two rows: numbers in descending order, texts in ascending order; unknown values come
    // last.
    comparer(column) {
        const k = this.find(column), {paths} = this.reader.column(k);
        if (this.columns[k].type !== "text") {
            const known = this.numbers(k);
            return (a, b) => known[b] - known[a] || Number.isNaN(known[a]) - Number.isNaN(known[b]) || a - b;
        }
        const of = paths ? row => paths[row] : row => this.exact(row, k);
        const compare = paths ? this.names.comparer() : (x, y) => x < y ? -1 : 1;
        return (a, b) => {
            const x = of(a), y = of(b);
            return x === y ? a - b : !x ? 1 : !y ? -1 : compare(x, y);
        };
    }

    // The different texts of a column, and the number of each row's among them; none if it is no column of texts.
    textsOf(column) {
        const k = this.find(column), {texts = [], index = []} = k === undefined ? {} : this.reader.column(k);
        return {texts, index};
    }

    // Its texts in the order of their first rows.
    different(column) {
        const {texts, index} = this.textsOf(column);
        return Array.from(new Set(index), number => texts[number]).filter(Boolean);
    }

    // A function that is true if a row has this text in the column.
    equals(column, text) {
        const {texts, index} = this.textsOf(column), number = texts.indexOf(text);
        return row => index[row] === number;
    }

    // A function that is true if the expression matches what a row has in the column, as it is shown or exactly. Equal texts
    // are matched once.
    matcher(column, expression) {
        const k = this.find(column), {texts, index, paths} = this.reader.column(k), same = paths || texts && index, seen = [];
        const matches = row => expression.test(this.exact(row, k)) || expression.test(this.shown(row, k));
        return same ? row => seen[same[row]] ??= matches(row) : matches;
    }
}

class Profile {
    constructor(list) {
        this.file = list.file;
        this.warnings = list.warnings;
        this.program = list.program; // what the report says of it
        this.communicators = new Map(Object.entries(list.communicators || {})); // names by id, of those that no call makes
        this.pattern = list.pattern; // of messages; null: nobody recorded them
        this.fields = list.fields; // of plugins, that the table of nodes has
        this.threaded = list.threaded; // a rank has several threads of the program
        this.timed = list.timed; // by the plugin time: calls of MPI were recorded
        this.lostSamples = list.lost_samples_ns; // CPU time of samples that the kernel left out
        this.placement = list.placement; // of ranks on nodes; null: nothing to propose
        this.mostPairs = list.most_pairs; // there are more, too many to propose a placement; undefined: there are not
        this.outside = list.outside; // how far times outside MPI are divided, and what the report says of them
        this.alone = list.alone; // how a program without MPI spent its wall time; null: it calls MPI, or that is not known
        this.incomplete = list.incomplete; // what the report says of ranks that did not end; "": nothing
        this.atEnd = list.at_end; // where they were then
        this.otherJobs = list.other_jobs; // what the report says of jobs that it spawned or that spawned it
        this.leftOut = list.left_out; // what the report says of things that were left out
        this.dark = list.dark; // how much of the run has no lines, in words
        this.sourcesLeftOut = list.sources_left_out; // which text of source files the page lacks, in words
        this.sourceNotes = new Map(list.source_notes); // by path a sentence on the text of the file
        this.title = list.title; // of scaling
        this.loss = list.loss; // of scaling: sentences on what is lost in all
        this.moved = list.moved; // of scaling: waits are counted where they are caused
        this.of = list.of; // of several: what scales differ in, "ranks" or "threads"
        this.least = list.least; // of several: the part of the run in thousandths of a percent from which on a context has a row
        this.difference = list.difference; // its two sides
        this.tables = list.tables.map((head, i) => new Table(head, i + 1, () => this.loadNames(list.names)));
        this.byName = new Map(this.tables.map(table => [table.name, table]));
    }

    loadNames(element) {
        return this.loadingNames ??= readElement(element).then(bytes => new Names(bytes));
    }

    // The table, ready to be read.
    async table(name) {
        const table = this.byName.get(name);
        await table.load();
        return table;
    }

    // The table of calls that had not ended; null: the profile has none.
    async openCalls() {
        return this.byName.has("open_calls") ? this.table("open_calls") : null;
    }

    // True if `pcollect record` made it, from outside the program: nothing is known of calls of MPI.
    async isRecorded() {
        const header = this.byName.has("header") ? await this.table("header") : null;
        return header?.rows > 0 && header.exact(0, "mpi_calls") === "";
    }

    static async read() {
        return new Profile(JSON.parse(new TextDecoder().decode(await readElement(0))));
    }
}
