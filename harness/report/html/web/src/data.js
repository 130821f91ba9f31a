// The report's data: two payloads in the page, gzipped JSON in base64. The first has what the overview and the
// list need; the second, with all texts and rows, is unpacked after the first view.

import { ENGINES } from "./words.js";

export const canUnpack = () => typeof DecompressionStream === "function" && typeof "".toWellFormed === "function";

export async function unpack(id) {
  const coded = atob(document.getElementById(id).textContent.trim());
  const bytes = new Uint8Array(coded.length);
  for (let place = 0; place < coded.length; place++) bytes[place] = coded.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Every engine of a predictor's answers to a question: `cells.get(cell)` has the pair of each engine or -1.
function cellsOf(pairs, core) {
  const cells = new Map();
  for (let pair = 0; pair < pairs.question.length; pair++) {
    const cell = pairs.predictor[pair] * core.questions.key.length + pairs.question[pair];
    if (!cells.has(cell)) cells.set(cell, new Array(core.dialects.length).fill(-1));
    cells.get(cell)[pairs.dialect[pair]] = pair;
  }
  return cells;
}

export function prepare(core) {
  const { pairs, questions } = core;
  Object.assign(ENGINES, core.titles);
  const cells = cellsOf(pairs, core);
  const match = core.outcomes.indexOf("match");
  const patterns = new Map();
  for (const [cell, engines] of cells) {
    patterns.set(cell, engines.map((pair) => (pair < 0 ? "-" : pairs.outcome[pair] === match ? "1" : "0")).join(""));
  }
  const cellOf = (pair) => pairs.predictor[pair] * questions.key.length + pairs.question[pair];
  const places = new Map();
  const address = (pair) =>
    [core.dialects[pairs.dialect[pair]], core.predictors[pairs.predictor[pair]], questions.key[pairs.question[pair]]].map((part) =>
      part.toWellFormed(),
    );
  // Two names that differ only in half characters share an address; the first one has it.
  for (let pair = pairs.question.length - 1; pair >= 0; pair--) places.set(JSON.stringify(address(pair)), pair);
  return {
    ...core,
    count: pairs.question.length,
    // The engines of the pairs, as places in `dialects`.
    ran: [...new Set(pairs.dialect)].sort((one, other) => one - other),
    address,
    find: (parts) => places.get(JSON.stringify(parts)) ?? -1,
    engines: (pair) => cells.get(cellOf(pair)),
    pattern: (pair) => patterns.get(cellOf(pair)),
    cells,
    patterns,
    outcome: (pair) => core.outcomes[pairs.outcome[pair]],
    errorClass: (pair) => (pairs.error_class[pair] < 0 ? null : core.error_classes[pairs.error_class[pair]]),
    details: null,
  };
}

export const disagrees = (pattern) => pattern.includes("1") && pattern.includes("0");
