// Puts the page together.

import {Camera} from "viewer/camera.js";
import {setUpCloud} from "viewer/cloud.js";
import {setUpColourPanel} from "viewer/colour-panel.js";
import {setUpDrawing} from "viewer/drawing.js";
import * as embedded from "viewer/embedded.js";
import {resize} from "viewer/gl.js";
import {setUpKeys} from "viewer/keys.js";
import {setUpLayerTable} from "viewer/layer-table.js";
import {Orbit} from "viewer/orbit.js";
import {Painter} from "viewer/painter.js";
import {setUpPointer} from "viewer/pointer.js";
import {setUpProfile} from "viewer/profile.js";
import * as served from "viewer/served.js";
import {setUpSolveForm} from "viewer/solve-form.js";
import {TileCache} from "viewer/tiles.js";
import {View} from "viewer/view.js";

const $ = id => document.getElementById(id);

async function start() {
  const server = $("embedded") ? embedded : served;
  const view = new View(), camera = new Camera(), orbit = new Orbit();
  const state = await server.state();
  const painter = new Painter($("image"), state.palettes);
  const cache = new TileCache(server, painter.gl, () => view.change("tiles"));
  camera.image = {width: state.width, height: state.height};
  setUpImage(view, camera, painter, cache);
  setUpLayerTable(view, cache);
  setUpColourPanel(view);
  setUpDrawing(view, camera);
  setUpPointer(view, camera);
  setUpProfile(view, camera, cache);
  setUpCloud(view, orbit, server, state);
  setUpTools(view, camera, orbit, server);
  view.setState(state);
  setUpSolveForm(view, server);
  showFiles(state.files);
}

function setUpImage(view, camera, painter, cache) {
  const canvas = $("image");
  const paint = () => {
    if (view.mode !== "image") return;
    const missing = painter.paint(cache, camera, view.shown("left"), view.shown("right"), view.split);
    cache.want(missing);
    document.documentElement.dataset.settled = missing.length ? "no" : "yes"; // for tests
  };
  view.on("camera split layers colours tiles mode state", () => view.change("paint"));
  view.addEventListener("paint", paint);
  view.on("state", () => cache.keepOnly(view.state.layers));
  view.on("split mode", () => {
    $("slider").style.left = `${100 * view.split}%`;
    $("slider").setAttribute("aria-valuenow", Math.round(100 * view.split));
    $("left-title").hidden = view.mode === "image" && view.split < 0.02;
    $("right-title").hidden = view.split > 0.98 && view.mode === "image";
  });
  view.on("camera", () => { $("zoom").textContent = zoomText(camera.zoom * (window.devicePixelRatio || 1)); });
  new ResizeObserver(() => {
    resize(canvas);
    camera.resize(canvas.clientWidth, canvas.clientHeight);
    view.change("camera");
  }).observe($("stage"));
  canvas.addEventListener("webglcontextlost", event => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => {
    cache.forgetTextures();
    painter.setUp();
    view.change("paint");
  });
  view.change("split", "camera");
}

function setUpTools(view, camera, orbit, server) {
  const pressed = (id, on) => $(id).setAttribute("aria-pressed", on);
  const actions = {
    fit() { camera.fit(); view.change("camera", "fit"); },
    actualSize() {
      camera.zoomAt(camera.stage.width / 2, camera.stage.height / 2, 1 / camera.zoom / (window.devicePixelRatio || 1));
      view.change("camera");
    },
    toggleProfile() {
      const on = view.tool !== "profile";
      view.tool = on ? "profile" : "pan";
      if (!on) view.line = null;
      if (on && view.mode === "cloud") actions.toggleCloud();
      view.change("line", "mode");
    },
    toggleCloud() {
      view.mode = view.mode === "cloud" ? "image" : "cloud";
      if (view.mode === "cloud" && view.tool === "profile") actions.toggleProfile();
      view.change("mode", "colours");
    },
    togglePanel() {
      pressed("panel-tool", !document.body.classList.toggle("bare"));
    },
    solve() { if (server.canSolve) $("options").requestSubmit(); },
    help() { $("help").showModal(); },
    escape() {
      if (view.tool === "profile") actions.toggleProfile();
      else if (view.mode === "cloud") actions.toggleCloud();
    },
  };
  for (const [id, action] of [
    ["fit", "fit"], ["actual", "actualSize"], ["profile-tool", "toggleProfile"], ["cloud-tool", "toggleCloud"],
    ["help-tool", "help"], ["panel-tool", "togglePanel"], ["profile-close", "toggleProfile"],
  ]) $(id).addEventListener("click", () => actions[action]());
  view.on("mode", () => {
    pressed("profile-tool", view.tool === "profile");
    pressed("cloud-tool", view.mode === "cloud");
    document.body.dataset.mode = view.mode;
    document.body.dataset.tool = view.tool;
  });
  view.on("mode line", () => { $("hint").textContent = hint(view); });
  setUpKeys(view, camera, orbit, actions, server.canSolve);
}

function hint(view) {
  if (view.mode === "cloud") return "Drag to turn, Shift + drag to move, wheel to zoom";
  return view.tool === "profile" && !view.line ? "Draw a line on the image" : "";
}

function zoomText(zoom) {
  return zoom >= 1 ? `${Number(zoom.toPrecision(3))}×` : `1 : ${Number((1 / zoom).toPrecision(3))}`;
}

function showFiles(files) {
  $("files").textContent = `${files.guide}  +  ${files.source}`;
  $("files").title = $("files").textContent;
  document.title = `${files.source.split(", ").slice(0, -2).join(", ")} - graphsr`; // without size and type
}

start().catch(error => {
  $("banner").hidden = false;
  $("banner-bar").hidden = true;
  $("banner-text").textContent = error.message;
});
