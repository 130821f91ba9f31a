// Two results side by side, rows that the other side lacks first.
import { plural, visible } from "./words.js";

function Value({ value }) {
  if (value === null) return <td class="null">NULL</td>;
  if (typeof value === "number") return <td class="number">{String(value)}</td>;
  if (typeof value === "boolean") return <td>{String(value)}</td>;
  if (Array.isArray(value))
    return (
      <td>
        {visible(value[1])} <small class="type">{visible(value[0])}</small>
      </td>
    );
  return <td>{value === "" ? <span class="null">empty text</span> : visible(value)}</td>;
}

// `names`: of the columns, as the SELECT list says them; null where it does not.
export function Rows({ side, rows, names, of, other, label }) {
  const { count, columns, only, marked } = side;
  const width = Math.max(0, ...rows.map((row) => row.length));
  const left = count - rows.length;
  return (
    <div class="rows">
      <p class="size">
        {plural(count, "row")} of {plural(columns, "column")}
        {only > 0 && <strong>{`, ${plural(only, "different row")} that ${other} lacks`}</strong>}
        {only === null && ", whose values cannot be compared"}
      </p>
      {rows.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label={label}>
          <table class="values">
            <caption class="hidden">{label}</caption>
            <thead>
              <tr>
                <td class="side-mark" />
                {Array.from({ length: width }, (_, place) => (
                  <th scope="col" title={names ? visible(names[place]) : undefined}>
                    {names ? visible(names[place]) : place + 1}
                  </th>
                ))}
                {columns > width && <td class="null">…</td>}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, place) => (
                <tr class={place < marked ? "only" : ""}>
                  <td class="side-mark">
                    {place < marked ? (of === "gold" ? "−" : "+") : ""}
                    {place < marked && <span class="hidden">{`only in ${of}`}</span>}
                  </td>
                  {row.map((value) => (
                    <Value value={value} />
                  ))}
                  {row.length < width && <td colSpan={width - row.length} />}
                  {columns > row.length && row.length === width && <td class="null">…</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > 0 && left > 0 && <p class="note">{`and ${plural(left, "row")} more, not kept in the run folder`}</p>}
    </div>
  );
}
