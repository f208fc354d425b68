// Keyboard shortcuts, and the list of them.

const PAN = 60; // CSS pixels

export function setUpKeys(view, camera, actions, canSolve) {
  const moved = change => () => { change(); view.change("camera"); };
  const middle = () => [camera.stage.width / 2, camera.stage.height / 2];
  const keys = {
    f: actions.fit,
    z: actions.actualSize,
    "+": moved(() => camera.zoomAt(...middle(), 1.5)),
    "=": moved(() => camera.zoomAt(...middle(), 1.5)),
    "-": moved(() => camera.zoomAt(...middle(), 1 / 1.5)),
    arrowleft: moved(() => camera.pan(PAN, 0)),
    arrowright: moved(() => camera.pan(-PAN, 0)),
    arrowup: moved(() => camera.pan(0, PAN)),
    arrowdown: moved(() => camera.pan(0, -PAN)),
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
  ["drag", "pan; in 3D turn"],
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
