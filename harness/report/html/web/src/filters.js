// Which pairs a list shows, in which order.
import { disagrees } from "./data.js";

export const FILTERS = ["q", "predictor", "engine", "outcome", "difficulty", "db", "class", "agree"];

const COMPARED = {
  question: (data) => data.pairs.question,
  predictor: (data) => data.pairs.predictor,
  engine: (data) => data.pairs.dialect,
  outcome: (data) => data.pairs.outcome,
  class: (data) => data.pairs.error_class,
  db: (data) => data.pairs.question.map((question) => data.questions.db[question]),
  difficulty: (data) => data.pairs.question.map((question) => data.questions.difficulty[question]),
  seconds: (data) => data.pairs.seconds,
  ratio: (data) => data.pairs.ratio,
};

export const SORTS = Object.keys(COMPARED);

function exactly(data, params) {
  const { pairs, questions } = data;
  const tests = [];
  const place = (list, value) => list.findIndex((each) => each.toWellFormed() === value);
  const is = (column, wanted) => tests.push((pair) => column[pair] === wanted);
  if (params.predictor) is(pairs.predictor, place(data.predictors, params.predictor));
  if (params.engine) is(pairs.dialect, place(data.dialects, params.engine));
  if (params.class) is(pairs.error_class, place(data.error_classes, params.class));
  if (params.outcome === "wrong") {
    const match = data.outcomes.indexOf("match");
    tests.push((pair) => pairs.outcome[pair] !== match);
  } else if (params.outcome) is(pairs.outcome, place(data.outcomes, params.outcome));
  if (params.difficulty) {
    const wanted = place(data.difficulties, params.difficulty);
    tests.push((pair) => questions.difficulty[pairs.question[pair]] === wanted);
  }
  if (params.db) {
    const wanted = place(data.databases, params.db);
    tests.push((pair) => questions.db[pairs.question[pair]] === wanted);
  }
  if (params.agree === "differ") tests.push((pair) => disagrees(data.pattern(pair)));
  else if (params.agree) tests.push((pair) => data.pattern(pair) === params.agree);
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

const wordsOf = (text) => (text ?? "").toLowerCase().split(/\s+/).filter(Boolean);

// The flipped questions of a comparison of which one side has every word.
export function selectFlips(data, text) {
  const tests = wordsOf(text).map((word) => containing(data, word));
  const places = data.flips.map((_, place) => place);
  return places.filter((place) => [data.flips[place].a, data.flips[place].b].some((pair) => tests.every((test) => test(pair))));
}

export function select(data, params) {
  const tests = [...exactly(data, params), ...wordsOf(params.q).map((word) => containing(data, word))];
  const found = [];
  for (let pair = 0; pair < data.count; pair++) if (tests.every((test) => test(pair))) found.push(pair);
  const name = (params.sort ?? "").replace(/^-/, "");
  if (!(name in COMPARED)) return found;
  const column = COMPARED[name](data);
  const direction = params.sort.startsWith("-") ? -1 : 1;
  // What has no value stands last in both directions.
  const isNothing = (value) => value == null || value === -1;
  return found.sort((one, other) => {
    const [a, b] = [column[one], column[other]];
    if (isNothing(a) || isNothing(b)) return isNothing(a) - isNothing(b) || one - other;
    return direction * (a - b) || one - other;
  });
}
