// The table of layers: which is left, which is right, and the value of each under the cursor.

import {channelOf, newestOnly, valueAt} from "viewer/lookup.js";
import {formatted, withUnit} from "viewer/numbers.js";

const $ = id => document.getElementById(id);
const MEANINGS = {
  source: "as it was measured",
  interpolated: "the source without the help of the guide",
  target: "the source at the resolution of the guide",
  error: "how far the target is from the truth",
  uncertainty: "one standard deviation of the target",
  edges: "how strongly neighbours are tied; low where the target may jump",
  previous: "the target of the solve before",
};

export function setUpLayerTable(view, cache) {
  view.on("state", () => {
    const body = $("layers").tBodies[0];
    body.replaceChildren(...view.state.layers.map((layer, i) => row(view, layer, i + 1)));
    fillChannels(view);
  });
  view.on("layers mode", () => {
    for (const input of $("layers").querySelectorAll("input")) {
      input.checked = view[input.name] === input.value;
      input.disabled = view.mode === "cloud" && view.layer(input.value)?.scale !== "values"; // has no place in space
    }
    for (const side of ["left", "right"]) $(`${side}-title`).textContent = view.layer(view[side])?.title ?? "";
  });
  $("swap").addEventListener("click", () => view.swap());
  $("channel").addEventListener("change", () => {
    view.channel = Number($("channel").value);
    view.change("layers", "cursor", "colours");
  });
  const show = newestOnly(cursor => showValues(view, cache, cursor));
  view.on("cursor state", () => show(view.cursor));
}

function row(view, layer, number) {
  const row = document.createElement("tr");
  for (const side of ["left", "right"]) {
    const input = Object.assign(document.createElement("input"), {type: "radio", name: side, value: layer.name});
    input.setAttribute("aria-label", `${layer.title} on the ${side}`);
    input.addEventListener("change", () => view.show(side, layer.name));
    row.insertCell().append(input);
  }
  const title = row.insertCell();
  title.append(Object.assign(document.createElement("kbd"), {textContent: number}), layer.title);
  const meaning = MEANINGS[layer.name] ? `${layer.title}: ${MEANINGS[layer.name]}` : layer.title;
  title.title = `${meaning}. ${layer.width} × ${layer.height}; key ${number}`;
  title.addEventListener("click", () => view.show("right", layer.name));
  row.insertCell().dataset.layer = layer.name;
  return row;
}

function fillChannels(view) {
  const count = Math.max(...view.state.layers.map(layer => layer.channels));
  $("channel-field").hidden = count < 2;
  if ($("channel").length !== count) {
    $("channel").replaceChildren(...Array.from({length: count}, (_, i) => new Option(i + 1, i)));
  }
}

async function showValues(view, cache, cursor) {
  const cells = [...$("layers").querySelectorAll("[data-layer]")];
  if (!cursor) {
    for (const cell of cells) cell.textContent = cell.title = "";
    $("place").textContent = "";
    return;
  }
  const texts = await Promise.all(cells.map(async cell => {
    const layer = view.layer(cell.dataset.layer);
    if (!layer) return "";
    const value = await valueAt(cache, layer, channelOf(layer, view.channel), cursor.x, cursor.y);
    return value === undefined ? "" : described(value, view.scale(layer.scale));
  }));
  cells.forEach((cell, i) => { cell.textContent = cell.title = texts[i]; });
  $("place").textContent = `x ${Math.floor(cursor.x)}, y ${Math.floor(cursor.y)}`;
}

function described(value, scale) {
  if (Array.isArray(value)) return value.map(each => Number.isInteger(each) ? each : Number(each.toPrecision(4))).join(" ");
  return withUnit(formatted(value, scale), scale.unit);
}
