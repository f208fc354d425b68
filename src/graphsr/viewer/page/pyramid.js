// Sizes of levels and tiles, as the server has them (viewer/pyramid.py), and levels made in the page.

import {MISSING} from "viewer/gl.js";

export const TILE = 512;

export function levelSize(layer, level) {
  let {width, height} = layer;
  for (let i = 0; i < level; i++) {
    width = Math.ceil(width / 2);
    height = Math.ceil(height / 2);
  }
  return {width, height};
}

export function levelCount(layer) {
  let count = 1;
  for (let size = Math.max(layer.width, layer.height); size > TILE; size = Math.ceil(size / 2)) count++;
  return count;
}

export function tileSize(layer, level, column, row) {
  const {width, height} = levelSize(layer, level);
  return {width: Math.min(TILE, width - column * TILE), height: Math.min(TILE, height - row * TILE)};
}

// The means over 2 x 2 pixels, of values that are known.
export function halved(data, width, height, channels) {
  const w = Math.ceil(width / 2), h = Math.ceil(height / 2);
  const out = new data.constructor(w * h * channels);
  const bytes = data instanceof Uint8Array;
  for (let y = 0; y < h; y++) {
    const y1 = Math.min(2 * y + 1, height - 1);
    for (let x = 0; x < w; x++) {
      const x1 = Math.min(2 * x + 1, width - 1);
      const places = [2 * y * width + 2 * x, 2 * y * width + x1, y1 * width + 2 * x, y1 * width + x1];
      for (let c = 0; c < channels; c++) {
        let sum = 0, count = 0;
        for (const place of places) {
          const value = data[place * channels + c];
          if (value > MISSING) { sum += value; count++; }
        }
        out[(y * w + x) * channels + c] = count ? (bytes ? Math.round(sum / count) : sum / count) : -3e38;
      }
    }
  }
  return out;
}
