// Turning, moving and zooming of the point cloud by mouse and touch; keys turn and zoom it too.

import {clamp} from "viewer/camera.js";

const TURN = 0.006; // radians for a CSS pixel

export class Orbit {
  constructor() {
    this.reset(1);
  }

  reset(distance) {
    this.yaw = this.pitch = 0;
    this.x = this.y = 0;
    this.distance = this.home = distance;
  }

  // The rotation as a matrix by columns.
  get rotation() {
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    return [cy, sy * sp, -sy * cp, 0, cp, sp, sy, -cy * sp, cy * cp];
  }

  listen(canvas, changed) {
    const pointers = new Map();
    canvas.addEventListener("contextmenu", event => event.preventDefault());
    canvas.addEventListener("pointerdown", event => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    });
    canvas.addEventListener("pointermove", event => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const dx = event.clientX - before.x, dy = event.clientY - before.y;
      if (event.shiftKey || event.buttons & 6) {
        const unit = this.distance / canvas.clientHeight;
        this.x += dx * unit;
        this.y += dy * unit;
      } else if (pointers.size === 1) {
        this.turn(dx, dy);
      } else {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        const apart = (x, y) => Math.max(1, Math.hypot(x - other.x, y - other.y));
        this.zoom(apart(before.x, before.y) / apart(event.clientX, event.clientY));
      }
      pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
      changed();
    });
    for (const kind of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(kind, event => pointers.delete(event.pointerId));
    }
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      this.zoom(1.0015 ** (event.deltaMode === 1 ? 33 * event.deltaY : event.deltaY));
      changed();
    }, {passive: false});
    canvas.addEventListener("dblclick", () => {
      this.reset(this.home);
      changed();
    });
  }

  turn(dx, dy) {
    this.yaw -= dx * TURN;
    this.pitch = clamp(this.pitch + dy * TURN, -1.6, 1.6);
  }

  zoom(factor) {
    this.distance = clamp(this.distance * factor, 0.05 * this.home, 8 * this.home);
  }
}
