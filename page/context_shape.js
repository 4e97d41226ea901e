// SPDX-License-Identifier: BSD-3-Clause
// Other shapes of the tree of contexts, and parts of it. They are made from the own figures of each path, so that
// every figure is counted once.

const treeShapes = [["tree", "top-down"], ["callers", "bottom-up"], ["flat", "flat"]];
const shapeLegends = {
    tree: "A row has the figures of all that was called from it.",
    callers: "The callers of a function are below it. A row has the exclusive figures of the function on this path.",
    flat: "A row has the figures of all that was called from the function, wherever it was called."
};

// The user's regular expression; null: there is none, or it is not valid yet.
function readExpression(text) {
    try {
        return text ? new RegExp(text, "i") : null;
    } catch {
        return null;
    }
}

// Marks the inputs whose expressions are not valid, and says in `told` that they are not used.
function drawExpressions(inputs, told) {
    const wrong = inputs.filter(({value}) => value && !readExpression(value));
    for (const input of inputs)
        input.setAttribute("aria-invalid", String(wrong.includes(input)));
    told.textContent = wrong.map(({value}) => `Not a regular expression, and not used: ${cutText(value, mostInLine)}`).join("; ");
    told.hidden = !wrong.length;
}

// Notes that the figures of a node of a shape come from this node of the whole tree; null: from several.
function addOrigin(place, node) {
    place.origin = place.origin === undefined || place.origin === node ? node : null;
}

// Values by rank are the same if no other node has a part of the times, and none is left out.
function addSame(top) {
    const equal = ({figures}, whole) => ["mpi", "cpu"].every(metric => figures[metric] === whole.figures[metric]);
    top.each(node => {
        if (node.origin && equal(node, node.origin))
            node.same = node.origin;
    });
}

// Adds the own figures of `node` to `to` and to all nodes above it.
function addOwn(to, node, ways) {
    for (const metric in node.own)
        for (let up = to; up; up = up.parent)
            up.add(metric, node.own[metric], ways[metric]);
    to.addRows(node.rows);
}

// Adds what was sampled in the function itself.
function addSelf(to, {own}) {
    for (const figure of ["cpu", "samples", "squares"])
        to.add(figure + "_self", own[figure]);
}

// Adds the own figures of `node` once to each function in the path of labels.
function addFlat(top, node, labels, ways) {
    for (const place of [top, ...Array.from(new Set(labels), label => top.child(label))])
        for (const metric in node.own)
            place.add(metric, node.own[metric], ways[metric]);
    const own = top.child(node.label);
    addSelf(own, node);
    own.addRows(node.rows);
}

// The tree in this shape, of the paths that have a label that `focus` matches and none that `ignore` matches. The
// trees of all paths are kept.
function arrangeTree(whole, {shape, focus, ignore}) {
    const wanted = readExpression(focus), unwanted = readExpression(ignore);
    if (wanted || unwanted)
        return makeShape(whole, shape, wanted, unwanted);
    whole.shapes ??= {tree: whole};
    return whole.shapes[shape] ??= makeShape(whole, shape, null, null);
}

function makeShape(whole, shape, wanted, unwanted) {
    const top = new ContextNode(whole.label, null);
    const ways = Object.fromEntries(whole.known.map(({name, way}) => [name, way]));
    const hasOwn = node => Object.keys(node.own).length > 0;
    whole.each(node => {
        if (shape !== "tree" && !hasOwn(node))
            return;
        const labels = node.labels();
        if (!node.parent && !wanted)
            addOwn(top, node, ways);
        if (!node.parent || wanted && !labels.some(label => wanted.test(label)) ||
            unwanted && labels.some(label => unwanted.test(label)))
            return;
        if (shape === "flat")
            addFlat(top, node, labels, ways);
        else if (shape === "callers") {
            const to = top.descend(labels.reverse());
            addOwn(to, node, ways);
            for (let up = to; up.parent && (node.own.mpi || node.own.cpu); up = up.parent)
                addOrigin(up, node);
        } else {
            const to = top.descend(labels);
            addOwn(to, node, ways);
            for (let up = to, from = node; up; up = up.parent, from = from.parent)
                addOrigin(up, from);
            addSelf(to, node);
            for (const metric of Object.keys(node.estimates))
                to.estimate(metric, node.figures[metric], node.estimates[metric]);
        }
    });
    addSame(top);
    return finishTree(top, whole);
}
