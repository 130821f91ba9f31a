// Every pair, filtered and sorted; what is chosen is in the address.
import { Badge, Engine } from "./badge.jsx";
import { FILTERS } from "./filters.js";
import { List, useNarrow } from "./list.jsx";
import { change, link } from "./route.js";
import { Search } from "./search.jsx";
import { ENGINES, count, ratio, seconds, visible, words } from "./words.js";

const COLUMNS = [
  ["question", "Question"],
  ["predictor", "Predictor"],
  ["engine", "Engine"],
  ["outcome", "Outcome"],
  ["class", "Error class"],
  ["db", "Database"],
  ["difficulty", "Difficulty"],
  ["seconds", "Time"],
  ["ratio", "÷ gold"],
];

const AGREE = { differ: "some right, some wrong" };

function choices(data) {
  const named = (names, title = visible) => names.map((name) => [name, title(name)]);
  const patterns = [...new Set(data.patterns.values())].filter((pattern) => pattern.includes("1") && pattern.includes("0")).sort();
  const pattern = (text) => {
    const right = data.dialects.filter((_, at) => text[at] === "1").map((each) => ENGINES[each]);
    return right.length === 1 ? `right on ${right[0]} alone` : `right on ${right.slice(0, -1).join(", ")} and ${right.at(-1)} only`;
  };
  return {
    predictor: named(data.predictors),
    engine: named(data.dialects, (name) => ENGINES[name] ?? name),
    outcome: [["wrong", "any but match"], ...named(data.outcomes, words)],
    class: named(data.error_classes, words),
    db: named(data.databases),
    difficulty: named(data.difficulties),
    agree: patterns.length ? [["differ", AGREE.differ], ...patterns.map((each) => [each, pattern(each)])] : [],
  };
}

const TITLES = { predictor: "Predictor", engine: "Engine", outcome: "Outcome", class: "Error class", db: "Database", difficulty: "Difficulty", agree: "Engines" };

export function Pairs({ data, params, listed, cursor, setCursor, address, isAwaited }) {
  const isNarrow = useNarrow();
  const isFiltered = FILTERS.some((name) => params[name]);
  const sort = params.sort ?? "question";
  const { pairs, questions } = data;
  const head = (
    <div role="row" class="row">
      {COLUMNS.map(([name, title]) => {
        const way = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
        return (
          <div role="columnheader" aria-sort={way} class={`c-${name}`}>
            <button onClick={() => change("sort", way === "ascending" ? `-${name}` : name)}>
              {title}
              <i aria-hidden="true">{way === "ascending" ? " ↑" : way === "descending" ? " ↓" : ""}</i>
            </button>
          </div>
        );
      })}
    </div>
  );
  const row = (pair, index, style) => {
    const question = pairs.question[pair];
    const errorClass = data.errorClass(pair);
    return (
      <div
        role="row"
        key={pair}
        class={pair === cursor ? "row current" : "row"}
        aria-rowindex={index + 2}
        aria-current={pair === cursor ? "true" : undefined}
        style={style}
        onClick={(event) => {
          setCursor(pair);
          if (!event.target.closest("a")) location.hash = address(pair);
        }}
      >
        <div role="cell" class="c-question">
          <a href={address(pair)} onFocus={() => setCursor(pair)}>
            <span class="key">{visible(questions.key[question])}</span> {visible(questions.text[question].slice(0, 240)) || "text not recorded"}
          </a>
        </div>
        <div role="cell" class="c-predictor">{visible(data.predictors[pairs.predictor[pair]])}</div>
        <div role="cell" class="c-engine"><Engine engine={data.dialects[pairs.dialect[pair]]} /></div>
        <div role="cell" class="c-outcome"><Badge outcome={data.outcome(pair)} /></div>
        <div role="cell" class="c-class">{errorClass ? words(errorClass) : ""}</div>
        <div role="cell" class="c-db">{visible(data.databases[questions.db[question]])}</div>
        <div role="cell" class="c-difficulty">{data.difficulties[questions.difficulty[question]]}</div>
        <div role="cell" class="c-seconds">{seconds(pairs.seconds[pair])}</div>
        <div role="cell" class="c-ratio">{ratio(pairs.ratio[pair])}</div>
      </div>
    );
  };
  const options = choices(data);
  return (
    <div class="pairs">
      <h1 class="hidden">Pairs</h1>
      <form class="filters" role="search" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
        <Search label="Search questions, SQL and errors" hint="Search questions, SQL, errors" change={(value) => change("q", value)} isAwaited={isAwaited} />
        {Object.entries(options).map(([name, all]) =>
          all.length > 1 || params[name] ? (
            <span class={params[name] ? "set" : ""}>
              <select aria-label={TITLES[name]} value={params[name] ?? ""} onChange={(event) => change(name, event.target.value)}>
                <option value="">{TITLES[name]}: any</option>
                {all.map(([value, title]) => (
                  <option value={value.toWellFormed()}>{title}</option>
                ))}
              </select>
            </span>
          ) : null,
        )}
        {isFiltered && (
          <a class="clear" href={link("pairs", [], { sort: params.sort })}>
            Clear
          </a>
        )}
        <p class="found" role="status">
          {isFiltered ? `${count(listed.length)} of ${count(data.count)} pairs` : `${count(data.count)} pairs`}
        </p>
      </form>
      {listed.length ? (
        <List items={listed} cursor={cursor} height={isNarrow ? 82 : 38} label="Pairs" head={head} row={row} />
      ) : (
        <p class="page">No pair is like that.</p>
      )}
    </div>
  );
}
