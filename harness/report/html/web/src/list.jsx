// A list of thousands of rows of which only those in sight are in the page.
import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core";
import { options as preact } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

const MOST_PRINTED = 1_000;

function useVirtualizer(options) {
  const [, draw] = useReducer((times) => times + 1, 0);
  const all = { observeElementRect, observeElementOffset, scrollToFn: elementScroll, onChange: draw, ...options };
  const [virtualizer] = useState(() => new Virtualizer(all));
  virtualizer.setOptions(all);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}

// While the page is printed, which happens before any later drawing would.
export function usePrinting() {
  const [isPrinting, set] = useState(false);
  useEffect(() => {
    const now = (value) => () => {
      const before = preact.debounceRendering;
      preact.debounceRendering = (draw) => draw();
      set(value);
      preact.debounceRendering = before;
    };
    const [begin, end] = [now(true), now(false)];
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return isPrinting;
}

export function useNarrow() {
  const query = matchMedia("(max-width: 760px)");
  const [isNarrow, set] = useState(query.matches);
  useEffect(() => {
    const changed = () => set(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return isNarrow;
}

function useWidth() {
  const [width, set] = useState(innerWidth);
  useEffect(() => {
    const changed = () => set(innerWidth);
    addEventListener("resize", changed);
    return () => removeEventListener("resize", changed);
  }, []);
  return width;
}

const QUESTION = 25;
const GAP = 0.8;
const MARGINS = 4;

// The columns that leave the question room, after it, and the style of a row. All sizes are in rem; a column has a
// `name`, its `size` and `leaves`, its turn to leave: those that never leave have none. A page is at most `most` wide.
export function useColumns(columns, most = Infinity) {
  const room = Math.min(useWidth() / 16, most) - MARGINS - QUESTION;
  const isNarrow = useNarrow();
  const needed = () => shown.reduce((sum, { size }) => sum + size + GAP, 0);
  let shown = columns;
  const leaving = columns.filter(({ leaves }) => leaves !== undefined).sort((one, other) => one.leaves - other.leaves);
  // A phone has lines instead of columns.
  while (!isNarrow && leaving.length && needed() > room) {
    const gone = leaving.shift();
    shown = shown.filter((column) => column !== gone);
  }
  return [shown, { "--columns": `minmax(0, 1fr) ${shown.map(({ size }) => `${size}rem`).join(" ")}` }];
}

// `width`: how wide a row is at least; a wider one than the page is scrolled with its head.
export function List({ items, cursor, height, label, head, row, width = 0 }) {
  const scroller = useRef();
  const heads = useRef();
  const isPrinting = usePrinting();
  const virtualizer = useVirtualizer({
    count: items.length,
    estimateSize: () => height,
    getScrollElement: () => scroller.current,
    overscan: 8,
  });
  useLayoutEffect(() => virtualizer.measure(), [height]);
  const place = items.indexOf(cursor);
  useLayoutEffect(() => {
    if (place >= 0) virtualizer.scrollToIndex(place, { align: "auto" });
  }, [cursor, items]);
  const shown = isPrinting
    ? items.slice(0, MOST_PRINTED).map((_, index) => ({ index, start: index * height }))
    : virtualizer.getVirtualItems();
  return (
    <div class="list" role="table" aria-label={label} aria-rowcount={items.length + 1}>
      <div role="rowgroup" class="head" ref={heads}>
        {head}
      </div>
      <div role="rowgroup" class="body" ref={scroller} onScroll={width ? () => { heads.current.scrollLeft = scroller.current.scrollLeft; } : undefined}>
        <div role="presentation" class="all" style={{ minWidth: `${width}px`, height: `${isPrinting ? shown.length * height : virtualizer.getTotalSize()}px` }}>
          {shown.map(({ index, start }) => row(items[index], index, { transform: `translateY(${start}px)`, height: `${height}px` }))}
        </div>
      </div>
      {isPrinting && items.length > MOST_PRINTED && <p class="note">{`The first ${MOST_PRINTED} of ${items.length}.`}</p>}
    </div>
  );
}
