// Asks for the state twice a second while the tab is visible, and says so when no answer comes.
import { byId, setText } from "./dom.js";
import { startPictures } from "./picture.js";
import { render, wireScene } from "./render.js";

const PERIOD_MS = 500;
const LOST_AFTER_MS = 2000;

let lastAnswer = Date.now();
let asking = false;

async function ask() {
  if (asking || document.hidden) return;
  asking = true;
  try {
    const response = await fetch("/api/state", { signal: AbortSignal.timeout(6000) });
    const reply = await response.json();
    if (!response.ok) throw new Error(reply.error.message);
    lastAnswer = Date.now();
    showLost("");
    render(reply);
  } catch (error) {
    noteLoss(error);
  } finally {
    asking = false;
  }
}

function noteLoss(error) {
  if (Date.now() - lastAnswer < LOST_AFTER_MS) return;
  const why = error instanceof TypeError || error.name === "TimeoutError" ? "the program does not answer" : error.message;
  // The text stands still, so that a screen reader says it once.
  const at = new Date(lastAnswer).toLocaleTimeString();
  showLost(`Connection lost: ${why}. This page shows what it knew at ${at}, and keeps trying.`);
}

function showLost(text) {
  const banner = byId("lost");
  setText(banner, text);
  banner.hidden = text === "";
  document.body.classList.toggle("is-lost", text !== "");
}

document.addEventListener("visibilitychange", () => {
  // A tab that was hidden did not ask: that silence is no loss.
  if (!document.hidden) lastAnswer = Date.now();
  ask();
});
document.addEventListener("changed", ask);

wireScene();
startPictures();
setInterval(ask, PERIOD_MS);
ask();
