// SPDX-License-Identifier: BSD-3-Clause
// The view of one program at several numbers of ranks or threads, as `pcollect scale` prints it: efficiencies and their factors,
// the loss of each context, its model with band, and its prediction for more of them.

const scaleFactors = [["efficiency_percent", "efficiency"], ["parallel_percent", "parallel"],
    ["balance_percent", "balance"], ["communication_percent", "communication"], ["computation_percent", "computation"]];
const threadFactors = [...scaleFactors, ["threading_percent", "threading"]];
const scaleColumns = ["wall_s", "time_s", "speed_up"];
// Columns that are left out if no context has them.
const knownOfSome = ["efficiency_percent", "growth"];
const lossColumns = ["place", "lost_s", "lost_percent", "first_s", "last_s", "efficiency_percent", "growth"];
const mostLossRows = 200;

// A table with these columns of a table of the profile; rows can be clicked if `onselect` is given.
function makeFigureTable(table, columns, rows, attributes, onselect) {
    const head = name => table.columns[table.find(name)].head;
    return make("table", attributes,
        make("thead", {}, make("tr", {}, columns.map(name => make("th", {scope: "col",
            title: table.columns[table.find(name)].doc, class: table.columns[table.find(name)].type === "text" ? null : "number"},
        head(name))))),
        make("tbody", {}, rows.map(row => makeFigureRow(table, columns, row, onselect))));
}

function makeFigureRow(table, columns, row, onselect) {
    const line = make("tr", onselect ? {tabindex: "0", "data-row": row, onclick: () => onselect(row, line), onkeydown: event => {
        const near = {ArrowDown: line.nextSibling, ArrowUp: line.previousSibling}[event.key];
        if (near)
            near.focus();
        else if (event.key === "Enter" || event.key === " ")
            onselect(row, line);
        else
            return;
        event.preventDefault();
    }} : {}, columns.map(name => make("td", {class: table.columns[table.find(name)].type === "text" ? "text" : "number",
        "data-column": name, title: table.exact(row, name)}, makeName(table.shown(row, name)))));
    return line;
}

class ScalingView {
    constructor(profile, {scales, contexts, costs, curves}, options) {
        Object.assign(this, {profile, scales, contexts, costs, curves});
        this.factors = profile.of === "threads" ? threadFactors : scaleFactors;
        this.few = rowsOf(contexts).some(row => contexts.exact(row, "few") === "yes");
        this.places = curves.rows ? rowsOf(curves).filter(row => curves.number(row, "row") === curves.number(0, "row"))
            .map(row => curves.number(row, "ranks")) : [];
        this.most = rowsOf(scales).reduce((most, row) => Math.max(most, scales.number(row, profile.of)), 0);
        this.wanted = Number(options.get("predict")) || this.places.find(ranks => ranks > this.most) || 0;
        this.selected = Math.max(0, rowsOf(contexts).findIndex(row => contexts.exact(row, "context") === options.get("context")));
        this.all = !this.largeRows().includes(this.selected);
        this.details = make("div", {id: "model", "aria-live": "polite"});
        this.losses = make("div", {class: "scroll"});
        this.controls = make("p", {class: "controls"});
    }

    place(place) {
        const {scales, profile} = this, factors = this.factors.map(([name]) => name);
        const columns = [profile.of, ...scaleColumns, ...factors, "delayed_percent"].filter(name => scales.has(name));
        place.append(makeWarnings(this.profile), make("h2", {}, this.profile.title),
            make("div", {class: "scroll"}, makeFigureTable(scales, columns, rowsOf(scales), {id: "scales"})),
            make("p", {class: "legend"}, "Efficiency is against the smallest scale; parallel = balance × communication" +
                (profile.of === "threads" ? " × threading; " : "; ") + "computation says how the total of computation scales. Time without a free processor is left out."),
            make("div", {class: "beside"},
                make("div", {}, make("p", {}, "Efficiency and its factors"), this.makeFactors()), this.details),
            make("h2", {}, "What each context loses"), ...this.profile.loss.map(text => make("p", {class: "loss"}, text)),
            this.profile.moved ? make("p", {class: "legend"}, "A wait is counted where it is caused.") : "",
            this.controls, this.losses);
        this.draw();
    }

    makeFactors() {
        const {scales, profile} = this;
        const lines = this.factors.map(([column, name], i) => ({name, style: "line" + i,
            points: rowsOf(scales).map(row => [scales.number(row, profile.of), scales.number(row, column) / 1000])}));
        return new Chart({lines, least: 0, form: value => value.toFixed(0) + " %", title: "Efficiency and its factors"}).svg;
    }

    // Time per rank of a context on the most ranks that are shown: by its model, else as measured.
    expected(row) {
        const {value} = this.bandOf(row).find(({ranks}) => ranks === this.wanted) || {};
        return value ?? this.contexts.number(row, "last_s");
    }

    // The contexts that lose, take or will take a part of the run that the text shows, too, or may do so.
    largeRows() {
        const {contexts, scales, profile} = this, {least} = profile, rows = rowsOf(contexts), last = scales.rows - 1;
        const measured = scales.number(last, "core_s") / scales.number(last, profile.of);
        const expected = rows.reduce((sum, row) => sum + (this.expected(row) || 0), 0);
        return rows.filter(row => ![contexts.number(row, "lost_percent") / 1e5, contexts.number(row, "last_s") / measured,
            this.expected(row) / expected].every(part => Math.abs(part) < least / 1e5));
    }

    // Tells how many contexts have no row, and shows more of them.
    makeLeftOut(shown, large) {
        const {contexts, profile: {least}} = this, small = contexts.rows - large, more = large - shown;
        const part = `${least / 1000} % of the run`;
        return [more ? make("p", {}, `${grouped(more)} more contexts are in the table contexts.`) : "",
            small ? make("p", {id: "small"}, `${counted(small, "context")} that ${small === 1 ? "loses or gains" : "lose or gain"} less than ` +
                `${part}, and ${small === 1 ? "takes" : "take"} less, ${small === 1 ? "has" : "have"} no row. `, make("button", {type: "button", onclick: () => {
                this.all = true;
                this.draw();
            }}, "Show all")) : ""];
    }

    draw() {
        const {contexts, profile} = this;
        const large = this.all ? rowsOf(contexts) : this.largeRows(), rows = large.slice(0, mostLossRows);
        const predicts = rows.some(row => this.bandOf(row).length);
        this.controls.replaceChildren(predicts ? makeChoice("Predict the time per rank on",
            this.places.filter(ranks => ranks > this.most).map(ranks => [String(ranks), `${grouped(ranks)} ${profile.of}`]),
            String(this.wanted), chosen => {
                this.wanted = Number(chosen);
                remember({predict: chosen});
                this.draw();
            }) : rowsOf(contexts).some(row => contexts.exact(row, "few"))
            ? "No form of growth fits the times of a context, or they have few samples, so that nothing is predicted."
            : `Models need three numbers of ${profile.of} or more.`,
        this.few && predicts ? `With fewer than five numbers of ${profile.of} the form of a model is a guess.` : "");
        const columns = lossColumns.filter(name => !knownOfSome.includes(name) || rows.some(row => contexts.exact(row, name) !== ""));
        const table = makeFigureTable(contexts, columns, rows, {id: "losses"}, row => this.select(row));
        if (predicts)
            this.addPredictions(table);
        this.losses.replaceChildren(table, ...this.makeLeftOut(rows.length, large.length));
        this.select(this.selected, true);
    }

    addPredictions(table) {
        table.tHead.rows[0].append(make("th", {scope: "col", class: "number"}, `on ${grouped(this.wanted)}`));
        for (const line of table.tBodies[0].rows) {
            const at = this.bandOf(Number(line.dataset.row)).find(({ranks}) => ranks === this.wanted);
            line.append(make("td", {class: "number predicted", title: at ? exactly("ns", at.value) : ""},
                at ? `${forPeople("ns", at.value)} (${forPeople("ns", at.low)} to ${forPeople("ns", at.high)})` : "-"));
        }
    }

    // [{ranks, value, low, high}] of the model of a context; empty: it has no model.
    bandOf(row) {
        this.bands ??= rowsOf(this.curves).reduce((bands, each) => {
            const key = this.curves.number(each, "row");
            const at = name => this.curves.number(each, name);
            bands.set(key, [...(bands.get(key) || []),
                {ranks: at("ranks"), value: at("time_s"), low: at("low_s"), high: at("high_s")}]);
            return bands;
        }, new Map());
        return this.bands.get(row) || [];
    }

    select(row, quiet) {
        this.selected = row;
        if (!quiet)
            remember({context: this.contexts.exact(row, "context")});
        for (const line of this.losses.querySelectorAll("tbody tr"))
            line.setAttribute("aria-selected", String(Number(line.dataset.row) === row));
        this.drawModel(row);
    }

    // Points are the time per rank at each scale; the table of costs has rows by context, then scale.
    drawModel(row) {
        const {contexts, costs, scales, profile} = this, band = this.bandOf(row).filter(({ranks}) => ranks <= Math.max(this.wanted, this.most));
        if (!contexts.rows) {
            this.details.replaceChildren("No context has a cost.");
            return;
        }
        const points = rowsOf(scales).map((_, i) => {
            const at = row * scales.rows + i, ranks = costs.number(at, profile.of);
            return [ranks, costs.number(at, "core_s") / ranks];
        });
        const lines = [{name: "measured", style: "line0", points}];
        if (band.length)
            lines.push({name: "model", style: "line1", marks: false, points: band.map(({ranks, value}) => [ranks, value])});
        const most = 1.1 * Math.max(0, ...points.filter(isKnown).map(([, y]) => y), ...band.map(({value}) => value));
        const chart = new Chart({lines, least: 0, most: most || 1, form: value => forPeople("ns", value), title: "Time a rank",
            band: band.length ? {low: band.map(({ranks, low}) => [ranks, low]), high: band.map(({ranks, high}) => [ranks, high])} : null});
        this.details.replaceChildren(make("p", {}, makeName(contexts.exact(row, "place"))), chart.svg, this.makeModel(row, band),
            this.makeLegend(chart, band));
    }

    // With enough scales `few` says if they are few.
    makeModel(row, band) {
        const {contexts} = this;
        if (band.length)
            return make("p", {}, `Model of the time per rank in seconds, p is the number of ${this.profile.of}: `,
                make("code", {}, contexts.exact(row, "model")));
        return make("p", {}, contexts.exact(row, "few") === "" ? "There is no model of this context."
            : "No form of growth fits these runs, or they have few samples here, so that nothing is predicted.");
    }

    // A band that is no higher than its line cannot be seen.
    makeLegend(chart, band) {
        if (!band.length)
            return "";
        const seen = band.some(({low, high}) => chart.y(low) - chart.y(high) > 2);
        return make("p", {class: "legend"}, seen ? "The area around the model is the interval that holds the mean in 95 of 100 " +
            "cases; what is above the picture is cut." : "The interval that holds the mean in 95 of 100 cases is no wider than the line.");
    }
}

async function showScaling(profile, place, options) {
    const tables = await Promise.all(["scales", "contexts", "costs", "curves"].map(name => profile.table(name)));
    const [scales, contexts, costs, curves] = tables;
    new ScalingView(profile, {scales, contexts, costs, curves}, options).place(place);
}
