// The names of the harness's closed vocabularies on a page, and their signs besides colour.

// Filled from the data: which engines there are is not known here.
export const ENGINES = {};

export const MARKS = {
  match: "✓",
  mismatch: "×",
  prediction_error: "e",
  prediction_timeout: "t",
  prediction_too_large: "l",
  gold_error: "G",
  gold_timeout: "T",
  missing: "m",
  harness_error: "H",
};

// Where gold comes from; the names are those of results.jsonl.
export const ORIGINS = {
  dataset: "the set's own",
  translated: "SQLite's, translated",
  override: "SQLite's, translated by hand",
  correction: "of a gold pack",
  sqlite_rows: "SQLite's rows, by value",
};

export const words = (name) => name.replaceAll("_", " ");

// A set's own types may have characters that do not print.
export const typeName = (name) => visible(words(name));

// As the tables round: what lies exactly half-way goes to the even digit.
export function percent(value, digits = 1) {
  if (value == null) return "–";
  const [whole, rest] = value.toFixed(60).split(".");
  const isHalf = /^50*$/.test(rest.slice(digits));
  const kept = digits ? `${whole}.${rest.slice(0, digits)}` : whole;
  return isHalf && "02468".includes(kept.at(-1)) ? kept : value.toFixed(digits);
}

// Names in at most so many characters, of which no two look the same: the middle goes, since models that are akin
// differ at their ends; where that is not enough, what they have in common goes.
export function labels(names, most) {
  const shown = names.map(visible);
  const tail = Math.ceil(most * 0.6);
  const short = shown.map((name) => (name.length <= most ? name : `${name.slice(0, most - tail - 1)}…${name.slice(-tail)}`));
  const isAlone = (all, place) => all.indexOf(all[place]) === all.lastIndexOf(all[place]);
  const again = short.map((each, place) => {
    if (isAlone(short, place)) return each;
    const alike = shown.filter((_, other) => short[other] === each);
    let same = 0;
    while (alike.every((name) => name[same] !== undefined && name[same] === alike[0][same])) same++;
    const rest = shown[place].slice(same - 2);
    const room = most - 5;
    return `${shown[place].slice(0, 4)}…${rest.length > room ? `${rest.slice(0, room - 1)}…` : rest}`;
  });
  return again.map((each, place) => (isAlone(again, place) ? each : shown[place]));
}

export const count = (value) => value.toLocaleString("en");

export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

export function seconds(value) {
  if (value == null) return "–";
  if (value >= 1) return `${value.toFixed(2)} s`;
  return `${(value * 1000).toFixed(value < 0.01 ? 2 : 1)} ms`;
}

export function ratio(value) {
  if (value == null) return "–";
  if (value >= 9.95) return `${count(Math.round(value))}×`;
  return value < 0.005 ? "<0.01×" : `${value.toFixed(2)}×`;
}

// Texts come from predictors and databases: nothing in them may hide, reorder what stands around it, or be
// half a character.
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f]/g;
const INVISIBLE = /[\x80-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

export const visible = (text) =>
  String(text)
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replace(CONTROLS, (found) => (found === "\x7f" ? "\u2421" : String.fromCharCode(0x2400 + found.charCodeAt(0))))
    .replace(INVISIBLE, (found) => `⟦U+${found.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟧`);
