// Small helpers around the DOM. Every text becomes a text node: what a camera or an event says is never read as markup.

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; children are elements or texts. */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** Sets a text only when it changed, so that selections and screen readers are left alone. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A badge's text and its tone: "good", "warn", "bad" or "" for plain. */
export function setBadge(node, text, tone = "") {
  setText(node, text);
  if (node.dataset.tone !== tone) node.dataset.tone = tone;
}

/** Makes the children of `list` those of `items`, keeping the node of each key so that focus stays where it is. */
export function keyed(list, items, keyOf, create, update) {
  const wanted = new Set(items.map(keyOf));
  for (const node of [...list.children]) if (!wanted.has(node.dataset.key)) node.remove();
  const known = new Map([...list.children].map((node) => [node.dataset.key, node]));
  let place = list.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let node = known.get(key);
    if (!node) {
      node = create(item);
      node.dataset.key = key;
    }
    if (node === place) place = place.nextElementSibling;
    else list.insertBefore(node, place);
    update(node, item);
  }
}

/** An age for people. */
export function age(seconds) {
  if (seconds === null || seconds === undefined) return "never";
  if (seconds < 9.95) return `${Math.max(0, seconds).toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

let toastTimer;

/** Shows one line for a few seconds, and reads it to a screen reader. */
export function toast(text, tone = "") {
  const node = byId("toast");
  node.textContent = text;
  node.dataset.tone = tone;
  node.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => node.classList.remove("shown"), tone === "bad" ? 8000 : 4000);
}

/** Posts JSON and answers the reply's object; throws an Error with the server's own words. */
export async function post(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(35000),
    });
  } catch {
    throw new Error("The program does not answer. Is it still running?");
  }
  const reply = await response.json().catch(() => ({}));
  if (response.ok && reply.ok) return reply;
  throw new Error(reply.error ? `${reply.error.message} (${reply.error.next})` : `Refused with ${response.status}.`);
}

/** Runs a change from a button: the button waits, and the outcome is told. */
export async function change(button, path, body) {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  try {
    const reply = await post(path, body);
    toast(reply.message, "good");
    document.dispatchEvent(new Event("changed"));
  } catch (error) {
    toast(error.message, "bad");
  } finally {
    button.removeAttribute("aria-disabled");
  }
}
