// SPDX-License-Identifier: BSD-3-Clause
// The part of the address behind #: a view and its options. The selection is among them and is kept from view to
// view: a rank, a context, a metric.

const selectionKeys = ["context", "rank", "metric"];

// "contexts&metric=mpi": the name of the view, its options.
function readAddress() {
    const [name, ...rest] = location.hash.slice(1).split("&");
    return {name, options: new URLSearchParams(rest.join("&"))};
}

// The address of a view with these options; those that are null or "" are left out.
function addressOf(name, options) {
    const told = Object.entries(options).filter(([, value]) => value !== null && value !== undefined && value !== "");
    return "#" + [name, ...told.map(([key, value]) => key + "=" + encodeURIComponent(value))].join("&");
}

function readSelection() {
    const {options} = readAddress();
    return Object.fromEntries(selectionKeys.map(key => [key, options.get(key)]));
}

// Puts options of the current view into the address. The view does not change. `isStep`: the button Back undoes it.
function remember(changes, isStep = false) {
    const {name, options} = readAddress();
    history[isStep ? "pushState" : "replaceState"](null, "", addressOf(name || "summary", {...Object.fromEntries(options), ...changes}));
    window.dispatchEvent(new Event("remembered"));
}

// Says that the page does not have what an option of the address names.
function makeUnknown(option, text) {
    const note = make("p", {class: "unknown", role: "alert"}, cutText(text));
    note.option = option;
    note.value = readAddress().options.get(option);
    return note;
}

// Removes what was said of options that have another value now.
function forgetUnknown() {
    const {options} = readAddress();
    for (const note of document.querySelectorAll(".unknown"))
        if (options.get(note.option) !== note.value)
            note.remove();
}

// "0 to 3, 8" of numbers in rising order; of many pieces the first.
function rangesText(numbers) {
    const most = 8, ranges = [];
    for (const number of numbers)
        if (ranges.length && number === ranges.at(-1)[1] + 1)
            ranges.at(-1)[1] = number;
        else
            ranges.push([number, number]);
    return ranges.slice(0, most).map(([from, to]) => from === to ? from : `${from} to ${to}`).join(", ") + (ranges.length > most ? ", …" : "");
}

// Says that a rank of the address is not among these, and what is shown in its place; nothing if it is, or if there is none.
function makeUnknownRank(rank, known, instead, option = "rank") {
    if (!rank || known.some(number => String(number) === rank))
        return "";
    return makeUnknown(option, `There is no rank ${rank} here. The ranks are ${rangesText([...known].sort((a, b) => a - b))}.${instead}`);
}
