// SPDX-License-Identifier: BSD-3-Clause
// The tables of the profile, which stand in the page deflated. A table is inflated when it is first asked
// for. view/page_column.c says how a column stands in its bytes.

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

// Finds the columns of a table in its bytes, and decodes each when it is first asked for.
class ColumnReader {
    constructor(bytes, n, columns) {
        Object.assign(this, {bytes, n, view: new DataView(bytes.buffer, bytes.byteOffset), decoded: []});
        let at = 0;
        this.places = Array.from({length: columns}, () => {
            const place = at, numbers = this.u32(at) === 1;
            at += numbers ? 4 + 8 * n : 12 + this.u32(at + 8) + 4 * n;
            return place;
        });
    }

    u32(at) {
        return this.view.getUint32(at, true);
    }

    // The bytes of the n numbers that stand as planes, each number's together.
    planes(at, width) {
        const {bytes} = this, end = this.n * width, out = new Uint8Array(end);
        for (let k = 0; k < width; k++)
            for (let i = k; i < end; i += width)
                out[i] = bytes[at++];
        return out.buffer;
    }

    column(k) {
        return this.decoded[k] ??= this.decode(this.places[k]);
    }

    decode(at) {
        if (this.u32(at) === 1)
            return {numbers: new Float64Array(this.planes(at + 4, 8))};
        const count = this.u32(at + 4), size = this.u32(at + 8);
        const texts = new TextDecoder().decode(this.bytes.subarray(at + 12, at + 12 + size)).split("\0");
        texts.length = count;
        texts.unshift(null);
        return {texts, index: new Uint32Array(this.planes(at + 12 + size, 4))};
    }
}

class Table {
    constructor(head, element) {
        Object.assign(this, {name: head.name, doc: head.doc, rows: head.rows, columns: head.columns, element});
        this.byName = new Map(head.columns.map((column, i) => [column.name, i]));
    }

    // Once; to be waited for before a value is asked for.
    load() {
        this.loading ??= readElement(this.element).then(bytes => {
            this.reader = new ColumnReader(bytes, this.rows, this.columns.length);
        });
        return this.loading;
    }

    has(name) {
        return this.byName.has(name);
    }

    find(column) {
        return typeof column === "number" ? column : this.byName.get(column);
    }

    // As tsv has it; "" where nothing is known.
    exact(row, column) {
        const k = this.find(column), {texts, index, numbers} = this.reader.column(k);
        if (texts)
            return texts[index[row]] ?? "";
        return Number.isFinite(numbers[row]) ? exactly(this.columns[k].type, numbers[row]) : "";
    }

    // In the smallest unit of its type; NaN where nothing is known.
    number(row, column) {
        const k = this.find(column);
        if (k === undefined)
            return NaN;
        const {texts, index, numbers} = this.reader.column(k);
        if (numbers)
            return Number.isFinite(numbers[row]) ? numbers[row] : NaN;
        const text = texts[index[row]];
        return text === null ? NaN : Number(text) * (unitOf[this.columns[k].type] || 1);
    }

    // For people; "-" where nothing is known.
    shown(row, column) {
        const k = this.find(column), type = this.columns[k].type;
        if (type === "text")
            return (this.columns[k].labels ? placesOf(this.exact(row, k)) : this.exact(row, k)) || "-";
        if (this.reader.column(k).numbers?.[row] === Infinity)
            return "few";
        const value = this.number(row, k);
        return Number.isNaN(value) ? "-" : forPeople(type, value);
    }

    // Compares two rows: numbers by size, downwards; texts upwards; what is not known comes last.
    compare(column, a, b) {
        const k = this.find(column);
        if (this.columns[k].type === "text") {
            const x = this.exact(a, k), y = this.exact(b, k);
            return x === y ? a - b : !x ? 1 : !y ? -1 : x < y ? -1 : 1;
        }
        const x = this.number(a, k), y = this.number(b, k);
        if (Number.isNaN(x) || Number.isNaN(y))
            return Number.isNaN(x) - Number.isNaN(y) || a - b;
        return y - x || a - b;
    }
}

class Profile {
    constructor(list) {
        this.file = list.file;
        this.warnings = list.warnings;
        this.pattern = list.pattern; // of messages; null: nobody recorded them
        this.fields = list.fields; // of plugins, that the table of nodes has
        this.placement = list.placement; // of ranks on nodes; null: nothing to propose
        this.title = list.title; // of scaling
        this.difference = list.difference; // its two sides
        this.tables = list.tables.map((head, i) => new Table(head, i + 1));
        this.byName = new Map(this.tables.map(table => [table.name, table]));
    }

    // The table, ready to be read.
    async table(name) {
        const table = this.byName.get(name);
        await table.load();
        return table;
    }

    static async read() {
        return new Profile(JSON.parse(new TextDecoder().decode(await readElement(0))));
    }
}
