// Pixels, state and solves from the running `graphsr view`.

export const canSolve = true;

const ENDED = "graphsr view has ended: start it again to solve or to load more";

function ask(address, request) {
  return fetch(`./${address}`, request).catch(() => { throw new Error(ENDED); });
}

async function get(address) {
  const response = await ask(address);
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
  const response = await ask(address, {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(content),
  });
  const answer = await response.json().catch(() => { throw new Error(ENDED); }); // what is refused is no JSON
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

export function solve(options) {
  return post("solve", options);
}

export function cancel() {
  return post("cancel", {});
}
