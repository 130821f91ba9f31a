// The frame around every view: where one is, the theme, and what keys do everywhere.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Comparisons, Flip } from "./comparison.jsx";
import { select, selectFlips } from "./filters.js";
import { Matrix } from "./matrix.jsx";
import { Overview } from "./overview.jsx";
import { Pair } from "./pair.jsx";
import { Pairs } from "./pairs.jsx";
import { go, goNow, link, useRoute } from "./route.js";
import { Run } from "./run.jsx";
import { visible } from "./words.js";

const THEMES = ["auto", "light", "dark"];

function useTheme() {
  const [theme, set] = useState(() => {
    try {
      return localStorage.getItem("bird-harness-theme") ?? "auto";
    } catch {
      return "auto";
    }
  });
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("bird-harness-theme", theme);
    } catch {
      // A page that may keep nothing forgets it.
    }
  }, [theme]);
  return [THEMES.includes(theme) ? theme : "auto", set];
}

const KEYS = [
  ["j  k", "next and previous pair"],
  ["Enter", "open the pair"],
  ["Esc", "back to the list, out of a field"],
  ["1  2  3", "the pair on another engine"],
  ["/", "search"],
  ["g o, g p, g m, g r", "overview, pairs, matrix, run"],
  ["?", "these keys"],
];

function Help({ dialog }) {
  return (
    <dialog ref={dialog} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div>
            <dt>
              {keys.split("  ").map((key) => (
                <kbd>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button class="plain">Close</button>
      </form>
    </dialog>
  );
}

const isTyping = (target) => target.matches?.("input, select, textarea");

function useKeys(act) {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    let before = "";
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (isTyping(event.target)) {
        if (event.key === "Escape") event.target.blur();
        return;
      }
      const key = before === "g" ? `g ${event.key}` : event.key;
      before = event.key;
      if (latest.current(key, event)) event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

export function App({ data: core, load }) {
  const [details, setDetails] = useState(null);
  const [fault, setFault] = useState("");
  useEffect(() => {
    // The first view is painted before the larger part is unpacked.
    const timer = setTimeout(
      () => load().then(
        (found) => { setDetails(found); performance.mark("report-complete"); document.documentElement.dataset.state = "complete"; },
        (error) => setFault(`The texts and rows of this report cannot be read: ${error.message}`),
      ),
      0,
    );
    return () => clearTimeout(timer);
  }, []);
  const data = useMemo(() => ({ ...core, details }), [core, details]);
  const route = useRoute();
  const [theme, setTheme] = useTheme();
  const [cursor, setCursor] = useState(-1);
  const help = useRef();
  const isAwaited = useRef(false);
  const { view, parts, params } = route;
  const isRun = data.kind === "run";
  const filters = JSON.stringify(params);
  // Texts are only searched when there is something to search for.
  const listed = useMemo(() => (isRun ? select(data, params) : selectFlips(data, params)), [core, filters, params.q ? details : null]);
  const opened = useMemo(() => {
    if (view === "pair") return data.find(parts);
    return view === "flip" ? Number(parts[0]) : -1;
  }, [core, view, parts.join("\0")]);
  const isOpen = view === "pair" || view === "flip";
  const current = isOpen ? opened : cursor;

  const address = (item) => (isRun ? link("pair", data.address(item), params) : link("flip", [item], params));
  const step = (by) => {
    if (!listed.length) return;
    const place = listed.indexOf(current);
    const next = listed[place < 0 ? 0 : Math.max(0, Math.min(listed.length - 1, place + by))];
    setCursor(next);
    if (isOpen) go(address(next));
  };
  const isList = view === (isRun ? "pairs" : "overview");
  const hasSearch = isList || (isRun && view === "matrix");
  const { from, ...rest } = params;
  const home = link(isRun ? (from === "matrix" ? "matrix" : "pairs") : "overview", [], rest);
  useKeys((key, event) => {
    if (key === "?") help.current.showModal();
    else if (key === "/") {
      isAwaited.current = !hasSearch;
      if (hasSearch) document.getElementById("search")?.focus();
      else goNow(home);
    } else if ((key === "j" || key === "k") && (isList || isOpen)) step(key === "j" ? 1 : -1);
    else if (key === "Enter" && isList && cursor >= 0 && !event.target.closest("a, button, summary")) go(address(cursor));
    else if (key === "Escape" && isOpen) {
      setCursor(opened);
      go(home);
    } else if (isRun && view === "pair" && /^[123]$/.test(key)) {
      const other = opened >= 0 ? (data.engines(opened)[Number(key) - 1] ?? -1) : -1;
      if (other >= 0) go(address(other));
    } else if (key === "g o") go(link("overview"));
    else if (key === "g p" && isRun) go(link("pairs"));
    else if (key === "g m" && isRun) go(link("matrix", [], params));
    else if (key === "g r") go(link("run"));
    else return false;
    return true;
  });
  useEffect(() => {
    if (isOpen && opened >= 0) setCursor(opened);
    if (isOpen || (view === "overview" && !params.at)) scrollTo(0, 0);
    const name = isOpen ? parts.join(" · ") : view;
    document.title = `${visible(name)} — ${visible(data.title)}`;
  }, [view, opened]);

  const tabs = isRun ? { overview: "Overview", pairs: "Pairs", matrix: "Matrix", run: "Run" } : { overview: "Comparison", run: "Runs" };
  // What the list and the matrix have in common; the overview's place is its own.
  const { at: _, from: __, ...shared } = params;
  const shown = view === "pair" ? "pairs" : view === "flip" ? "overview" : view;
  const common = { data, params, listed, cursor: current, setCursor, address, isAwaited };
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content").focus(); }}>
        Skip to the content
      </a>
      <header>
        <div class="bar">
          <p class="brand">
            <strong>bird-harness</strong> <span>{visible(data.title)}</span>
          </p>
          <nav aria-label="Views">
            {Object.entries(tabs).map(([name, title]) => (
              <a href={link(name, [], name === "pairs" || name === "matrix" ? shared : {})} aria-current={shown === name ? "page" : undefined}>
                {title}
              </a>
            ))}
          </nav>
          <div class="tools">
            <label>
              <span class="hidden">Theme</span>
              <select value={theme} onChange={(event) => setTheme(event.target.value)}>
                {THEMES.map((each) => (
                  <option value={each}>{each === "auto" ? "Auto" : each === "light" ? "Light" : "Dark"}</option>
                ))}
              </select>
            </label>
            <button class="plain" aria-label="Keys" title="Keys (?)" onClick={() => help.current.showModal()}>
              ?
            </button>
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1} class={`view-${view}`}>
        {fault && <p role="alert" class="fault">{fault}</p>}
        {view === "pairs" && isRun ? (
          <Pairs {...common} />
        ) : view === "matrix" && isRun ? (
          <Matrix {...common} address={(pair) => link("pair", data.address(pair), { ...params, from: "matrix" })} />
        ) : view === "pair" && isRun ? (
          <Pair {...common} pair={opened} step={step} back={home} />
        ) : view === "flip" && !isRun ? (
          <Flip {...common} flip={opened} step={step} />
        ) : view === "run" ? (
          <Run data={data} />
        ) : isRun ? (
          <Overview data={data} params={params} />
        ) : (
          <Comparisons {...common} />
        )}
      </main>
      <Help dialog={help} />
    </>
  );
}
