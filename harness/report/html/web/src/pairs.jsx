// Every pair, filtered, sorted and grouped; what is chosen is in the address.
import { useMemo, useState } from "preact/hooks";
import { Badge, Engine } from "./badge.jsx";
import { Bar, howMany } from "./bar.jsx";
import { GROUPS, SCORE, grouped } from "./filters.js";
import { List, useColumns, useNarrow } from "./list.jsx";
import { change } from "./route.js";
import { Export } from "./taking.jsx";
import { ENGINES, labels, percent, plural, ratio, seconds, visible, words } from "./words.js";

const TITLES = { question: "Question", predictor: "Predictor", engine: "Engine", outcome: "Outcome", class: "Error class", db: "Database", difficulty: "Difficulty", type: "Type" };

const MOST_OF_A_NAME = 20;
const MOST_ON_A_PHONE = 17;

// Beside the question. Those leave first that are the same in all rows, then what is easiest found on a pair's page;
// what the list is sorted by stays.
function columnsOf(data, sort) {
  const same = (values) => (new Set(values).size < 2 ? 0 : undefined);
  const scores = Object.keys(data.pairs.scores);
  const columns = [
    { name: "predictor", title: "Predictor", size: 10, leaves: same(data.pairs.predictor) },
    { name: "engine", title: "Engine", size: 6.6, leaves: same(data.pairs.dialect) },
    { name: "outcome", title: "Outcome", size: 10.4 },
    ...scores.map((score, place) => ({ name: `${SCORE}${score}`, title: data.metrics[score] ?? score, size: 4.6, leaves: place ? 6 + scores.length - place : undefined })),
    { name: "class", title: "Error class", size: 8.2, leaves: 5 },
    { name: "db", title: "Database", size: 9.5, leaves: same(data.questions.db) ?? 3 },
    { name: "difficulty", title: "Difficulty", size: 5.8, leaves: same(data.questions.difficulty) ?? 2 },
    { name: "seconds", title: "Time", size: 4.6, leaves: 4 },
    { name: "ratio", title: "÷ gold", size: 4, leaves: 1 },
  ];
  return columns.map((column) => (sort.replace("-", "") === column.name ? { ...column, leaves: undefined } : column));
}

const classOf = (name) => (name.startsWith(SCORE) ? "c-score" : `c-${name}`);

function Head({ columns, sort, style }) {
  return (
    <div role="row" class="row" style={style}>
      {[{ name: "question", title: "Question" }, ...columns].map(({ name, title }) => {
        const way = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
        return (
          <div role="columnheader" aria-sort={way} class={classOf(name)}>
            <button title={title} onClick={() => change("sort", way === "ascending" ? `-${name}` : name)}>
              {title}
              <i aria-hidden="true">{way === "ascending" ? " ↑" : way === "descending" ? " ↓" : ""}</i>
            </button>
          </div>
        );
      })}
    </div>
  );
}

// The title of a group.
function groupName(data, head) {
  const { value } = head;
  const lists = { predictor: data.predictors, engine: data.dialects.map((each) => ENGINES[each] ?? each), outcome: data.outcomes.map(words), class: data.error_classes.map(words), db: data.databases, difficulty: data.difficulties, type: data.types.map(words) };
  if (head.group === "question") return visible(`${data.questions.key[value]} ${data.questions.text[value].slice(0, 160)}`);
  return value < 0 ? "none" : visible(lists[head.group][value]);
}

export function Pairs({ data, params, listed, cursor, setCursor, address, isAwaited }) {
  const isNarrow = useNarrow();
  const sort = String(params.sort ?? "question");
  const { pairs, questions } = data;
  const all = useMemo(() => columnsOf(data, sort), [data.pairs, data.questions, sort]);
  const [columns, template] = useColumns(all);
  const [closed, setClosed] = useState(new Set());
  const rows = useMemo(() => grouped(data, params, listed, closed), [data.pairs, listed, params.group, closed]);
  const names = useMemo(() => labels(data.predictors, isNarrow ? MOST_ON_A_PHONE : MOST_OF_A_NAME), [data.predictors, isNarrow]);
  const fold = (value) => {
    const next = new Set(closed);
    if (!next.delete(value)) next.add(value);
    setClosed(next);
  };
  const groupRow = (head, index, style) => (
    <div role="row" key={`group ${head.value}`} class="row group-row" aria-rowindex={index + 2} style={style}>
      <div role="cell">
        <button type="button" aria-expanded={!closed.has(head.value)} onClick={() => fold(head.value)}>
          <i aria-hidden="true">{closed.has(head.value) ? "▸" : "▾"}</i> <b>{groupName(data, head)}</b>
          <span>{` ${plural(head.pairs, "pair")}, ${percent((100 * head.right) / head.pairs, 2)} % match`}</span>
        </button>
      </div>
    </div>
  );
  const pairRow = (pair, index, style) => {
    const question = pairs.question[pair];
    const name = visible(data.predictors[pairs.predictor[pair]]);
    const errorClass = words(data.errorClass(pair) ?? "");
    const cells = {
      predictor: <div role="cell" class="c-predictor" title={name}>{names[pairs.predictor[pair]]}</div>,
      engine: <div role="cell" class="c-engine"><Engine engine={data.dialects[pairs.dialect[pair]]} /></div>,
      outcome: <div role="cell" class="c-outcome"><Badge outcome={data.outcome(pair)} /></div>,
      class: <div role="cell" class="c-class" title={errorClass}>{errorClass}</div>,
      db: <div role="cell" class="c-db">{visible(data.databases[questions.db[question]])}</div>,
      difficulty: <div role="cell" class="c-difficulty">{data.difficulties[questions.difficulty[question]]}</div>,
      seconds: <div role="cell" class="c-seconds">{seconds(pairs.seconds[pair])}</div>,
      ratio: <div role="cell" class="c-ratio">{ratio(pairs.ratio[pair])}</div>,
    };
    const score = (name) => {
      const value = pairs.scores[name.slice(SCORE.length)][pair];
      return <div role="cell" class="c-score">{value == null ? "–" : percent(100 * value, 2)}</div>;
    };
    return (
      <div
        role="row"
        key={`${pair} ${index}`}
        class={pair === cursor ? "row current" : "row"}
        aria-rowindex={index + 2}
        aria-current={pair === cursor ? "true" : undefined}
        style={{ ...style, ...template }}
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
        {columns.map((column) => cells[column.name] ?? score(column.name))}
      </div>
    );
  };
  return (
    <div class="pairs">
      <h1 class="hidden">Pairs</h1>
      <Bar data={data} params={params} view="pairs" found={howMany(data, params, listed)} isAwaited={isAwaited}>
        <label class={params.group ? "set" : ""}>
          <span class="hidden">Group by</span>
          <select value={String(params.group ?? "")} onChange={(event) => { setClosed(new Set()); change("group", event.target.value); }}>
            <option value="">No groups</option>
            {GROUPS.map((name) => (
              <option value={name}>{`By ${TITLES[name].toLowerCase()}`}</option>
            ))}
          </select>
        </label>
        <Export data={data} listed={listed} />
      </Bar>
      {listed.length ? (
        <List
          items={rows}
          cursor={cursor}
          height={isNarrow ? 82 : 38}
          label="Pairs"
          head={<Head columns={columns} sort={sort} style={template} />}
          row={(item, index, style) => (typeof item === "number" ? pairRow : groupRow)(item, index, style)}
        />
      ) : (
        <p class="page">No pair matches the filters.</p>
      )}
    </div>
  );
}
