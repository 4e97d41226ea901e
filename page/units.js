// SPDX-License-Identifier: BSD-3-Clause
// Numbers in the form for users, and exact, as in tsv. They are given in the smallest unit of their type: nanoseconds,
// thousandths of a percent, bytes.

const grouped = value => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

// "1 rank", "2 ranks".
const counted = (value, noun) => `${grouped(value)} ${noun}${Number(value) === 1 ? "" : "s"}`;

// Text with four significant digits in the greatest unit that fits when it is rounded, without a fraction in the
// smallest. A number of five digits or more is one of the greatest unit, and has commas. Page and report show the same:
// analysis/buffer.c rounds integers in this way.
function scaled(value, steps) {
    const size = Math.round(Math.abs(value));
    const rounded = unit => {
        const inUnits = places => Math.floor((size * 10 ** places + unit / 2) / unit);
        let places = unit > 1 ? 3 : 0;
        while (places && inUnits(places) >= 10000)
            places--;
        return [inUnits(places), places];
    };
    const reaches = (unit, [smaller]) => {
        const [whole, places] = rounded(smaller);
        return whole * smaller >= unit * 10 ** places;
    };
    const [unit, name] = steps.find(([unit], i) => i + 1 === steps.length || reaches(unit, steps[i + 1]));
    const [whole, places] = rounded(unit);
    return (value < 0 && size ? "-" : "") + (whole >= 10000 ? grouped(whole) : (whole / 10 ** places).toFixed(places)) + " " + name;
}

// Text with one decimal of thousandths of a percent.
const percentText = value => (value < 0 ? "-" : "") + (Math.floor((Math.abs(value) + 50) / 100) / 10).toFixed(1) + " %";

// part / whole as annotate shows it, whose shares are thousandths of a percent.
const shareText = (part, whole) => percentText(Math.round(1e5 * part / whole));

const timeSteps = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
const byteSteps = ["EiB", "PiB", "TiB", "GiB", "MiB", "KiB", "B"].map((name, i) => [2 ** (60 - 10 * i), name]);

const peopleForms = {
    ns: value => scaled(value, timeSteps),
    bytes: value => scaled(value, byteSteps),
    percent: percentText,
    count: value => grouped(Math.round(value)),
    integer: value => String(value),
    yes_no: value => value ? "yes" : "no",
    ratio: value => decimal(value, 3),
    real: value => String(Number(value.toPrecision(4)))
};

const errorSteps = {
    ns: timeSteps,
    real: [[1e12, "T", 1e12], [1e9, "G", 1e9], [1e6, "M", 1e6], [1e3, "k", 1e4], [1, "", 0]]
};

// "12.3 M ± 0.4 M": the error with one digit, or two that begin with 1, and the value with as many decimals; only the
// value, with four digits, if the error is negligible. Both are at least 0.
function withError(type, value, error) {
    const steps = errorSteps[type], told = error > value * 1e-5;
    const placesIn = factor => told ? Math.min(9, Math.max(0, Math.ceil(-Math.log10(error / factor / 2))))
        : Math.max(0, 3 - [10, 100, 1000].filter(least => value / factor >= least).length);
    const roundedIn = factor => Math.round(value / factor * 10 ** placesIn(factor)) / 10 ** placesIn(factor) * factor;
    const [factor, unit] = steps.find(([factor, , least = factor], i) =>
        i + 1 === steps.length || roundedIn(steps[i + 1][0]) >= least);
    const put = number => {
        const [whole, decimals] = (number / factor).toFixed(placesIn(factor)).split(".");
        return (whole.length > 4 ? grouped(whole) : whole) + (decimals ? "." + decimals : "");
    };
    const texts = told ? [value, error].map(put)
        : [value / factor < 9999.5 ? String(Number((value / factor).toPrecision(4))) : put(value)];
    return texts.map(text => text + (unit && " " + unit)).join(" ± ");
}

// A number in units of 10^-places, rounded to one of them, as text with as many decimals.
function decimal(value, places) {
    const whole = Math.round(value), text = String(Math.abs(whole)).padStart(places + 1, "0");
    return (whole < 0 ? "-" : "") + text.slice(0, -places) + "." + text.slice(-places);
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

const anonymous = "(anonymous namespace)", operatorName = /\boperator(?!\w)(<<=|>>=|<=>|->\*|<<|>>|<=|>=|->|\(\)|<|>)?/y;

// The signs of a name from i on that are no brackets, or one sign: "operator<<", "operator", "(anonymous namespace)".
function wholeAt(name, i) {
    operatorName.lastIndex = i;
    return name[i] === "o" && operatorName.exec(name)?.[0] || (name.startsWith(anonymous, i) ? anonymous : name[i]);
}

// A long name of C++ or Rust without its return type and the text in < > and ( ), but for a part [first, end) in the
// first of these that it is in. "<Type as Trait>" at the begin stays, and so does a name that is all brackets, as that
// of a region. The report does the same: analysis/symbols/short_name.c.
function folded(name, first = 0, end = 0) {
    if (name.length <= 40)
        return name;
    let out = "", depth = 0, part = "", stayed = false, called = false, lessBefore = false, lessAfter = false;
    const close = sign => {
        const kept = fittingArguments(part, 30);
        if (part)
            out += (lessBefore ? "…" : "") + cutMiddle(kept, 30) + (lessAfter || kept !== part ? "…" : "");
        out += sign;
        stayed = stayed || part !== "";
        part = "";
        lessBefore = lessAfter = false;
    };
    for (let i = 0; i < name.length; i++) {
        const whole = wholeAt(name, i), closes = whole === ")" || whole === ">" && name[i - 1] !== "-";
        const stays = i >= first && i < end && !stayed;
        if (depth === 1 && closes) {
            depth = 0;
            close(whole);
        } else if (depth) {
            depth += "<(".includes(whole) - closes;
            if (stays)
                part += whole;
            else if (whole !== " " && part)
                lessAfter = true;
            else if (whole !== " ")
                lessBefore = true;
        } else if (whole === " " && !called && name[0] !== "<")
            out = "";
        else {
            out += whole;
            depth = +(whole === "(" || whole === "<" && i > 0);
            called = called || whole === "(" || whole.startsWith("operator");
        }
        i += whole.length - 1;
    }
    if (depth)
        close(out.at(-1) === "<" ? ">" : ")");
    return out === "()" ? name : out;
}

// The arguments that have room, at least the first; all if they have.
function fittingArguments(text, cells) {
    let depth = 0, fitting = 0;
    for (let i = 0; i < text.length && text.length > cells; i++) {
        depth += "<({".includes(text[i]) - (depth && ">)}".includes(text[i]));
        if (!depth && text[i] === "," && (!fitting || i < cells))
            fitting = i;
    }
    return text.slice(0, fitting || text.length);
}

function cutMiddle(text, cells) {
    const head = Math.floor((cells - 1) * 2 / 3);
    return text.length <= cells ? text : text.slice(0, head) + "…" + text.slice(text.length - (cells - 1 - head));
}

// Whole words, lambdas (`{lambda(int)#2}`) and casts (`(kind)3`) around a part of a name.
function widened(name, first, end) {
    const word = /[\w#]/, before = /[{}<>]/;
    let at = first;
    while (first && word.test(name[first - 1]))
        first--;
    while (end < name.length && word.test(name[end]))
        end++;
    while (at && !before.test(name[at - 1]))
        at--;
    if (name[at - 1] === "{" && name.includes("}", end))
        [first, end] = [at - 1, name.indexOf("}", end) + 1];
    if (name[first - 1] === ")" && /\d/.test(name[first]))
        first = Math.max(0, name.lastIndexOf("(", first - 1));
    return [first, end];
}

// A long name of C++, shortened; of names in `others` that are shortened to the same, the first arguments in which it
// differs from them stay: "solve<…Jacobi>()".
function shortName(name, others = []) {
    const short = folded(name), alike = others.filter(other => other !== name && folded(other) === short);
    if (short === name || !alike.length)
        return short;
    let first = name.length, behind = name.length;
    for (const other of alike) {
        let i = 0, k = 0;
        while (i < first && name[i] === other[i])
            i++;
        while (k < behind && k < name.length - i && k < other.length && name.at(-1 - k) === other.at(-1 - k))
            k++;
        [first, behind] = [i, k];
    }
    return folded(name, ...widened(name, first, Math.max(first, name.length - behind)));
}

// Separates the labels of functions and MPI functions in the path of a context.
const pathSeparator = " > ";

// The escape of a > stays where it ends no arguments of a template: in a path it would look like the separator.
function unescapeLabel(text) {
    let depth = 0;
    return text.replace(/\\(.)|[<>]/gs, (found, sign, at) => {
        const plain = sign === "@" || (sign === ">" && depth > 0);
        depth += found === "<" && at > 0 && text[at - 1] !== " ";
        depth -= found.endsWith(">") && depth > 0;
        return plain ? sign : found;
    });
}

// [function, file:line or null] of a label.
function partsOf(label) {
    const [, name, file] = /^((?:\\.|[^\\@])*)@(.*)$/s.exec(label) || [null, label, null];
    return [unescapeLabel(name), file === null ? null : unescapeLabel(file)];
}

// "module+0xbegin (0xoffset)" of the label "module+0xbegin:0xoffset", which a function without a name has.
const offsetApart = label => label.replace(/(?<=[+]0x[0-9a-f]+):(0x[0-9a-f]+)$/, " ($1)");

// True for the label of a function without a name, which has its module.
const isNameless = label => /[+]0x[0-9a-f]+(:0x[0-9a-f]+)?$/.test(label);

// "function (file:line)" of the label "function@file:line": the notation for users, as analysis/tree/label.c makes it.
// `others`: labels from which it is told apart.
function placeOf(label, whole, others = []) {
    const [name, file] = partsOf(label);
    const shown = whole ? name : shortName(name, name.length > 40 ? others.map(other => partsOf(other)[0]) : []);
    return file === null ? offsetApart(shown) : `${shown} (${file})`;
}

const lastPart = path => path.slice(path.lastIndexOf("/") + 1);
// The part of a path that users see, as pct_place_file of analysis/tree/label.c makes it.
function fileText(path) {
    const [folder, name] = path.split("/").slice(-2), same = ["__init__.py", "__main__.py"].includes(name);
    return folder && (same || (/\/(site|dist)-packages\/.*\.py$/s.test(path) && !folder.endsWith("-packages"))) ? `${folder}/${name}` : lastPart(path);
}
const lineText = (path, line) => `${fileText(path)}:${line}`;

// A label or a path in the notation for users. `whole`: with whole names.
const placesOf = (path, whole = false) => path.split(pathSeparator).map(label => placeOf(label, whole)).join(pathSeparator);

// The number of smallest units in the unit of tsv.
const unitOf = {ns: 1e9, percent: 1000, ratio: 1000};
