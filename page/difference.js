// SPDX-License-Identifier: BSD-3-Clause
// The view of two profiles, or two sides of several: the rows of `pcollect diff`, and a picture of the tree whose bars
// are as wide as the mean of both sides and have the colour of the change. Changes that may be noise are grey.

const quietVerdicts = ["same", "noise", "unsure"];
const mostDifferenceRows = 500;
const differenceColumns = ["place", "verdict", "before", "after", "change", "change_percent", "run_percent"];
const peopleSeconds = value => Number.isNaN(value) ? "-" : forPeople("ns", Math.round(value * 1e9));

// Adds a row of the table to the nodes of its path, and returns the last. `real`: the part of the change that is not
// noise.
function addDifference(root, table, row) {
    const labels = table.labels(row, "path");
    const before = table.number(row, "before") || 0, after = table.number(row, "after") || 0;
    const quiet = quietVerdicts.includes(table.exact(row, "verdict"));
    const leaf = root.descend(labels.length ? labels : [table.exact(row, "place")]);
    leaf.addRows(row);
    for (let node = leaf; node; node = node.parent) {
        node.add("mean", (before + after) / 2);
        node.add("before", before);
        node.add("after", after);
        node.add("real", quiet ? 0 : after - before);
        node.add("sure", quiet ? 0 : 1);
    }
    return leaf;
}

// Colour by the change without noise, as a share of the value before; new contexts count in full.
function colourOfChange(node) {
    const {before = 0, real = 0, sure} = node.figures;
    if (!sure)
        return "--unknown";
    const part = before ? real / before : Math.sign(real);
    return part <= -0.5 ? "--less2" : part <= -0.05 ? "--less1" : part < 0.05 ? "--level" : part < 0.5 ? "--more1" : "--more2";
}

const changeKey = [["--less2", "less by 50 % or more"], ["--less1", "by 5 % or more"], ["--level", "by less than 5 %"],
    ["--more1", "more by 5 % or more"], ["--more2", "by 50 % or more"], ["--unknown", "noise or no change"]];

class DifferenceView {
    constructor(profile, table, options) {
        Object.assign(this, {profile, table, quiet: options.get("noise") !== "no"});
        this.root = new ContextNode("all", null);
        this.nodes = rowsOf(table).map(row => addDifference(this.root, table, row));
        this.selected = this.root.nodeOf(options.get("path")) || this.root;
        this.icicle = new Icicle({onselect: node => this.select(node), ondraw: () => this.drawPicture(),
            tell: ({figures: {before = 0, after = 0}}) => `${peopleSeconds(before)} before, ${peopleSeconds(after)} after`});
        this.icicle.begin(this.root, options.get("zoom"));
        this.unknown = unknownNodes(this.root, options, {path: "the whole run is chosen", zoom: "the picture has all"});
        this.details = make("div", {id: "details", "aria-live": "polite"});
        this.rows = make("div", {class: "scroll"});
        this.said = make("p", {class: "legend"});
    }

    place(place) {
        place.append(...this.unknown, this.makeRun(),
            make("p", {class: "controls"}, makeChoice("Show", [["yes", "all contexts"], ["no", "changes without noise"]],
                this.quiet ? "yes" : "no", chosen => {
                    this.quiet = chosen === "yes";
                    remember({noise: this.quiet ? null : "no"});
                    this.draw();
                })),
            make("div", {class: "picture"}, this.icicle.canvas), this.icicle.zoomed,
            make("p", {class: "legend colours"}, changeKey.map(([colour, text]) => makeKey(colour, text))),
            this.details, this.said, this.rows);
        this.draw();
        redraws.push(() => this.drawPicture());
    }

    makeRun() {
        const {before, after, told, text, repeated, init, delay_stays: delayStays} = this.profile.difference;
        const side = (word, {files, ranks, time, error, of, command}) => make("li", {}, `${word}: ${files.join(", ")}, ` +
            `${counted(ranks, "rank")}: `, make("strong", {title: exactly("ns", time)}, forPeople("ns", time)),
        error > 0 ? " ± " + forPeople("ns", error) : "", of, command ? make("div", {class: "command"}, makeText(command)) : "");
        return make("div", {id: "sides"}, makeWarnings(this.profile), make("ul", {}, side("before", before), side("after", after)),
            make("table", {id: "told"}, make("caption", {}, told.title),
                make("thead", {}, make("tr", {}, ["", "before", "after"].map(head => make("th", {scope: "col", class: "number"}, head)))),
                make("tbody", {}, told.rows.map(([name, ...figures]) => make("tr", {}, make("th", {scope: "row"}, name),
                    figures.map(figure => make("td", {class: "number"}, figure)))))),
            ...[init, before.delay, after.delay, delayStays].filter(text => text).map(
                text => make("p", {class: "delay"}, makeText(text))),
            make("p", {class: "finding"}, text),
            repeated ? "" : make("p", {}, "Each side needs several runs to tell changes from noise; three are enough for most."),
            before.ranks === after.ranks ? "" : make("p", {}, "The sides have different numbers of ranks."));
    }

    drawPicture() {
        this.icicle.draw("mean", this.selected, colourOfChange);
    }

    isBelow(row) {
        let node = this.nodes[row];
        while (node && node !== this.selected)
            node = node.parent;
        return node !== null;
    }

    draw() {
        const {table} = this, {repeated} = this.profile.difference;
        const columns = [...differenceColumns, ...(repeated ? ["confidence_percent"] : [])];
        const rows = rowsOf(table).filter(row => this.isBelow(row) &&
            (this.quiet || !quietVerdicts.includes(table.exact(row, "verdict"))));
        const {least} = this.profile, large = this.small ? rows
            : rows.filter(row => !(Math.abs(table.number(row, "run_percent")) < least));
        const shown = large.slice(0, mostDifferenceRows);
        const list = makeFigureTable(table, columns, shown, {id: "changes"}, row =>
            this.select(this.nodes[row]));
        shown.forEach((row, i) => {
            const line = list.tBodies[0].rows[i];
            if (quietVerdicts.includes(table.exact(row, "verdict")))
                line.className = "quiet";
            for (const name of ["before", "after", "change"])
                line.querySelector(`[data-column=${name}]`).textContent = peopleSeconds(table.number(row, name));
        });
        this.rows.replaceChildren(list);
        this.said.replaceChildren(`${grouped(shown.length)} of ${grouped(table.rows)} contexts; times are sums over all ranks. `,
            rows.length > large.length ? make("button", {type: "button", id: "small", onclick: () => {
                this.small = true;
                this.draw();
            }}, `Show ${counted(rows.length - large.length, "change")} below ${least / 1000} % of the run`) : "");
        this.drawPicture();
        this.drawDetails();
    }

    drawDetails() {
        const {before = 0, after = 0, real = 0} = this.selected.figures;
        this.details.replaceChildren(make("p", {class: "path"}, makeText(placesOf(this.selected.path, true) || "the whole run")),
            make("p", {}, make("span", {class: "before", title: String(before)}, peopleSeconds(before)), " before, ",
                make("span", {class: "after", title: String(after)}, peopleSeconds(after)), " after, with all that it called. ",
                this.profile.difference.repeated ? `The changes that are not noise add up to ${peopleSeconds(real)}. ` : "",
                this.selected === this.root ? "" : make("button", {type: "button", onclick: () => this.select(this.root)}, "Whole run")));
    }

    select(node) {
        this.selected = node;
        remember({path: node.key() || null});
        this.draw();
    }
}

async function showDifference(profile, place, options) {
    new DifferenceView(profile, await profile.table("difference"), options).place(place);
}
