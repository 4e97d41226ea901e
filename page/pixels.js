// SPDX-License-Identifier: BSD-3-Clause
// Heat maps, made pixel by pixel: in one colour of the style, the less transparent the greater the value.

// Opacity of a value that is this part of the greatest. Values above 0 differ from the ground, however small they are.
const opacityOf = part => part > 0 ? Math.min(1, 0.08 + 0.92 * part) : 0;

class Pixels {
    constructor(width, height) {
        Object.assign(this, {width, image: new ImageData(width, height)});
        this.words = new Uint32Array(this.image.data.buffer); // red is the lowest byte: browsers need a little-endian processor
    }

    // "#rrggbb" of the style as a word without its opacity.
    static colour(style, name) {
        const [red, green, blue] = style.getPropertyValue(name).match(/[0-9a-f]{2}/gi).map(part => parseInt(part, 16));
        return blue << 16 | green << 8 | red;
    }

    // Pixels of a row from `from` up to but not including `to`.
    fill(y, from, to, colour, opacity) {
        this.words.fill((Math.round(255 * opacity) << 24 | colour) >>> 0, y * this.width + from, y * this.width + to);
    }

    put(canvas) {
        canvas.width = this.width;
        canvas.height = this.image.height;
        canvas.getContext("2d").putImageData(this.image, 0, 0);
    }
}

// Names of ranks along one side of a map: those at multiples of a round number, of which no more than fit.
function makeRankLabels(names, begin, count, side, most = names.at(-1).length > 3 ? 6 : 12) {
    let step = 1;
    for (let i = 0; count / step > most; i++)
        step = [2, 5, 10][i % 3] * 10 ** Math.floor(i / 3);
    const labels = [];
    for (let at = Math.ceil(begin / step) * step; at < begin + count; at += step) {
        const label = make("span", {}, names[at]);
        label.style[side] = 100 * (at + 0.5 - begin) / count + "%";
        labels.push(label);
    }
    return labels;
}

const mostHostLines = 100; // more leave no room for figures

// A background with a line wherever a host of the list follows another one; "none" if none does, or too many do.
function hostLines(hosts, direction) {
    const stops = ["transparent 0"], lines = hosts.flatMap((host, i) => i && host !== hosts[i - 1] ? [100 * i / hosts.length] : []);
    for (const percent of lines.length > mostHostLines ? [] : lines)
        stops.push(`transparent calc(${percent}% - 0.5px)`, `var(--text) 0 calc(${percent}% + 0.5px)`, "transparent 0");
    return stops.length > 1 ? `linear-gradient(to ${direction}, ${stops.join(", ")})` : "none";
}
