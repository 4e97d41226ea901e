// SPDX-License-Identifier: BSD-3-Clause
// Phases and regions over the course of the run: a lane for each, in which a column is as dark as the part of it that
// the ranks, or the chosen rank, were in there. From the table `series_regions`; the table below shows the same in
// text.

const laneText = 13, laneBar = 9, laneColumns = 480, mostLanes = 40;

// "solve" of "(region solve)", "phase 5" of "(phase 5)".
const laneName = label => label.replace(/^\((?:region )?(.*)\)$/s, "$1");

// {from, to} of each row of `series_regions`: the stretch of time since `begin` in which a rank was in the region. A bin
// that is partly in the region, beside one that is wholly in it, has the part next to that one; others are whole. What is in
// another region is not outside of it.
function regionStretches(regions, begin) {
    const [starts, widths, ranks, times] = ["start", "width", "rank", "time"].map(name => regions.numbers(name));
    const lists = new Map(), known = new Map(), of = [], keyOf = (path, row) => [path, ranks[row], starts[row]].join(" ");
    for (let row = 0; row < regions.rows; row++) {
        const key = regions.path(row, "region") + " " + ranks[row], from = starts[row] - begin;
        of.push({from, to: from + widths[row], time: Math.min(times[row], widths[row]), full: times[row] >= 0.999 * widths[row]});
        lists.get(key)?.push(of[row]) ?? lists.set(key, [of[row]]);
    }
    for (const bins of lists.values()) {
        bins.sort((a, b) => a.from - b.from || a.to - b.to);
        const edges = bins.map(({from, to, full}, i) => !full &&
            [bins[i - 1]?.full && bins[i - 1].to === from, bins[i + 1]?.full && bins[i + 1].from === to]);
        bins.forEach((bin, i) => {
            const [before, behind] = edges[i] || [];
            if (before && !behind)
                bin.to = bin.from + bin.time;
            else if (behind && !before)
                bin.from = bin.to - bin.time;
        });
    }
    const rows = rowsOf(regions), levels = rows.map(row => regions.labels(row, "region").length);
    for (const row of rows.sort((a, b) => levels[a] - levels[b])) {
        const bin = of[row], path = regions.path(row, "region"), around = path && known.get(keyOf(regions.names.above[path - 1], row));
        if (around && around.from < bin.to && bin.from < around.to)
            Object.assign(bin, {from: Math.max(bin.from, around.from), to: Math.min(bin.to, around.to)});
        known.set(keyOf(path, row), bin);
    }
    return of;
}

class Lanes {
    constructor(course) {
        Object.assign(this, {course, byPath: new Map(), stretches: regionStretches(course.regions, course.begin)});
        for (let row = 0; row < course.regions.rows; row++)
            this.add(row);
        const all = [...this.byPath.values()].sort((a, b) => a.begin - b.begin || a.level - b.level || b.time - a.time);
        const least = all.map(({time}) => time).sort((a, b) => b - a)[mostLanes - 1] || 0;
        this.list = all.filter(({time}) => time >= least).slice(0, mostLanes);
        this.more = all.length - this.list.length;
        this.canvas = make("canvas", {id: "lanes", "aria-hidden": "true",
            onmousemove: ({offsetY}) => this.canvas.title = this.told(Math.floor(offsetY / (laneText + laneBar)))});
    }

    // Adds the bins of the row to the lane of its region; if it has none, to the lane of all other regions.
    add(row) {
        const {course: {regions}} = this, path = regions.path(row, "region");
        const labels = path ? regions.labels(row, "region").map(laneName) : ["other regions"];
        if (!this.byPath.has(path))
            this.byPath.set(path, {labels, level: labels.length - 1, name: labels[labels.length - 1], rows: [],
                begin: Infinity, end: 0, time: 0});
        const lane = this.byPath.get(path), {from, to} = this.stretches[row];
        lane.rows.push(row);
        lane.begin = Math.min(lane.begin, from);
        lane.end = Math.max(lane.end, to);
        lane.time += regions.number(row, "time");
    }

    // {begin, end} of a phase, of all ranks; undefined: its bins are not told apart.
    ofPhase(phase) {
        return [...this.byPath.values()].find(({level, name}) => level === 0 && name === "phase " + phase);
    }

    picture() {
        return [make("p", {}, "Phases and regions: as dark as the part of the time that is spent in them"),
            make("div", {class: "lanes"}, this.canvas)];
    }

    told(at) {
        const lane = this.list[at];
        return lane ? cutText(`${lane.labels.join(", in it ")}: ${forPeople("ns", lane.time)}`) : "";
    }

    // The part of each column, from 0 to 1: of all ranks, or of the one at this place.
    parts(lane, place) {
        const {course, course: {regions}} = this, out = new Float64Array(laneColumns);
        const column = (course.end - course.begin) / laneColumns, whole = column * (place === null ? course.ranks.length : 1);
        for (const row of lane.rows) {
            const from = this.stretches[row].from / column, to = this.stretches[row].to / column, time = regions.number(row, "time");
            if (place !== null && course.places.get(regions.number(row, "rank")) !== place)
                continue;
            for (let k = Math.floor(from); k < to && k < laneColumns; k++)
                out[k] += time * (Math.min(to, k + 1) - Math.max(from, k)) / (to - from) / whole;
        }
        return out.map(part => Math.min(1, part));
    }

    draw(place) {
        const {canvas} = this, {width, ratio} = canvasSize(canvas);
        const height = this.list.length * (laneText + laneBar), style = getComputedStyle(document.documentElement);
        canvas.width = width * ratio;
        canvas.height = height * ratio;
        canvas.style.height = height + "px";
        const pen = canvas.getContext("2d");
        pen.scale(ratio, ratio);
        pen.font = "11px sans-serif";
        pen.textBaseline = "middle";
        this.list.forEach((lane, i) => this.drawLane(pen, style, lane, this.parts(lane, place), i * (laneText + laneBar), width));
    }

    // The name is above the first part of the lane, as far as there is room.
    drawLane(pen, style, lane, parts, y, width) {
        const name = cutText(shortName(unescapeLabel(lane.name)), mostInLine), first = Math.max(0, parts.findIndex(part => part));
        pen.globalAlpha = 1;
        pen.fillStyle = style.getPropertyValue("--text");
        pen.fillText(name, Math.max(0, Math.min(first * width / laneColumns, width - pen.measureText(name).width)), y + laneText / 2);
        pen.fillStyle = style.getPropertyValue("--heat");
        parts.forEach((part, k) => {
            if (!part)
                return;
            pen.globalAlpha = opacityOf(part);
            const left = Math.round(k * width / laneColumns);
            pen.fillRect(left, y + laneText, Math.round((k + 1) * width / laneColumns) - left, laneBar);
        });
    }

    makeTable() {
        return make("div", {class: "scroll"}, make("table", {id: "regions"},
            make("caption", {}, "Phases and regions, from the first time in them to the last, as far as bins tell; time summed " +
                "over ranks and threads, without MPI_Finalize." +
                (this.more ? ` ${grouped(this.more)} with less time are in the table series_regions.` : "")),
            make("thead", {}, make("tr", {}, ["region", "from", "to", "time"].map(head => make("th", {scope: "col"}, head)))),
            make("tbody", {}, this.list.map(({labels, level, begin, end, time}) => {
                const name = make("th", {scope: "row", title: cutText(labels.join(pathSeparator))}, makeText(unescapeLabel(labels[level])));
                name.style.paddingLeft = level + 0.6 + "em";
                return make("tr", {"data-path": labels.join(pathSeparator)}, name,
                    [begin, end, time].map(ns => make("td", {class: "number", title: exactly("ns", ns)}, forPeople("ns", ns))));
            }))));
    }
}
