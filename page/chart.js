// SPDX-License-Identifier: BSD-3-Clause
// Lines over a number of ranks, as SVG: both axes from the least to the greatest value, the first by factors of
// two. The tables beside a chart say the same in text, so screen readers pass over it.

const chartCharacter = 7.5, chartGap = 8; // the width of a character of a number, and between numbers, at least
const chartWidth = 460, chartHeight = 240, chartLeft = 64, chartRight = 124, chartTop = 12, chartBottom = 40;

// A step of 1, 2 or 5 times a power of ten, so that no more than so many fit.
function niceStep(range, most = 5) {
    const power = 10 ** Math.floor(Math.log10(range / most));
    return [1, 2, 5, 10].map(factor => factor * power).find(step => range / step <= most);
}

const isKnown = ([, y]) => !Number.isNaN(y);

class Chart {
    // lines: {name, points: [[x, y]...], style: class, marks}; band: {low: [[x, y]...], high}. A line has a gap where its y is
    // NaN.
    constructor({lines, band, least, most, form, title}) {
        const all = [...lines.flatMap(({points}) => points.filter(isKnown)), ...(band ? [...band.low, ...band.high] : [])];
        this.xs = [...new Set(all.map(([x]) => x))].sort((a, b) => a - b);
        this.least = least;
        this.most = most ?? Math.max(...all.map(([, y]) => y), least + 1e-9);
        this.form = form;
        this.svg = makeSvg("svg", {class: "chart", viewBox: `0 0 ${chartWidth} ${chartHeight}`, "aria-hidden": "true"});
        this.drawAxes(title);
        if (band)
            this.svg.append(makeSvg("path", {class: "band-area", d: this.path([...band.low, ...band.high.slice().reverse()]) + "Z"}));
        for (const line of lines)
            this.drawLine(line);
        this.drawNames(lines.filter(({points}) => points.some(isKnown)));
    }

    x(value) {
        const [first, last] = [this.xs[0], this.xs[this.xs.length - 1]];
        const part = last > first ? Math.log(value / first) / Math.log(last / first) : 0.5;
        return chartLeft + part * (chartWidth - chartLeft - chartRight);
    }

    y(value) {
        const part = (Math.min(value, this.most) - this.least) / (this.most - this.least);
        return chartHeight - chartBottom - part * (chartHeight - chartBottom - chartTop);
    }

    path(points) {
        return points.map((point, i) => isKnown(point) ? `${i && isKnown(points[i - 1]) ? "L" : "M"}${
            this.x(point[0]).toFixed(1)} ${this.y(point[1]).toFixed(1)}` : "").join("");
    }

    text(x, y, text, anchor) {
        this.svg.append(makeSvg("text", {x, y, "text-anchor": anchor}, text));
    }

    drawAxes(title) {
        const step = niceStep(this.most - this.least), right = chartWidth - chartRight;
        for (let value = this.least; value <= this.most * 1.0001; value += step) {
            this.svg.append(makeSvg("path", {class: "grid", d: `M${chartLeft} ${this.y(value)}H${right}`}));
            this.text(chartLeft - 6, this.y(value) + 4, this.form(value), "end");
        }
        let free = -Infinity;
        for (const x of this.xs) {
            const text = grouped(x), half = text.length * chartCharacter / 2;
            if (this.x(x) - half < free)
                continue;
            this.text(this.x(x), chartHeight - chartBottom + 19, text, "middle");
            free = this.x(x) + half + chartGap;
        }
        this.text((chartLeft + right) / 2, chartHeight - 6, "ranks", "middle");
        this.svg.append(makeSvg("title", {}, title));
    }

    drawLine({name, points, style, marks}) {
        if (points.length > 1)
            this.svg.append(makeSvg("path", {class: "chart-line " + style, d: this.path(points)}));
        for (const [x, y] of marks === false ? [] : points.filter(isKnown))
            this.svg.append(makeSvg("circle", {class: "chart-mark " + style, cx: this.x(x), cy: this.y(y), r: 3},
                makeSvg("title", {}, `${name}: ${this.form(y)} on ${grouped(x)}`)));
    }

    // Names are right of all lines, in the order of the ends of these. A thin line leads to its name from the end of a line
    // that reaches the right side; a shorter line has a sign beside its name.
    drawNames(lines) {
        const names = lines.map(({name, style, points}) => ({name, style, end: points.filter(isKnown).pop()}))
            .map(({name, style, end: [x, y]}) => ({name, style, x: this.x(x), y: this.y(y)})).sort((a, b) => a.y - b.y);
        names.forEach((each, i) => each.at = Math.max(each.y, i ? names[i - 1].at + 14 : 0));
        const right = chartWidth - chartRight;
        let most = chartHeight - chartBottom;
        for (const each of names.reverse()) {
            each.at = Math.min(each.at, most);
            most = each.at - 14;
            this.svg.append(makeSvg("path", {class: "chart-line thin " + each.style,
                d: each.x < right ? `M${right + 4} ${each.at}h14` : `M${right} ${each.y}L${right + 12} ${each.at}h6`}));
            this.text(right + 22, each.at + 4, each.name, "start");
        }
    }
}
