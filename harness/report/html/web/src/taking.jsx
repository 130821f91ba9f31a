// What is taken out of the page: texts to the clipboard, pairs as a file.
import { useState } from "preact/hooks";

const SHOWN = 1_500;

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Where a page may not write to the clipboard by itself, a selection can be copied.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "hidden";
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    if (!isDone) throw new Error("this page cannot copy text here");
  }
}

// A button that copies `text`; `what` says of which text.
export function Copy({ text, what }) {
  const [said, say] = useState("");
  const clicked = () =>
    copy(text)
      .then(() => say("Copied"), () => say("Not copied"))
      .then(() => setTimeout(() => say(""), SHOWN));
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} onClick={clicked}>
      <span role="status">{said || "Copy"}</span>
    </button>
  );
}

const FORMULA = /^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20']/;

// As tables.csv: a text that a spreadsheet would compute, and one with an apostrophe, has an apostrophe before it.
function cell(value) {
  if (value == null) return "";
  if (typeof value === "number") return String(value);
  const text = value.toWellFormed().replace(/[\0-\x08\x0b-\x1f\x7f]/g, (found) => `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

export function csvOf(data, listed) {
  const { pairs, questions, details } = data;
  const metrics = Object.keys(pairs.scores);
  const named = (list, place) => (place < 0 ? null : list[place]);
  const text = (column, pair) => (details ? named(details.texts, details[column][pair]) : null);
  const heads = ["question", "db_id", "difficulty", "types", "predictor", "engine", "outcome", "error_class", ...metrics];
  const lines = [[...heads, "seconds", "gold_seconds", "ratio", "text", "sql", "gold", "error"]];
  for (const pair of listed) {
    const question = pairs.question[pair];
    lines.push([
      questions.key[question],
      data.databases[questions.db[question]],
      data.difficulties[questions.difficulty[question]],
      questions.types[question].map((type) => data.types[type]).join(", "),
      data.predictors[pairs.predictor[pair]],
      data.dialects[pairs.dialect[pair]],
      data.outcome(pair),
      data.errorClass(pair),
      ...metrics.map((name) => pairs.scores[name][pair]),
      pairs.seconds[pair],
      pairs.gold_seconds[pair],
      pairs.ratio[pair],
      questions.text[question],
      text("sql", pair),
      text("gold", pair),
      text("error", pair),
    ]);
  }
  return lines.map((line) => `${line.map(cell).join(",")}\n`).join("");
}

export function Export({ data, listed }) {
  const clicked = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csvOf(data, listed)], { type: "text/csv" }));
    link.download = "pairs.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  return (
    <button type="button" class="plain" disabled={!data.details || !listed.length} onClick={clicked} title="Save the listed pairs as a file for spreadsheets and programs">
      CSV
    </button>
  );
}
