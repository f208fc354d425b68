// Which part of the image is shown, and how large.

const MOST_ZOOM = 128; // CSS pixels for an image pixel

export class Camera {
  constructor() {
    this.x = this.y = 0; // image pixels in the middle of the stage
    this.zoom = 1; // CSS pixels for an image pixel
    this.image = {width: 1, height: 1};
    this.stage = {width: 1, height: 1};
    this.fitted = true;
  }

  fit() {
    const {image, stage} = this;
    this.zoom = Math.min(stage.width / image.width, stage.height / image.height) * 0.96;
    this.x = image.width / 2;
    this.y = image.height / 2;
    this.fitted = true;
  }

  resize(width, height) {
    this.stage = {width, height};
    if (this.fitted) this.fit();
  }

  toImage(x, y) {
    return {x: this.x + (x - this.stage.width / 2) / this.zoom, y: this.y + (y - this.stage.height / 2) / this.zoom};
  }

  toStage(x, y) {
    return {x: (x - this.x) * this.zoom + this.stage.width / 2, y: (y - this.y) * this.zoom + this.stage.height / 2};
  }

  pan(dx, dy) {
    this.x = clamp(this.x - dx / this.zoom, 0, this.image.width);
    this.y = clamp(this.y - dy / this.zoom, 0, this.image.height);
    this.fitted = false;
  }

  // Zoom so that what is at a place of the stage stays there.
  zoomAt(x, y, factor) {
    const least = 0.25 * Math.min(this.stage.width / this.image.width, this.stage.height / this.image.height, 1);
    const before = this.toImage(x, y);
    this.zoom = clamp(this.zoom * factor, least, MOST_ZOOM);
    const after = this.toImage(x, y);
    this.x = clamp(this.x + before.x - after.x, 0, this.image.width);
    this.y = clamp(this.y + before.y - after.y, 0, this.image.height);
    this.fitted = false;
  }
}

export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
