"use strict";
// Everything that is shown is set as text, never as markup: it comes from predictors, golds and rows.
const at = (id) => document.getElementById(id);
let data = { questions: [], texts: [] };
let shown = [];
let current = 0;

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const text = (place) => (place < 0 ? null : data.texts[place]);

function element(name, content, attributes = {}) {
  const made = document.createElement(name);
  if (content !== undefined && content !== null) made.textContent = content;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function value(cell) {
  if (cell === null) return "NULL";
  return Array.isArray(cell) ? cell[1] : String(cell);
}

function side(title, one) {
  const box = element("div");
  if (!one) return box;
  const other = one.only === null ? "" : `, ${one.only} that the other side lacks`;
  box.append(element("p", `${title}: ${one.count} rows of ${one.columns} columns${other}`));
  if (one.rows.length) {
    const table = element("table", undefined, { class: "rows", tabindex: "0" });
    const body = element("tbody");
    one.rows.forEach((row, place) => {
      const line = element("tr", undefined, place < one.marked ? { class: "other" } : {});
      line.append(...row.map((cell) => element("td", value(cell))));
      body.append(line);
    });
    table.append(body);
    box.append(table);
  }
  return box;
}

function rows(place) {
  const found = text(place);
  const box = element("div");
  if (!found) return box;
  const { gold, predicted } = JSON.parse(found);
  box.append(side("Expected", gold));
  if (predicted && predicted.only === 0 && !predicted.rows.length) box.append(element("p", "Its rows are the same."));
  else box.append(side("Its own", predicted));
  return box;
}

function sql(place) {
  const found = text(place);
  const cut = data.cut[place];
  return element("pre", found === null ? "(none)" : cut ? `${found}\n(cut; ${cut} characters)` : found);
}

function part(title, ...content) {
  const box = element("section");
  box.append(element("h4", title), ...content.filter(Boolean));
  return box;
}

function answer(one) {
  const error = text(one.error);
  return part(
    `The answer for ${data.engines[one.dialect]}: ${one.outcome}`,
    sql(one.sql),
    error ? element("p", error) : null,
    rows(one.rows),
  );
}

function trials(some) {
  const box = element("details");
  box.append(element("summary", `All ${some.length} executions that were looked at, in their order`));
  for (const one of some) {
    const error = text(one.error);
    box.append(
      element("p", `${text(one.what)}: on ${data.engines[one.dialect]}, profile ${one.profile}, against ${text(one.against)}: ${one.outcome}${error ? ` (${error})` : ""}`),
      sql(one.sql),
    );
  }
  return box;
}

function question() {
  const one = shown[current];
  const place = at("question");
  place.replaceChildren();
  if (!one) {
    place.append(element("p", "Nothing here: choose another predictor, engine or cause."));
    return;
  }
  place.append(element("h3", `${one.question} (${one.db_id}): ${one.predictor} on ${data.engines[one.dialect]}`));
  const badges = element("p");
  const marks = [data.causes[one.cause], data.directions[one.direction], ...(one.synthetic ? ["synthetic rows"] : [])];
  for (const mark of marks) badges.append(element("span", mark, { class: "badge" }), " ");
  place.append(badges, element("p", text(one.says)), part("Question", element("p", text(one.text)), element("p", text(one.evidence))));
  if (one.decisive) {
    const trial = one.decisive;
    const error = text(trial.error);
    place.append(
      part(
        "The execution that decides",
        element("p", `${text(trial.what)}, on ${data.engines[trial.dialect]}, profile ${trial.profile}, held against ${text(trial.against)}: ${trial.outcome}`),
        sql(trial.sql),
        error ? element("p", error) : null,
        rows(trial.rows),
      ),
    );
  }
  place.append(answer(one.sqlite), answer(one.native));
  for (const [dialect, gold] of Object.entries(one.gold)) place.append(part(`Gold of ${data.engines[dialect]}`, sql(gold)));
  if (one.tried.length) place.append(trials(one.tried));
}

function listing() {
  at("list").replaceChildren(
    ...shown.map((one, place) => {
      const line = element("li");
      const button = element("button", `${one.question} · ${one.predictor} · ${data.engines[one.dialect]} · ${data.causes[one.cause]}`, { type: "button", "aria-current": String(place === current) });
      button.addEventListener("click", () => go(place));
      line.append(button);
      return line;
    }),
  );
  at("count").textContent = `${shown.length} of ${data.questions.length} questions that differ`;
}

function go(place) {
  const list = at("list").children;
  list[current]?.firstChild.setAttribute("aria-current", "false");
  current = Math.max(0, Math.min(place, shown.length - 1));
  list[current]?.firstChild.setAttribute("aria-current", "true");
  list[current]?.scrollIntoView({ block: "nearest" });
  question();
}

function choose() {
  const [predictor, engine, cause, direction, type] = ["predictor", "engine", "cause", "direction", "type"].map((id) => at(id).value);
  const words = at("search").value.toLowerCase();
  const has = (one) =>
    !words ||
    [one.question, one.db_id, text(one.says), text(one.text), text(one.sqlite.sql), text(one.native.sql)].some((each) => (each || "").toLowerCase().includes(words));
  shown = data.questions.filter(
    (one) => (!predictor || one.predictor === predictor) && (!engine || one.dialect === engine) && (!cause || one.cause === cause) && (!direction || one.direction === direction) && (!type || one.types.includes(type)) && has(one),
  );
  current = 0;
  listing();
  question();
}

function options(id, values, titles = {}) {
  at(id).append(element("option", "all", { value: "" }), ...values.map((each) => element("option", titles[each] || each, { value: each })));
  at(id).addEventListener("change", choose);
}

document.addEventListener("keydown", (event) => {
  const inside = event.target.tagName;
  if (inside === "INPUT" || inside === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { j: 1, k: -1 }[event.key];
  if (step) go(current + step);
});

async function main() {
  data = await unpacked(at("data").textContent);
  const values = (name) => [...new Set(data.questions.flatMap((one) => one[name]))];
  options("predictor", values("predictor"));
  options("engine", values("dialect"), data.engines);
  options("cause", Object.keys(data.causes).filter((each) => values("cause").includes(each)), data.causes);
  options("direction", values("direction"), data.directions);
  options("type", values("types").sort());
  at("search").addEventListener("input", choose);
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  choose();
  document.documentElement.dataset.state = "complete";
}

main();
