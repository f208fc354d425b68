// The point cloud of a layer: a pinhole camera's for depths and disparities, a relief for heights. Positions are found
// by the shader.

import {bindTexture, context, makePalette, makeProgram, makeTexture, MISSING, resize} from "viewer/gl.js";
import {channelOf, newestOnly} from "viewer/lookup.js";

const $ = id => document.getElementById(id);
const MOST_POINTS = 1.6e6;
const RELIEF = 0.2; // height of a relief over the width of the image
const RELIEF_DISTANCE = 1.5; // in widths of the image

const VERTEX = `#version 300 es
precision highp float;
precision highp sampler2D;
uniform sampler2D values, guide, palette;
uniform ivec2 grid;       // points across and down
uniform float steps;      // pixels of the layer between two points
uniform float guideSteps; // and of the guide between two texels
uniform mat3 placement;
uniform vec2 size;        // of the guide
uniform vec2 range;
uniform float offset, middle, away, pointSize;
uniform vec2 focal, centre; // pixels of the guide
uniform vec2 shift, lens;
uniform mat3 rotation;
uniform bool relief, disparity, byValue, reversed;
out vec3 colour;
const float MISSING = -1e38;
void main() {
  ivec2 cell = ivec2(gl_VertexID % grid.x, gl_VertexID / grid.x);
  float stored = texelFetch(values, cell, 0).r, value = stored + offset;
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = 0.0;
  colour = vec3(0.0);
  if (stored < MISSING || (!relief && value <= 0.0)) return;
  if (disparity) value = middle * middle / value; // depths up to a factor, which nobody sees
  vec2 pixel = (placement * vec3(vec2(cell) * steps + 0.5, 1.0)).xy;
  float place = clamp((stored - range.x) / (range.y - range.x), 0.0, 1.0);
  vec3 point = relief ? vec3((pixel - 0.5 * size) / size.x, ${RELIEF} * (0.5 - place))
                      : vec3((pixel - centre) / focal * value, value - middle) / middle;
  float width = relief ? 1.0 : value / middle;
  point = rotation * point + vec3(shift, away);
  if (point.z < 0.01) return;
  gl_Position = vec4(point.x * lens.x, -point.y * lens.y, (point.z - 0.02) * 1.001, point.z);
  gl_PointSize = clamp(pointSize * width / point.z, 1.0, 64.0);
  place = reversed ? 1.0 - place : place;
  colour = byValue ? texelFetch(palette, ivec2(int(place * 255.0 + 0.5), 0), 0).rgb
                   : texelFetch(guide, ivec2(pixel / guideSteps), 0).rgb;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec3 colour;
out vec4 shown;
void main() { shown = vec4(colour, 1.0); }`;

export function setUpCloud(view, orbit, server, state) {
  let cloud = null;
  const canvas = $("cloud"), shape = $("cloud-shape");
  const [fx, fy] = state.camera.focal;
  const typed = () => Number($("focal").value.replace(",", "."));
  const focalOf = () => typed() > 0 ? [typed(), typed() * fy / fx] : [fx, fy];
  $("focal").placeholder = String(Number(fx.toPrecision(6)));

  const paint = () => {
    if (view.mode !== "cloud" || !cloud?.points) return;
    resize(canvas);
    cloud.paint(view, orbit, {focal: focalOf(), centre: state.camera.centre, shape: shape.value, byValue: $("cloud-colour").value === "values"});
    document.documentElement.dataset.settled = "yes";
  };
  const load = newestOnly(async () => {
    if (view.mode !== "cloud") return;
    const first = !cloud;
    cloud ??= new Cloud(canvas, state.palettes);
    document.documentElement.dataset.settled = "no";
    await cloud.load(server, cloudLayer(view), view.layer("guide"), view.channel);
    // Temperatures, or heights below the sea, are no depths.
    if (first && cloud.negative > 0.01 * cloud.known) setShape("relief");
    showNotes();
    $("right-title").textContent = cloud.layer.title;
    paint();
  });
  const again = () => requestAnimationFrame(paint);
  orbit.listen(canvas, again);
  view.on("mode", () => {
    canvas.hidden = $("cloud-settings").hidden = view.mode !== "cloud";
  });
  view.on("mode layers state", load);
  view.on("colours camera", again);
  new ResizeObserver(again).observe(canvas);
  for (const id of ["focal", "cloud-colour"]) $(id).addEventListener("change", again);
  shape.addEventListener("change", () => setShape(shape.value));
  $("focal").addEventListener("input", showNotes);
  view.on("fit", () => setShape(shape.value));

  function setShape(name) {
    shape.value = name;
    orbit.reset(name === "relief" ? RELIEF_DISTANCE : 1);
    if (name === "relief") orbit.pitch = -0.7;
    showNotes();
    again();
  }

  function showNotes() {
    const relief = shape.value === "relief";
    $("focal-field").hidden = relief;
    const degrees = 2 * Math.atan(state.width / 2 / focalOf()[0]) * 180 / Math.PI;
    const guessed = state.camera.guessed ? "; if you know it, type it" : "";
    const origin = typed() > 0 ? "as typed" : `${state.camera.origin}${guessed}`;
    $("focal-note").textContent = relief ? "Drawn a fifth as high as the image is wide." : `${degrees.toFixed(0)}° across, ${origin}.`;
    $("cloud-note").textContent = cloud?.points ? cloud.description(relief) : "";
  }
  setShape(state.camera.disparity ? "disparity" : "depth");
}

// The layer that is shown on the right, if it holds values; else the target.
function cloudLayer(view) {
  const right = view.layer(view.right);
  return right.scale === "values" ? right : view.layer("target") ?? view.layer("interpolated");
}

class Cloud {
  constructor(canvas, palettes) {
    this.canvas = canvas;
    this.gl = context(canvas);
    this.program = makeProgram(this.gl, VERTEX, FRAGMENT);
    this.palettes = Object.fromEntries(
      Object.entries(palettes).map(([name, colours]) => [name, makePalette(this.gl, colours)]));
    this.gl.bindVertexArray(this.gl.createVertexArray());
  }

  async load(server, layer, guide, channel) {
    const key = `${layer.number}/${channelOf(layer, channel)}`;
    if (key === this.key) return;
    const steps = stepsFor(layer), guideSteps = stepsFor(guide);
    const [values, colours] = await Promise.all([
      server.samples(layer, channelOf(layer, channel), steps), this.colours ?? server.samples(guide, 0, guideSteps)]);
    const gl = this.gl;
    const across = (one, by) => [Math.ceil(one.width / by), Math.ceil(one.height / by)];
    if (!this.colours) {
      const shown = guide.bytes ? colours : asBytes(colours, guide.range);
      this.guideTexture = makeTexture(gl, {...guide, bytes: true}, shown, ...across(guide, guideSteps));
      this.colours = colours;
    }
    if (this.points) gl.deleteTexture(this.points);
    this.grid = across(layer, steps);
    this.points = makeTexture(gl, layer, values, ...this.grid);
    Object.assign(this, {key, layer, steps, guideSteps, guide});
    const known = values.filter(value => value > MISSING);
    this.known = known.length;
    this.positive = known.filter(value => value + layer.offset > 0).length;
    this.negative = known.filter(value => value + layer.offset < 0).length;
  }

  description(relief) {
    const count = relief ? this.known : this.positive, all = this.grid[0] * this.grid[1];
    const left = all - count, reason = relief ? "without a value" : "without a positive value";
    const every = this.steps > 1 ? `, one for ${this.steps} × ${this.steps} pixels` : "";
    const without = left ? ` ${left.toLocaleString("en")} ${reason} left out.` : "";
    return `${count.toLocaleString("en")} points${every}.${without}`;
  }

  paint(view, orbit, {focal, centre, shape, byValue}) {
    const relief = shape === "relief";
    const {gl, canvas, layer, guide, program: {program, at}} = this;
    const scale = view.scale("values"), [low, high] = scale.ranges[view.channelOf(scale)];
    const middle = (Math.max(low, 0) + Math.max(high, 0)) / 2 || 1; // of the depths
    const fitting = 0.96 * Math.min(canvas.width / guide.width, canvas.height / guide.height);
    const lens = fitting * (relief ? RELIEF_DISTANCE * guide.width : focal[0]);
    const [a, b, c, d, e, f] = layer.placement;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.enable(gl.DEPTH_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(program);
    gl.uniform2i(at.grid, ...this.grid);
    gl.uniform1f(at.steps, this.steps);
    gl.uniform1f(at.guideSteps, this.guideSteps);
    gl.uniformMatrix3fv(at.placement, false, [a, d, 0, b, e, 0, c, f, 1]);
    gl.uniform2f(at.size, guide.width, guide.height);
    gl.uniform2f(at.range, ...scale.range.map(end => end - layer.offset));
    gl.uniform1f(at.offset, layer.offset);
    gl.uniform1f(at.middle, middle);
    gl.uniform2f(at.focal, ...focal);
    gl.uniform2f(at.centre, ...centre);
    gl.uniform1f(at.away, orbit.distance);
    gl.uniform2f(at.shift, orbit.x, orbit.y);
    gl.uniform2f(at.lens, 2 * lens / canvas.width, 2 * lens / canvas.height);
    gl.uniformMatrix3fv(at.rotation, false, orbit.rotation);
    const spacing = this.steps * Math.hypot(a, d); // pixels of the guide between two points
    gl.uniform1f(at.pointSize, 1.35 * spacing * fitting * (relief ? RELIEF_DISTANCE : 1));
    gl.uniform1i(at.relief, relief ? 1 : 0);
    gl.uniform1i(at.disparity, shape === "disparity" ? 1 : 0);
    gl.uniform1i(at.byValue, byValue ? 1 : 0);
    gl.uniform1i(at.reversed, scale.reversed ? 1 : 0);
    bindTexture(gl, 0, this.points, at.values);
    bindTexture(gl, 1, this.guideTexture, at.guide);
    bindTexture(gl, 2, this.palettes[scale.palette], at.palette);
    gl.drawArrays(gl.POINTS, 0, this.grid[0] * this.grid[1]);
  }
}

function stepsFor(layer) {
  return Math.max(1, Math.ceil(Math.sqrt(layer.width * layer.height / MOST_POINTS)));
}

function asBytes(colours, [low, high]) {
  return Uint8Array.from(colours, value => 255 * Math.min(Math.max((value - low) / (high - low), 0), 1));
}
