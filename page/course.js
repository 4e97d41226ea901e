// SPDX-License-Identifier: BSD-3-Clause
// The view of the course of the run: the table `series`, whose bins are distributed over equal intervals of time; a bin
// that lies across two of them gives a part to each. A map has a row for each rank, a column for each interval; where a
// row of pixels stands for several ranks, it has the greatest of them. The table below has the sums over all ranks.
// Phases and regions are lanes above the map (lanes.js). While a rank merges the profile it does neither compute nor call:
// this is grey. An axis below each picture has the seconds since the first bin.

// `share`: the figure is divided by the time of the ranks.
const courseMetrics = [
    {name: "share", head: "share of MPI", type: "percent", of: "mpi_time", share: true},
    {name: "time", head: "time in MPI", type: "ns", of: "mpi_time"},
    {name: "cpu", head: "CPU time by samples", type: "ns", of: "cpu_time"},
    {name: "computed", head: "CPU time outside MPI", type: "ns", of: "computed"},
    {name: "samples", head: "samples", type: "count", of: "samples"},
    {name: "calls", head: "MPI calls", type: "count", of: "calls"},
    {name: "sent", head: "bytes sent", type: "bytes", of: "bytes_sent"},
    {name: "received", head: "bytes received", type: "bytes", of: "bytes_received"}
];
const courseColumns = 240, courseIntervals = 20, mostCourseRows = 400, tickRoom = 96; // pixels
const mergedPart = 0.5; // of a column, from which the map shows that the profile is merged

// {from, to} of each row: the stretch of time since `begin` that it is spread over. The bins of a rank become wider as it runs, and the
// first wide one covers narrow ones, whose figures are not in it: both are cut at a moment in the last narrow one with
// time in MPI, so that the time of both has room.
function stretchesOf(series, begin) {
    const [starts, widths, ranks, times] = ["start", "width", "rank", "mpi_time"].map(name => series.numbers(name));
    const byRank = new Map(), of = new Array(series.rows); // bins by their middle, which only rows of one bin share
    for (let row = 0; row < series.rows; row++) {
        const bins = byRank.get(ranks[row]) || new Map(), from = starts[row] - begin, width = widths[row], middle = from + width / 2;
        byRank.set(ranks[row], bins);
        if (!bins.has(middle))
            bins.set(middle, {start: from, width, from, to: from + width, time: 0});
        of[row] = bins.get(middle);
        of[row].time += times[row] || 0;
    }
    for (const bins of byRank.values()) {
        let last = null;
        for (const bin of [...bins.values()].filter(({time}) => time).sort((a, b) => a.width - b.width || a.start - b.start)) {
            if (last && bin.start <= last.start && bin.to >= last.to) {
                const middle = (Math.max(last.start, last.from + last.time) + Math.min(last.to, bin.to - bin.time)) / 2;
                last.to = bin.from = Math.min(last.to - 1, Math.max(last.from + 1, middle));
            }
            last = bin;
        }
    }
    return of;
}

// {place, from, to} of each rank that merged the profile, after `begin`: right before its time in MPI_Finalize, which ends
// with the time inside MPI. `cube` is the table `rank,primitive`.
function mergesOf(ranks, cube, places, begin) {
    const [ends, times] = ["rank", "mpi_exclusive_s"].map(name => cube.numbers(name)), isEnd = cube.equals("primitive", "MPI_Finalize");
    const inEnd = new Map(), merges = [];
    for (let row = 0; row < cube.rows; row++)
        if (isEnd(row))
            inEnd.set(ends[row], times[row]);
    for (let row = 0; row < ranks.rows; row++) {
        const [rank, start, before, inside, merge] = ["rank", "start_s", "before_init_s", "inside_s", "merge_s"].map(name => ranks.number(row, name));
        const to = start + before + inside - inEnd.get(rank) - begin;
        if (places.has(rank) && merge > 0 && to > 0)
            merges.push({place: places.get(rank), from: Math.max(0, to - merge), to});
    }
    return merges;
}

class Course {
    // `regions` has the same bins, of phases and regions; null: the profile does not have it. Where several threads of a
    // rank were in MPI, their time has no share in that of the rank.
    constructor(series, regions, ranks, cube) {
        Object.assign(this, {series, regions, begin: Infinity, end: -Infinity});
        const [all, main] = ["mpi_s", "mpi_main_s"].map(name => ranks.numbers(name));
        const threads = all.some((ns, i) => ns > main[i]);
        this.metrics = courseMetrics.filter(({of, share}) => series.has(of) && !(share && threads));
        const seen = new Set();
        for (const table of regions ? [series, regions] : [series]) {
            const [starts, widths, of] = ["start", "width", "rank"].map(name => table.numbers(name));
            for (let row = 0; row < table.rows; row++) {
                this.begin = Math.min(this.begin, starts[row]);
                this.end = Math.max(this.end, starts[row] + widths[row]);
                seen.add(of[row]);
            }
        }
        this.ranks = [...seen].sort((a, b) => a - b);
        this.places = new Map(this.ranks.map((rank, i) => [rank, i]));
        this.stretches = stretchesOf(series, this.begin);
        this.merges = mergesOf(ranks, cube, this.places, this.begin);
    }

    // [place * columns + column]: the figure of each rank in each interval; of all ranks together if `sum`.
    spread({of, share}, columns, sum) {
        const {series, stretches, begin, end} = this, out = new Float64Array(columns * (sum ? 1 : this.ranks.length));
        const whole = (end - begin) / columns * (sum ? this.ranks.length : 1);
        const [values, ranks] = [of, "rank"].map(name => series.numbers(name));
        for (let row = 0; row < series.rows; row++) {
            const value = values[row] || 0, scale = columns / (end - begin);
            const from = stretches[row].from * scale, to = stretches[row].to * scale;
            const first = (sum ? 0 : this.places.get(ranks[row])) * columns;
            for (let k = Math.floor(from); value && k < to && k < columns; k++)
                out[first + k] += value * (Math.min(to, k + 1) - Math.max(from, k)) / (to - from);
        }
        return share ? out.map(time => Math.min(1, time / whole) * 100 * unitOf.percent) : out; // times may be rounded up
    }

    // [place * columns + column]: the part of each interval in which each rank merges the profile; of all ranks together if
    // `sum`.
    merging(columns, sum) {
        const {merges, ranks, begin, end} = this, out = new Float64Array(columns * (sum ? 1 : ranks.length)), scale = columns / (end - begin);
        for (const {place, from, to} of merges)
            for (let k = Math.floor(from * scale); k < to * scale && k < columns; k++)
                out[(sum ? 0 : place * columns) + k] +=
                    (Math.min(to * scale, k + 1) - Math.max(from * scale, k)) / (sum ? ranks.length : 1);
        return out;
    }

    // Metrics that add up over parts of the run.
    get sums() {
        return this.metrics.filter(({share}) => !share);
    }

    // [{phase, begin, end, figures}] by the number of the phase.
    phases() {
        const {series} = this, found = new Map();
        for (let row = 0; row < series.rows; row++) {
            const phase = series.number(row, "phase") || 0, start = series.number(row, "start") - this.begin;
            if (!phase)
                continue;
            if (!found.has(phase))
                found.set(phase, {phase, begin: Infinity, end: 0, figures: this.sums.map(() => 0)});
            const one = found.get(phase), end = start + series.number(row, "width");
            Object.assign(one, {begin: Math.min(one.begin, start), end: Math.max(one.end, end)});
            this.sums.forEach(({of}, m) => one.figures[m] += series.number(row, of) || 0);
        }
        return [...found.values()].sort((a, b) => a.phase - b.phase);
    }

    // "1.234 s" after the beginning of the first bin.
    at(column, columns) {
        return forPeople("ns", (this.end - this.begin) * column / columns);
    }

    // Puts ticks of the time since the first bin, in seconds, below a picture, as many as it has room for.
    drawAxis(axis) {
        const seconds = (this.end - this.begin) / unitOf.ns, step = niceStep(seconds, Math.max(4, Math.floor(axis.clientWidth / tickRoom)));
        const places = Math.max(0, -Math.floor(Math.log10(step * 1.001)));
        axis.replaceChildren(...Array.from({length: Math.floor(seconds / step * 1.0001) + 1}, (_, k) => {
            const part = Math.min(1, k * step / seconds), text = (k * step).toFixed(places) + " s";
            const tick = make("span", {class: (1 - part) * axis.clientWidth < tickRoom / 2 ? "last" : null}, text);
            tick.style.left = 100 * part + "%";
            return tick;
        }));
    }
}

// A figure of a column, which has a part of each bin that lies in it, as text: a few calls are told with a fraction.
const partText = (type, value) => type === "count" && value < 100 ? String(Number(value.toPrecision(3))) : forPeople(type, value);

// The sums of intervals as whole numbers of their unit, which add up to the same.
function wholeSums(sums) {
    let sum = 0;
    return sums.map(value => {
        const before = Math.round(sum);
        sum += value;
        return Math.round(sum) - before;
    });
}

class CourseView {
    constructor(course, options) {
        this.course = course;
        this.metric = course.metrics.find(({name}) => name === options.get("metric")) || course.metrics[0];
        this.wanted = options.get("rank");
        this.selected = course.places.get(Number(this.wanted ?? NaN)) ?? null;
        this.sum = make("canvas", {class: "course", height: 60, width: courseColumns, "aria-hidden": "true"});
        this.map = make("canvas", {class: "course", width: courseColumns, tabindex: "0",
            "aria-label": "Map of ranks over time: arrows choose a rank", onkeydown: event => this.key(event),
            onclick: event => this.select(this.under(event)[0]),
            onmousemove: event => this.map.title = this.told(...this.under(event))});
        this.axes = Array.from({length: 3}, () => make("div", {class: "axis", "aria-hidden": "true"}));
        this.down = make("div", {class: "down", "aria-hidden": "true"});
        this.most = make("p", {id: "course-most"});
        this.legend = make("p", {class: "legend", id: "course-legend"});
        this.details = make("p", {id: "course-rank", "aria-live": "polite"});
        this.lanes = course.regions?.rows ? new Lanes(course) : null;
    }

    place(place) {
        const {course} = this;
        place.append(
            makeUnknownRank(this.wanted, course.ranks, " None is marked."),
            make("p", {class: "controls"}, makeChoice("Show", course.metrics.map(({name, head}) => [name, head]),
                this.metric.name, chosen => {
                    this.metric = course.metrics.find(({name}) => name === chosen);
                    remember({metric: chosen});
                    this.draw();
                })),
            this.legend, this.most, make("div", {class: "over-time"}, this.sum), this.axes[0],
            ...this.lanes ? [...this.lanes.picture(), this.axes[1]] : [],
            make("p", {}, "Each rank, the lowest at the top"), make("div", {class: "over-time"}, this.down, this.map), this.axes[2], this.details, this.makeTable(course),
            this.lanes ? this.lanes.makeTable() : "", this.makePhases(course));
        this.draw();
        redraws.push(() => this.draw());
    }

    // Figures of each phase, and when it was: as the table of regions has it, which knows more than calls and samples tell.
    makePhases(course) {
        const phases = course.phases().map(one => ({...one, ...this.lanes?.ofPhase(one.phase)}));
        if (!phases.length)
            return "";
        return make("div", {class: "scroll"}, make("table", {id: "phases"},
            make("caption", {}, (this.lanes ? "Phases (MPI_Pcontrol); "
                : "Phases (MPI_Pcontrol), from the first bin with a call or a sample to the last; ") +
                "sums over all ranks. Figures of a phase that is open at the end have MPI_Finalize, too."),
            make("thead", {}, make("tr", {}, ["phase", "from", "to", ...course.sums.map(({head}) => head)].map(head =>
                make("th", {scope: "col"}, head)))),
            make("tbody", {}, phases.map(({phase, begin, end, figures}) => make("tr", {"data-phase": phase},
                make("th", {scope: "row"}, String(phase)),
                [begin, end].map(at => make("td", {class: "number", title: exactly("ns", at)}, forPeople("ns", at))),
                course.sums.map(({type}, m) => make("td", {class: "number", title: exactly(type, figures[m])},
                    forPeople(type, figures[m]))))))));
    }

    makeTable(course) {
        const metrics = [...course.metrics, ...course.merges.length ? [{head: "merge of the profile", type: "ns"}] : []];
        const interval = (course.end - course.begin) / courseIntervals * course.ranks.length;
        const sums = metrics.map(metric => {
            const all = metric.of ? course.spread(metric, courseIntervals, true)
                : course.merging(courseIntervals, true).map(part => part * interval);
            return metric.share ? all : wholeSums(all);
        });
        return make("div", {class: "scroll"}, make("table", {id: "course"},
            make("caption", {}, "Sums over all ranks in intervals of " + course.at(1, courseIntervals) +
                ". The bins of the profile are spread evenly over them" +
                (course.metrics[0].share ? ". The share of MPI is the time in MPI, divided by the time of the ranks." : ".")),
            make("thead", {}, make("tr", {}, ["from", ...metrics.map(({head}) => head)].map(head =>
                make("th", {scope: "col"}, head)))),
            make("tbody", {}, Array.from({length: courseIntervals}, (_, k) => make("tr", {},
                make("th", {scope: "row"}, course.at(k, courseIntervals)),
                metrics.map(({type}, m) => make("td", {class: "number", title: exactly(type, sums[m][k])},
                    forPeople(type, sums[m][k]))))))));
    }

    // Place of the rank and column under the pointer.
    under({offsetX, offsetY}) {
        const {ranks} = this.course, part = (value, size, n) => Math.min(n - 1, Math.max(0, Math.floor(value / size * n)));
        return [part(offsetY, this.map.clientHeight, ranks.length), part(offsetX, this.map.clientWidth, courseColumns)];
    }

    told(place, column) {
        const {course, metric} = this, value = this.values[place * courseColumns + column];
        return `rank ${course.ranks[place]}, from ${course.at(column, courseColumns)}: ${partText(metric.type, value)}` +
            (this.merging[place * courseColumns + column] >= mergedPart ? "; merges the profile" : "");
    }

    // Arrows go from rank to rank, of which none is chosen at first.
    key(event) {
        const last = this.course.ranks.length - 1, at = this.selected ?? -1;
        const to = {ArrowUp: Math.max(0, at - 1), ArrowDown: Math.min(last, at + 1), Home: 0, End: last}[event.key];
        if (to === undefined)
            return;
        event.preventDefault();
        this.select(to);
    }

    select(place) {
        this.selected = place;
        remember({rank: String(this.course.ranks[place])});
        this.draw();
    }

    draw() {
        const {course, metric} = this, {ranks} = course;
        this.values = course.spread(metric, courseColumns, false);
        this.merging = course.merging(courseColumns, false);
        const rows = Math.min(ranks.length, mostCourseRows), peaks = new Float64Array(rows * courseColumns), merged = new Float64Array(peaks.length);
        this.values.forEach((value, i) => {
            const at = Math.floor(Math.floor(i / courseColumns) * rows / ranks.length) * courseColumns + i % courseColumns;
            peaks[at] = Math.max(peaks[at], value);
            merged[at] = Math.max(merged[at], this.merging[i]);
        });
        const most = peaks.reduce((a, b) => Math.max(a, b), 0);
        this.map.style.height = Math.max(60, Math.min(16 * rows, 400)) + "px";
        const style = getComputedStyle(document.documentElement), pixels = new Pixels(courseColumns, rows);
        const marked = this.selected === null ? -1 : Math.floor(this.selected * rows / ranks.length);
        const [mark, heat, unknown] = ["--mark", "--heat", "--unknown"].map(name => Pixels.colour(style, name));
        peaks.forEach((value, i) => {
            const y = Math.floor(i / courseColumns), x = i % courseColumns;
            if (value)
                pixels.fill(y, x, x + 1, y === marked ? mark : heat, opacityOf(value / most));
            else if (merged[i] >= mergedPart)
                pixels.fill(y, x, x + 1, unknown, 1);
        });
        pixels.put(this.map);
        this.drawSum(style);
        this.lanes?.draw(this.selected);
        this.axes.forEach(axis => course.drawAxis(axis));
        this.down.replaceChildren(...makeRankLabels(ranks.map(String), 0, ranks.length, "top"));
        this.legend.replaceChildren("0 ", make("span", {class: "heat-key", "aria-hidden": "true"}),
            ` ${partText(metric.type, most)} in ${course.at(1, courseColumns)}, which is the width of a column.` +
            (ranks.length > rows ? " Where a row stands for several ranks, it has the greatest of them." : ""),
            ...merged.some(part => part >= mergedPart) ? [" ", makeKey("--unknown", "pcollect merges the profile, in MPI_Finalize.")] : []);
        this.details.textContent = marked < 0 ? "" : `Rank ${ranks[this.selected]} is marked.`;
    }

    drawSum(style) {
        const sums = this.course.spread(this.metric, courseColumns, true), pen = this.sum.getContext("2d");
        const most = sums.reduce((a, b) => Math.max(a, b), 0), {type, share} = this.metric, {height} = this.sum;
        const top = share ? 100 * unitOf.percent : most;
        this.most.textContent = `All ranks, at most ${partText(type, most)} in a column${share ? "; the picture is 100 % high" : ""}`;
        pen.clearRect(0, 0, courseColumns, height);
        pen.fillStyle = style.getPropertyValue("--unknown"); // from the top, because a share is below
        this.course.merging(courseColumns, true).forEach((part, k) => pen.fillRect(k, 0, 1, Math.round(height * part)));
        pen.fillStyle = style.getPropertyValue("--heat");
        sums.forEach((value, k) => pen.fillRect(k, height - height * value / top, 1, height * value / top));
    }
}

// A table `series` of another plugin may lack its columns.
const hasCourse = series => ["start", "width", "rank"].every(name => series.has(name)) &&
    courseMetrics.some(({of}) => series.has(of));

async function showCourse(profile, place, options) {
    const series = profile.byName.get("series");
    if (!series?.rows || !hasCourse(series)) {
        const reason = series?.rows ? "its table series has other columns."
            : await profile.isRecorded() ? "pcollect record does not keep it; pcollect run --plugins +series does."
            : "the plugin series was not used. Run with pcollect run --plugins +series.";
        place.append(make("p", {}, "The profile does not have the course of the run: " + reason));
        return;
    }
    const regions = profile.byName.has("series_regions") ? await profile.table("series_regions") : null;
    const [data, ranks, cube] = await Promise.all(["series", "ranks", "rank,primitive"].map(name => profile.table(name)));
    place.append(makeWithoutOpen(await profile.openCalls()));
    new CourseView(new Course(data, regions, ranks, cube), options).place(place);
}
