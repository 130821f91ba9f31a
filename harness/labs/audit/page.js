"use strict";
// Everything that is shown is set as text, never as markup: it comes from golds and rows.
const data = JSON.parse(document.getElementById("data").textContent);
// The name is that of the first version, so that decisions in browsers stay.
const store = `bird-harness analyze audit ${data.set}`;
const at = (id) => document.getElementById(id);
const keyOf = (one) => [one.question, one.dialect, one.probe, one.replaces, one.says].join("\n");

function load() {
  try {
    return JSON.parse(localStorage.getItem(store)) || {};
  } catch {
    return {};
  }
}

const decisions = load();
let shown = [];
let current = 0;

function save() {
  try {
    localStorage.setItem(store, JSON.stringify(decisions));
  } catch {
    at("progress").textContent = "This browser keeps nothing: download before you close the page.";
  }
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function decisionOf(one) {
  return decisions[keyOf(one)] || {};
}

function decide(change) {
  const one = shown[current];
  if (!one) return;
  const decided = { ...decisionOf(one), ...change };
  // An empty gold is a decision: it takes the suggestion back.
  for (const key of Object.keys(decided)) if (!decided[key] && key !== "sql") delete decided[key];
  if (Object.keys(decided).length) decisions[keyOf(one)] = decided;
  else delete decisions[keyOf(one)];
  save();
}

function listing() {
  at("list").replaceChildren(
    ...shown.map((one, place) => {
      const line = element("li", undefined, { "aria-current": String(place === current) });
      line.append(element("span", decisionOf(one).verdict || "", { class: "decision" }));
      line.append(element("span", `${one.question} · ${one.engine} · ${one.probe}`));
      line.addEventListener("click", () => go(place));
      return line;
    }),
  );
  const decided = data.findings.filter((one) => decisionOf(one).verdict).length;
  at("progress").textContent = `${decided} of ${data.findings.length} decided, ${shown.length} shown`;
  at("list").children[current]?.scrollIntoView({ block: "nearest" });
}

const VERDICTS = [
  ["accepted", "Accept (a)"],
  ["excluded", "Exclude (x)"],
  ["rejected", "Reject (r)"],
  ["", "Undecided (u)"],
];

function finding() {
  const one = shown[current];
  const place = at("finding");
  place.replaceChildren();
  if (!one) {
    place.append(element("p", "Nothing here: choose another probe, engine or state."));
    return;
  }
  place.append(element("h2", `${one.question} (${one.db_id}), ${one.engine}: ${data.probes[one.probe]}`));
  const marks = [one.severity, one.basis, ...(one.hint ? ["hint"] : []), ...(one.synthetic ? ["synthetic rows"] : [])];
  const badges = element("p");
  for (const mark of marks) badges.append(element("span", mark, { class: "badge" }), " ");
  place.append(badges, element("p", one.says));
  for (const { title, rows } of one.evidence) {
    place.append(element("strong", title));
    const table = element("table");
    for (const row of rows) {
      const line = element("tr");
      line.append(...row.map((cell) => element("td", cell)));
      table.append(line);
    }
    place.append(rows.length ? table : element("p", "no rows"));
  }
  place.append(element("strong", "Question"), element("p", one.text));
  if (one.knowledge) place.append(element("strong", "Evidence"), element("p", one.knowledge));
  place.append(element("strong", "Gold"), element("pre", one.sql));
  const decided = decisionOf(one);
  const actions = element("div", undefined, { class: "actions" });
  for (const [verdict, title] of VERDICTS) {
    const pressed = String((decided.verdict || "") === verdict);
    const button = element("button", title, { type: "button", "aria-pressed": pressed, "data-verdict": verdict });
    button.addEventListener("click", () => judge(verdict));
    actions.append(button);
  }
  place.append(actions);
  place.append(field("gold", "Corrected gold (accepted without one: the question counts as ambiguous)", decided.sql ?? one.suggestion ?? "", (sql) => decide({ sql })));
  place.append(field("note", "Note", decided.note || "", (note) => decide({ note })));
}

function field(id, title, value, changed) {
  const label = element("label", title);
  const area = element("textarea", undefined, { id, spellcheck: "false" });
  area.value = value;
  area.addEventListener("input", () => changed(area.value));
  label.append(area);
  return label;
}

function judge(verdict) {
  decide({ verdict });
  if (verdict && current < shown.length - 1) go(current + 1);
  else draw();
}

function go(place) {
  current = Math.max(0, Math.min(place, shown.length - 1));
  draw();
}

function draw() {
  listing();
  finding();
}

function choose() {
  const before = shown[current];
  const [probe, engine, state] = ["probe", "engine", "state"].map((id) => at(id).value);
  shown = data.findings.filter(
    (one) =>
      (!probe || one.probe === probe) &&
      (!engine || one.engine === engine) &&
      (!state || Boolean(decisionOf(one).verdict) === (state === "done")),
  );
  current = Math.max(0, shown.indexOf(before));
  draw();
}

function pack() {
  const golds = new Map();
  for (const one of data.findings) {
    const { verdict, sql, note } = decisionOf(one);
    if (verdict !== "accepted" && verdict !== "excluded") continue;
    const name = `${one.question}\n${one.dialect}`;
    const entry = golds.get(name) || { question_id: one.pack_id, dialect: one.dialect, sqls: [], reasons: [], replaces: one.replaces };
    const text = (sql ?? one.suggestion ?? "").trim();
    if (verdict === "excluded") entry.status = "excluded";
    else if (text && !entry.sqls.includes(text)) entry.sqls.push(text);
    entry.reasons.push(`${one.probe}: ${one.says}${note ? ` ${note}` : ""}`);
    golds.set(name, entry);
  }
  return {
    name: `audit-${data.set}`,
    version: "1",
    set: data.set,
    source: "bird-harness lab audit, findings accepted by a person",
    golds: [...golds.values()].map(({ question_id, dialect, sqls, reasons, replaces, status }) => {
      const reason = reasons.join(" ");
      if (status || !sqls.length) return { question_id, dialect, status: status || "ambiguous", reason, replaces };
      return { question_id, dialect, sql: sqls.length === 1 ? sqls[0] : sqls, origin: "audit", reason, replaces };
    }),
  };
}

function download() {
  const text = `${JSON.stringify(pack(), null, 2)}\n`;
  const link = element("a", "", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: `audit-${data.set}.json` });
  link.click();
  URL.revokeObjectURL(link.href);
}

const KEYS = {
  j: () => go(current + 1),
  ArrowDown: () => go(current + 1),
  k: () => go(current - 1),
  ArrowUp: () => go(current - 1),
  a: () => judge("accepted"),
  x: () => judge("excluded"),
  r: () => judge("rejected"),
  u: () => judge(""),
  n: () => at("note")?.focus(),
  e: () => at("gold")?.focus(),
  d: download,
};

document.addEventListener("keydown", (event) => {
  const inside = event.target.tagName;
  if (event.key === "Escape") event.target.blur();
  if (inside === "TEXTAREA" || inside === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const does = KEYS[event.key];
  if (does) {
    event.preventDefault();
    does();
  }
});

function options(id, values) {
  at(id).append(element("option", "all", { value: "" }), ...values.map((value) => element("option", value, { value })));
  at(id).addEventListener("change", choose);
}

options("probe", [...new Set(data.findings.map((one) => one.probe))]);
options("engine", [...new Set(data.findings.map((one) => one.engine))]);
at("state").addEventListener("change", choose);
at("download").addEventListener("click", download);
choose();
document.documentElement.dataset.state = "complete";
