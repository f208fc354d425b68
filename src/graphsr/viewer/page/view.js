// What is shown, and how: layers, colours, tool. Every change is announced once, before the next picture.

export class View extends EventTarget {
  constructor() {
    super();
    this.state = null; // of the server
    this.left = "guide";
    this.right = "interpolated";
    this.channel = 0;
    this.split = 0.5;
    this.mode = "image"; // or "cloud"
    this.tool = "pan"; // or "profile"
    this.line = null; // of the profile, in pixels of the guide
    this.cursor = null; // likewise
    this.colours = {}; // what the user changed of colour scales
    this.changes = new Set();
    this.scheduled = false;
  }

  change(...names) {
    for (const name of names) this.changes.add(name);
    if (!this.scheduled) {
      this.scheduled = true;
      requestAnimationFrame(() => this.announce());
    }
  }

  // What listeners change in turn (as everything changes the picture) belongs to the same frame.
  announce() {
    this.scheduled = false;
    for (let turn = 0; turn < 3 && this.changes.size; turn++) {
      const changes = this.changes;
      this.changes = new Set();
      this.scheduled = true; // so that no other frame is asked for meanwhile
      for (const name of changes) this.dispatchEvent(new Event(name));
      this.scheduled = false;
    }
    if (this.changes.size) this.change();
  }

  on(names, listener) {
    for (const name of names.split(" ")) this.addEventListener(name, listener);
  }

  setState(state) {
    const first = !this.state?.layers.some(layer => layer.name === "target");
    this.state = state;
    const names = state.layers.map(layer => layer.name);
    if (first && names.includes("target")) [this.left, this.right] = ["interpolated", "target"];
    if (!names.includes(this.left)) this.left = "guide";
    if (!names.includes(this.right)) this.right = names.includes("target") ? "target" : "interpolated";
    this.change("state", "layers", "colours");
  }

  layer(name) {
    return this.state.layers.find(layer => layer.name === name);
  }

  show(side, name) {
    if (!this.layer(name)) return;
    this[side] = name;
    this.change("layers", "colours");
  }

  swap() {
    [this.left, this.right] = [this.right, this.left];
    this.change("layers", "colours");
  }

  setSplit(split) {
    this.split = Math.min(Math.max(split, 0), 1);
    this.change("split");
  }

  // A colour scale as the server has it, with what the user changed.
  scale(name) {
    const given = this.state.scales[name];
    if (!given) return given;
    const {ranges, ...changes} = this.colours[name] ?? {}, channel = this.channelOf(given);
    return {reversed: false, ...given, range: ranges?.[channel] ?? given.ranges[channel], ...changes};
  }

  // Channels of different quantities have each their range.
  channelOf(scale) {
    return Math.min(this.channel, scale.ranges.length - 1);
  }

  // True if the user chose the range that is shown.
  hasOwnRange(name) {
    return this.colours[name]?.ranges?.[this.channelOf(this.state.scales[name])] !== undefined;
  }

  setRange(name, range) {
    const channel = this.channelOf(this.state.scales[name]);
    this.setColours(name, {ranges: {...this.colours[name]?.ranges, [channel]: range}});
  }

  setColours(name, changes) {
    this.colours[name] = {...this.colours[name], ...changes};
    this.change("colours");
  }

  resetRange(name) {
    delete this.colours[name]?.ranges?.[this.channelOf(this.state.scales[name])];
    this.change("colours");
  }

  // What the painter needs of a side.
  shown(side) {
    const layer = this.layer(this[side]);
    return layer && {layer, channel: Math.min(this.channel, layer.channels - 1), scale: this.scale(layer.scale)};
  }
}
