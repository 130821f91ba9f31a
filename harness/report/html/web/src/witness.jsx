// The small database that refutes an answer which EX calls right.
import { Rows } from "./rows.jsx";
import { visible, words } from "./words.js";

export const verdictOf = (tested) =>
  tested && (tested.difference ? `${tested.verdict}: ${words(tested.difference)}${tested.plausible ? "" : ", not plausible"}` : tested.verdict);

export function Witness({ data, pair }) {
  const { tested, witness } = data.details.more[pair] ?? {};
  if (!witness) return null;
  const sides = [["Gold", "gold", witness.gold, "the prediction"], ["Prediction", "the prediction", witness.predicted, "gold"]];
  return (
    <section aria-labelledby="witness">
      <h2 id="witness">Right by chance: a database on which they differ</h2>
      <p class="note">
        {`${verdictOf(tested)}. `}
        {tested.plausible ? "Nothing in it contradicts the real database." : "Declared keys hold, but something in it contradicts the real database, or both texts answer with NULL and 0 alone."} Only columns that a text names are shown.
      </p>
      {witness.tables.map(([name, columns, rows]) => (
        <section aria-label={visible(name)}>
          <h3>{visible(name)}</h3>
          <Rows side={{ count: rows.length, columns: columns.length, only: 0, marked: 0 }} rows={rows} names={columns} label={`Rows of ${visible(name)}`} />
        </section>
      ))}
      <div class="two results">
        {sides.map(
          ([title, of, side, other]) =>
            side && (
              <div class={`side of-${title.toLowerCase()}`}>
                <h3>{title}</h3>
                <Rows side={side} rows={side.rows} of={of} other={other} label={`${title}: rows on this database`} />
              </div>
            ),
        )}
      </div>
    </section>
  );
}
