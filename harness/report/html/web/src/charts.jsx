// The charts: SVG, drawn at the width that there is.
import { scaleLinear } from "d3-scale";
import { bisectRight, max, min } from "d3-array";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Shape } from "./badge.jsx";
import { ENGINES, labels, visible } from "./words.js";

function useWidth(otherwise) {
  const ref = useRef();
  const [width, set] = useState(otherwise);
  useLayoutEffect(() => {
    const measure = () => set(Math.max(220, Math.floor(ref.current.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

// Rows of marks on one axis. `rows`: name and marks, each with `value`, perhaps `low` and `high`, and what draws it.
// `beside`: values of the charts next to it, which have the same axis.
export function Dots({ rows, label, unit = "%", joined = false, beside = [] }) {
  const [ref, width] = useWidth(720);
  const isNarrow = width < 560;
  const left = isNarrow ? 8 : 210;
  const right = 20;
  const lane = 14;
  const ends = [...beside, ...rows.flatMap((row) => row.marks.flatMap((mark) => [mark.value, mark.high ?? mark.value]))];
  const begins = [...beside, ...rows.flatMap((row) => row.marks.map((mark) => mark.low ?? mark.value))];
  // The axis is as long as the figures reach, in tens.
  const lowest = Math.max(0, Math.floor((min(begins) ?? 0) / 10) * 10);
  const highest = Math.max(lowest + 10, Math.ceil((max(ends) ?? 0) / 10) * 10);
  const x = scaleLinear([lowest, highest], [left, width - right]);
  const short = labels(rows.map((row) => row.name), isNarrow ? 40 : 28);
  const ticks = x.ticks(isNarrow ? 5 : 10);
  const middleOf = (row, mark, place) => row.top + (joined ? row.height / 2 + (mark.lane - 1) * 12 : 6 + lane * place + lane / 2);
  let y = 22;
  const placed = rows.map((row) => {
    const top = y + (isNarrow ? 20 : 0);
    const height = joined ? 44 : Math.max(1, row.marks.length) * lane + 12;
    y = top + height;
    return { ...row, top, height };
  });
  return (
    <div class="chart" ref={ref}>
      <svg role="img" aria-label={label} width={width} height={y + 8} viewBox={`0 0 ${width} ${y + 8}`}>
        {ticks.map((tick) => (
          <g>
            <line class="grid" x1={x(tick)} x2={x(tick)} y1={18} y2={y} />
            <text class="tick" x={x(tick)} y={11} text-anchor="middle">
              {tick}
              {tick === highest ? unit : ""}
            </text>
          </g>
        ))}
        {placed.map((row, number) => (
          <g>
            <text class="name" x={isNarrow ? left : left - 14} y={isNarrow ? row.top - 5 : row.top + row.height / 2 + 4} text-anchor={isNarrow ? "start" : "end"}>
              <title>{visible(row.name)}</title>
              {short[number]}
            </text>
            {joined && <path class="join" d={`M${row.marks.map((mark) => `${x(mark.value)} ${middleOf(row, mark)}`).join("L")}`} />}
            {row.marks.map((mark, place) => {
              const middle = middleOf(row, mark, place);
              return (
                <g>
                  <title>{mark.title}</title>
                  {mark.low != null && (
                    <path class="whisker" d={`M${x(mark.low)} ${middle}H${x(mark.high)}M${x(mark.low)} ${middle - 3}v6M${x(mark.high)} ${middle - 3}v6`} />
                  )}
                  <g transform={`translate(${x(mark.value)} ${middle})`}>{mark.drawing}</g>
                </g>
              );
            })}
          </g>
        ))}
      </svg>
    </div>
  );
}

// `printed` has the figures as the tables print them.
export const engineMark = (engine, value, interval, name, printed) => ({
  value,
  low: interval?.[0],
  high: interval?.[1],
  title: `${name}, ${ENGINES[engine]}: ${printed.value}${interval ? ` (${printed.interval})` : ""}`,
  drawing: <Shape engine={engine} />,
});

export const levelMark = (level, place, value, name, printed) => ({
  value,
  lane: place,
  title: `${name}, ${level}: ${printed}`,
  drawing: (
    <g class={`level level-${place}`}>
      <circle r="7.5" />
      <text y="3.6" text-anchor="middle">
        {level[0].toUpperCase()}
      </text>
    </g>
  ),
});

const EDGES = Array.from({ length: 14 }, (_, place) => 2 ** ((place - 6.5) / 2));
const SAME = 7;
const CENTRES = { 1: "⅛", 3: "¼", 5: "½", 7: "1", 9: "2", 11: "4", 13: "8" };

// How often the ratio of two times falls into bins that are half a doubling wide, one of them around 1.
export function Histogram({ values, label }) {
  const [ref, width] = useWidth(340);
  const counts = new Array(EDGES.length + 1).fill(0);
  for (const value of values) counts[bisectRight(EDGES, value)]++;
  const [height, bottom, top] = [150, 24, 16];
  const bar = (width - 16) / counts.length;
  const y = scaleLinear([0, Math.max(1, max(counts))], [height - bottom, top]);
  return (
    <div class="chart" ref={ref}>
      <svg role="img" aria-label={`${label}: ${values.length} pairs`} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {counts.map((count, place) => (
          <g>
            <title>{`${count} pairs`}</title>
            <rect class={place < SAME ? "faster" : place === SAME ? "same" : "slower"} x={8 + bar * place + 1} width={bar - 2} y={y(count)} height={height - bottom - y(count)} />
            {count > 0 && bar > 18 && (
              <text class="tick" x={8 + bar * (place + 0.5)} y={y(count) - 3} text-anchor="middle">
                {count}
              </text>
            )}
          </g>
        ))}
        <line class="axis" x1={8} x2={width - 8} y1={height - bottom + 0.5} y2={height - bottom + 0.5} />
        {Object.entries(CENTRES).map(([place, name]) => (
          <text class="tick" x={8 + bar * (Number(place) + 0.5)} y={height - 8} text-anchor="middle">
            {name}
          </text>
        ))}
      </svg>
    </div>
  );
}
