// Keyboard shortcuts, and the list of them.

const PAN = 60; // CSS pixels

export function setUpKeys(view, camera, orbit, actions, canSolve) {
  const inCloud = () => view.mode === "cloud";
  const pan = (dx, dy) => () => {
    if (inCloud()) orbit.turn(dx, dy);
    else camera.pan(dx, dy);
    view.change("camera");
  };
  const zoom = factor => () => {
    if (inCloud()) orbit.zoom(1 / factor);
    else camera.zoomAt(camera.stage.width / 2, camera.stage.height / 2, factor);
    view.change("camera");
  };
  const keys = {
    f: actions.fit,
    z: actions.actualSize,
    "+": zoom(1.5),
    "=": zoom(1.5),
    "-": zoom(1 / 1.5),
    arrowleft: pan(PAN, 0),
    arrowright: pan(-PAN, 0),
    arrowup: pan(0, PAN),
    arrowdown: pan(0, -PAN),
    "[": () => view.setSplit(view.split - 0.05),
    "]": () => view.setSplit(view.split + 0.05),
    x: () => view.swap(),
    p: actions.toggleProfile,
    c: actions.toggleCloud,
    m: actions.togglePanel,
    s: actions.solve,
    "?": actions.help,
    escape: actions.escape,
  };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input:not([type=radio], [type=checkbox]), select, dialog")) return;
    if (event.key.startsWith("Arrow") && event.target.closest("input")) return; // to the next of the radio buttons
    const digit = /^Digit([1-9])$/.exec(event.code);
    if (digit) {
      const layer = view.state?.layers[digit[1] - 1];
      if (layer) view.show(event.shiftKey ? "left" : "right", layer.name);
    } else if (keys[event.key.toLowerCase()]) {
      event.preventDefault();
      keys[event.key.toLowerCase()]();
    }
  });
  const list = document.getElementById("shortcuts");
  for (const [key, text] of SHORTCUTS.filter(([key]) => canSolve || key !== "S")) {
    list.append(
      Object.assign(document.createElement("dt"), {textContent: key}),
      Object.assign(document.createElement("dd"), {textContent: text}));
  }
}

const SHORTCUTS = [
  ["drag, arrow keys", "pan; in 3D turn"],
  ["wheel, + and −", "zoom"],
  ["Shift + drag", "in 3D move"],
  ["1 … 9", "show this layer on the right"],
  ["Shift + 1 … 9", "show it on the left"],
  ["X", "swap left and right"],
  ["[ and ]", "move the slider"],
  ["F", "show all of it"],
  ["Z", "one image pixel on one screen pixel"],
  ["P", "draw a profile"],
  ["C", "point cloud"],
  ["S", "solve again"],
  ["M", "show or hide the panel"],
  ["Esc", "leave the profile, the cloud, this list"],
];
