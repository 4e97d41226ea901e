// SPDX-License-Identifier: BSD-3-Clause
// The page: its views, chosen by the part of the address behind #, by links or by number keys.

const views = [
    {name: "summary", title: "Summary", show: showSummary},
    {name: "contexts", title: "Contexts", show: showContexts},
    {name: "ranks", title: "Ranks", show: showRanks},
    {name: "tables", title: "Tables", show: showTables}
];

// "contexts&metric=mpi": the view and its options.
function readAddress() {
    const [name, ...rest] = location.hash.slice(1).split("&");
    return {view: views.find(view => view.name === name) || views[0], options: new URLSearchParams(rest.join("&"))};
}

function makeNavigation() {
    return make("nav", {}, views.map(({name, title}, i) =>
        make("a", {href: "#" + name, id: "to-" + name, title: "key " + (i + 1)}, title)));
}

// A view that was left while it was made is not shown.
async function showView(profile, main) {
    const address = location.hash, {view, options} = readAddress(), place = make("div", {id: view.name});
    main.replaceChildren(place);
    window.onresize = null;
    for (const {name} of views)
        document.getElementById("to-" + name).toggleAttribute("aria-current", name === view.name);
    await view.show(profile, place, options);
    place.dataset.ready = address;
}

function handleKey(event) {
    const search = document.getElementById("search");
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey)
        return;
    if (event.key === "/" && search)
        search.focus();
    else if (views[event.key - 1])
        location.hash = views[event.key - 1].name;
    else
        return;
    event.preventDefault();
}

async function start() {
    const profile = await Profile.read(), main = make("main", {});
    document.title = profile.file + " - pcollect";
    document.body.append(make("header", {}, make("h1", {}, profile.file), makeNavigation()), main);
    const show = () => showView(profile, main).catch(fail);
    window.addEventListener("hashchange", show);
    document.addEventListener("keydown", handleKey);
    await show();
}

function fail(error) {
    document.body.append(make("p", {id: "failure", role: "alert"}, typeof DecompressionStream === "undefined"
        ? "This browser is too old for the page: it has no DecompressionStream."
        : "The page cannot be shown: " + error));
}

start().catch(fail);
