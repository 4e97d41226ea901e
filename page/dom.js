// SPDX-License-Identifier: BSD-3-Clause
// Elements. Texts of the profile only become text nodes: no markup is ever parsed.

// make("td", {class: "number", title: "..."}, child, "text", [more])
function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (key.startsWith("on"))
            element.addEventListener(key.slice(2), value);
        else if (value !== null && value !== undefined && value !== false)
            element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.flat().filter(child => child !== null && child !== undefined));
    return element;
}

// The text, or its first characters and a sign that there are more: for titles, choices and pictures.
const mostShown = 400, mostInLine = 100;
const cutText = (text, most = mostShown) => text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, "") + "…";

// A name as nodes: lines may break behind its parts.
const partEnds = /(?<=::|[_/<])|(?<=\S\()(?!\))|(?=[+]0x)/;
const makeName = text => text.split(partEnds).flatMap((part, i) => i ? [make("wbr"), part] : [part]);

// The same for a text that may be long, with a button that shows the whole.
function makeText(text) {
    if (text.length <= mostShown)
        return makeName(text);
    const cut = cutText(text), whole = make("span", {class: "cut"}, makeName(cut), make("button", {type: "button", class: "link",
        onclick: event => {
            event.stopPropagation();
            whole.replaceChildren(...makeName(text));
        }}, `${grouped(text.length - cut.length + 1)} more characters`));
    return whole;
}

// A select with its label; options are [value, text].
function makeChoice(label, options, chosen, onchange) {
    const select = make("select", {onchange: () => onchange(select.value)});
    fillChoice(select, options, chosen);
    return make("label", {}, label + " ", select);
}

// Gives a select these options. One that has the keyboard focus keeps it.
function fillChoice(select, options, chosen) {
    select.replaceChildren(...options.map(([value, text]) =>
        make("option", {value, selected: value === chosen}, cutText(text, mostInLine))));
}

// Functions that draw the pictures of the shown view again: a canvas keeps its size and its colours.
const redraws = [];

// The width in which a canvas with text is drawn, in pixels of the style, and the number of its own pixels in one of
// these. What is drawn for paper does not depend on the window: it is scaled to the width of the paper.
const paperWidth = 720;
const canvasSize = canvas => document.documentElement.classList.contains("paper") ? {width: paperWidth, ratio: 2}
    : {width: canvas.parentNode.clientWidth, ratio: window.devicePixelRatio || 1};

const svgName = "http://www.w3.org/2000/svg";

// An element of a picture.
function makeSvg(name, attributes, ...children) {
    const element = document.createElementNS(svgName, name);
    for (const [key, value] of Object.entries(attributes))
        element.setAttribute(key, value);
    element.append(...children);
    return element;
}

// The colour of a place in a list, of which the first ones have their own, and all behind them share one.
const ownColours = 7, colourOfPlace = place => "--colour" + Math.min(place, ownColours);

// A sample of a colour of the style, and its meaning.
function makeKey(colour, text) {
    const sign = make("span", {class: "key", "aria-hidden": "true"});
    sign.style.background = `var(${colour})`;
    return make("span", {}, sign, " " + text);
}

// Warnings, which are to be read before the figures; nothing, if there are none.
function makeWarnings(profile) {
    return profile.warnings.length ? make("ul", {id: "warnings"}, profile.warnings.map(text => make("li", {}, text))) : "";
}
