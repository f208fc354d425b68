// Single values at full resolution: under the cursor, along a line.

import {MISSING} from "viewer/gl.js";
import {TILE} from "viewer/pyramid.js";
import {toLayer} from "viewer/placement.js";

// The pixel of a layer at a place of the guide; null beside it.
function pixelAt(layer, x, y) {
  const at = toLayer(layer.placement, x, y);
  const column = Math.floor(at.x), row = Math.floor(at.y);
  const inside = column >= 0 && row >= 0 && column < layer.width && row < layer.height;
  return inside ? {column, row} : null;
}

function read(layer, tile, column, row) {
  const place = (row % TILE) * tile.width + column % TILE;
  if (!layer.scale) return Array.from(tile.data.subarray(3 * place, 3 * place + 3));
  const value = tile.data[place];
  return value < MISSING ? null : value + layer.offset;
}

// The value of a layer at a place of the guide: a number, three of a colour, null if missing, undefined beside it.
export async function valueAt(cache, layer, channel, x, y) {
  const pixel = pixelAt(layer, x, y);
  if (!pixel) return undefined;
  const {column, row} = pixel;
  const tile = await cache.load(layer, channelOf(layer, channel), 0, Math.floor(column / TILE), Math.floor(row / TILE));
  return read(layer, tile, column, row);
}

// Values at equal distances along a line, null where there is none.
export async function valuesAlong(cache, layer, channel, line, count) {
  const pixels = Array.from({length: count}, (_, i) => {
    const share = count > 1 ? i / (count - 1) : 0;
    return pixelAt(layer, line.x0 + share * (line.x1 - line.x0), line.y0 + share * (line.y1 - line.y0));
  });
  const keyOf = pixel => `${Math.floor(pixel.column / TILE)},${Math.floor(pixel.row / TILE)}`;
  const tiles = new Map();
  for (const key of new Set(pixels.filter(Boolean).map(keyOf))) {
    const [column, row] = key.split(",").map(Number);
    tiles.set(key, cache.load(layer, channelOf(layer, channel), 0, column, row));
  }
  const loaded = new Map(await Promise.all([...tiles].map(async ([key, tile]) => [key, await tile])));
  return pixels.map(pixel => pixel && read(layer, loaded.get(keyOf(pixel)), pixel.column, pixel.row));
}

export function channelOf(layer, channel) {
  return Math.min(channel, layer.channels - 1);
}

// Run an asynchronous function for the newest argument only: those that came while it ran are skipped.
export function newestOnly(run) {
  let running = false, waiting = null;
  const next = async argument => {
    running = true;
    try {
      await run(argument);
    } finally {
      running = false;
      if (waiting) {
        const [newest] = waiting;
        waiting = null;
        next(newest).catch(() => {});
      }
    }
  };
  return argument => {
    if (running) waiting = [argument];
    else next(argument).catch(() => {});
  };
}
