// Model and options: changed here, solved there, with progress and errors.

const $ = id => document.getElementById(id);
const SOON = 300, LATER = 1500; // milliseconds between two questions while a solve runs, and while none does

export function setUpSolveForm(view, server) {
  view.on("state", () => showReport(view.state.report));
  if (!server.canSolve) {
    $("solving").hidden = true;
    return;
  }
  const form = $("options");
  let filledFrom = "";
  view.on("state", () => {
    const content = JSON.stringify(view.state.options);
    if (content !== filledFrom) fill(form, view.state); // what the user is typing stays
    filledFrom = content;
  });
  form.addEventListener("submit", async event => {
    event.preventDefault();
    try {
      showError("");
      showProgress((await server.solve(chosen(form))).solving);
    } catch (error) {
      showError(error.message);
    }
  });
  $("stop").addEventListener("click", () => server.cancel().catch(error => showError(error.message)));
  poll(view, server);
}

// Ask the server how far it is; take the new state once there is one.
async function poll(view, server) {
  let wait = LATER;
  try {
    if (!document.hidden || !view.state) {
      const now = await server.progress();
      if (now.revision !== view.state?.revision) view.setState(await server.state());
      showProgress(now.solving);
      showError(now.error, true);
      document.body.classList.remove("ended");
      if (now.solving) wait = SOON;
    }
  } catch {
    document.body.classList.add("ended");
    showBanner("graphsr view has ended: start it again to solve or to load more", null);
  }
  setTimeout(() => poll(view, server), wait);
}

function fill(form, state) {
  const model = form.elements.model;
  model.replaceChildren(...state.models.map(name => new Option(name, name)));
  for (const [name, value] of Object.entries(state.options)) {
    const field = form.elements[name];
    if (field.type === "checkbox") field.checked = value;
    else field.value = value;
  }
  if (state.confidence_file) form.elements.confidence.placeholder = `as in ${state.confidence_file}`;
}

function chosen(form) {
  return Object.fromEntries(
    [...form.elements].filter(field => field.name).map(field => [field.name, field.type === "checkbox" ? field.checked : field.value]));
}

function showProgress(solving) {
  $("stop").hidden = !solving;
  $("solve").textContent = solving ? "Solve with these instead" : "Solve again";
  document.body.classList.toggle("solving", Boolean(solving));
  if (solving) showBanner(`${solving.message}, ${share(solving)}${solving.seconds.toFixed(0)} s`, solving);
  else $("banner").hidden = true;
}

// How far all of it is: the target, and an uncertainty if one was asked for.
function share(solving) {
  return solving.fraction === null ? "" : `${Math.floor(100 * solving.fraction)} % in all, `;
}

function showBanner(text, solving) {
  $("banner").hidden = false;
  $("banner-text").textContent = text;
  $("banner-bar").hidden = !solving;
  if (solving && solving.fraction !== null) $("banner-bar").value = solving.fraction;
  else $("banner-bar").removeAttribute("value");
}

let served = "";

// Errors of a solve come with every answer: each is shown once, so that a newer one of the form stays.
function showError(text, fromServer = false) {
  if (fromServer && text === served) return;
  if (fromServer) served = text;
  $("error").textContent = text;
  $("error").hidden = !text;
}

function showReport(lines) {
  $("report-section").hidden = !lines.length;
  $("report").replaceChildren(...lines.flatMap(([label, text]) => [
    Object.assign(document.createElement("dt"), {textContent: label}),
    Object.assign(document.createElement("dd"), {textContent: text}),
  ]));
}
