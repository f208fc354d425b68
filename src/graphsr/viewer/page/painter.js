// Draws layers with WebGL: tiles of the level that fits the zoom, coarser ones while those are still loading.

import {bindTexture, context, makePalette, makeProgram} from "viewer/gl.js";
import {levelCount, levelSize, TILE} from "viewer/pyramid.js";
import {pixelWidth, toLayer} from "viewer/placement.js";

const VERTEX = `#version 300 es
uniform vec4 part;        // left, top, right, bottom of the tile in pixels of the layer
uniform vec4 texels;      // the same in texels
uniform mat3 placement;   // pixels of the layer to those of the guide
uniform vec4 view;        // scale and offset from there to the canvas
out vec2 texel;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  texel = mix(texels.xy, texels.zw, corner);
  vec2 at = (placement * vec3(mix(part.xy, part.zw, corner), 1.0)).xy;
  gl_Position = vec4(at * view.xy + view.zw, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2D;
uniform sampler2D tile;
uniform sampler2D palette;
uniform vec2 last;        // the last texel
uniform vec2 range;
uniform bool smoothly, coloured, logarithmic, reversed;
in vec2 texel;
out vec4 colour;
const float MISSING = -1e38;
vec4 fetch(vec2 at) { return texelFetch(tile, ivec2(clamp(at, vec2(0.0), last)), 0); }
vec4 sampled() {
  vec4 nearest = fetch(floor(texel));
  if (!smoothly) return nearest;
  vec2 corner = floor(texel - 0.5), share = texel - 0.5 - corner;
  vec4 a = fetch(corner), b = fetch(corner + vec2(1, 0)), c = fetch(corner + vec2(0, 1)), d = fetch(corner + 1.0);
  if (min(min(a.r, b.r), min(c.r, d.r)) < MISSING) return nearest;
  return mix(mix(a, b, share.x), mix(c, d, share.x), share.y);
}
void main() {
  vec4 value = sampled();
  if (value.r < MISSING) {
    float stripe = mod(floor(gl_FragCoord.x + gl_FragCoord.y), 8.0);
    colour = vec4(vec3(stripe < 4.0 ? 0.55 : 0.62), 1.0);
  } else if (coloured) {
    colour = vec4((value.rgb - range.x) / (range.y - range.x), 1.0);
  } else {
    float place = logarithmic ? log(max(value.r, 1e-30) / range.x) / log(range.y / range.x)
                              : (value.r - range.x) / (range.y - range.x);
    place = clamp(reversed ? 1.0 - place : place, 0.0, 1.0);
    colour = vec4(texelFetch(palette, ivec2(int(place * 255.0 + 0.5), 0), 0).rgb, 1.0);
  }
}`;

export class Painter {
  constructor(canvas, palettes) {
    this.canvas = canvas;
    this.gl = context(canvas);
    this.colours = palettes;
    this.setUp();
  }

  setUp() {
    const gl = this.gl;
    this.program = makeProgram(gl, VERTEX, FRAGMENT);
    this.palettes = Object.fromEntries(
      Object.entries(this.colours).map(([name, colours]) => [name, makePalette(gl, colours)]));
    gl.bindVertexArray(gl.createVertexArray());
  }

  // Draw one layer left of the split and one right of it; return the tiles that are missing.
  paint(cache, camera, left, right, split) {
    const {gl, canvas} = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.program.program);
    gl.enable(gl.SCISSOR_TEST);
    const at = Math.round(split * canvas.width);
    const missing = [];
    for (const [shown, from, to] of [[left, 0, at], [right, at, canvas.width]]) {
      if (!shown || to <= from) continue;
      gl.scissor(from, 0, to - from, canvas.height);
      missing.push(...this.paintLayer(cache, camera, shown, from, to));
    }
    return missing;
  }

  paintLayer(cache, camera, {layer, channel, scale}, from, to) {
    const {gl, canvas, program: {at}} = this;
    const ratio = canvas.width / camera.stage.width;
    const [a, b, c, d, e, f] = layer.placement;
    gl.uniformMatrix3fv(at.placement, false, [a, d, 0, b, e, 0, c, f, 1]);
    const sx = 2 * camera.zoom / camera.stage.width, sy = -2 * camera.zoom / camera.stage.height;
    gl.uniform4f(at.view, sx, sy, -camera.x * sx, -camera.y * sy);
    this.setColours(layer, scale);
    const texel = camera.zoom * ratio * pixelWidth(layer.placement); // canvas pixels for a pixel of the layer
    const levels = levelCount(layer);
    const level = Math.min(Math.max(Math.floor(-Math.log2(texel) + 0.5), 0), levels - 1);
    const visible = visibleTiles(layer, level, camera, from / ratio, to / ratio);
    const missing = visible.filter(([column, row]) => !cache.find(layer, channel, level, column, row));
    if (missing.length) {
      for (let coarser = levels - 1; coarser > level; coarser--) {
        for (const [column, row] of visibleTiles(layer, coarser, camera, from / ratio, to / ratio)) {
          this.paintTile(cache.find(layer, channel, coarser, column, row), layer, coarser, column, row, texel);
        }
      }
    }
    for (const [column, row] of visible) {
      this.paintTile(cache.find(layer, channel, level, column, row), layer, level, column, row, texel);
    }
    const wanted = missing.map(([column, row]) => [layer, channel, level, column, row]);
    const whole = [layer, channel, levels - 1, 0, 0]; // one tile that shows all, first
    return missing.length && !cache.find(...whole) ? [whole, ...wanted] : wanted;
  }

  setColours(layer, scale) {
    const {gl, program: {at}} = this;
    gl.uniform1i(at.coloured, layer.scale ? 0 : 1);
    gl.uniform1i(at.logarithmic, scale?.logarithmic ? 1 : 0);
    gl.uniform1i(at.reversed, scale?.reversed ? 1 : 0);
    const [low, high] = layer.scale ? scale.range.map(end => end - layer.offset)
      : layer.range.map(end => layer.bytes ? end / 255 : end);
    gl.uniform2f(at.range, low, high);
    bindTexture(gl, 1, this.palettes[scale?.palette ?? "grey"], at.palette);
  }

  paintTile(tile, layer, level, column, row, texel) {
    if (!tile) return;
    const {gl, program: {at}} = this;
    const step = 2 ** level;
    const left = column * TILE * step, top = row * TILE * step;
    const right = Math.min(left + tile.width * step, layer.width);
    const bottom = Math.min(top + tile.height * step, layer.height);
    gl.uniform4f(at.part, left, top, right, bottom);
    gl.uniform4f(at.texels, 0, 0, (right - left) / step, (bottom - top) / step);
    gl.uniform2f(at.last, tile.width - 1, tile.height - 1);
    gl.uniform1i(at.smoothly, texel < 0.999 ? 1 : 0);
    bindTexture(gl, 0, tile.texture, at.tile);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }
}

// The tiles of a level that are seen between two places of the stage: [column, row].
function visibleTiles(layer, level, camera, from, to) {
  const corners = [[from, 0], [to, 0], [from, camera.stage.height], [to, camera.stage.height]].map(([x, y]) => {
    const guide = camera.toImage(x, y);
    return toLayer(layer.placement, guide.x, guide.y);
  });
  const {width, height} = levelSize(layer, level);
  const tile = TILE * 2 ** level;
  const between = (values, size) => [
    Math.max(0, Math.floor(Math.min(...values) / tile)),
    Math.min(Math.ceil(size / TILE) - 1, Math.floor(Math.max(...values) / tile)),
  ];
  const [left, right] = between(corners.map(corner => corner.x), width);
  const [top, bottom] = between(corners.map(corner => corner.y), height);
  const found = [];
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) found.push([column, row]);
  }
  return found;
}
