// SPDX-License-Identifier: BSD-3-Clause
// The page: its views, chosen by the part of the address behind #, by links or by number keys. A page of a comparison
// has other views than that of a profile, of which some are only there if the profile has what they show.

const lastView = {name: "tables", title: "Tables", show: showTables};
const viewsOfProfile = [
    {name: "summary", title: "Summary", show: showSummary},
    {name: "contexts", title: "Contexts", show: showContexts},
    {name: "ranks", title: "Ranks", show: showRanks},
    {name: "time", title: "Time", show: showCourse},
    {name: "source", title: "Source", show: showSource},
    {name: "communication", title: "Communication", show: showCommunication},
    {name: "threads", title: "Threads", show: showThreads, has: hasThreads},
    {name: "files", title: "Files", show: showFiles, has: hasFiles},
    {name: "windows", title: "Windows", show: showWindows, has: hasWindows},
    lastView,
    {name: "print", title: "Print", show: showPrint}
];
let views = viewsOfProfile;

function chooseViews(profile) {
    if (profile.byName.has("scales"))
        views = [{name: "scaling", title: "Scaling", show: showScaling}, lastView];
    else if (profile.byName.has("difference"))
        views = [{name: "difference", title: "Difference", show: showDifference}, lastView];
    else
        views = viewsOfProfile.filter(({has}) => !has || has(profile));
}

const mostKeys = 9; // of views; those behind have none

const keyHelp = () => [
    ["1 to " + Math.min(views.length, mostKeys), "choose a view"], ["/", "go to the search"], ["?", "show the keys"],
    ["Tab", "go from control to control"], ["Enter", "select the row or follow the link; on the chosen row of contexts, zoom the picture to it"],
    ["Up, Down", "go from row to row of a tree or a table; choose a rank in the map over time"],
    ["Left, Right", "close and open a row of the tree; choose a rank in the map of ranks"],
    ["+, -", "show less or more of the matrix, in which arrows go from pair to pair"],
    ["Esc", "leave the search, close this list"]
];

const help = make("dialog", {id: "help", "aria-labelledby": "help-title"});

function fillHelp() {
    help.append(
        make("h2", {id: "help-title"}, "Keys"),
        make("table", {}, make("tbody", {}, keyHelp().map(([key, what]) =>
            make("tr", {}, make("th", {scope: "row"}, make("kbd", {}, key)), make("td", {}, what))))),
        make("button", {type: "button", onclick: () => help.close()}, "Close"));
}

function makeNavigation() {
    return make("nav", {}, views.map(({name, title}, i) =>
        make("a", {href: "#" + name, id: "to-" + name, title: i < mostKeys ? "key " + (i + 1) : null}, title)),
        make("button", {type: "button", id: "keys", title: "key ?", onclick: () => help.showModal()}, "Keys"));
}

const shownView = () => views.find(({name}) => name === readAddress().name) || views[0];

// Adds the selection to the links to views.
function markNavigation() {
    for (const {name} of views) {
        const link = document.getElementById("to-" + name);
        link.href = addressOf(name, readSelection());
        if (name === shownView().name)
            link.setAttribute("aria-current", "page");
        else
            link.removeAttribute("aria-current");
    }
}

const controlsOf = place => [...place.querySelectorAll(".controls select, .controls input, .controls button")];

// Does not show a view that the user left while it was built, nor its failure. A control that leads to another address of
// its view keeps the keyboard focus.
async function showView(profile, main) {
    const address = location.hash, view = shownView(), place = make("div", {id: view.name}), last = main.firstChild;
    const focused = last?.id === view.name ? controlsOf(last).indexOf(document.activeElement) : -1;
    main.replaceChildren(place);
    redraws.length = 0;
    markNavigation();
    await view.show(profile, place, readAddress().options).catch(error => fail(place, error));
    const {name} = readAddress();
    if (name && name !== view.name)
        place.prepend(makeUnknown("", `The page has no view ${name}: ${view.title} is shown.`));
    controlsOf(place)[focused]?.focus();
    place.dataset.ready = address;
}

function handleKey(event) {
    const search = document.getElementById("search");
    if (event.key === "Escape" && event.target === search)
        search.blur();
    if (help.open || event.target.matches("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey)
        return;
    if (event.key === "/" && search)
        search.focus();
    else if (event.key === "?")
        help.showModal();
    else if (views[event.key - 1])
        document.getElementById("to-" + views[event.key - 1].name).click();
    else
        return;
    event.preventDefault();
}

const redraw = () => redraws.forEach(draw => draw());

// Draws with the light colours for paper: browsers print with these, and canvases would keep those of a dark desktop.
function usePaper(paper) {
    document.documentElement.classList.toggle("paper", paper);
    redraw();
}

function redrawWhenNeeded() {
    window.addEventListener("resize", redraw);
    window.addEventListener("beforeprint", () => usePaper(true));
    window.addEventListener("afterprint", () => usePaper(false));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

async function start() {
    const profile = await Profile.read(), main = make("main", {});
    chooseViews(profile);
    fillHelp();
    document.title = profile.file + " - pcollect";
    document.body.append(make("header", {}, make("h1", {}, profile.file), makeNavigation()), main, help);
    const show = () => showView(profile, main);
    window.addEventListener("hashchange", show);
    window.addEventListener("remembered", () => {
        main.firstChild.dataset.ready = location.hash;
        forgetUnknown();
        markNavigation();
    });
    document.addEventListener("keydown", handleKey);
    redrawWhenNeeded();
    await show();
    await prepare(profile);
}

const mostPrepared = 50000; // rows: longer work would be in the way of a key

// Views that take longest to open are prepared while the page is idle. Errors are reported when such a view is shown.
async function prepare(profile) {
    const later = window.requestIdleCallback || setTimeout;
    if (!views.some(({show}) => show === showContexts) || profile.byName.get("contexts").rows > mostPrepared)
        return;
    for (const read of [readContextTree, readRankTables]) {
        await new Promise(done => later(done));
        await read(profile).catch(() => {});
    }
}

// Browsers tell by the message alone that there is no room for an array ("Array buffer allocation failed", "Invalid typed
// array length"), a text ("Invalid string length") or what a stream inflates ("Failed to fetch").
const lacksMemory = error => /memory|allocation|length|fetch/i.test(error.message);

// The reason why a view is not shown.
function makeFailure(error) {
    return make("p", {id: "failure", role: "alert"}, typeof DecompressionStream === "undefined"
        ? "This browser is too old for the page: it has no DecompressionStream."
        : lacksMemory(error)
        ? "This browser has too little memory for this view. Other views may need less, and pcollect report prints the " +
            `same figures. (${error})`
        : "This view cannot be shown: " + error);
}

const fail = (place, error) => place.replaceChildren(makeFailure(error));

start().catch(error => fail(document.body, error));
