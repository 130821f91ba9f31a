// Questions down, predictors across: who has it right, on which engine. The filters are those of the list.
import { useMemo } from "preact/hooks";
import { Badge, Engine } from "./badge.jsx";
import { Bar, howMany } from "./bar.jsx";
import { List, useNarrow } from "./list.jsx";
import { change, listOf } from "./route.js";
import { Export } from "./taking.jsx";
import { ENGINES, MARKS, labels, percent, visible, words } from "./words.js";

const MARK = 18;
const SPACE = 10;
const MOST_OF_A_NAME = 24;

// The questions of the pairs that are listed: how many of those are right, and which predictors and engines there are.
function matrixOf(data, listed, order) {
  const { pairs } = data;
  const match = data.outcomes.indexOf("match");
  const questions = new Map();
  const [predictors, engines] = [new Set(), new Set()];
  for (const pair of listed) {
    const question = pairs.question[pair];
    const found = questions.get(question) ?? { question, first: pair, right: 0, all: 0 };
    questions.set(question, found);
    found.all += 1;
    found.right += pairs.outcome[pair] === match;
    predictors.add(pairs.predictor[pair]);
    engines.add(pairs.dialect[pair]);
  }
  const rows = [...questions.values()].sort((one, other) => one.question - other.question);
  if (order) rows.sort((one, other) => (order === "easiest" ? -1 : 1) * (one.right / one.all - other.right / other.all) || one.question - other.question);
  const sorted = (set) => [...set].sort((one, other) => one - other);
  return { rows, predictors: sorted(predictors), engines: sorted(engines) };
}

// The share of right pairs of each predictor on each engine among those that are listed.
function sharesOf(data, listed) {
  const { pairs } = data;
  const match = data.outcomes.indexOf("match");
  const shares = new Map();
  for (const pair of listed) {
    const key = `${pairs.predictor[pair]} ${pairs.dialect[pair]}`;
    const found = shares.get(key) ?? [0, 0];
    shares.set(key, [found[0] + (pairs.outcome[pair] === match), found[1] + 1]);
  }
  return shares;
}

export function Matrix({ data, params, listed, address, isAwaited }) {
  const isNarrow = useNarrow();
  const order = listOf(params.order)[0] ?? "";
  const { rows, predictors, engines } = useMemo(() => matrixOf(data, listed, order), [data.pairs, listed, order]);
  const shares = useMemo(() => sharesOf(data, listed), [data.pairs, listed]);
  const names = useMemo(() => labels(data.predictors, MOST_OF_A_NAME), [data.predictors]);
  const isListed = useMemo(() => new Set(listed), [listed]);
  const { questions } = data;
  const column = MARK * engines.length + SPACE;
  const left = isNarrow ? 150 : 380;
  const right = 76;
  const template = { gridTemplateColumns: `minmax(${left}px, 680px) ${right}px repeat(${predictors.length}, ${column}px)` };
  const width = left + right + predictors.length * column + 48;
  const head = (
    <div role="row" class="row cross" style={{ ...template, minWidth: `${width}px` }}>
      <div role="columnheader" class="m-question">
        {engines.map((engine) => (
          <Engine engine={data.dialects[engine]} />
        ))}
      </div>
      <div role="columnheader" class="m-right">right</div>
      {predictors.map((predictor) => (
        <div role="columnheader" class="slanted" title={visible(data.predictors[predictor])}>
          <span>{names[predictor]}</span>
        </div>
      ))}
    </div>
  );
  const totals = (
    <div role="row" class="row cross sums" style={{ ...template, minWidth: `${width}px` }}>
      <div role="cell" class="m-question">EX of the pairs shown, %</div>
      <div role="cell" />
      {predictors.map((predictor) => (
        <div role="cell" class="m-sums">
          {engines.map((engine) => {
            const found = shares.get(`${predictor} ${engine}`);
            const share = found && (100 * found[0]) / found[1];
            return (
              <span title={found && `${visible(data.predictors[predictor])} on ${ENGINES[data.dialects[engine]]}: ${percent(share, 2)} %, ${found[0]} of ${found[1]}`}>
                {found ? percent(share, 0) : ""}
              </span>
            );
          })}
        </div>
      ))}
    </div>
  );
  const cell = (question, predictor) => {
    const found = data.cells.get(predictor * questions.key.length + question);
    return (
      <div role="cell" class="m-marks">
        {engines.map((engine) => {
          const pair = found?.[engine] ?? -1;
          if (pair < 0) return <i class="none" />;
          const outcome = data.outcome(pair);
          const label = `${visible(data.predictors[predictor])} on ${ENGINES[data.dialects[engine]]}: ${words(outcome)}`;
          return (
            <a href={address(pair)} tabIndex={-1} class={isListed.has(pair) ? `mark o-${outcome}` : "mark other"} title={label} aria-label={label}>
              {MARKS[outcome] ?? "?"}
            </a>
          );
        })}
      </div>
    );
  };
  const row = (found, index, style) => {
    const { question } = found;
    return (
      <div role="row" key={question} class="row cross" aria-rowindex={index + 2} style={{ ...style, ...template, minWidth: `${width}px` }}>
        <div role="cell" class="m-question" title={visible(questions.text[question])}>
          <a href={address(found.first)}>
            <span class="key">{visible(questions.key[question])}</span> {visible(questions.text[question].slice(0, 240)) || "text not recorded"}
          </a>
        </div>
        <div role="cell" class="m-right">{`${found.right} of ${found.all}`}</div>
        {predictors.map((predictor) => cell(question, predictor))}
      </div>
    );
  };
  const seen = data.outcomes.filter((_, place) => data.scores.some((score) => score.outcomes[place]));
  return (
    <div class="pairs matrix">
      <h1 class="hidden">Matrix</h1>
      <Bar data={data} params={params} view="matrix" found={howMany(data, params, listed)} isAwaited={isAwaited}>
        <label class={order ? "set" : ""}>
          <span class="hidden">Order of questions</span>
          <select value={order} onChange={(event) => change("order", event.target.value)}>
            <option value="">In the set's order</option>
            <option value="hardest">Hardest first</option>
            <option value="easiest">Easiest first</option>
          </select>
        </label>
        <Export data={data} listed={listed} />
      </Bar>
      <ul class="legend marks">
        {seen.map((outcome) => (
          <li>
            <Badge outcome={outcome} />
          </li>
        ))}
        <li class="note">Faint: left out by a filter.</li>
      </ul>
      {rows.length ? (
        <List items={rows} height={34} label="Questions by predictors" width={width} head={[head, totals]} row={row} />
      ) : (
        <p class="page">No pair matches the filters.</p>
      )}
    </div>
  );
}
