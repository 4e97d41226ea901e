// SPDX-License-Identifier: BSD-3-Clause
// The views of the run one after the other, without their controls: printed from a browser they are a report of a few
// pages.

const mostPrintedFunctions = 20;
const printedColumns = ["primitive", "calls", "time_s", "mpi_exclusive_percent", "mean_s", "bytes_sent", "bytes_received"];

async function showFunctions(profile, place) {
    const table = await profile.table("primitives");
    const columns = printedColumns.filter(name => table.has(name));
    const rows = rowsOf(table).slice(0, mostPrintedFunctions);
    const figures = makeFigureTable(table, columns, rows, {id: "functions"});
    figures.prepend(make("caption", {}, `${rows.length} of ${table.rows} MPI functions; sums over all ranks.`));
    place.append(make("div", {class: "scroll"}, figures), makeWithoutOpen(await profile.openCalls()));
}

// Rows below one percent of each time would fill pages.
const printedParts = [
    {title: null, show: showSummary},
    {title: "MPI functions", show: showFunctions, table: "primitives"},
    {title: "Contexts with one percent and more", show: showContexts, options: "least=1&printed=yes"},
    {title: "Ranks", show: showRanks},
    {title: "Course of the run", show: showCourse, table: "series"},
    {title: "Communication", show: showCommunication, table: "pairs"},
    {title: "Threads", show: showThreads, has: hasThreads},
    {title: "Files", show: showFiles, has: hasFiles},
    {title: "Windows", show: showWindows, has: hasWindows}
];

async function showPrint(profile, place) {
    place.append(make("p", {class: "print-button"}, make("button", {type: "button", onclick: () => window.print()}, "Print")));
    for (const {title, show, options, table, has} of printedParts) {
        if (table && !profile.byName.get(table)?.rows || has && !has(profile))
            continue;
        const part = make("section", {class: "part"}), head = title ? [make("h2", {}, title)] : [];
        part.append(...head);
        place.append(part);
        await show(profile, part, new URLSearchParams(options || "")).catch(error =>
            part.replaceChildren(...head, makeFailure(error)));
    }
}
