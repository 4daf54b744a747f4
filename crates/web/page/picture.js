// The live picture: one request at a time, the next one a moment after the last was shown, none while the tab is hidden.
import { age, byId, element, keyed, setBadge, setText } from "./dom.js";

const PAUSE_MS = 200;
const PAUSE_AFTER_PROBLEM_MS = 1000;
const STALE_AFTER_S = 2;
const CAMERA = "";

let chosen = CAMERA;
let shownUrl = null;
let stamp = null;
let takenAt = null;
let running = false;
let request = null;

/** Offers the camera and each skill that publishes an overlay. */
export function offerOverlays(skills) {
  const withOverlay = skills.filter((skill) => skill.has_overlay).map((skill) => skill.skill_id);
  if (chosen !== CAMERA && !withOverlay.includes(chosen)) choose(CAMERA);
  keyed(byId("overlays"), [CAMERA, ...withOverlay], (name) => `overlay ${name}`, createChoice, (node, name) => {
    node.firstElementChild.checked = name === chosen;
  });
}

function createChoice(name) {
  const input = element("input", { type: "radio", name: "overlay", value: name });
  input.addEventListener("change", () => choose(name));
  return element("label", {}, input, element("span", {}, name === CAMERA ? "none" : name));
}

function choose(name) {
  chosen = name;
  stamp = null;
  setText(byId("picture-title"), name === CAMERA ? "Camera" : `Camera, with ${name}`);
  if (request) request.abort();
}

export function startPictures() {
  document.addEventListener("visibilitychange", () => run());
  setInterval(showAge, 250);
  run();
}

async function run() {
  if (running) return;
  running = true;
  while (!document.hidden) {
    await show();
    const isBroken = byId("figure").classList.contains("broken");
    await new Promise((resolve) => setTimeout(resolve, isBroken ? PAUSE_AFTER_PROBLEM_MS : PAUSE_MS));
  }
  running = false;
}

async function show() {
  const from = chosen;
  const path = from === CAMERA ? "/picture.jpg" : `/overlay/${encodeURIComponent(from)}.jpg`;
  request = new AbortController();
  const timer = setTimeout(() => request.abort(), 6000);
  try {
    const response = await fetch(stamp === null ? path : `${path}?after=${stamp}`, { signal: request.signal });
    if (from !== chosen) return;
    if (!response.ok) {
      const reply = await response.json().catch(() => null);
      showProblem(reply?.error?.message ?? `The picture is refused with ${response.status}.`);
      return;
    }
    takenAt = performance.now() - Number(response.headers.get("x-picture-age-ms"));
    if (response.status === 200) await display(response);
  } catch {
    if (from === chosen) showProblem("The program does not answer.");
  } finally {
    clearTimeout(timer);
  }
}

async function display(response) {
  const url = URL.createObjectURL(await response.blob());
  const image = byId("picture");
  image.src = url;
  try {
    await image.decode();
  } catch {
    URL.revokeObjectURL(url);
    showProblem("The picture cannot be read.");
    return;
  }
  if (shownUrl) URL.revokeObjectURL(shownUrl);
  shownUrl = url;
  stamp = response.headers.get("x-picture-stamp");
  image.hidden = false;
  byId("figure").classList.remove("waiting", "broken");
  setText(byId("picture-problem"), "");
}

function showProblem(text) {
  byId("figure").classList.add("broken");
  setText(byId("picture-problem"), text);
}

/** The age goes on counting while no picture comes, so that a picture that stands still never looks live. */
function showAge() {
  if (takenAt === null) return;
  const seconds = (performance.now() - takenAt) / 1000;
  const isStale = seconds > STALE_AFTER_S;
  byId("figure").classList.toggle("stale", isStale);
  setBadge(byId("picture-age"), isStale ? `stale, ${age(seconds)} old` : `live, ${age(seconds)}`, isStale ? "warn" : "good");
}
