// What the closed vocabularies of the harness are called on a page, and how they are told apart without colour.

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

export const words = (name) => name.replaceAll("_", " ");

export const percent = (value, digits = 1) => (value == null ? "–" : value.toFixed(digits));

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
