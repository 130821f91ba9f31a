// The execution plans of a pair: gold's next to the prediction's, with signs for the differences.
import { ENGINES, count, visible } from "./words.js";

const SIGNS = ["", "~", "!"];
const SAID = ["", "the other plan does this differently", "the other plan has nothing like it"];
const HEADS = ["est. rows", "rows", "loops", "cost"];
const FIGURES = 4;

// Three digits of what is small, whole numbers else.
function figure(value) {
  if (value == null) return "";
  if (value >= 1e9) return value.toPrecision(3);
  return value >= 100 || Number.isInteger(value) ? count(Math.round(value)) : String(Number(value.toPrecision(3)));
}

// The columns of figures in which either plan has any; loops only where something is repeated.
function columns(rows) {
  return HEADS.map((head, place) => [head, FIGURES + place]).filter(
    ([head, place]) => rows.some((row) => row[place] != null) && (head !== "loops" || rows.some((row) => (row[place] ?? 1) !== 1)),
  );
}

function Step({ row, mark, strings, shown }) {
  if (!row)
    return (
      <>
        <td />
        {shown.map(() => (
          <td />
        ))}
      </>
    );
  const condition = row[3] < 0 ? null : strings[row[3]];
  return (
    <>
      <td class={mark ? "step other" : "step"} style={{ "--depth": row[0] }} title={visible(strings[row[2]])}>
        {mark > 0 && (
          <span class="sign">
            <span aria-hidden="true">{SIGNS[mark]}</span>
            <span class="hidden">{SAID[mark]}: </span>
          </span>
        )}
        {visible(strings[row[1]])}
        {condition && <code> {visible(condition)}</code>}
      </td>
      {shown.map(([, place]) => (
        <td class="number">{figure(row[place])}</td>
      ))}
    </>
  );
}

function Table({ label, sides, steps, strings }) {
  const shown = columns(sides.flatMap(([, rows]) => rows));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="plans">
        <thead>
          <tr>
            {sides.map(([name]) => (
              <>
                <th scope="col">{name}</th>
                {shown.map(([head]) => (
                  <th scope="col" class="number">
                    {head}
                  </th>
                ))}
              </>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr>
              {sides.map(([, rows], side) => (
                <Step row={step[side] < 0 ? null : rows[step[side]]} mark={step[2]} strings={strings} shown={shown} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const work = (counters) =>
  Object.entries(counters)
    .map(([name, times]) => `${name} ${count(times)}`)
    .join(", ");

export function Plans({ data, pair }) {
  const { plans } = data.details;
  if (!plans) return null;
  const engine = ENGINES[data.dialects[data.pairs.dialect[pair]]];
  const found = plans.pairs[pair];
  if (!found)
    return (
      <section aria-labelledby="plans">
        <h2 id="plans">Plans on {engine}</h2>
        <p class="null">This page has no plans of this pair.</p>
      </section>
    );
  const [gold, prediction, isSame, aligned] = found;
  const sides = [
    ["Gold", ...plans.plans[gold]],
    ["Prediction", ...plans.plans[prediction]],
  ];
  const planned = sides.filter(([, , , rows]) => rows.length);
  const isBoth = planned.length === 2;
  const whole = (rows) => rows.map((_, place) => [place, place, 0]);
  return (
    <section aria-labelledby="plans">
      <h2 id="plans">Plans on {engine}</h2>
      {isBoth && (
        <p class="note">
          {isSame
            ? "The same plan, apart from rows, costs and conditions."
            : aligned.every((step) => step[2] === 0)
              ? "The same steps in another tree."
              : `${aligned.filter((step) => step[2]).length} of ${aligned.length} steps differ. ~ the other plan does this differently, ! it has nothing like it.`}
        </p>
      )}
      {isBoth ? (
        <Table
          label={`Plans of gold and prediction on ${engine}`}
          sides={sides.map(([name, , , rows]) => [name, rows])}
          steps={isSame ? whole(sides[0][3]) : aligned}
          strings={plans.strings}
        />
      ) : (
        planned.map(([name, , , rows]) => (
          <Table label={`${name}: plan on ${engine}`} sides={[[name, rows]]} steps={whole(rows)} strings={plans.strings} />
        ))
      )}
      {sides.map(([name, said, counters]) => (
        <>
          {said >= 0 && (
            <p class="error">
              {name}: {visible(plans.strings[said])}
            </p>
          )}
          {counters && (
            <p class="note">
              Work, {name.toLowerCase()}: {work(counters)}
            </p>
          )}
        </>
      ))}
    </section>
  );
}
