// SPDX-License-Identifier: BSD-3-Clause
// The view of the course of the run: the table `series`, whose bins are laid out on equal intervals of time; a bin
// across two of them gives each its part. A map has a row for each rank, a column for each interval; where a row of
// pixels stands for several ranks, it has the greatest of them. The table below has the sums over all ranks.

const courseMetrics = [
    {name: "time", head: "time in MPI", type: "ns", of: "mpi_time"},
    {name: "calls", head: "MPI calls", type: "real", of: "calls"},
    {name: "sent", head: "bytes sent", type: "bytes", of: "bytes_sent"},
    {name: "received", head: "bytes received", type: "bytes", of: "bytes_received"}
];
const courseColumns = 240, courseIntervals = 20, mostCourseRows = 400;

class Course {
    constructor(series) {
        this.series = series;
        this.begin = Infinity;
        this.end = -Infinity;
        const ranks = new Set();
        for (let row = 0; row < series.rows; row++) {
            this.begin = Math.min(this.begin, series.number(row, "start"));
            this.end = Math.max(this.end, series.number(row, "start") + series.number(row, "width"));
            ranks.add(series.number(row, "rank"));
        }
        this.ranks = [...ranks].sort((a, b) => a - b);
        this.places = new Map(this.ranks.map((rank, i) => [rank, i]));
    }

    // [place * columns + column]: what each rank has in each interval; of all ranks together if `sum`.
    spread(of, columns, sum) {
        const {series, begin, end} = this, out = new Float64Array(columns * (sum ? 1 : this.ranks.length));
        for (let row = 0; row < series.rows; row++) {
            const value = series.number(row, of) || 0, scale = columns / (end - begin);
            const from = (series.number(row, "start") - begin) * scale, to = from + series.number(row, "width") * scale;
            const first = (sum ? 0 : this.places.get(series.number(row, "rank"))) * columns;
            for (let k = Math.floor(from); value && k < to && k < columns; k++)
                out[first + k] += value * (Math.min(to, k + 1) - Math.max(from, k)) / (to - from);
        }
        return out;
    }

    // [{phase, begin, end, columns, figures}] by the number of the phase, `columns` how much of each column its bins cover.
    phases(columns) {
        const {series} = this, found = new Map();
        for (let row = 0; row < series.rows; row++) {
            const phase = series.number(row, "phase") || 0, start = series.number(row, "start") - this.begin;
            if (!phase)
                continue;
            if (!found.has(phase))
                found.set(phase, {phase, begin: Infinity, end: 0, columns: new Float64Array(columns),
                    figures: courseMetrics.map(() => 0)});
            const one = found.get(phase), end = start + series.number(row, "width"), scale = columns / (this.end - this.begin);
            Object.assign(one, {begin: Math.min(one.begin, start), end: Math.max(one.end, end)});
            courseMetrics.forEach(({of}, m) => one.figures[m] += series.number(row, of) || 0);
            for (let k = Math.floor(start * scale); k < end * scale && k < columns; k++)
                one.columns[k] += Math.min(end * scale, k + 1) - Math.max(start * scale, k);
        }
        return [...found.values()].sort((a, b) => a.phase - b.phase);
    }

    // "1.234 s" after the beginning of the first bin.
    at(column, columns) {
        return forPeople("ns", (this.end - this.begin) * column / columns);
    }
}

class CourseView {
    constructor(course, options) {
        this.course = course;
        this.metric = courseMetrics.find(({name}) => name === options.get("metric")) || courseMetrics[0];
        this.selected = course.places.get(Number(options.get("rank") ?? NaN)) ?? null;
        this.sum = make("canvas", {class: "course", height: 60, width: courseColumns, "aria-hidden": "true"});
        this.map = make("canvas", {class: "course", width: courseColumns, "aria-label": "Map of ranks over time",
            onclick: event => this.select(this.under(event)[0]),
            onmousemove: event => this.map.title = this.told(...this.under(event))});
        this.legend = make("p", {class: "legend", id: "course-legend"});
        this.details = make("p", {id: "course-rank", "aria-live": "polite"});
    }

    place(place) {
        const {course} = this;
        place.append(
            make("p", {class: "controls"}, makeChoice("Show", courseMetrics.map(({name, head}) => [name, head]),
                this.metric.name, chosen => {
                    this.metric = courseMetrics.find(({name}) => name === chosen);
                    remember({metric: chosen});
                    this.draw();
                })),
            this.legend, this.makePhases(course), make("p", {}, "All ranks"), this.sum, make("p", {}, "Each rank, the lowest at the top"), this.map,
            this.details, this.makeTable(course));
        this.draw();
    }

    // A strip with the phase that most ranks are in, and what each phase is.
    makePhases(course) {
        const phases = course.phases(courseColumns);
        if (!phases.length)
            return "";
        const strip = make("canvas", {class: "course phases", height: 1, width: courseColumns, "aria-hidden": "true"});
        const pen = strip.getContext("2d"), style = getComputedStyle(document.documentElement);
        for (let column = 0; column < courseColumns; column++) {
            const most = phases.reduce((best, one) => one.columns[column] > best.columns[column] ? one : best, phases[0]);
            if (!most.columns[column])
                continue;
            pen.fillStyle = style.getPropertyValue("--colour" + phases.indexOf(most) % 8);
            pen.fillRect(column, 0, 1, 1);
        }
        return make("div", {}, strip, make("div", {class: "scroll"}, make("table", {id: "phases"},
            make("caption", {}, "Phases (MPI_Pcontrol), from the first bin of the series to the last; sums over all ranks."),
            make("thead", {}, make("tr", {}, ["phase", "from", "to", ...courseMetrics.map(({head}) => head)].map(head =>
                make("th", {scope: "col"}, head)))),
            make("tbody", {}, phases.map(({phase, begin, end, figures}, i) => make("tr", {"data-phase": phase},
                make("th", {scope: "row"}, makeKey("--colour" + i % 8, String(phase))),
                [begin, end].map(at => make("td", {class: "number", title: exactly("ns", at)}, forPeople("ns", at))),
                courseMetrics.map(({type}, m) => make("td", {class: "number", title: exactly(type, figures[m])},
                    forPeople(type, figures[m])))))))));
    }

    makeTable(course) {
        const sums = courseMetrics.map(({of}) => course.spread(of, courseIntervals, true));
        return make("div", {class: "scroll"}, make("table", {id: "course"},
            make("caption", {}, "Sums over all ranks in intervals of " + course.at(1, courseIntervals) + "."),
            make("thead", {}, make("tr", {}, ["from", ...courseMetrics.map(({head}) => head)].map(head =>
                make("th", {scope: "col"}, head)))),
            make("tbody", {}, Array.from({length: courseIntervals}, (_, k) => make("tr", {},
                make("th", {scope: "row"}, course.at(k, courseIntervals)),
                courseMetrics.map(({type}, m) => make("td", {class: "number", title: String(sums[m][k])},
                    forPeople(type, sums[m][k]))))))));
    }

    // Place of the rank and column under the pointer.
    under({offsetX, offsetY}) {
        const {ranks} = this.course, part = (value, size, n) => Math.min(n - 1, Math.max(0, Math.floor(value / size * n)));
        return [part(offsetY, this.map.clientHeight, ranks.length), part(offsetX, this.map.clientWidth, courseColumns)];
    }

    told(place, column) {
        const {course, metric} = this, value = this.values[place * courseColumns + column];
        return `rank ${course.ranks[place]}, from ${course.at(column, courseColumns)}: ${forPeople(metric.type, value)}`;
    }

    select(place) {
        this.selected = place;
        remember({rank: String(this.course.ranks[place])});
        this.draw();
    }

    draw() {
        const {course, metric} = this, {ranks} = course;
        this.values = course.spread(metric.of, courseColumns, false);
        const rows = Math.min(ranks.length, mostCourseRows), peaks = new Float64Array(rows * courseColumns);
        this.values.forEach((value, i) => {
            const at = Math.floor(Math.floor(i / courseColumns) * rows / ranks.length) * courseColumns + i % courseColumns;
            peaks[at] = Math.max(peaks[at], value);
        });
        const most = peaks.reduce((a, b) => Math.max(a, b), 0);
        this.map.height = rows;
        this.map.style.height = Math.max(60, Math.min(16 * rows, 400)) + "px";
        const pen = this.map.getContext("2d"), style = getComputedStyle(document.documentElement);
        const marked = this.selected === null ? -1 : Math.floor(this.selected * rows / ranks.length);
        peaks.forEach((value, i) => {
            if (!value)
                return;
            pen.globalAlpha = 0.08 + 0.92 * value / most;
            pen.fillStyle = style.getPropertyValue(Math.floor(i / courseColumns) === marked ? "--mark" : "--heat");
            pen.fillRect(i % courseColumns, Math.floor(i / courseColumns), 1, 1);
        });
        this.drawSum(style);
        this.legend.replaceChildren("0 ", make("span", {class: "heat-key", "aria-hidden": "true"}),
            ` ${forPeople(metric.type, most)} in ${course.at(1, courseColumns)}, which is the width of a column. ` +
            "Where a row stands for several ranks, it has the greatest of them.");
        this.details.textContent = marked < 0 ? "" : `Rank ${ranks[this.selected]} is marked.`;
    }

    drawSum(style) {
        const sums = this.course.spread(this.metric.of, courseColumns, true), pen = this.sum.getContext("2d");
        const most = sums.reduce((a, b) => Math.max(a, b), 0), {height} = this.sum;
        pen.clearRect(0, 0, courseColumns, height);
        pen.fillStyle = style.getPropertyValue("--heat");
        sums.forEach((value, k) => pen.fillRect(k, height - height * value / most, 1, height * value / most));
    }
}

async function showCourse(profile, place, options) {
    if (!profile.byName.get("series")?.rows) {
        place.append(make("p", {}, "The profile does not have the course of the run: the plugin series was not used. " +
            "Run with pcollect run --plugins +series."));
        return;
    }
    new CourseView(new Course(await profile.table("series")), options).place(place);
}
