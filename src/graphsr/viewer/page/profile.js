// The values along a drawn line, plotted with uPlot.

import uPlot from "viewer/vendored/uplot.js";
import {channelOf, newestOnly, valuesAlong} from "viewer/lookup.js";
import {formatted, withUnit} from "viewer/numbers.js";

const $ = id => document.getElementById(id);
const MOST_SAMPLES = 2000;
// Told apart by everybody (M. Okabe and K. Ito, 2008).
const COLOURS = {source: "#999999", interpolated: "#e69f00", target: "#0072b2", truth: "#009e73", previous: "#cc79a7"};

export function setUpProfile(view, camera, cache) {
  let plot = null;
  const draw = newestOnly(async line => {
    if (!line) return;
    const layers = view.state.layers.filter(layer => layer.scale === "values");
    const length = Math.hypot(line.x1 - line.x0, line.y1 - line.y0);
    const count = Math.min(MOST_SAMPLES, Math.max(2, Math.ceil(2 * length)));
    const distances = Array.from({length: count}, (_, i) => length * i / (count - 1));
    const values = await Promise.all(
      layers.map(layer => valuesAlong(cache, layer, channelOf(layer, view.channel), line, count)));
    $("profile").hidden = false;
    $("profile").classList.toggle("above", camera.toStage(line.x0, line.y0).y > camera.stage.height / 2); // not on it
    $("profile-title").textContent =
      `Profile from (${placeText(line.x0, line.y0)}) to (${placeText(line.x1, line.y1)}): ${length.toFixed(0)} pixels`;
    const key = layers.map(layer => layer.name).join();
    if (plot?.key !== key) {
      plot?.chart.destroy();
      plot = {key, chart: makeChart(view, layers), distances};
      plot.chart.setSize(chartSize()); // now that its legend has a height
    }
    plot.chart.setData([distances, ...values]);
  });
  view.on("line state layers", () => {
    if (view.line) draw({...view.line});
    else $("profile").hidden = true;
  });
  new ResizeObserver(() => plot?.chart.setSize(chartSize())).observe($("profile"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    plot?.chart.destroy();
    plot = null;
    view.change("line");
  });
}

function makeChart(view, layers) {
  const style = getComputedStyle(document.body);
  const axis = {stroke: style.getPropertyValue("--quiet"), grid: {stroke: style.getPropertyValue("--line"), width: 1},
                ticks: {show: false}, font: "11px system-ui"};
  const scale = view.scale("values");
  return new uPlot({
    ...chartSize(),
    scales: {x: {time: false}},
    axes: [{...axis, size: 28, label: undefined, values: (_, splits) => splits.map(split => `${split} px`)},
           {...axis, size: 64, label: scale.unit || undefined, labelSize: scale.unit ? 18 : 0, labelFont: "11px system-ui"}],
    series: [
      {label: "distance", value: (_, value) => value === null ? "" : `${value.toFixed(1)} px`},
      ...layers.map(layer => ({
        label: layer.title, stroke: COLOURS[layer.name], width: layer.name === "target" ? 2 : 1.3, spanGaps: false,
        points: {show: false},
        value: (_, value) => value === null ? "" : withUnit(formatted(value, view.scale("values")), view.scale("values").unit),
      })),
    ],
    hooks: {setCursor: [chart => showMark(view, chart)]},
  }, [[], ...layers.map(() => [])], $("plot"));
}

// Show in the image where the cursor is in the plot.
function showMark(view, chart) {
  const i = chart.cursor.idx, distances = chart.data[0];
  view.mark = null;
  if (i !== null && i !== undefined && view.line && distances.length > 1) {
    const share = i / (distances.length - 1), {x0, y0, x1, y1} = view.line;
    view.mark = {x: x0 + share * (x1 - x0), y: y0 + share * (y1 - y0)};
  }
  view.change("mark");
}

function chartSize() {
  const box = $("plot");
  const others = $("profile").querySelector(".bar").offsetHeight + (box.querySelector(".u-legend")?.offsetHeight ?? 24) + 14;
  return {width: Math.max(200, box.clientWidth), height: Math.max(90, $("profile").clientHeight - others)};
}

function placeText(x, y) {
  return `${Math.floor(x)}, ${Math.floor(y)}`;
}
