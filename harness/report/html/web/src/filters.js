// The pairs of a list: selection and order.
import { disagrees } from "./data.js";
import { listOf } from "./route.js";

export const FILTERS = ["q", "predictor", "engine", "outcome", "difficulty", "type", "db", "class", "agree"];

export const SCORE = "score.";

const COMPARED = {
  question: (data) => data.pairs.question,
  predictor: (data) => data.pairs.predictor,
  engine: (data) => data.pairs.dialect,
  outcome: (data) => data.pairs.outcome,
  class: (data) => data.pairs.error_class,
  db: (data) => data.pairs.question.map((question) => data.questions.db[question]),
  difficulty: (data) => data.pairs.question.map((question) => data.questions.difficulty[question]),
  type: (data) => data.pairs.question.map((question) => data.questions.types[question]),
  seconds: (data) => data.pairs.seconds,
  ratio: (data) => data.pairs.ratio,
};

// The values that a list is sorted or grouped by, of types a list for each pair; nothing for an unknown name.
function columnOf(data, name) {
  if (name.startsWith(SCORE)) return data.pairs.scores[name.slice(SCORE.length)];
  return COMPARED[name]?.(data);
}

export const GROUPS = ["question", "predictor", "engine", "outcome", "class", "db", "difficulty", "type"];

function exactly(data, params) {
  const { pairs, questions } = data;
  const tests = [];
  const match = data.outcomes.indexOf("match");
  const among = (name, list, valueOf) => {
    const chosen = listOf(params[name]);
    if (!chosen.length) return;
    const wanted = new Set(chosen.map((value) => list.findIndex((each) => each.toWellFormed() === value)));
    if (name === "outcome" && chosen.includes("wrong")) tests.push((pair) => pairs.outcome[pair] !== match || wanted.has(match));
    else tests.push((pair) => [valueOf(pair)].flat().some((value) => wanted.has(value)));
  };
  among("predictor", data.predictors, (pair) => pairs.predictor[pair]);
  among("engine", data.dialects, (pair) => pairs.dialect[pair]);
  among("class", data.error_classes, (pair) => (pairs.error_class[pair] < 0 ? null : pairs.error_class[pair]));
  among("outcome", data.outcomes, (pair) => pairs.outcome[pair]);
  among("difficulty", data.difficulties, (pair) => questions.difficulty[pairs.question[pair]]);
  among("type", data.types, (pair) => questions.types[pairs.question[pair]]);
  among("db", data.databases, (pair) => questions.db[pairs.question[pair]]);
  const agree = listOf(params.agree);
  if (agree.length) tests.push((pair) => agree.some((each) => (each === "differ" ? disagrees(data.pattern(pair)) : data.pattern(pair) === each)));
  return tests;
}

const searched = new WeakMap();

// Everything that is searched, in lower case; made once for each stage of loading.
function haystack(data) {
  const owner = data.details ?? data.questions;
  if (!searched.has(owner)) {
    const low = (texts) => texts.map((text) => text.toLowerCase());
    const { questions } = data;
    searched.set(owner, {
      questions: questions.key.map((key, at) =>
        `#${key} ${questions.text[at]} ${questions.evidence[at]} ${data.databases[questions.db[at]]}`.toLowerCase(),
      ),
      predictors: low(data.predictors),
      texts: data.details ? low(data.details.texts) : [],
    });
  }
  return searched.get(owner);
}

function containing(data, word) {
  const { pairs, details } = data;
  const hay = haystack(data);
  const has = (texts) => texts.map((text) => text.includes(word));
  const questions = has(hay.questions);
  const predictors = has(hay.predictors);
  const texts = has(hay.texts);
  return (pair) =>
    questions[pairs.question[pair]] ||
    predictors[pairs.predictor[pair]] ||
    (details !== null && (texts[details.sql[pair]] || texts[details.error[pair]] || texts[details.gold[pair]]));
}

const wordsOf = (text) => listOf(text).join(" ").toLowerCase().split(/\s+/).filter(Boolean);

// The flipped questions of a comparison, as they are filtered, of which one side has every word.
export function selectFlips(data, params) {
  const tests = wordsOf(params.q).map((word) => containing(data, word));
  const isTurned = turned(data, params);
  const places = data.flips.map((_, place) => place);
  return places.filter((place) => {
    const flip = data.flips[place];
    return isTurned(flip) && [flip.a, flip.b].some((pair) => tests.every((test) => test(pair)));
  });
}

// Questions that a side won or lost, in the comparisons that are asked for.
function turned(data, params) {
  const wanted = new Set(listOf(params.side).map(Number));
  const ways = listOf(params.turn);
  return (flip) => (!wanted.size || wanted.has(flip.comparison)) && (!ways.length || ways.some((way) => flip[way]?.length));
}

export function select(data, params) {
  const tests = [...exactly(data, params), ...wordsOf(params.q).map((word) => containing(data, word))];
  const found = [];
  for (let pair = 0; pair < data.count; pair++) if (tests.every((test) => test(pair))) found.push(pair);
  const sort = String(params.sort ?? "");
  // What has no value stands last in both directions.
  const isNothing = (value) => value == null || value === -1;
  const by = (column, direction) => (one, other) => {
    const [a, b] = [firstOf(column[one]), firstOf(column[other])];
    if (isNothing(a) || isNothing(b)) return isNothing(a) - isNothing(b);
    return direction * (a - b);
  };
  const orders = [];
  const group = GROUPS.includes(params.group) && columnOf(data, params.group);
  if (group) orders.push(by(group, 1));
  const column = columnOf(data, sort.replace(/^-/, ""));
  if (column) orders.push(by(column, sort.startsWith("-") ? -1 : 1));
  if (!orders.length) return found;
  return found.sort((one, other) => {
    for (const order of orders) {
      const way = order(one, other);
      if (way) return way;
    }
    return one - other;
  });
}

const firstOf = (value) => (Array.isArray(value) ? value[0] : value);

// The pairs of a list with a head before those of each group; those of groups in `closed` are left out. A pair with
// several types is in several groups.
export function grouped(data, params, listed, closed) {
  const column = GROUPS.includes(params.group) ? columnOf(data, params.group) : null;
  if (!column) return listed;
  const match = data.outcomes.indexOf("match");
  const groups = new Map();
  for (const pair of listed) {
    const values = [column[pair] ?? -1].flat();
    for (const value of values.length ? values : [-1]) {
      if (!groups.has(value)) groups.set(value, []);
      groups.get(value).push(pair);
    }
  }
  const last = (value) => (value < 0 ? Infinity : value);
  return [...groups].sort(([one], [other]) => last(one) - last(other)).flatMap(([value, pairs]) => {
    const right = pairs.filter((pair) => data.pairs.outcome[pair] === match).length;
    return [{ group: params.group, value, pairs: pairs.length, right }, ...(closed.has(value) ? [] : pairs)];
  });
}
