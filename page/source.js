// SPDX-License-Identifier: BSD-3-Clause
// The view of source files: the figures of the table `lines` beside the text that the profile stores (table
// `source_lines`) or that was read when the page was made (`read_lines`), as in `pcollect annotate`. A line that several
// functions share has their sum; what is inclusive is counted once, as these functions may call each other. Without text
// only the lines with figures are shown.

const linesAround = 3, mostSourceRows = 3000, mostHotLines = 5, leastHotShare = 0.001;

const sourceColumns = [
    {head: "inclusive, of all MPI", doc: "time in MPI there and in all that was called from there, of all time in MPI", of: "mpi_inclusive_s",
        whole: "line_mpi_inclusive_s", share: "mpi"},
    {head: "MPI own", doc: "time in MPI calls that the line makes itself", of: "mpi_exclusive_s", type: "ns"},
    {head: "MPI called", doc: "time in MPI calls of code without lines, as of libraries, that the line called", of: "mpi_called_s", type: "ns"},
    {head: "MPI calls", doc: "MPI calls that the line makes itself", of: "calls", type: "count"},
    {head: "inclusive, of all CPU", doc: "CPU time sampled there and in all that was called from there, of all samples", of: "cpu_inclusive_s",
        whole: "line_cpu_inclusive_s", share: "cpu"},
    {head: "self, of all CPU", doc: "CPU time sampled right there, of all samples, with half of its 95 % interval", of: "cpu_exclusive_s",
        share: "cpu", error: "cpu_exclusive_error_s"},
    {head: "called, of all CPU", doc: "CPU time in code without lines, as of libraries, that the line called, of all samples", of: "cpu_called_s",
        share: "cpu"}
];
const ofTable = sourceColumns.filter(({of}) => !of.includes("called"));

// The original text of a cell; characters that cannot be shown stay escaped.
const unescapeText = text => text.replace(/\\(\\|t|n|r)/g, (_, sign) => ({t: "\t", n: "\n", r: "\r"}[sign] || "\\"));
// {path, lines: Map of {line, functions, figures by column}, text: Map of texts by line}, costliest file first.
class SourceFiles {
    constructor(lines, called, texts) {
        this.byPath = new Map();
        for (let row = 0; row < lines.rows; row++)
            this.addLine(lines, row);
        for (let row = 0; row < called.rows; row++)
            this.addCalled(called, row);
        for (const table of texts)
            for (let row = 0; row < table.rows; row++)
                this.byPath.get(table.exact(row, "file"))?.text.set(table.number(row, "line"), table.exact(row, "text"));
        this.list = [...this.byPath.values()].sort((a, b) => Boolean(b.text.size) - Boolean(a.text.size) || b.cost - a.cost || (a.path < b.path ? -1 : 1));
    }

    addLine(lines, row) {
        const path = lines.exact(row, "file"), number = lines.number(row, "line");
        if (!path || Number.isNaN(number))
            return;
        if (!this.byPath.has(path))
            this.byPath.set(path, {path, cost: 0, lines: new Map(), text: new Map()});
        const file = this.byPath.get(path);
        if (!file.lines.has(number))
            file.lines.set(number, {file, line: number, functions: [], figures: {}, called: []});
        const line = file.lines.get(number);
        for (const {of, error, whole} of ofTable) {
            const value = lines.number(row, whole || of) || 0;
            line.figures[of] = whole ? value : (line.figures[of] || 0) + value;
            if (error) // of one function alone: errors of several are not known together
                line.figures[error] = line.functions.length ? "-" : lines.shown(row, error) === "few" ? "few" : lines.number(row, error);
        }
        line.functions.push(lines.exact(row, "function"));
        file.cost += (lines.number(row, "mpi_exclusive_s") || 0) + (lines.number(row, "cpu_exclusive_s") || 0);
    }

    // Code without lines that a line called, the function with most time first.
    addCalled(called, row) {
        const file = this.byPath.get(called.exact(row, "file")), line = file?.lines.get(called.number(row, "line"));
        if (!line)
            return;
        const mpi = called.number(row, "mpi_exclusive_s") || 0, cpu = called.number(row, "cpu_exclusive_s") || 0;
        line.figures.mpi_called_s = (line.figures.mpi_called_s || 0) + mpi;
        line.figures.cpu_called_s = (line.figures.cpu_called_s || 0) + cpu;
        line.called.push({name: called.exact(row, "called"), module: called.exact(row, "module"), mpi, cpu});
        line.called.sort((a, b) => b.mpi + b.cpu - a.mpi - a.cpu);
        file.cost += mpi + cpu;
    }

    hottest({mpi, cpu}) {
        const lines = this.list.flatMap(each => [...each.lines.values()]);
        return lines.filter(({figures}) => mpiOf(figures) > leastHotShare * mpi || cpuOf(figures) > leastHotShare * cpu)
            .sort((a, b) => costOf(b) - costOf(a)).slice(0, mostHotLines);
    }
}

// The instructions that the profile stores, by file and line: {function, offset, text, figures}; those of a file in order.
class Instructions {
    constructor(table, figures) {
        this.byLine = new Map();
        const known = new Map(Array.from({length: figures.rows}, (_, row) => [figures.number(row, "row"), row]));
        for (let row = 0; table && row < table.rows; row++) {
            const key = [table.exact(row, "file"), table.exact(row, "line")].join("\0"), at = known.get(row);
            if (!this.byLine.has(key))
                this.byLine.set(key, []);
            this.byLine.get(key).push({function: table.exact(row, "function"), offset: table.number(row, "offset"),
                text: table.exact(row, "text"), samples: at === undefined ? 0 : figures.number(at, "samples"),
                cpu: at === undefined ? 0 : figures.number(at, "cpu_exclusive_s"),
                mpi: at === undefined ? 0 : figures.number(at, "mpi_exclusive_s")});
        }
    }

    of({file, line}) {
        return this.byLine.get([file.path, line].join("\0")) || [];
    }
}

// Instances of a template may share a short name.
const functionsOf = ({functions}) => [...new Set(functions.map(name => shortName(name)))].join(", ");
// Time of a line by itself, and in code without lines that it called.
const mpiOf = figures => (figures.mpi_exclusive_s || 0) + (figures.mpi_called_s || 0);
const cpuOf = figures => (figures.cpu_exclusive_s || 0) + (figures.cpu_called_s || 0);
const costOf = ({figures}) => mpiOf(figures) + cpuOf(figures);
// "1.2 s in MPI, 3 s CPU"
const timesText = (mpi, cpu) => [mpi ? forPeople("ns", mpi) + " in MPI" : "", cpu ? forPeople("ns", cpu) + " CPU" : ""]
    .filter(text => text).join(", ");

class SourceView {
    constructor(profile, files, wholes, contexts, instructions, options) {
        Object.assign(this, {files, wholes, contexts, instructions, dark: profile.dark, leftOut: profile.sourcesLeftOut, notes: profile.sourceNotes,
            whole: options.get("whole") === "yes"});
        this.columns = sourceColumns.filter(({of, share}) =>
            (!share || wholes[share]) && files.list.some(({lines}) => [...lines.values()].some(line => line.figures[of])));
        this.marked = this.linesOf(options.get("context"));
        const [last] = this.marked.slice(-1);
        this.file = files.byPath.get(options.get("file")) || last?.file ||
            files.list.find(({text}) => text.size) || files.list[0];
        this.line = Number(options.get("line")) || (last?.file === this.file ? last.line : this.hottestOf(this.file));
        this.body = make("tbody", {});
        this.said = make("p", {class: "legend", id: "source-said"});
        this.details = make("div", {id: "line", "aria-live": "polite"});
    }

    // The line that costs most; of a file that only calls others the one below which most is.
    hottestOf({lines}) {
        const cost = ({figures}) => (figures.mpi_inclusive_s || 0) + (figures.cpu_inclusive_s || 0);
        return [...lines.values()].reduce((most, line) =>
            (costOf(line) - costOf(most) || cost(line) - cost(most)) > 0 ? line : most).line;
    }

    // The lines on the path of a context: by the files and lines of its labels.
    linesOf(context) {
        const {contexts} = this, rows = Array.from({length: contexts.rows}, (_, row) => row);
        const row = context ? rows.find(each => contexts.exact(each, "context") === context) : undefined;
        if (row === undefined)
            return [];
        return contexts.labels(row, "path").map(label => this.lineOf(label)).filter(line => line);
    }

    // The line that a label "function@file:line" of a path names. Of files that share a name, it is in the one that has the
    // function there.
    lineOf(label) {
        const [name, place] = partsOf(label), [, file, number] = /^(.*):(\d+)$/s.exec(place || "") || [];
        const found = !file ? [] : this.files.list.filter(({path, lines}) => lastPart(path) === file && lines.has(Number(number)))
            .map(({lines}) => lines.get(Number(number)));
        return found.find(({functions}) => functions.includes(name)) || (found.length === 1 ? found[0] : undefined);
    }

    place(place) {
        place.append(this.dark ? make("p", {id: "dark"}, this.dark + ".") : "",
            this.leftOut ? make("p", {id: "sources-left-out"}, this.leftOut) : "", this.makeControls(), this.makeHottest(), this.said, this.details,
            this.window = make("div", {class: "scroll"}, make("table", {id: "source-lines"},
                make("thead", {}, make("tr", {}, this.columns.map(({head, doc, of}) =>
                    make("th", {scope: "col", class: "number", title: doc, "data-of": of}, head)),
                make("th", {scope: "col", class: "number"}, "line"), make("th", {scope: "col"}, "source"))), this.body)));
        this.draw();
    }

    makeHottest() {
        return make("details", {id: "hottest", open: true}, make("summary", {}, "Lines that take most, by themselves and in code without lines that they call"),
            make("ol", {}, this.files.hottest(this.wholes).map(line => make("li", {},
                makeText(functionsOf(line) || "an unknown function"), " (",
                make("a", {href: addressOf("source", {...readSelection(), file: line.file.path, line: line.line})},
                    lineText(line.file.path, line.line)), "): ", timesText(mpiOf(line.figures), cpuOf(line.figures)),
                this.makeMostCalled(line)))));
    }

    // The function without lines in which a line spends most: ", of it 1.2 s CPU in dgemm_ (libblas.so.3)".
    makeMostCalled({called: [most], figures}) {
        if (!most)
            return "";
        const {mpi, cpu} = most, all = mpi === mpiOf(figures) && cpu === cpuOf(figures);
        return [all ? ", all in " : `, of it ${timesText(mpi, cpu)} in `, ...this.makeCalled(most)];
    }

    // The name of a function without lines: "dgemm_ (libblas.so.3)".
    makeCalled({name, module}) {
        const library = lastPart(module);
        return [makeText(shortName(name) || "a function without a name"),
            library && !isNameless(name) ? ` (${library})` : ""].flat();
    }

    change(what) {
        Object.assign(this, what);
        remember({file: this.file.path, line: this.line || null, whole: this.whole ? "yes" : null});
        this.draw();
    }

    // Makes the controls once, because one of them may have the keyboard focus.
    makeControls() {
        return make("p", {class: "controls"},
            makeChoice("File", this.files.list.map(({path}) => [path, path]), this.file.path,
                path => this.change({file: this.files.byPath.get(path), line: this.hottestOf(this.files.byPath.get(path))})),
            makeChoice("show", [["", `lines with figures and ${linesAround} around`], ["yes", "the whole file"]],
                this.whole ? "yes" : "", whole => this.change({whole: whole === "yes"})));
    }

    // Numbers of the lines that are shown, in order.
    shownLines() {
        const {lines, text} = this.file, numbers = new Set(lines.keys());
        const last = [...text.keys(), ...lines.keys()].reduce((most, number) => Math.max(most, number), 0);
        if (this.whole && text.size) // lines without a text are empty
            for (let k = 1; k <= last; k++)
                numbers.add(k);
        else if (text.size)
            for (const number of lines.keys())
                for (let k = Math.max(1, number - linesAround); k <= number + linesAround; k++)
                    numbers.add(k);
        return [...numbers].filter(number => number <= last).sort((a, b) => a - b);
    }

    draw() {
        const numbers = this.shownLines(), shown = numbers.slice(0, mostSourceRows), rows = [];
        shown.forEach((number, i) => {
            if (i && number > shown[i - 1] + 1)
                rows.push(make("tr", {class: "gap"}, make("td", {colspan: this.columns.length + 2}, "…")));
            rows.push(this.makeRow(number));
        });
        this.body.replaceChildren(...rows);
        this.said.textContent = [this.notes.get(this.file.path),
            numbers.length > shown.length ? `${grouped(numbers.length - shown.length)} more lines are not shown.` : ""].filter(text => text).join(" ");
        this.said.hidden = !this.said.textContent;
        this.drawDetails();
        const chosen = this.body.querySelector("[aria-selected=true]");
        if (chosen)
            this.window.scrollTop = chosen.offsetTop - this.window.clientHeight / 2;
    }

    makeRow(number) {
        const line = this.file.lines.get(number);
        const row = make("tr", {"data-line": number, class: this.marked.includes(line) && line ? "marked" : null,
            tabindex: line ? "0" : null, "aria-selected": line ? String(number === this.line) : null,
            onclick: line ? () => this.select(number) : null, onkeydown: line ? event => this.key(event, number, row) : null},
        this.columns.map(column => this.makeFigure(line, column)),
        make("td", {class: "number line"}, String(number)),
        make("td", {class: "code"}, unescapeText(this.file.text.get(number) || "")));
        return row;
    }

    makeFigure(line, {of, type, share, error}) {
        const value = line?.figures[of];
        if (!value)
            return make("td", {class: "number", "data-of": of});
        const part = share ? 100 * value / this.wholes[share] : 0;
        const cell = make("td", {class: "number", "data-of": of, title: exactly(type || "ns", value)},
            share ? shareText(value, this.wholes[share]) : forPeople(type, value), error ? this.errorText(line.figures[error]) : "");
        if (share)
            cell.style.background = `linear-gradient(to left, var(--bar) ${part}%, transparent ${part}%)`;
        return cell;
    }

    errorText(error) {
        return error === "few" ? " few" : error > 0 ? ` ± ${(100 * error / this.wholes.cpu).toFixed(1)} %` : "";
    }

    select(number) {
        this.line = number;
        remember({file: this.file.path, line: number});
        for (const row of this.body.rows)
            if (row.hasAttribute("aria-selected"))
                row.setAttribute("aria-selected", String(Number(row.dataset.line) === number));
        this.drawDetails();
    }

    key(event, number, row) {
        const rows = [...this.body.querySelectorAll("[tabindex]")], at = rows.indexOf(row);
        const near = {ArrowDown: rows[at + 1], ArrowUp: rows[at - 1]}[event.key];
        if (near)
            near.focus();
        else if (event.key === "Enter" || event.key === " ")
            this.select(number);
        else
            return;
        event.preventDefault();
    }

    // Instructions of a line with their figures, below the functions that they are in.
    makeInstructions(line) {
        const list = this.instructions.of(line);
        if (!list.length)
            return "";
        const figure = (value, shown, of) => make("td", {class: "number", "data-of": of, title: value ? exactly("ns", value) : null},
            value ? shown : "");
        return make("div", {class: "scroll"}, make("table", {id: "line-instructions"},
            make("caption", {}, "Instructions of the line"),
            make("thead", {}, make("tr", {}, ["self", "samples", "MPI", "address"].map(head =>
                make("th", {scope: "col", class: "number"}, head)), make("th", {scope: "col"}, "instruction"))),
            make("tbody", {}, list.map((each, i) => [
                i && list[i - 1].function === each.function ? null
                    : make("tr", {class: "gap"}, make("td", {colspan: 5}, makeText(shortName(each.function)))),
                make("tr", {"data-offset": each.offset},
                    figure(each.cpu, shareText(each.cpu, this.wholes.cpu), "cpu"),
                    make("td", {class: "number"}, each.samples ? grouped(each.samples) : ""),
                    figure(each.mpi, forPeople("ns", each.mpi), "mpi"),
                    make("td", {class: "number"}, each.offset.toString(16)),
                    make("td", {class: "code"}, unescapeText(each.text)))]).flat().filter(row => row))));
    }

    // The contexts that make a call in the chosen line, each a link; its instructions.
    drawDetails() {
        const {contexts} = this, line = this.file.lines.get(this.line);
        if (!line) {
            this.details.replaceChildren();
            return;
        }
        const calls = Array.from({length: contexts.rows}, (_, row) => row).filter(row =>
            this.lineOf(contexts.labels(row, "path").pop() || "") === line);
        this.details.replaceChildren(
            make("p", {}, `Line ${line.line}, in `, makeText(functionsOf(line) || "an unknown function"), "."),
            make("ul", {}, calls.slice(0, mostHotLines).map(row => make("li", {},
                make("a", {href: addressOf("contexts", {...readSelection(), context: contexts.exact(row, "context")})},
                    contexts.exact(row, "primitive")),
                " from ", makeText(placesOf(contexts.exact(row, "path"), true)), `: ${contexts.shown(row, "mpi_exclusive_s")}`))),
            calls.length > mostHotLines ? `${calls.length - mostHotLines} more contexts make calls here.` : "",
            line.called.length ? make("p", {}, "Code without lines that it called:") : "",
            make("ul", {id: "called"}, line.called.slice(0, mostHotLines).map(each => make("li", {},
                this.makeCalled(each), ": " + timesText(each.mpi, each.cpu)))),
            line.called.length > mostHotLines ? `${line.called.length - mostHotLines} more functions without lines were called here.` : "",
            this.makeInstructions(line));
    }
}

// Says why no line is known: what the profile tells of its modules, and where else to look.
function tellNoLines(profile, place) {
    const told = profile.warnings.filter(text => /\bno (names|line numbers): /.test(text));
    place.append(make("p", {}, "The lines of the program are not known" + (told.length ? "."
        : ": compile it with -g, or put the program and its libraries back where they were.")),
    make("ul", {}, told.map(text => make("li", {}, makeText(text)))),
    make("p", {}, make("a", {href: addressOf("contexts", readSelection())}, "The contexts"), " have the functions that are known."));
}

async function showSource(profile, place, options) {
    const [lines, called, contexts, computation, figures, read, stored, instructions] = await Promise.all(
        ["lines", "called", "contexts", "computation", "instruction_figures", "read_lines", "source_lines", "instructions"].map(name =>
            profile.byName.has(name) ? profile.table(name) : null));
    const files = new SourceFiles(lines, called, [read, stored].filter(table => table));
    if (!files.list.length) {
        if (contexts.rows || computation.rows)
            tellNoLines(profile, place);
        else
            place.append(make("p", {}, await tellNoContexts(profile)));
        return;
    }
    new SourceView(profile, files, {mpi: sumOf(contexts, "mpi_exclusive_s"), cpu: sumOf(computation, "cpu_exclusive_s")}, contexts,
        new Instructions(instructions, figures), options).place(place);
}
