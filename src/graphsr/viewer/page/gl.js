// The few calls of WebGL 2 that the page needs.

export const MISSING = -1e38; // whatever is below stands for a missing value

export function context(canvas) {
  const gl = canvas.getContext("webgl2", {alpha: true, antialias: false, depth: true});
  if (!gl) throw new Error("This browser has no WebGL 2, which the page draws with.");
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  return gl;
}

export function makeProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = gl.getAttachedShaders(program).map(shader => gl.getShaderInfoLog(shader));
    throw new Error(`A shader does not compile: ${logs.join(" ")}${gl.getProgramInfoLog(program)}`);
  }
  const at = {};
  for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
    const name = gl.getActiveUniform(program, i).name;
    at[name] = gl.getUniformLocation(program, name);
  }
  return {program, at};
}

// A texture of a tile: colours as bytes or floats, or values.
export function makeTexture(gl, layer, data, width, height) {
  const [internal, format, type] = !layer.scale
    ? (layer.bytes ? [gl.RGB8, gl.RGB, gl.UNSIGNED_BYTE] : [gl.RGB32F, gl.RGB, gl.FLOAT])
    : [gl.R32F, gl.RED, gl.FLOAT];
  return upload(gl, internal, width, height, format, type, data);
}

export function makePalette(gl, colours) {
  return upload(gl, gl.RGB8, colours.length, 1, gl.RGB, gl.UNSIGNED_BYTE, new Uint8Array(colours.flat()));
}

function upload(gl, internal, width, height, format, type, data) {
  const texture = gl.createTexture();
  gl.activeTexture(gl.TEXTURE7); // a unit that no shader reads, so that what is bound stays bound
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, internal, width, height, 0, format, type, data);
  for (const [name, value] of [
    [gl.TEXTURE_MIN_FILTER, gl.NEAREST], [gl.TEXTURE_MAG_FILTER, gl.NEAREST],
    [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
  ]) gl.texParameteri(gl.TEXTURE_2D, name, value);
  return texture;
}

export function bindTexture(gl, unit, texture, location) {
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.uniform1i(location, unit);
}

// Fit the canvas to its box; true if its size changed.
export function resize(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (canvas.width === width && canvas.height === height) return false;
  canvas.width = width;
  canvas.height = height;
  return true;
}
