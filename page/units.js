// SPDX-License-Identifier: BSD-3-Clause
// Numbers in the form for users, and exact, as in tsv. They are given in the smallest unit of their type: nanoseconds,
// thousandths of a percent, bytes.

const grouped = value => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

// 12.34: a number with four significant digits; 12,345 if it has more before the point.
function digits(value) {
    const whole = Math.floor(Math.abs(value));
    const text = value.toFixed(whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3);
    return whole >= 9999 && text.length > 4 ? grouped(text) : text;
}

function scaled(value, steps) {
    const size = Math.abs(value);
    for (const [factor, unit] of steps)
        if (size >= factor)
            return digits(value / factor) + " " + unit;
    const [factor, unit] = steps[steps.length - 1];
    return value / factor + " " + unit;
}

const timeSteps = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
const byteSteps = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];

const peopleForms = {
    ns: value => Math.abs(value) < 1000 ? Math.round(value) + " ns" : scaled(value, timeSteps),
    bytes: value => Math.abs(value) < 1024 ? Math.round(value) + " B" : scaled(value, byteSteps),
    percent: value => (value / 1000).toFixed(1) + " %",
    count: value => grouped(value),
    integer: value => String(value),
    yes_no: value => value ? "yes" : "no",
    ratio: value => (value / 1000).toFixed(3),
    real: value => String(Number(value.toPrecision(4)))
};

const errorSteps = {
    ns: timeSteps,
    real: [[1e12, "T", 1e12], [1e9, "G", 1e9], [1e6, "M", 1e6], [1e3, "k", 1e4], [1, "", 0]]
};

// "12.3 M ± 0.4 M": the error with one digit, or two that begin with 1, and the value with as many decimals; only the
// value if the error is negligible. Both are at least 0.
function withError(type, value, error) {
    const steps = errorSteps[type];
    const [factor, unit] = steps.find(([factor, , least = factor]) => value >= least) || steps[steps.length - 1];
    const places = Math.min(9, Math.max(0, Math.ceil(-Math.log10(error / factor / 2))));
    const told = error > value * 1e-5 ? [value, error].map(number => (number / factor).toFixed(places))
        : [value / factor < 9999.5 ? String(Number((value / factor).toPrecision(4))) : (value / factor).toFixed(0)];
    return told.map(number => number + (unit && " " + unit)).join(" ± ");
}

// An integer in units of 10^-places, as text with as many decimals.
function decimal(value, places) {
    const text = String(Math.abs(value)).padStart(places + 1, "0");
    return (value < 0 ? "-" : "") + text.slice(0, -places) + "." + text.slice(-places);
}

const exactForms = {
    ns: value => decimal(value, 9),
    percent: value => decimal(value, 3),
    ratio: value => decimal(value, 3),
    yes_no: value => value ? "yes" : "no",
    real: value => String(Number(value.toPrecision(9)))
};

const forPeople = (type, value) => peopleForms[type](value);
const exactly = (type, value) => (exactForms[type] || String)(value);

// A hash of 32 bits of the text, and of the text before it if the hash of that is given.
function hashOf(text, before = 0) {
    let hash = before;
    for (let i = 0; i < text.length; i++)
        hash = hash * 31 + text.charCodeAt(i) >>> 0;
    return hash;
}

// A long name of C++ without the text in < > and ( ), and without its return type. That of a region is all brackets.
function shortName(name) {
    if (name.length <= 40 || name.includes("operator"))
        return name;
    let out = "", depth = 0;
    for (const sign of name.replaceAll("(anonymous namespace)", "\u0001")) {
        if ("<(".includes(sign)) {
            out += depth ? "" : sign === "<" ? "<>" : "()";
            depth++;
        } else if (">)".includes(sign) && depth)
            depth--;
        else if (sign === " " && !depth && !out.includes("()"))
            out = "";
        else if (!depth)
            out += sign;
    }
    return out === "()" ? name : out.replaceAll("\u0001", "(anonymous namespace)");
}

// Separates the labels of functions and MPI functions in the path of a context.
const pathSeparator = " > ";

const unescapeLabel = text => text.replace(/\\(.)/gs, (both, sign) => "@>".includes(sign) ? sign : both);

// "function (file:line)" of the label "function@file:line": the notation for users, as analysis/tree/label.c makes it.
function placeOf(label, whole) {
    const [, name, file] = /^((?:\\.|[^\\@])*)@(.*)$/s.exec(label) || [null, label, null];
    const shown = whole ? unescapeLabel(name) : shortName(unescapeLabel(name));
    return file === null ? shown : `${shown} (${unescapeLabel(file)})`;
}

const lastPart = path => path.slice(path.lastIndexOf("/") + 1);
const lineText = (path, line) => `${lastPart(path)}:${line}`;

// A label or a path in the notation for users. `whole`: with whole names.
const placesOf = (path, whole = false) => path.split(pathSeparator).map(label => placeOf(label, whole)).join(pathSeparator);

// The number of smallest units in the unit of tsv.
const unitOf = {ns: 1e9, percent: 1000, ratio: 1000};
