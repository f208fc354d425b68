// The same as served.js for a page in one file: pixels are decoded from the page itself.

import {halved, levelSize, TILE, tileSize} from "viewer/pyramid.js";

export const canSolve = false;

const planes = new Map(); // by layer and channel: a promise of the levels made so far

export async function state() {
  return JSON.parse(document.getElementById("embedded").textContent);
}

export function progress() {
  return state();
}

export async function tile(layer, channel, level, column, row) {
  const levels = await planeOf(layer, channel);
  const channels = layer.scale ? 1 : 3;
  while (levels.length <= level) {
    const {width, height} = levelSize(layer, levels.length - 1);
    levels.push(halved(levels.at(-1), width, height, channels));
  }
  const {width: across} = levelSize(layer, level);
  const {width, height} = tileSize(layer, level, column, row);
  const out = new levels[level].constructor(width * height * channels);
  for (let y = 0; y < height; y++) {
    const start = ((row * TILE + y) * across + column * TILE) * channels;
    out.set(levels[level].subarray(start, start + width * channels), y * width * channels);
  }
  return out;
}

export async function samples(layer, channel, step) {
  const [all] = await planeOf(layer, channel);
  const channels = layer.scale ? 1 : 3;
  const width = Math.ceil(layer.width / step), height = Math.ceil(layer.height / step);
  const out = new all.constructor(width * height * channels);
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (y * step * layer.width + x * step) * channels;
      for (let c = 0; c < channels; c++) out[to++] = all[from + c];
    }
  }
  return out;
}

function planeOf(layer, channel) {
  const key = `${layer.number}-${channel}`;
  if (!planes.has(key)) planes.set(key, decoded(layer, key).then(values => [values]));
  return planes.get(key);
}

async function decoded(layer, key) {
  const about = JSON.parse(document.getElementById(`layer-${key}-about`).textContent);
  const text = atob(document.getElementById(`layer-${key}`).textContent);
  const packed = Uint8Array.from(text, letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return about.bits === 8 ? summedBytes(bytes, layer) : summedValues(bytes, layer, about);
}

function summedBytes(bytes, layer) {
  const row = 3 * layer.width;
  for (let i = 0; i < bytes.length; i++) {
    if (i % row >= 3) bytes[i] += bytes[i - 3]; // wraps round, as the differences did
  }
  return bytes;
}

function summedValues(bytes, layer, {low, step}) {
  const channels = layer.scale ? 1 : 3;
  const count = bytes.length / 2, row = channels * layer.width;
  const whole = new Uint16Array(count), values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const change = bytes[i] | (bytes[count + i] << 8);
    whole[i] = i % row < channels ? change : whole[i - channels] + change;
    values[i] = whole[i] ? low + (whole[i] - 1) * step : -3e38;
  }
  return values;
}
