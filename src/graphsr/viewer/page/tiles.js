// Tiles that have been loaded, as numbers and as textures; those not used for longest are dropped.

import {makeTexture} from "viewer/gl.js";
import {tileSize} from "viewer/pyramid.js";

const MOST_BYTES = 400e6; // of numbers; textures take as much again
const AT_ONCE = 6; // requests

export class TileCache {
  constructor(pixels, gl, onload) {
    this.pixels = pixels;
    this.gl = gl;
    this.onload = onload;
    this.tiles = new Map(); // in the order of use, the oldest first
    this.loading = new Map();
    this.wanted = [];
    this.awaited = new Set(); // keys of the tiles that the picture lacks
    this.bytes = 0;
  }

  // A tile with its texture if it is there, else undefined.
  find(layer, channel, level, column, row) {
    const key = keyOf(layer, channel, level, column, row);
    const tile = this.tiles.get(key);
    if (!tile) return undefined;
    this.tiles.delete(key);
    this.tiles.set(key, tile);
    if (!tile.texture) tile.texture = makeTexture(this.gl, layer, tile.data, tile.width, tile.height);
    return tile;
  }

  // Load what the picture needs, instead of what it needed before.
  want(places) {
    this.awaited = new Set(places.map(place => keyOf(...place)));
    this.wanted = places.filter(place => !this.loading.has(keyOf(...place)));
    this.next();
  }

  next() {
    while (this.loading.size < AT_ONCE && this.wanted.length) {
      const place = this.wanted.shift();
      this.load(...place).catch(() => {}); // a layer that is gone: the next state says so
    }
  }

  // A promise of a tile.
  load(layer, channel, level, column, row) {
    const key = keyOf(layer, channel, level, column, row);
    const there = this.tiles.get(key);
    if (there) return Promise.resolve(there);
    if (!this.loading.has(key)) {
      const loaded = this.pixels.tile(layer, channel, level, column, row).then(data => {
        const tile = {data, ...tileSize(layer, level, column, row), texture: null};
        this.tiles.set(key, tile);
        this.bytes += data.byteLength;
        this.dropOld();
        if (this.awaited.has(key)) this.onload(); // not for values under the cursor alone, which change no picture
        return tile;
      }).finally(() => {
        this.loading.delete(key);
        this.next();
      });
      this.loading.set(key, loaded);
    }
    return this.loading.get(key);
  }

  get busy() {
    return this.loading.size + this.wanted.length > 0;
  }

  dropOld() {
    for (const [key, tile] of this.tiles) {
      if (this.bytes <= MOST_BYTES) return;
      this.drop(key, tile);
    }
  }

  // Drop the tiles of layers that are no longer shown.
  keepOnly(layers) {
    const numbers = new Set(layers.map(layer => String(layer.number)));
    for (const [key, tile] of this.tiles) {
      if (!numbers.has(key.split("/")[0])) this.drop(key, tile);
    }
  }

  // Textures are lost with their context; the numbers stay.
  forgetTextures() {
    for (const tile of this.tiles.values()) tile.texture = null;
  }

  drop(key, tile) {
    this.tiles.delete(key);
    this.bytes -= tile.data.byteLength;
    if (tile.texture) this.gl.deleteTexture(tile.texture);
  }
}

function keyOf(layer, channel, level, column, row) {
  return `${layer.number}/${channel}/${level}/${column}/${row}`;
}
