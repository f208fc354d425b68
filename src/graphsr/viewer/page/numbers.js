// Numbers as text.

// A value with as many decimals as its colour scale can tell apart.
export function formatted(value, scale) {
  if (value === null) return "missing";
  const [low, high] = scale?.range ?? [0, 1];
  if (scale?.logarithmic) return value.toExponential(2);
  return value.toFixed(decimalsFor(high - low));
}

export function withUnit(text, unit) {
  return unit && text !== "missing" ? `${text} ${unit}` : text;
}

export function decimalsFor(span) {
  const digits = Math.ceil(-Math.log10(Math.abs(span) / 1e4 || 1));
  return Math.min(Math.max(digits, 0), 12);
}

// About `count` round numbers between two ends.
export function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return found.map(value => ({value, text: (value + 0).toFixed(Math.min(decimals, 12))}));
}
