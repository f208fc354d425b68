// Pixels, state and solves from the running `graphsr view`.

export const canSolve = true;

async function get(address) {
  const response = await fetch(`./${address}`);
  if (!response.ok) throw new Error((await response.text()).trim());
  return response;
}

export async function state() {
  return (await get("state")).json();
}

export async function progress() {
  return (await get("progress")).json();
}

async function pixels(layer, address) {
  const buffer = await (await get(address)).arrayBuffer();
  return layer.bytes ? new Uint8Array(buffer) : new Float32Array(buffer);
}

export function tile(layer, channel, level, column, row) {
  return pixels(layer, `tiles/${layer.number}/${channel}/${level}/${column}/${row}`);
}

export function samples(layer, channel, step) {
  return pixels(layer, `samples/${layer.number}/${channel}/${step}`);
}

async function post(address, content) {
  const response = await fetch(`./${address}`, {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(content),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

export function solve(options) {
  return post("solve", options);
}

export function cancel() {
  return post("cancel", {});
}
