// The data of one pair in a run folder: texts, rows, errors, times.
import { useMemo } from "preact/hooks";
import { Rows } from "./rows.jsx";
import { Sql, differences, formatted, resultColumns } from "./sql.jsx";
import { Copy } from "./taking.jsx";
import { verdictOf } from "./witness.jsx";
import { ENGINES, ORIGINS, count, percent, ratio, seconds, visible, words } from "./words.js";

export const textOf = (details, place) => (place < 0 ? null : details.texts[place]);

function Cut({ details, place }) {
  const all = details.cut[place];
  return all ? <p class="note">{`Cut for display: the text has ${count(all)} characters.`}</p> : null;
}

// Two SQL texts side by side. A side: title, place of its text, dialect.
export function TwoTexts({ details, one, other, isFormatted }) {
  const [left, right, marks] = useMemo(() => {
    const texts = [one, other].map(({ place, dialect }) => {
      const text = textOf(details, place);
      return text !== null && isFormatted && !details.cut[place] ? formatted(text, dialect) : text;
    });
    const found = texts[0] !== null && texts[1] !== null ? differences(texts[0], texts[1], one.dialect, other.dialect) : undefined;
    return [...texts, found];
  }, [details, one.place, other.place, one.dialect, other.dialect, isFormatted]);
  const isSame = marks && !marks[0].includes(1) && !marks[1].includes(1);
  return (
    <>
      <div class="two">
        {[[one, left, marks?.[0]], [other, right, marks?.[1]]].map(([side, text, mark]) => (
          <section class="side">
            <div class="titled">
              <h3>{side.title}</h3>
              {text !== null && <Copy text={textOf(details, side.place)} what={side.label ?? side.title} />}
            </div>
            {text === null ? (
              <p class="null">{side.absent}</p>
            ) : (
              <>
                <Sql text={text} dialect={side.dialect} marks={mark} label={`${side.label ?? side.dialect}: SQL`} />
                <Cut details={details} place={side.place} />
              </>
            )}
          </section>
        ))}
      </div>
      {isSame && <p class="note">The two texts differ only in white space, case and the quoting of names.</p>}
      {marks === null && <p class="note">The two texts have too little in common to mark what differs.</p>}
    </>
  );
}

// `isWide`: gold and prediction side by side, if there is room.
export function Results({ data, pair, of = "", isWide = false }) {
  const { details } = data;
  const dialect = data.dialects[data.pairs.dialect[pair]];
  const engine = ENGINES[dialect];
  const predictor = visible(data.predictors[data.pairs.predictor[pair]]);
  const [gold, predicted] = [details.gold_side[pair], details.predicted_side[pair]];
  const side = (packed) => packed && { count: packed[0], columns: packed[1], only: packed[2], marked: packed[3] };
  const rows = (packed) => details.rows[packed[4]];
  const names = (place, packed) => (packed ? resultColumns(textOf(details, place) ?? "", dialect, packed[1]) : null);
  if (!gold && !predicted) return <p class="null">No rows were kept for this pair.</p>;
  const Head = isWide ? "h3" : "h4";
  const isSame = predicted && predicted[2] === 0 && rows(predicted).length === 0;
  // Of equal sets Soft-F1, which drops repeated rows, is below 1 where their order differs, and nowhere else.
  const order = (data.pairs.scores.soft_f1?.[pair] ?? 1) < 1 ? ", in another order; Soft-F1 compares by position" : "";
  return (
    <div class={isWide ? "two results" : "results"}>
      {gold && (
        <div class="side of-gold">
          <Head>Gold</Head>
          <Rows side={side(gold)} rows={rows(gold)} names={names(details.gold[pair], gold)} of="gold" other="the prediction" label={`${of}Gold's rows on ${engine}, ${predictor}`} />
        </div>
      )}
      <div class="side of-prediction">
        <Head>Prediction</Head>
        {!predicted ? (
          <p class="null">returned no result</p>
        ) : isSame ? (
          <p class="size">{`${count(predicted[0])} ${predicted[0] === 1 ? "row" : "rows"}: the same set of rows as gold${order}`}</p>
        ) : (
          <Rows side={side(predicted)} rows={rows(predicted)} names={names(details.sql[pair], predicted)} of="the prediction" other="gold" label={`${of}Predicted rows on ${engine}, ${predictor}`} />
        )}
      </div>
    </div>
  );
}

export function Failure({ data, pair }) {
  const { details } = data;
  const error = textOf(details, details.error[pair]);
  const code = textOf(details, details.code[pair]);
  if (error === null && code === null) return null;
  return (
    <div class="failure">
      <p class="error" tabIndex={0} role="group" aria-label="The engine's words">
        {code !== null && <code>{visible(code)}</code>} {visible(error ?? "")}
      </p>
      {error !== null && <Copy text={error} what="the engine's words" />}
      <Cut details={details} place={details.error[pair]} />
    </div>
  );
}

const figures = (all) =>
  all
    .filter(([value]) => value != null)
    .map(([value, name]) => `${count(value)} ${name}`)
    .join(", ");

export function Facts({ data, pair }) {
  const { pairs, details } = data;
  const scores = Object.entries(pairs.scores)
    .map(([name, column]) => [data.metrics[name] ?? name, column[pair]])
    .filter(([, value]) => value != null);
  const more = details.more[pair] ?? {};
  const { usage = {}, work } = more;
  const facts = [
    ["Error class", data.errorClass(pair) && words(data.errorClass(pair))],
    ["Gold is", ORIGINS[data.origins[pairs.origin[pair]]] ?? words(data.origins[pairs.origin[pair]])],
    ["Prediction", pairs.seconds[pair] != null && seconds(pairs.seconds[pair])],
    ["Gold", pairs.gold_seconds[pair] != null && seconds(pairs.gold_seconds[pair])],
    ["Time ÷ gold's", pairs.ratio[pair] != null && ratio(pairs.ratio[pair])],
    ...scores.map(([title, value]) => [title, `${percent(100 * value, 2)} %`]),
    ["Tested", verdictOf(more.tested)],
    ["Variants compared", more.compared_variants],
    ["Wrong on variant", more.failed_variant && visible(more.failed_variant)],
    ...Object.entries(more.timings ?? {}).map(([method, timing]) => [
      `Measured, ${method}`,
      timing.error
        ? visible(timing.error)
        : `τ ${timing.tau}${timing.low != null ? ` (${timing.low} to ${timing.high})` : ""}, ${timing.samples} samples, ${visible(timing.clock)} clock${timing.decided ? "" : ", undecided"}`,
    ]),
    ["Work, gold's ÷ prediction's", work && (work.reason != null ? visible(work.reason) : work.gold == null ? "the same text" : `τ ${work.tau}: ${count(work.gold)} to ${count(work.prediction)} units`)],
    ["Hardness (Spider)", more.hardness],
    ["Tokens", figures([[usage.prompt_tokens, "of prompt"], [usage.completion_tokens, "of completion"]])],
    ["Answered in", usage.seconds != null && seconds(usage.seconds)],
    ["Cost", usage.cost],
  ].filter(([, value]) => value != null && value !== false && value !== "");
  return (
    <dl class="tiles small">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
