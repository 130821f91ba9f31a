import { ENGINES, MARKS, words } from "./words.js";

export const Badge = ({ outcome, children }) => (
  <span class={`badge o-${outcome}`}>
    <i aria-hidden="true">{MARKS[outcome] ?? "?"}</i>
    {children ?? words(outcome)}
  </span>
);

const SHAPES = {
  sqlite: <circle r="4.5" />,
  mysql: <rect x="-4" y="-4" width="8" height="8" />,
  postgresql: <path d="M0-5.6 5.6 0 0 5.6-5.6 0Z" />,
};

const OTHER = <path d="M0-5 5 4H-5Z" />;

export const Shape = ({ engine }) => <g class={SHAPES[engine] ? `e-${engine}` : "e-other"}>{SHAPES[engine] ?? OTHER}</g>;

export const Engine = ({ engine }) => (
  <span class="engine">
    <svg viewBox="-7 -7 14 14" width="12" height="12" aria-hidden="true">
      <Shape engine={engine} />
    </svg>
    {ENGINES[engine] ?? engine}
  </span>
);
