// SPDX-License-Identifier: BSD-3-Clause
// Parts of the view of communication beside the matrix: communicators as a tree, sizes of messages, and the
// placement of ranks that `pcollect topology` proposes.

const communicatorFigures = [
    {name: "calls", head: "MPI calls", type: "count"},
    {name: "time_s", head: "time in MPI", type: "ns"},
    {name: "bytes_sent", head: "sent", type: "bytes"}
];

// {id, shown, level, figures} of each communicator, followed by those made from it; `shown` is a name that no other has. One whose parent is not in the
// table is at the top.
function readCommunicators(table, calls) {
    const byId = new Map(), below = new Map();
    for (let row = 0; row < table.rows; row++) {
        const id = table.exact(row, "domain");
        byId.set(id, {id, row, name: table.exact(row, "name"), figures: {}});
    }
    for (let row = 0; row < calls.rows; row++) {
        const figures = byId.get(calls.exact(row, "communicator"))?.figures || {};
        for (const {name} of communicatorFigures)
            figures[name] = (figures[name] || 0) + (calls.number(row, name) || 0);
    }
    for (const one of byId.values()) {
        const parent = table.exact(one.row, "parent"), above = byId.has(parent) && parent !== one.id ? parent : "";
        below.set(above, [...below.get(above) || [], one]);
    }
    const list = [], seen = new Set();
    const add = (one, level) => {
        if (seen.has(one.id))
            return;
        seen.add(one.id);
        list.push({...one, level});
        (below.get(one.id) || []).forEach(child => add(child, level + 1));
    };
    (below.get("") || []).forEach(one => add(one, 0));
    byId.forEach(one => add(one, 0)); // of a damaged file: parents in a circle
    for (const one of list) {
        const alike = list.filter(({name}) => name && name === one.name), name = one.name || one.id;
        one.shown = alike.length < 2 ? name
            : `${name} (${alike.indexOf(one) + 1} of ${alike.length}, ${counted(table.number(one.row, "size"), "rank")})`;
    }
    return list;
}

function makeCommunicators(table, list, chosen, onchoose) {
    return make("div", {class: "scroll"}, make("table", {id: "communicators"},
        make("caption", {}, "Communicators, each below the one that it was made from; sums over all ranks."),
        make("thead", {}, make("tr", {}, ["communicator", "made by", "ranks", "times made",
            ...communicatorFigures.map(({head}) => head)].map(head => make("th", {scope: "col"}, head)))),
        make("tbody", {}, list.map(one => {
            const name = make("td", {title: one.id}, make("button", {type: "button", class: "link",
                onclick: () => onchoose(one.id)}, one.shown));
            name.style.paddingLeft = 1.2 * one.level + 0.6 + "em";
            return make("tr", {"data-level": one.level, "aria-selected": String(one.id === chosen)}, name,
                make("td", {}, table.shown(one.row, "made_by")),
                ["size", "made"].map(column => make("td", {class: "number"}, table.shown(one.row, column))),
                communicatorFigures.map(({name, type}) => make("td", {class: "number",
                    title: exactly(type, one.figures[name] || 0)}, forPeople(type, one.figures[name] || 0))));
        }))));
}

// Calls by the bytes that they sent and received, for all MPI functions; of the chosen communicator, if there is
// one.
function makeSizes(sizes, domain) {
    const bins = new Map();
    for (let row = 0; row < sizes.rows; row++) {
        if (domain && sizes.exact(row, "domain") !== domain)
            continue;
        const from = sizes.number(row, "from") || 0, sums = bins.get(from) || [0, 0];
        bins.set(from, ["sent", "received"].map((column, k) => sums[k] + (sizes.number(row, column) || 0)));
    }
    return make("div", {class: "scroll"}, make("table", {id: "sizes"},
        make("caption", {}, "MPI calls by the bytes that one call moved."),
        make("thead", {}, make("tr", {}, ["from", "to below", "calls that sent or wrote", "calls that received or read"].map(head =>
            make("th", {scope: "col"}, head)))),
        make("tbody", {}, [...bins].sort(([a], [b]) => a - b).map(([from, sums]) => make("tr", {"data-from": from},
            make("td", {class: "number"}, forPeople("bytes", from)),
            make("td", {class: "number"}, forPeople("bytes", from ? 2 * from : 1)),
            sums.map(sum => make("td", {class: "number", title: String(sum)}, forPeople("count", sum))))))));
}

// The placement in words; its picture is the matrix by the proposed nodes.
function makePlacement({placement, mostPairs}) {
    if (!placement)
        return mostPairs ? make("p", {id: "placement"}, `There are more than ${grouped(mostPairs)} pairs of ranks, too many to ` +
            "propose a placement in a page: pcollect topology proposes one.") : "";
    const {before, after, nodes} = placement;
    const told = value => make("span", {title: String(value)}, forPeople("bytes", value));
    return make("p", {id: "placement"}, ...after < before
        ? [`A better placement on ${grouped(nodes.length)} nodes: `, told(after), " instead of ", told(before),
            " go between nodes. The matrix by proposed node shows it; pcollect topology --rankfile FILE writes it."]
        : ["No better placement on the nodes was found: ", told(before), " go between nodes."]);
}
