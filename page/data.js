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

class ColumnReader {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }

    // The bytes of n numbers that stand as planes, each number's together.
    planes(n, width) {
        const out = new Uint8Array(n * width);
        for (let k = 0; k < width; k++)
            for (let i = 0; i < n; i++)
                out[i * width + k] = this.bytes[this.at++];
        return out.buffer;
    }

    u32(n) {
        return new Uint32Array(this.planes(n, 4));
    }

    column(n) {
        if (this.u32(1)[0] === 1)
            return {numbers: new Float64Array(this.planes(n, 8))};
        const count = this.u32(1)[0], size = this.u32(1)[0];
        const texts = new TextDecoder().decode(this.bytes.subarray(this.at, this.at + size)).split("\0");
        this.at += size;
        texts.length = count;
        texts.unshift(null);
        return {texts, index: this.u32(n)};
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
            const reader = new ColumnReader(bytes);
            this.values = this.columns.map(() => reader.column(this.rows));
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
        const k = this.find(column), {texts, index, numbers} = this.values[k];
        if (texts)
            return texts[index[row]] ?? "";
        return Number.isFinite(numbers[row]) ? exactly(this.columns[k].type, numbers[row]) : "";
    }

    // In the smallest unit of its type; NaN where nothing is known.
    number(row, column) {
        const k = this.find(column);
        if (k === undefined)
            return NaN;
        const {texts, index, numbers} = this.values[k];
        if (numbers)
            return Number.isFinite(numbers[row]) ? numbers[row] : NaN;
        const text = texts[index[row]];
        return text === null ? NaN : Number(text) * (unitOf[this.columns[k].type] || 1);
    }

    // For people; "-" where nothing is known.
    shown(row, column) {
        const k = this.find(column), type = this.columns[k].type;
        if (type === "text")
            return this.exact(row, k) || "-";
        if (this.values[k].numbers && this.values[k].numbers[row] === Infinity)
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
