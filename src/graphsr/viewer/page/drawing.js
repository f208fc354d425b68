// The line of the profile, drawn over the image.

const SVG = "http://www.w3.org/2000/svg";

export function setUpDrawing(view, camera) {
  const svg = document.getElementById("drawing");
  const parts = ["halo", "line", "start", "end", "mark"].map(name => {
    const part = document.createElementNS(SVG, name === "halo" || name === "line" ? "line" : "circle");
    part.setAttribute("class", name);
    svg.append(part);
    return part;
  });
  const [halo, line, start, end, mark] = parts;
  view.on("line mark camera mode", () => {
    const seen = Boolean(view.line) && view.mode === "image";
    for (const part of [halo, line, start, end]) part.style.display = seen ? "" : "none";
    mark.style.display = seen && view.mark ? "" : "none";
    if (!seen) return;
    const {x0, y0, x1, y1} = view.line;
    const a = camera.toStage(x0, y0), b = camera.toStage(x1, y1);
    for (const part of [halo, line]) set(part, {x1: a.x, y1: a.y, x2: b.x, y2: b.y});
    set(start, {cx: a.x, cy: a.y, r: 4});
    set(end, {cx: b.x, cy: b.y, r: 4});
    if (view.mark) {
      const at = camera.toStage(view.mark.x, view.mark.y);
      set(mark, {cx: at.x, cy: at.y, r: 5});
    }
  });
}

function set(part, attributes) {
  for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
}
