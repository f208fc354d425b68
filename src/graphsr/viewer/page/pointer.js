// Mouse, touch and wheel on the image: pan, zoom, slider, the line of a profile.

const STEP = 1.0015; // zoom for a unit of the wheel

export function setUpPointer(view, camera) {
  const stage = document.getElementById("stage"), slider = document.getElementById("slider");
  const canvas = document.getElementById("image");
  const pointers = new Map();
  let drag = null;

  const place = event => {
    const box = canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  };
  const inImage = at => {
    const {x, y} = camera.toImage(at.x, at.y);
    return x >= 0 && y >= 0 && x < camera.image.width && y < camera.image.height ? {x, y} : null;
  };

  canvas.addEventListener("pointerdown", event => {
    if (event.button > 1) return;
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    const at = place(event);
    view.cursor = inImage(at); // a finger does not move before it touches
    view.change("cursor");
    pointers.set(event.pointerId, at);
    drag = pointers.size > 1 ? "pinch" : view.tool === "profile" && event.button === 0 ? "line" : "pan";
    if (drag === "line") {
      const {x, y} = camera.toImage(at.x, at.y);
      view.line = {x0: x, y0: y, x1: x, y1: y};
    }
  });

  canvas.addEventListener("pointermove", event => {
    const at = place(event), before = pointers.get(event.pointerId);
    view.cursor = inImage(at);
    view.change("cursor");
    if (!before) return;
    if (drag === "pan") {
      camera.pan(at.x - before.x, at.y - before.y);
    } else if (drag === "pinch" && pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = one => Math.hypot(one.x - other.x, one.y - other.y);
      camera.zoomAt((at.x + other.x) / 2, (at.y + other.y) / 2, apart(at) / Math.max(apart(before), 1));
    } else if (drag === "line") {
      const {x, y} = camera.toImage(at.x, at.y);
      Object.assign(view.line, {x1: x, y1: y});
      view.change("line");
    }
    pointers.set(event.pointerId, at);
    view.change("camera");
  });

  for (const kind of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(kind, event => {
      pointers.delete(event.pointerId);
      if (drag === "line" && view.line && Math.hypot(view.line.x1 - view.line.x0, view.line.y1 - view.line.y0) < 1) {
        view.line = null;
        view.change("line");
      }
      drag = pointers.size ? "pan" : null;
    });
  }
  canvas.addEventListener("pointerleave", event => {
    if (event.pointerType === "touch") return; // lifted: what it touched can be read now
    view.cursor = null;
    view.change("cursor");
  });

  stage.addEventListener("wheel", event => {
    if (view.mode !== "image" || event.target.closest("#profile")) return;
    event.preventDefault();
    const at = place(event);
    const pixels = event.deltaMode === 1 ? 33 * event.deltaY : event.deltaY;
    camera.zoomAt(at.x, at.y, STEP ** -(event.ctrlKey ? 4 * pixels : pixels));
    view.cursor = inImage(at);
    view.change("camera", "cursor");
  }, {passive: false});

  slider.addEventListener("pointerdown", event => {
    event.preventDefault();
    slider.setPointerCapture(event.pointerId);
    slider.focus();
  });
  slider.addEventListener("pointermove", event => {
    if (slider.hasPointerCapture(event.pointerId)) view.setSplit(place(event).x / camera.stage.width);
  });
  slider.addEventListener("keydown", event => {
    const step = {ArrowLeft: -0.01, ArrowRight: 0.01, PageDown: -0.1, PageUp: 0.1, Home: -1, End: 1}[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    view.setSplit(view.split + step);
  });
}
