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

// Puts options of the current view into the address. The view does not change.
function remember(changes) {
    const {name, options} = readAddress();
    history.replaceState(null, "", addressOf(name || "summary", {...Object.fromEntries(options), ...changes}));
    window.dispatchEvent(new Event("remembered"));
}
