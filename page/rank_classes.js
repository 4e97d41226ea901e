// SPDX-License-Identifier: BSD-3-Clause
// Classes of ranks that spend their time in a similar way (table `classes`): a strip of colours over the map of ranks,
// and a table below it, from which the map is put in the order of classes.

// "0-62:2,70": the ranks 0, 2, 4, ... 62 and 70.
function readRankSet(text) {
    return text.split(",").flatMap(part => {
        const [, first, last, step] = /^(\d+)(?:-(\d+))?(?::(\d+))?$/.exec(part) || [];
        if (first === undefined)
            return [];
        const ranks = [];
        for (let rank = Number(first); rank <= Number(last ?? first); rank += Number(step || 1))
            ranks.push(rank);
        return ranks;
    });
}

const colourOfClass = number => "--colour" + number % 8;

class RankClasses {
    // `of` has the class of each place in the table `ranks`; there are no classes if all ranks are similar.
    constructor(table, places) {
        this.table = table;
        this.of = new Array(places.size).fill(Infinity);
        this.list = Array.from({length: table.rows > 1 ? table.rows : 0}, (_, row) => {
            const number = table.number(row, "class"), ranks = readRankSet(table.exact(row, "ranks"));
            ranks.forEach(rank => this.of[places.get(rank)] = number);
            return {row, number, first: places.get(ranks[0])};
        });
    }

    // A canvas with the class of the rank at each column.
    makeStrip() {
        this.strip = make("canvas", {class: "heat strip", "aria-hidden": "true"});
        return make("tr", {class: "of-classes"}, make("th", {scope: "row"}, "class"), make("td", {}), make("td", {}),
            make("td", {class: "ranks"}, this.strip));
    }

    // Each column has the class of its first rank.
    drawStrip(order) {
        const {strip} = this, style = getComputedStyle(document.documentElement);
        strip.width = Math.max(1, Math.floor(strip.clientWidth * (window.devicePixelRatio || 1)));
        strip.height = 1;
        const pen = strip.getContext("2d"), columns = Math.min(order.length, strip.width);
        for (let column = 0; column < columns; column++) {
            const x = Math.floor(column * strip.width / columns);
            pen.fillStyle = style.getPropertyValue(colourOfClass(this.of[order[Math.floor(column * order.length / columns)]]));
            pen.fillRect(x, 0, Math.floor((column + 1) * strip.width / columns) - x, 1);
        }
    }

    // `onchoose` gets the place of the first rank of the class.
    makeTable(onchoose) {
        const {table} = this, shown = (row, name) => make("td", {class: "number", title: table.exact(row, name)}, table.shown(row, name));
        return make("div", {class: "scroll"}, make("table", {id: "classes"},
            make("caption", {}, "Classes of ranks that spend their time alike. Where a class differs most from the mean of all ranks:"),
            make("thead", {}, make("tr", {}, [["class"], ["ranks"], ["number", true], ["outside MPI", true], ["differs in"],
                ["mean time there", true], ["of all ranks", true]].map(([head, right]) =>
                make("th", {scope: "col", class: right ? "number" : null}, head)))),
            make("tbody", {}, this.list.map(({row, number, first}) => make("tr", {"data-class": number},
                make("th", {scope: "row"}, makeKey(colourOfClass(number), ""),
                    make("button", {type: "button", class: "link", title: "order the ranks by class, and go to its first rank",
                        onclick: () => onchoose(first)}, String(number))),
                make("td", {class: "text"}, makeText(table.exact(row, "ranks"))),
                shown(row, "n_ranks"), shown(row, "compute_s"),
                make("td", {}, this.makePlace(row)), shown(row, "there_s"), shown(row, "all_there_s"))))));
    }

    makePlace(row) {
        const {table} = this, context = table.exact(row, "context"), name = table.exact(row, "primitive");
        return context ? make("a", {href: addressOf("contexts", {...readSelection(), context})}, name) : name || "outside MPI";
    }
}
