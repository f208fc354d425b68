// Where a layer lies on the guide: x' = a x + b y + c, y' = d x + e y + f, from pixels of the layer to the guide's.

export function toGuide([a, b, c, d, e, f], x, y) {
  return {x: a * x + b * y + c, y: d * x + e * y + f};
}

export function toLayer([a, b, c, d, e, f], x, y) {
  const determinant = a * e - b * d;
  return {x: (e * (x - c) - b * (y - f)) / determinant, y: (a * (y - f) - d * (x - c)) / determinant};
}

// How many pixels of the guide a pixel of the layer is wide, in the mean of both directions.
export function pixelWidth([a, b, , d, e]) {
  return Math.sqrt(Math.abs(a * e - b * d));
}
