// SPDX-License-Identifier: BSD-3-Clause
// The picture of the tree: a bar for each node, as wide as its share, with its children below it. The tree table shows
// the same in text, so screen readers pass over the picture.

const icicleRow = 20, leastBar = 0.0005; // a share of the whole
const palePart = 0.25; // opacity of a pale bar
const mostBarRows = 500; // a canvas has at most some 30,000 pixels on a side

// Visible bars: [node, x, y, width], x and width as shares of the whole.
function layIcicle(top, metric) {
    const bars = [], whole = top.figures[metric] || 0, next = whole ? [[top, 0, 0]] : [];
    const share = node => (node.figures[metric] || 0) / whole;
    for (let bar; (bar = next.pop()); ) {
        const [node, x, y] = bar, below = [];
        let left = x;
        bars.push([node, x, y, share(node)]);
        for (const child of node.by(metric)) {
            if (share(child) < leastBar || y + 1 === mostBarRows)
                break; // children are in the order of their shares
            below.push([child, left, y + 1]);
            left += share(child);
        }
        next.push(...below.reverse());
    }
    return bars;
}

// A name as far as it has room: without the file and line of the function, or with a sign that there is more. Functions
// without a name differ in the offset, which comes first there.
function fittingName(pen, name, room) {
    const fits = text => pen.measureText(text).width <= room, short = name.replace(/ \([^()]*\)$/, "");
    if (fits(name) || fits(short))
        return fits(name) ? name : short;
    const offsetFirst = short.replace(/^(.*)([+]0x[0-9a-f]+)$/s, "$2 $1");
    let least = 0;
    for (let most = offsetFirst.length; least < most; ) {
        const middle = Math.ceil((least + most) / 2);
        if (fits(cutText(offsetFirst, middle)))
            least = middle;
        else
            most = middle - 1;
    }
    return least ? cutText(offsetFirst, least) : "";
}

class Icicle {
    // `onselect` gets the node whose bar is clicked, `ondraw` draws again, `tell` returns a line on the figures of a node.
    constructor({onselect, ondraw, tell}) {
        this.ondraw = ondraw;
        const call = (event, what) => this.at(event) && what(this.at(event));
        this.canvas = make("canvas", {class: "icicle", "aria-hidden": "true",
            onclick: event => call(event, onselect), ondblclick: event => call(event, node => this.zoom(node)),
            onmousemove: event => this.canvas.title = call(event, node =>
                cutText(placesOf(node.label, true)) + "\n" + tell(node)) || ""});
        const makeButton = (text, toNode) => make("button", {type: "button", onclick: () => this.zoom(toNode())}, text);
        this.closer = makeButton("Zoom to the chosen bar", () => this.selected);
        this.wider = makeButton("Whole picture", () => this.root);
        this.about = make("span", {});
        this.zoomed = make("p", {class: "controls", id: "zoom"}, this.closer, this.wider, this.about);
        this.bars = [];
        this.leftOut = 0; // bars that are too narrow or too far down
    }

    // Makes the bar of a node as wide as the picture, by a step that Back undoes. The one that is so already gives way to the
    // one above it.
    zoom(node) {
        this.top = node === this.top && node.parent || node;
        remember({zoom: this.top.key()}, true);
        this.ondraw();
    }

    // Shows another tree, and of it what is below the node with this key; all of it if there is none.
    begin(root, key) {
        Object.assign(this, {root, top: root.nodeOf(key) || root});
    }

    at(event) {
        const box = this.canvas.getBoundingClientRect();
        const x = (event.clientX - box.left) / box.width, y = Math.floor((event.clientY - box.top) / icicleRow);
        const bar = this.bars.find(([, left, row, width]) => row === y && x >= left && x < left + width);
        return bar && bar[0];
    }

    // `colour` returns the variable of the style with which a node is drawn, `isPale` says if it is drawn pale.
    draw(metric, selected, colour, isPale = () => false) {
        const {root} = this;
        if (!this.top.figures[metric])
            this.top = root;
        Object.assign(this, {selected, bars: layIcicle(this.top, metric)});
        const {top} = this, chosen = this.bars.find(([node]) => node === selected);
        this.closer.hidden = !chosen || selected === top;
        this.wider.hidden = top === root;
        this.zoomed.hidden = this.closer.hidden && this.wider.hidden;
        this.about.textContent = top === root ? "" : `The picture shows ${cutText(top.shownName())} and what is below it.`;
        this.leftOut = -this.bars.length;
        top.each(node => this.leftOut += node.figures[metric] > 0);
        const rows = this.bars.reduce((most, [, , y]) => Math.max(most, y + 1), 0);
        this.isDeep = rows === mostBarRows;
        this.canvas.style.height = rows * icicleRow + "px"; // decides if there is a bar to scroll beside it
        const {width, ratio} = canvasSize(this.canvas);
        this.canvas.width = width * ratio;
        this.canvas.height = rows * icicleRow * ratio;
        const pen = this.canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
        pen.scale(ratio, ratio);
        pen.font = "12px sans-serif";
        pen.textBaseline = "middle";
        for (const [node, x, y, share] of this.bars)
            this.drawBar(pen, style, node, x * width, y * icicleRow, share * width, colour(node), isPale(node));
        if (chosen)
            this.drawFrame(pen, style, chosen[1] * width, chosen[2] * icicleRow, chosen[3] * width);
    }

    // Marks the chosen bar: a frame that is seen on the ground, and in it one that is seen on the colours.
    drawFrame(pen, style, x, y, width) {
        for (const [colour, inset, line] of [[style.getPropertyValue("--text"), 1, 2], ["#000", 2.5, 1]]) {
            pen.strokeStyle = colour;
            pen.lineWidth = line;
            pen.strokeRect(x + inset, y + inset, Math.max(0.5, width - 1 - 2 * inset), icicleRow - 1 - 2 * inset);
        }
    }

    drawBar(pen, style, node, x, y, width, colour, pale) {
        pen.fillStyle = style.getPropertyValue(colour);
        pen.globalAlpha = pale ? palePart : 1;
        pen.fillRect(x, y, Math.max(width - 1, 0.5), icicleRow - 1);
        pen.globalAlpha = 1;
        if (width < 30)
            return;
        pen.fillStyle = pale ? style.getPropertyValue("--text") : "#000";
        pen.fillText(fittingName(pen, cutText(node.shownName()), width - 8), x + 4, y + icicleRow / 2);
    }
}
