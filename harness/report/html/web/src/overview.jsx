// The whole run at a glance.
import { median } from "d3-array";
import { useEffect, useState } from "preact/hooks";
import { Badge, Engine } from "./badge.jsx";
import { Dots, Histogram, engineMark, levelMark } from "./charts.jsx";
import { Choice, Chosen } from "./choice.jsx";
import { disagrees } from "./data.js";
import { link, listOf } from "./route.js";
import { ENGINES, MARKS, count, labels, percent, plural, ratio, visible, words } from "./words.js";

// `share` lies between the least and the most of a table, so that its colours use their range.
const shade = (share, [least, most] = [0, 1]) => ({ "--share": `${Math.round(3 + 42 * (most > least ? (share - least) / (most - least) : 1))}%` });

const Section = ({ id, title, note, children }) => (
  <section aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {note && <p class="note">{note}</p>}
    {children}
  </section>
);

const Scroll = ({ label, children }) => (
  <div class="scroll" tabIndex={0} role="region" aria-label={label}>
    {children}
  </div>
);

const scored = (data, predictor, engine) => data.scores.find((each) => each.predictor === predictor && each.dialect === engine);

function Scores({ data, metric, engines, shown }) {
  const levels = [...data.difficulties, "total"];
  // Where pairs are left out of means, how many are in them.
  const isPartial = data.scores.some((score) => score.printed[metric]?.questions != null);
  const short = { simple: "simple", moderate: "mod.", challenging: "chall.", total: "total" };
  const best = Object.fromEntries(
    engines.map((engine) => [
      engine,
      Math.max(...data.scores.filter((score) => score.dialect === engine).map((score) => score.metrics[metric]?.total ?? -1)),
    ]),
  );
  return (
    <Scroll label={`Scores, ${data.metrics[metric]}`}>
      <table class="scores">
        <caption class="hidden">{`${data.metrics[metric]} in percent, by predictor, engine and difficulty`}</caption>
        <thead>
          <tr>
            <th scope="col" rowSpan={2}>
              predictor
            </th>
            {engines.map((engine) => (
              <th scope="colgroup" colSpan={levels.length + (isPartial ? 2 : 1)} class="group">
                <Engine engine={data.dialects[engine]} />
              </th>
            ))}
          </tr>
          <tr>
            {engines.map(() => [
              ...levels.map((level, place) => [
                isPartial && level === "total" && <th scope="col">n</th>,
                <th scope="col" class={place ? "" : "group"}>
                  {short[level] ?? level}
                </th>,
              ]),
              <th scope="col">95 %</th>,
            ])}
          </tr>
        </thead>
        <tbody>
          {shown.map((predictor) => [data.predictors[predictor], predictor]).map(([name, predictor]) => (
            <tr>
              <th scope="row">
                {visible(name)}
                {engines
                  .map((engine) => scored(data, predictor, engine))
                  .filter((score) => score && score.planned > score.questions)
                  .map((score) => (
                    <small class="note">{` ${count(score.questions)} of ${count(score.planned)} on ${ENGINES[data.dialects[score.dialect]]}`}</small>
                  ))}
              </th>
              {engines.map((engine) => {
                const score = scored(data, predictor, engine);
                const figures = score?.metrics[metric] ?? {};
                const printed = score?.printed[metric] ?? {};
                return [
                  ...levels.map((level, place) => [
                    isPartial && level === "total" && <td>{printed.questions ?? "–"}</td>,
                    <td class={place ? "" : "group"}>
                      {level === "total" && figures.total != null ? (
                        <a class={figures.total === best[engine] ? "best" : ""} href={link("pairs", [], { predictor: name, engine: data.dialects[engine] })}>
                          {printed.total}
                        </a>
                      ) : (
                        printed[level] ?? "–"
                      )}
                    </td>,
                  ]),
                  <td class="interval">{printed.interval ?? "–"}</td>,
                ];
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Outcomes({ data, shown }) {
  const seen = data.outcomes.filter((_, place) => data.scores.some((score) => score.outcomes[place]));
  return (
    <>
      <ul class="legend">
        {seen.map((outcome) => (
          <li>
            <a href={link("pairs", [], { outcome })}>
              <Badge outcome={outcome} />
            </a>
          </li>
        ))}
      </ul>
      <table class="bars">
        <caption class="hidden">Outcomes by predictor and engine; each bar is a link to its pairs</caption>
        <thead class="hidden">
          <tr>
            <th scope="col">predictor</th>
            <th scope="col">engine</th>
            <th scope="col">pairs of each outcome</th>
          </tr>
        </thead>
        {shown.map((predictor) => {
          const name = data.predictors[predictor];
          const scores = data.scores.filter((score) => score.predictor === predictor);
          return (
            <tbody>
              {scores.map((score, row) => (
                <tr>
                  {row === 0 && (
                    <th scope="rowgroup" rowSpan={scores.length}>
                      {visible(name)}
                    </th>
                  )}
                  <th scope="row">
                    <Engine engine={data.dialects[score.dialect]} />
                  </th>
                  <td>
                    <div class="stack">
                      {data.outcomes.map((outcome, place) => {
                        const pairs = score.outcomes[place];
                        if (!pairs) return null;
                        const title = `${words(outcome)}: ${pairs} of ${score.questions}`;
                        return (
                          <a
                            class={`o-${outcome}`}
                            style={{ flexGrow: pairs }}
                            title={title}
                            aria-label={`${title}, ${visible(name)} on ${ENGINES[data.dialects[score.dialect]]}`}
                            href={link("pairs", [], { outcome, predictor: name, engine: data.dialects[score.dialect] })}
                          >
                            {pairs / score.questions > 0.07 ? `${MARKS[outcome] ?? ""} ${pairs}` : ""}
                          </a>
                        );
                      })}
                    </div>
                  </td>
                </tr>
              ))}
            </tbody>
          );
        })}
      </table>
    </>
  );
}

// A table whose cells are shaded by a share; `cell(row, column)` gives text, share and address.
function Heat({ label, head, rows, columns, cell }) {
  const shares = rows.flatMap((row) => columns.map((_, column) => cell(row, column)?.share).filter((share) => share != null));
  const range = [Math.min(...shares), Math.max(...shares)];
  return (
    <Scroll label={label}>
      <table class="heat">
        <caption class="hidden">{label}</caption>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            <th scope="col">engine</th>
            {columns.map((column) => (
              <th scope="col" class="slanted">
                <span>{visible(column)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr class={row.isFirst ? "first" : ""}>
              <th scope="row" class={row.isFirst ? "" : "again"}>
                {visible(row.name)}
              </th>
              <td class="of">
                <Engine engine={row.engine} />
              </td>
              {columns.map((_, column) => {
                const found = cell(row, column);
                return found ? (
                  <td class="shaded" style={shade(found.share, range)}>
                    <a href={found.href} title={found.title}>
                      {found.text}
                    </a>
                  </td>
                ) : (
                  <td class="null">·</td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const rowsOf = (data, shown) =>
  data.scores
    .filter((score) => shown.includes(score.predictor))
    .map((score, place, all) => ({
      score,
      name: data.predictors[score.predictor],
      engine: data.dialects[score.dialect],
      isFirst: place === 0 || all[place - 1].predictor !== score.predictor,
    }));

// EX on questions in groups; `of` has the group of each question, or its groups.
function Shares({ data, shown, what, param, values, of, titles = values }) {
  const key = (predictor, dialect, group) => `${predictor},${dialect},${group}`;
  const all = new Map();
  const match = data.outcomes.indexOf("match");
  const { pairs } = data;
  for (let pair = 0; pair < data.count; pair++) {
    for (const group of [of[pairs.question[pair]]].flat()) {
      const name = key(pairs.predictor[pair], pairs.dialect[pair], group);
      const found = all.get(name) ?? [0, 0];
      all.set(name, [found[0] + (pairs.outcome[pair] === match), found[1] + 1]);
    }
  }
  return (
    <Heat
      label={`EX by ${what}, in percent`}
      head="predictor"
      rows={rowsOf(data, shown)}
      columns={titles}
      cell={(row, group) => {
        const found = all.get(key(row.score.predictor, row.score.dialect, group));
        if (!found) return null;
        const share = found[0] / found[1];
        return {
          share,
          text: percent(100 * share, 0),
          title: `${found[0]} of ${found[1]}`,
          href: link("pairs", [], { predictor: row.name, engine: row.engine, [param]: values[group] }),
        };
      }}
    />
  );
}

function Classes({ data, shown }) {
  const seen = data.error_classes.map((_, place) => place).filter((place) => data.scores.some((score) => score.error_classes[place]));
  if (!seen.length) return <p>No pair has an error class.</p>;
  return (
    <Heat
      label="Pairs by error class"
      head="predictor"
      rows={rowsOf(data, shown)}
      columns={seen.map((place) => words(data.error_classes[place]))}
      cell={(row, column) => {
        const pairs = row.score.error_classes[seen[column]];
        const wrong = row.score.error_classes.reduce((sum, each) => sum + each, 0);
        if (!pairs) return null;
        return {
          share: pairs / wrong,
          text: count(pairs),
          title: `${pairs} of ${wrong}`,
          href: link("pairs", [], { predictor: row.name, engine: row.engine, class: data.error_classes[seen[column]] }),
        };
      }}
    />
  );
}

function Times({ data, engines, shown }) {
  const match = data.outcomes.indexOf("match");
  const { pairs } = data;
  const of = (engine) => {
    const found = [];
    for (let pair = 0; pair < data.count; pair++) {
      const isAsked = shown.includes(pairs.predictor[pair]);
      if (isAsked && pairs.dialect[pair] === engine && pairs.outcome[pair] === match && pairs.ratio[pair] != null) found.push(pairs.ratio[pair]);
    }
    return found;
  };
  return (
    <>
      <div class="panels">
        {engines.map((engine) => {
          const values = of(engine);
          return (
            <figure>
              <figcaption>
                <Engine engine={data.dialects[engine]} />
                <span class="note">{values.length ? ` ${plural(values.length, "pair")}, median ${ratio(median(values))}` : " nothing was timed"}</span>
              </figcaption>
              {values.length > 0 && <Histogram values={values} label={`Prediction's time over gold's on ${ENGINES[data.dialects[engine]]}`} />}
            </figure>
          );
        })}
      </div>
    </>
  );
}

function Disagreements({ data, engines, shown }) {
  const counts = new Map();
  for (const [cell, pattern] of data.patterns) {
    if (!disagrees(pattern)) continue;
    const predictor = Math.floor(cell / data.questions.key.length);
    if (!shown.includes(predictor)) continue;
    const of = counts.get(pattern) ?? new Array(data.predictors.length).fill(0);
    of[predictor]++;
    counts.set(pattern, of);
  }
  if (!counts.size) return <p>Every predictor is right or wrong on all engines alike, question by question.</p>;
  const total = (of) => of.reduce((sum, each) => sum + each, 0);
  const patterns = [...counts].sort((one, other) => total(other[1]) - total(one[1]));
  const most = Math.max(...patterns.flatMap(([, of]) => of));
  const least = Math.min(...patterns.flatMap(([, of]) => of.filter(Boolean)));
  const names = labels(data.predictors, 26);
  return (
    <Scroll label="Questions by the engines that have them right">
      <table class="heat patterns">
        <caption class="hidden">Questions by the engines on which a predictor is right</caption>
        <thead>
          <tr>
            {engines.map((engine) => (
              <th scope="col">
                <Engine engine={data.dialects[engine]} />
              </th>
            ))}
            <th scope="col">all</th>
            {shown.map((predictor) => (
              <th scope="col" class="slanted" title={visible(data.predictors[predictor])}>
                <span>{names[predictor]}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {patterns.map(([pattern, of]) => (
            <tr class="first">
              {engines.map((engine) => (
                <td class="of">{pattern[engine] === "1" ? <Badge outcome="match">right</Badge> : pattern[engine] === "0" ? <Badge outcome="mismatch">wrong</Badge> : <span class="null">not run</span>}</td>
              ))}
              <td>
                <a href={link("pairs", [], { agree: pattern, predictor: shown.length < data.predictors.length ? shown.map((each) => data.predictors[each]) : [] })}>{count(total(of))}</a>
              </td>
              {shown.map((predictor) => [of[predictor], predictor]).map(([pairs, predictor]) =>
                pairs ? (
                  <td class="shaded" style={shade(pairs / most, [least / most, 1])}>
                    <a href={link("pairs", [], { agree: pattern, predictor: data.predictors[predictor] })}>{count(pairs)}</a>
                  </td>
                ) : (
                  <td class="null">·</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

// Usage of answers: a row for each score, in the same order.
function Usage({ data, shown }) {
  const { heads, rows } = data.usage;
  return (
    <Scroll label="Usage of answers">
      <table class="scores">
        <caption class="hidden">Usage of answers, by predictor and engine</caption>
        <thead>
          <tr>
            {["predictor", "engine", ...heads].map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rowsOf(data, shown).map((row) => (
            <tr>
              <th scope="row">{visible(row.name)}</th>
              <td>
                <Engine engine={row.engine} />
              </td>
              {rows[data.scores.indexOf(row.score)].map((figure) => (
                <td>{figure}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

// A table of contents whose links are addresses, too.
function Contents({ sections, params }) {
  return (
    <nav class="contents" aria-label="Contents">
      {sections.map(([id, title]) => (
        <a href={link("overview", [], { ...params, at: id })} aria-current={params.at === id ? "true" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}

export function Overview({ data, params }) {
  const names = Object.keys(data.metrics);
  const [metric, setMetric] = useState(names.includes("ex") ? "ex" : names[0]);
  const engines = data.dialects.map((_, place) => place).filter((place) => data.scores.some((score) => score.dialect === place));
  const chosen = listOf(params.predictor);
  const shown = data.predictors.map((_, place) => place).filter((place) => !chosen.length || chosen.includes(data.predictors[place].toWellFormed()));
  useEffect(() => {
    if (params.at) document.getElementById(params.at)?.scrollIntoView();
  }, [params.at]);
  const byLevel = data.scores
    .filter((score) => shown.includes(score.predictor))
    .flatMap((score) => data.difficulties.map((level) => score.metrics[metric]?.[level]))
    .filter((value) => value != null);
  if (!data.count) return <p class="page">This run has no results.</p>;
  const options = { predictor: { title: "Predictor", all: data.predictors.map((name) => [name, visible(name)]) } };
  const sections = [
    metric && ["scores", data.metrics[metric]],
    ["outcomes", "Outcomes"],
    metric && ["difficulty", "Difficulty"],
    ["databases", "Databases"],
    data.types.length > 0 && ["types", "Types of questions"],
    engines.length > 1 && ["engines", "Where engines disagree"],
    ["classes", "Error classes"],
    ["times", "Time relative to gold"],
    data.usage && ["usage", "Usage of answers"],
  ].filter(Boolean);
  return (
    <div class="page">
      <h1 class="hidden">Overview</h1>
      <div class="contents-bar">
        <Contents sections={sections} params={params} />
        {data.predictors.length > 1 && (
          <div class="picked">
            <Choice name="predictor" title="Predictor" all={options.predictor.all} params={params} />
            <Chosen options={options} params={params} view="overview" />
          </div>
        )}
      </div>
      <dl class="tiles">
        {data.facts.map(([name, value]) => (
          <div>
            <dt>{visible(name)}</dt>
            <dd>{visible(value)}</dd>
          </div>
        ))}
      </dl>
      {data.notes.map((note) => (
        <p class="notice">{visible(note)}</p>
      ))}
      {(data.pages || []).map((page) => (
        <p class="notice">
          <a href={page.file}>{visible(page.title)}</a>
        </p>
      ))}
      {metric && (
        <Section id="scores" title={data.metrics[metric]} note="Percent of all questions, as the official script counts them; bars show 95 % intervals, and an engine's best total is underlined.">
          {names.length > 1 && (
            <p class="controls">
              <label>
                Metric{" "}
                <select value={metric} onChange={(event) => setMetric(event.target.value)}>
                  {names.map((name) => (
                    <option value={name}>{data.metrics[name]}</option>
                  ))}
                </select>
              </label>
            </p>
          )}
          <figure>
            <figcaption class="legend">
              {engines.map((engine) => (
                <Engine engine={data.dialects[engine]} />
              ))}
            </figcaption>
            <Dots
              label={`${data.metrics[metric]} by predictor and engine with 95 % intervals; the table below has the figures`}
              rows={shown.map((predictor) => [data.predictors[predictor], predictor]).map(([name, predictor]) => ({
                name,
                marks: engines
                  .map((engine) => [engine, scored(data, predictor, engine)])
                  .filter(([, score]) => score?.metrics[metric]?.total != null)
                  .map(([engine, score]) => engineMark(data.dialects[engine], score.metrics[metric].total, score.intervals[metric], visible(name), {
                      value: score.printed[metric].total,
                      interval: score.printed[metric].interval,
                    })),
              }))}
            />
          </figure>
          <Scores data={data} metric={metric} engines={engines} shown={shown} />
        </Section>
      )}
      <Section id="outcomes" title="Outcomes" note="What happened to every pair of a prediction and its gold.">
        <Outcomes data={data} shown={shown} />
      </Section>
      {metric && (
        <Section id="difficulty" title={`Difficulty, ${data.metrics[metric]}`} note={`${data.difficulties.map((level) => `${level[0].toUpperCase()} ${level}`).join(", ")}.`}>
          <div class="panels">
            {engines.map((engine) => (
              <figure>
                <figcaption>
                  <Engine engine={data.dialects[engine]} />
                </figcaption>
                <Dots
                  joined
                  beside={byLevel}
                  label={`${data.metrics[metric]} by difficulty on ${ENGINES[data.dialects[engine]]}; the table above has the figures`}
                  rows={shown
                    .map((predictor) => [data.predictors[predictor], predictor])
                    .map(([name, predictor]) => ({
                      name,
                      marks: data.difficulties
                        .map((level, place) => [level, place, scored(data, predictor, engine)])
                        .filter(([level, , score]) => score?.metrics[metric]?.[level] != null)
                        .map(([level, place, score]) => levelMark(level, place, score.metrics[metric][level], visible(name), score.printed[metric][level])),
                    }))
                    .filter((row) => row.marks.length)}
                />
              </figure>
            ))}
          </div>
        </Section>
      )}
      <Section id="databases" title="Databases" note="EX in percent of the questions on each database.">
        <Shares data={data} shown={shown} what="database" param="db" values={data.databases} of={data.questions.db} />
      </Section>
      {data.types.length > 0 && (
        <Section id="types" title="Types of questions" note="EX in percent of the questions of each type; a question may be of several.">
          <Shares data={data} shown={shown} what="type" param="type" values={data.types} of={data.questions.types} titles={data.types.map(words)} />
        </Section>
      )}
      {engines.length > 1 && (
        <Section id="engines" title="Where engines disagree" note="Questions that a predictor has right on some engines and wrong on others.">
          <Disagreements data={data} engines={engines} shown={shown} />
        </Section>
      )}
      <Section id="classes" title="Error classes" note="Pairs by error class; shaded by their share of the predictor's errors on the engine.">
        <Classes data={data} shown={shown} />
      </Section>
      <Section id="times" title="Time relative to gold" note={data.times_note}>
        <Times data={data} engines={engines} shown={shown} />
      </Section>
      {data.usage && (
        <Section id="usage" title="Usage of answers">
          <Usage data={data} shown={shown} />
          {data.usage.notes.map((note) => (
            <p class="note">{visible(note)}</p>
          ))}
        </Section>
      )}
    </div>
  );
}
