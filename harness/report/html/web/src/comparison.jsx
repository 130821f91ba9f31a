// Two sides on the same questions: what changed, and every question that flipped.
import { useMemo, useState } from "preact/hooks";
import { Badge, Engine } from "./badge.jsx";
import { Choice, Chosen } from "./choice.jsx";
import { List, useColumns, useNarrow } from "./list.jsx";
import { Question } from "./pair.jsx";
import { change, link } from "./route.js";
import { Search } from "./search.jsx";
import { Facts, Failure, Results, TwoTexts } from "./sides.jsx";
import { ENGINES, count, labels, plural, visible } from "./words.js";

const signed = (whole) => (whole === 0 ? "0" : `${whole < 0 ? "−" : "+"}${Math.abs(whole)}`);

const sideName = (side) => `${visible(side.predictor)} on ${ENGINES[side.dialect] ?? side.dialect}`;
const nameOf = (comparison) => {
  const [a, b] = [sideName(comparison.a), sideName(comparison.b)];
  return a === b ? a : `${a} → ${b}`;
};

// The sides compared with A, if A is the same everywhere.
const otherOf = (comparison) => `${comparison.letter}: ${sideName(comparison.b)}`;
const fullName = (data, comparison) => `${data.comparisons.some((each) => each.letter !== "B") ? `A → ${comparison.letter}, ` : ""}${nameOf(comparison)}`;

// Differences on one axis around 0.
function Change({ change, most }) {
  const { interval, total } = change;
  const x = (value) => 50 + (48 * value) / most;
  return (
    <svg class="change" viewBox="0 0 100 16" width="160" height="20" preserveAspectRatio="none" aria-hidden="true">
      <line class="axis" x1="50" x2="50" y1="0" y2="16" />
      {interval && <line class="whisker" x1={x(interval[0])} x2={x(interval[1])} y1="8" y2="8" />}
      <rect class={total < 0 ? "down" : "up"} x={x(total) - 1} width="2" y="3" height="10" />
    </svg>
  );
}

function Totals({ data, comparison }) {
  const changes = comparison.metrics;
  // One axis for all comparisons of the page.
  const all = data.comparisons.flatMap((each) => each.metrics);
  const most = Math.ceil(Math.max(1, ...all.flatMap((change) => [...(change.interval ?? []), change.total].map(Math.abs))));
  const { letter } = comparison;
  const axis = (
    <span class="axis-head">
      <span>{`−${most}`}</span>
      <span>0</span>
      <span>{`+${most}`}</span>
    </span>
  );
  const heads = ["metric", "A", letter, `${letter}−A`, "95 %", axis, "p", "only A right", `only ${letter} right`, ...data.difficulties.map((level) => `${letter}−A ${level}`)];
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Totals, ${fullName(data, comparison)}`}>
      <table class="scores">
        <caption class="hidden">{`Totals in percent, ${nameOf(comparison)}`}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <tr class={change.is_proven ? "proven" : ""}>
              <th scope="row">{data.metrics[change.metric]}</th>
              <td>{change.printed.a}</td>
              <td>{change.printed.b}</td>
              <td>{change.printed.total}</td>
              <td class="interval">{change.printed.interval}</td>
              <td>
                <Change change={change} most={most} />
              </td>
              <td>{change.printed.p}{change.is_proven && <span class="hidden"> below 0.05</span>}</td>
              <td>{change.mcnemar?.only_a ?? ""}</td>
              <td>{change.mcnemar?.only_b ?? ""}</td>
              {data.difficulties.map((level) => (
                <td>{change.printed.levels[level]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Groups({ grid, name }) {
  return (
    <details open>
      <summary>{grid.title}</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${grid.title}, ${name}`}>
        <table class="scores">
          <caption class="hidden">{`${grid.title}, ${name}`}</caption>
          <thead>
            <tr>
              {grid.heads.map((head) => (
                <th scope="col">{head}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {grid.rows.map(([group, ...figures]) => (
              <tr>
                <th scope="row">{visible(group)}</th>
                {figures.map((figure) => (
                  <td>{figure}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {grid.notes.map((note) => (
        <p class="note">{visible(note)}</p>
      ))}
    </details>
  );
}

function Sides({ comparison }) {
  return (
    <dl class="tiles">
      {["a", "b"].map((side) => (
        <div>
          <dt>{side === "a" ? "A" : comparison.letter}</dt>
          <dd>
            {visible(comparison[side].predictor)} <Engine engine={comparison[side].dialect} />
            <small>{visible(comparison[side].run_id)}</small>
          </dd>
        </div>
      ))}
      <div>
        <dt>questions in both</dt>
        <dd>{count(comparison.questions)}</dd>
      </div>
      {["a", "b"].map((side) =>
        comparison[`only_${side}`] ? (
          <div>
            <dt>{`only in ${side === "a" ? "A" : comparison.letter}`}</dt>
            <dd>{count(comparison[`only_${side}`])}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

function Outcomes({ data, comparison }) {
  const [a, b] = [comparison.outcomes.a, comparison.outcomes.b];
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Outcomes, ${fullName(data, comparison)}`}>
      <table class="everybody">
        <caption class="hidden">Outcomes</caption>
        <thead>
          <tr>
            <th scope="col">outcome</th>
            <th scope="col">A</th>
            <th scope="col">{comparison.letter}</th>
            <th scope="col">{`${comparison.letter}−A`}</th>
          </tr>
        </thead>
        <tbody>
          {data.outcomes
            .filter((outcome) => a[outcome] || b[outcome])
            .map((outcome) => (
              <tr>
                <th scope="row">
                  <Badge outcome={outcome} />
                </th>
                <td>{a[outcome]}</td>
                <td>{b[outcome]}</td>
                <td>{signed(b[outcome] - a[outcome])}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

// Questions down, comparisons across: what each side won of A, and what it lost.
function Crossed({ data, listed, address }) {
  const [questions, sides] = useMemo(() => {
    const found = new Map();
    for (const place of listed) {
      const question = data.pairs.question[data.flips[place].a];
      if (!found.has(question)) found.set(question, new Map());
      found.get(question).set(data.flips[place].comparison, place);
    }
    return [[...found], [...new Set(listed.map((place) => data.flips[place].comparison))].sort((one, other) => one - other)];
  }, [data.flips, listed]);
  const names = labels(data.comparisons.map(otherOf), 34);
  const isNarrow = useNarrow();
  const left = isNarrow ? 150 : 380;
  const template = { gridTemplateColumns: `minmax(${left}px, 760px) repeat(${sides.length}, 34px)`, minWidth: `${left + 34 * sides.length + 48}px` };
  const head = (
    <div role="row" class="row cross" style={template}>
      <div role="columnheader" class="m-question">+ won, − lost against A</div>
      {sides.map((side) => (
        <div role="columnheader" class="slanted tall" title={fullName(data, data.comparisons[side])}>
          <span>{names[side]}</span>
        </div>
      ))}
    </div>
  );
  const row = ([question, flips], index, style) => (
    <div role="row" key={question} class="row cross" aria-rowindex={index + 2} style={{ ...style, ...template }}>
      <div role="cell" class="m-question">
        <a href={address([...flips.values()][0])}>
          <span class="key">{visible(data.questions.key[question])}</span> {visible(data.questions.text[question].slice(0, 240)) || "text not recorded"}
        </a>
      </div>
      {sides.map((side) => {
        const place = flips.get(side);
        if (place === undefined) return <div role="cell" class="m-marks" />;
        const isWon = data.flips[place].won.length > 0;
        const label = `${isWon ? "won" : "lost"}: ${nameOf(data.comparisons[side])}`;
        return (
          <div role="cell" class="m-marks">
            <a href={address(place)} tabIndex={-1} class={`mark ${isWon ? "o-match" : "o-prediction_error"}`} title={label} aria-label={label}>
              {isWon ? "+" : "−"}
            </a>
          </div>
        );
      })}
    </div>
  );
  return (
    <div class="flips matrix">
      <List items={questions} height={34} label="Questions by comparisons" width={left + 34 * sides.length + 48} head={head} row={row} />
    </div>
  );
}

const PAGE = 77.5;

// Beside the question, in the order of the page; of a single comparison no row names it.
const columnsOf = (isSingle) => [
  ...(isSingle ? [] : [{ name: "f-1", title: "Comparison", size: 11 }]),
  { name: "f-2", title: "A", size: 10.5 },
  { name: "f-3", title: isSingle ? "B" : "Other", size: 10.5 },
  { name: "f-4", title: "By", size: 9, leaves: 3 },
  { name: "f-5", title: "Database", size: 9, leaves: 2 },
  { name: "f-6", title: "Difficulty", size: 6.5, leaves: 1 },
];

// "32 questions", and where several comparisons may have the same question, pairs of a question and a comparison, too.
function howMany(data, listed, isFiltered) {
  const questions = (places) => new Set(places.map((place) => data.pairs.question[data.flips[place].a])).size;
  const all = data.flips.map((_, place) => place);
  const of = (part, whole, name) => (isFiltered ? `${count(part)} of ${plural(whole, name)}` : plural(whole, name));
  const found = of(questions(listed), questions(all), "question");
  return data.comparisons.length > 1 ? `${found}, ${of(listed.length, all.length, "pair")}` : found;
}

export function Comparisons({ data, params, listed, cursor, setCursor, address, isAwaited }) {
  const isNarrow = useNarrow();
  const options = {
    turn: { title: "Won or lost", all: [["won", "won: wrong only in A"], ["lost", "lost: right only in A"]] },
    ...(data.comparisons.length > 1 && { side: { title: "Comparison", all: data.comparisons.map((each, place) => [String(place), fullName(data, each)]) } }),
  };
  const isSingle = data.comparisons.length === 1;
  const [columns, template] = useColumns(useMemo(() => columnsOf(isSingle), [isSingle]), PAGE);
  const head = (
    <div role="row" class="row" style={template}>
      {[{ name: "f-0", title: "Question" }, ...columns].map(({ name, title }) => (
        <div role="columnheader" class={name}>
          {title}
        </div>
      ))}
    </div>
  );
  const row = (place, index, style) => {
    const flip = data.flips[place];
    const question = data.pairs.question[flip.a];
    const cells = {
      "f-1": <div role="cell" class="f-1" title={fullName(data, data.comparisons[flip.comparison])}>{otherOf(data.comparisons[flip.comparison])}</div>,
      "f-2": <div role="cell" class="f-2"><Badge outcome={data.outcome(flip.a)} /></div>,
      "f-3": <div role="cell" class="f-3"><Badge outcome={data.outcome(flip.b)} /></div>,
      "f-4": (
        <div role="cell" class="f-4">
          {flip.won.length > 0 && `won ${flip.won.map((name) => data.metrics[name] ?? name).join(", ")} `}
          {flip.lost.length > 0 && `lost ${flip.lost.map((name) => data.metrics[name] ?? name).join(", ")}`}
        </div>
      ),
      "f-5": <div role="cell" class="f-5">{visible(data.databases[data.questions.db[question]])}</div>,
      "f-6": <div role="cell" class="f-6">{data.difficulties[data.questions.difficulty[question]]}</div>,
    };
    return (
      <div
        role="row"
        key={place}
        class={place === cursor ? "row current" : "row"}
        aria-rowindex={index + 2}
        aria-current={place === cursor ? "true" : undefined}
        style={{ ...style, ...template }}
        onClick={(event) => {
          setCursor(place);
          if (!event.target.closest("a")) location.hash = address(place);
        }}
      >
        <div role="cell" class="f-0">
          <a href={address(place)} onFocus={() => setCursor(place)}>
            <span class="key">{visible(data.questions.key[question])}</span> {visible(data.questions.text[question].slice(0, 240)) || "text not recorded"}
          </a>
        </div>
        {columns.map(({ name }) => cells[name])}
      </div>
    );
  };
  return (
    <div class="page comparison">
      <h1 class="hidden">Comparison</h1>
      {data.failures.map((failure) => (
        <p class="fault">{visible(failure)}</p>
      ))}
      {data.notes.map((note) => (
        <p class="notice">{visible(note)}</p>
      ))}
      {data.comparisons.map((comparison) => (
        <section>
          <h2>{fullName(data, comparison)}</h2>
          <Sides comparison={comparison} />
          <Totals data={data} comparison={comparison} />
          {comparison.groups.map((grid) => (
            <Groups grid={grid} name={fullName(data, comparison)} />
          ))}
          <details>
            <summary>Outcomes</summary>
            <Outcomes data={data} comparison={comparison} />
          </details>
        </section>
      ))}
      {data.tests_notes.map((note) => (
        <p class="note">{note}</p>
      ))}
      <section>
        <h2>{howMany(data, data.flips.map((_, place) => place), false)} flipped</h2>
        {!isSingle && <p class="note">A pair is a question in one of the comparisons.</p>}
        {data.flips.length > 0 ? (
          <>
            <form class="filters" role="search" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
              <Search label="Search questions, SQL and errors of both sides" hint="Search questions, SQL, errors" change={(value) => change("q", value)} isAwaited={isAwaited} />
              <div class="choices always">
                {Object.entries(options).map(([name, { title, all }]) => (
                  <Choice name={name} title={title} all={all} params={params} />
                ))}
              </div>
              <Chosen options={options} params={params} view="overview" />
              <p class="found" role="status">
                {howMany(data, listed, Boolean(params.q || params.turn || params.side))}
              </p>
            </form>
            {listed.length > 0 && !isSingle && <Crossed data={data} listed={listed} address={address} />}
            {listed.length > 0 ? (
              <div class="flips">
                <List items={listed} cursor={cursor} height={isNarrow ? 82 : 38} label="Questions that flipped" head={head} row={row} />
              </div>
            ) : (
              <p>No question matches the filters.</p>
            )}
          </>
        ) : (
          <p>No question is right on one side and wrong on the other.</p>
        )}
      </section>
    </div>
  );
}

export function Flip({ data, params, listed, flip, step }) {
  const [isFormatted, setFormatted] = useState(true);
  const found = data.flips[flip];
  if (!found)
    return (
      <div class="page">
        <h1>No such question</h1>
        <p>
          <a href={link("overview")}>Back to the comparison</a>
        </p>
      </div>
    );
  const { pairs, details } = data;
  const place = listed.indexOf(flip);
  const comparison = data.comparisons[found.comparison];
  const letters = { a: "A", b: comparison.letter };
  const dialects = { a: comparison.a.dialect, b: comparison.b.dialect };
  const golds = details && [details.gold[found.a], details.gold[found.b]];
  return (
    <article class="page">
      <nav class="steps" aria-label="Flipped questions">
        <a href={link("overview", [], params)}>← Comparison</a>
        <span>
          <button class="plain" disabled={place <= 0} onClick={() => step(-1)} title="Previous (k)">
            Previous
          </button>
          <button class="plain" disabled={place === listed.length - 1} onClick={() => step(1)} title="Next (j)">
            Next
          </button>
          <span class="note">{place < 0 ? "not in the list" : `${count(place + 1)} of ${count(listed.length)}`}</span>
        </span>
      </nav>
      <Question data={data} question={pairs.question[found.a]} />
      {!details ? (
        <p role="status">Unpacking texts and rows …</p>
      ) : (
        <>
          <section aria-labelledby="sql">
            <div class="titled">
              <h2 id="sql">Predictions</h2>
              <label class="controls">
                <input type="checkbox" checked={isFormatted} onChange={(event) => setFormatted(event.target.checked)} /> formatted
              </label>
            </div>
            <TwoTexts
              details={details}
              isFormatted={isFormatted}
              one={{ title: `A: ${sideName(comparison.a)}`, place: details.sql[found.a], dialect: dialects.a, absent: "There is no prediction.", label: "A" }}
              other={{ title: `${letters.b}: ${sideName(comparison.b)}`, place: details.sql[found.b], dialect: dialects.b, absent: "There is no prediction.", label: letters.b }}
            />
          </section>
          <section aria-labelledby="gold">
            <h2 id="gold">Gold</h2>
            <TwoTexts
              details={details}
              isFormatted={isFormatted}
              one={{ title: `A, ${ENGINES[dialects.a]}`, place: golds[0], dialect: dialects.a, absent: "Gold's text was not recorded.", label: "Gold of A" }}
              other={{ title: `${letters.b}, ${ENGINES[dialects.b]}`, place: golds[1], dialect: dialects.b, absent: "Gold's text was not recorded.", label: `Gold of ${letters.b}` }}
            />
          </section>
          <section aria-labelledby="rows">
            <h2 id="rows">Rows</h2>
            <p class="note">Up to eight rows per side. − only in gold, + only in the prediction.</p>
            <div class="columns">
              {["a", "b"].map((side) => (
                <section class="side" aria-label={`Rows of ${letters[side]}`}>
                  <h3>
                    {letters[side]} <Badge outcome={data.outcome(found[side])} />
                  </h3>
                  <Failure data={data} pair={found[side]} />
                  <Facts data={data} pair={found[side]} />
                  <Results data={data} pair={found[side]} of={`${letters[side]}: `} />
                </section>
              ))}
            </div>
          </section>
        </>
      )}
    </article>
  );
}
