// Puts a state of the program on the page.
import { age, byId, change, element, keyed, setBadge, setText, toast } from "./dom.js";
import { offerOverlays } from "./picture.js";

export function render(state) {
  renderHealth(state);
  setText(byId("seen"), state.seen.text || "Nothing yet: no skill has looked.");
  setBadge(byId("seen-state"), state.seen.stale ? "stale" : "", "warn");
  byId("seen").classList.toggle("stale", state.seen.stale);
  renderSkills(state.skills);
  offerOverlays(state.skills);
  renderTemplates(state.templates);
  renderScene(state.scene);
  renderEvents(state.events, state.push);
  renderAttach(state.endpoints, state.commands);
  setText(byId("version"), `Cerebellum ${state.version}`);
}

function renderHealth({ robot, camera, bus, push }) {
  const lastFrame = camera.problem || `${camera.alive ? "live," : "silent, last"} ${age(camera.last_frame_age_s)}`;
  const pills = [
    { name: robot.name || "robot", detail: robot.detail, tone: robot.ok ? "good" : "bad" },
    { name: "camera", detail: lastFrame, tone: !camera.alive ? "bad" : camera.problem ? "warn" : "good" },
    { name: bus.name || "bus", detail: bus.detail, tone: bus.ok ? "good" : "bad" },
    { name: "push", detail: push.on ? (push.problem ? "failing" : "on") : "off", tone: push.on ? (push.problem ? "warn" : "good") : "" },
  ];
  const create = () => element("li", { class: "pill" }, element("span", { class: "dot", "aria-hidden": "true" }), element("b"), element("span"));
  keyed(byId("health"), pills, (pill) => pill.name, create, (node, pill) => {
    node.dataset.tone = pill.tone;
    setText(node.children[1], pill.name);
    setText(node.children[2], pill.detail);
  });
}

function renderSkills(skills) {
  setBadge(byId("skills-count"), skills.length ? String(skills.length) : "");
  byId("skills-empty").hidden = skills.length > 0;
  keyed(byId("skills"), skills, (skill) => skill.skill_id, createSkill, updateSkill);
}

function createSkill(skill) {
  const stop = element("button", { type: "button", class: "quiet small", "aria-label": `Stop ${skill.skill_id}` }, "Stop");
  stop.addEventListener("click", () => change(stop, `/api/skills/${encodeURIComponent(skill.skill_id)}/stop`, {}));
  const head = element("div", { class: "skill-head" }, element("strong"), element("span", { class: "badge" }), stop);
  const [purpose, summary] = [element("p", { class: "hint" }), element("p", { class: "summary" })];
  return element("li", { class: "skill" }, head, purpose, summary, element("dl"), element("p", { class: "problem" }), element("p", { class: "hint notes" }));
}

function updateSkill(node, skill) {
  const [head, purpose, summary, outputs, problem, notes] = node.children;
  setText(head.children[0], skill.skill_id);
  const [text, tone] = skillBadge(skill);
  setBadge(head.children[1], text, tone);
  node.classList.toggle("stale", skill.stale || !skill.enabled);
  setOptional(purpose, skill.purpose);
  setOptional(summary, skill.summary);
  outputs.hidden = skill.outputs.length === 0;
  const create = () => element("div", {}, element("dt"), element("dd"));
  keyed(outputs, skill.outputs, (output) => output.name, create, (row, output) => {
    setText(row.children[0], output.name);
    setText(row.children[1], shown(output.value) + (output.stale && !skill.stale ? ` (stale, ${age(output.age_s)})` : ""));
    row.dataset.value = output.value === true ? "yes" : output.value === false ? "no" : "";
  });
  setOptional(problem, skill.problem ?? "");
  setOptional(notes, skill.notes.join(" · "));
}

function skillBadge(skill) {
  if (skill.problem) return ["problem", "bad"];
  if (!skill.enabled) return ["paused", ""];
  if (skill.age_s === null) return ["no value yet", ""];
  return skill.stale ? [`stale, ${age(skill.age_s)} old`, "warn"] : [`${age(skill.age_s)} ago`, "good"];
}

function setOptional(node, text) {
  setText(node, text);
  node.hidden = text === "";
}

function shown(value) {
  if (value === null) return "not known yet";
  if (value === true) return "yes";
  if (value === false) return "no";
  return Array.isArray(value) ? value.map(shown).join(", ") || "none" : String(value);
}

function renderTemplates(templates) {
  keyed(byId("templates"), templates, (template) => template.name, createTemplate, () => {});
}

function createTemplate(template) {
  const start = element("button", { type: "submit", "aria-label": `Start ${template.name}` }, "Start");
  const fields = template.params.map((param) => {
    const id = `param-${template.name}-${param.name}`;
    const input = element("input", { id, name: param.name, required: true, maxlength: 300, autocomplete: "off" });
    input.value = param.example;
    return element("div", { class: "field" }, element("label", { for: id }, param.name), input);
  });
  const form = element("form", { class: "template" },
    element("div", { class: "template-text" }, element("strong", {}, template.name), element("p", { class: "hint" }, template.description)),
    element("div", { class: "template-fields" }, ...fields, start));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const params = Object.fromEntries(new FormData(form));
    change(start, "/api/skills", { template: template.name, params });
  });
  return form;
}

function renderScene(scene) {
  byId("scene-card").hidden = !scene;
  if (!scene) return;
  const [person, camera] = [byId("person-button"), byId("camera-button")];
  setText(person, scene.person_present ? "Let the person leave" : "Let a person come in");
  person.dataset.present = String(!scene.person_present);
  setText(camera, scene.camera_covered ? "Uncover the camera" : "Cover the camera");
  camera.dataset.covered = String(!scene.camera_covered);
  byId("object-form").hidden = scene.objects.length === 0 || scene.places.length === 0;
  const option = (item) => element("option", { value: item.value });
  const update = (node, item) => setText(node, item.text);
  const objects = scene.objects.map((object) => ({ value: object.name, text: object.label }));
  const places = scene.places.map((place) => ({ value: place, text: place }));
  keyed(byId("object-select"), objects, (item) => item.value, option, update);
  keyed(byId("place-select"), places, (item) => item.value, option, update);
}

/** Wires the buttons of the scene, which are there from the start. */
export function wireScene() {
  const [person, camera, reset, form] = ["person-button", "camera-button", "reset-button", "object-form"].map(byId);
  person.addEventListener("click", () => change(person, "/api/scene/person", { present: person.dataset.present === "true" }));
  camera.addEventListener("click", () => change(camera, "/api/scene/camera", { covered: camera.dataset.covered === "true" }));
  reset.addEventListener("click", () => change(reset, "/api/scene/reset", {}));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    change(form.querySelector("button"), "/api/scene/object", Object.fromEntries(new FormData(form)));
  });
}

function renderEvents(events, push) {
  const counts = [`${push.delivered} delivered`, push.waiting && `${push.waiting} waiting`, push.lost && `${push.lost} lost`];
  setText(byId("events-title"), push.on ? "Events pushed lately" : "Events");
  setBadge(byId("push-state"), push.on ? counts.filter(Boolean).join(", ") : "not pushed: push is off", push.on && push.lost ? "warn" : "");
  setOptional(byId("push-detail"), [push.detail, push.problem && `last try: ${push.problem}`].filter(Boolean).join(" · "));
  byId("events-empty").hidden = events.length > 0;
  const create = () => element("li", {}, element("b"), element("span", { class: "what" }), element("span", { class: "when" }));
  keyed(byId("events"), events, (event) => event.id, create, (node, event) => {
    setText(node.children[0], event.task_id);
    setText(node.children[1], `${event.type}: ${event.summary}`);
    setText(node.children[2], `${age(event.age_s)} ago`);
  });
}

function renderAttach(endpoints, commands) {
  const endpoint = () => element("li", {}, element("b"), element("code"), element("span", { class: "hint" }));
  keyed(byId("endpoints"), endpoints, (item) => item.url, endpoint, (node, item) => {
    setText(node.children[0], item.name);
    setText(node.children[1], item.url);
    setText(node.children[2], item.purpose);
  });
  keyed(byId("commands"), commands, (item) => item.title, createCommand, (node, item) => {
    setText(node.children[0].children[0], item.title);
    setText(node.children[1], item.command);
  });
}

function createCommand(item) {
  const copy = element("button", { type: "button", class: "quiet small", "aria-label": `Copy: ${item.title}` }, "Copy");
  const code = element("pre", { tabindex: "0" });
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      toast("Copied.", "good");
    } catch {
      getSelection().selectAllChildren(code);
      toast("Selected; copy it with your keyboard.");
    }
  });
  return element("li", {}, element("div", { class: "command-head" }, element("span"), copy), code);
}
