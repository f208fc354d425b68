// Colour maps and ranges of what is shown, with a bar that says which colour stands for which value.

import {decimalsFor, ticks} from "viewer/numbers.js";

const MARGIN = 12, HALF_DIGIT = 3.5; // CSS pixels: beside the bar, and of a label
const $ = id => document.getElementById(id);

export function setUpColourPanel(view) {
  let shown = "";
  view.on("colours", () => {
    const names = view.mode === "cloud" ? ["values"]
      : [...new Set(["left", "right"].map(side => view.layer(view[side])?.scale).filter(Boolean))];
    $("colours").hidden = !names.length;
    if (names.join() !== shown) {
      $("scales").replaceChildren(...names.map(name => block(view, name)));
      shown = names.join();
    }
    for (const element of $("scales").children) refresh(view, element);
  });
}

function block(view, name) {
  const element = document.createElement("div");
  element.className = "scale";
  element.dataset.scale = name;
  const title = make("h3", {textContent: view.scale(name).title});
  const bar = make("canvas", {width: 512, height: 1});
  const labels = make("div", {className: "ticks"});
  const fields = make("div", {className: "fields"});
  const palette = make("select", {name: "palette", ariaLabel: "Colour map"});
  palette.append(...Object.keys(view.state.palettes).map(each => new Option(each, each)));
  palette.addEventListener("change", () => view.setColours(name, {palette: palette.value}));
  const ends = ["lowest", "highest"].map((label, i) => {
    const input = make("input", {name: label, inputMode: "decimal", ariaLabel: `${label} value`, autocomplete: "off"});
    input.addEventListener("change", () => setEnd(view, name, i, input));
    return input;
  });
  const reverse = make("button", {textContent: "Reverse", title: "Reverse the colours", name: "reverse"});
  reverse.addEventListener("click", () => view.setColours(name, {reversed: !view.scale(name).reversed}));
  const auto = make("button", {textContent: "Auto", title: "The range of all values but the outermost", name: "auto"});
  auto.addEventListener("click", () => view.resetRange(name));
  fields.append(ends[0], make("span", {textContent: "to"}), ends[1], auto, palette, reverse);
  element.append(title, bar, labels, fields);
  return element;
}

function setEnd(view, name, i, input) {
  const scale = view.scale(name), range = [...scale.range], value = Number(input.value.replace(",", "."));
  const valid = input.value.trim() !== "" && Number.isFinite(value) && !(scale.logarithmic && value <= 0);
  range[i] = value;
  if (valid && range[0] < range[1]) view.setRange(name, range);
  else refresh(view, input.closest(".scale")); // back to what was there
}

function refresh(view, element) {
  const scale = view.scale(element.dataset.scale);
  if (!scale) return;
  element.querySelector("h3").textContent = scale.unit ? `${scale.title}, ${scale.unit}` : scale.title;
  element.querySelector("select").value = scale.palette;
  element.querySelector("[name=reverse]").setAttribute("aria-pressed", scale.reversed);
  const inputs = element.querySelectorAll("input");
  scale.range.forEach((end, i) => { inputs[i].value = view.hasOwnRange(element.dataset.scale) ? String(end) : endText(end, scale); });
  drawBar(element.querySelector("canvas"), view.state.palettes[scale.palette], scale.reversed);
  const [low, high] = scale.range.map(end => scale.logarithmic ? Math.log10(end) : end);
  const marks = scale.logarithmic
    ? ticks(low, high, 4).filter(tick => Number.isInteger(tick.value)).map(tick => ({...tick, text: `1e${tick.value}`}))
    : ticks(low, high, 5);
  const labels = element.querySelector(".ticks"), placeOf = value => (value - low) / (high - low);
  const room = value => Math.min(placeOf(value), 1 - placeOf(value)) * labels.clientWidth + MARGIN;
  labels.replaceChildren(...marks.filter(({value, text}) => room(value) > HALF_DIGIT * text.length).map(({value, text}) => {
    const mark = make("span", {textContent: text});
    mark.style.left = `${100 * placeOf(value)}%`;
    return mark;
  }));
}

function endText(end, scale) {
  return scale.logarithmic ? end.toExponential(2) : String(Number(end.toFixed(decimalsFor(10 * (scale.range[1] - scale.range[0])))));
}

function drawBar(canvas, colours, reversed) {
  const pen = canvas.getContext("2d");
  for (let x = 0; x < canvas.width; x++) {
    const place = Math.round(x / (canvas.width - 1) * (colours.length - 1));
    pen.fillStyle = `rgb(${colours[reversed ? colours.length - 1 - place : place]})`;
    pen.fillRect(x, 0, 1, 1);
  }
}

function make(kind, properties) {
  return Object.assign(document.createElement(kind), properties);
}
