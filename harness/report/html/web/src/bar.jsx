// The bar above the list and the matrix: search, filters, what is filtered by, how much is found.
import { useState } from "preact/hooks";
import { Choice, Chosen } from "./choice.jsx";
import { FILTERS } from "./filters.js";
import { change } from "./route.js";
import { Search } from "./search.jsx";
import { ENGINES, count, typeName, visible, words } from "./words.js";

function pattern(data, text) {
  const right = data.dialects.filter((_, at) => text[at] === "1").map((each) => ENGINES[each]);
  return right.length === 1 ? `right on ${right[0]} alone` : `right on ${right.slice(0, -1).join(", ")} and ${right.at(-1)} only`;
}

// By parameter: what it is called, and its values with what they are called; those alone that tell anything apart.
export function optionsOf(data, params) {
  const named = (names, title = visible) => names.map((name) => [name, title(name)]);
  const patterns = [...new Set(data.patterns.values())].filter((each) => each.includes("1") && each.includes("0")).sort();
  const all = {
    predictor: { title: "Predictor", all: named(data.predictors) },
    engine: { title: "Engine", all: named(data.ran.map((place) => data.dialects[place]), (name) => ENGINES[name] ?? name) },
    outcome: { title: "Outcome", all: [["wrong", "not a match"], ...named(data.outcomes.filter((_, place) => data.pairs.outcome.includes(place)), words)] },
    class: { title: "Error class", all: named(data.error_classes.filter((_, place) => data.pairs.error_class.includes(place)), words) },
    db: { title: "Database", all: named(data.databases) },
    difficulty: { title: "Difficulty", all: named(data.difficulties) },
    type: { title: "Type", all: named(data.types, typeName) },
    agree: { title: "Engines", all: patterns.length ? [["differ", "some right, some wrong"], ...patterns.map((each) => [each, pattern(data, each)])] : [] },
  };
  return Object.fromEntries(Object.entries(all).filter(([name, each]) => each.all.length > 1 || params[name]));
}

export function Bar({ data, params, view, found, isAwaited, children }) {
  const [isOpen, setOpen] = useState(false);
  const options = optionsOf(data, params);
  const active = FILTERS.filter((name) => name !== "q").reduce((sum, name) => sum + [params[name] ?? []].flat().length, 0);
  return (
    <form class="filters" role="search" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <Search label="Search questions, SQL and errors" hint="Search questions, SQL, errors" change={(value) => change("q", value)} isAwaited={isAwaited} />
      <button type="button" class="plain fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {active ? `Filters (${active})` : "Filters"}
      </button>
      <div class={isOpen ? "choices open" : "choices"}>
        {Object.entries(options).map(([name, { title, all }]) => (
          <Choice name={name} title={title} all={all} params={params} />
        ))}
        {children}
      </div>
      <Chosen options={options} params={params} view={view} />
      <p class="found" role="status">
        {found}
      </p>
    </form>
  );
}

export const howMany = (data, params, listed) =>
  FILTERS.some((name) => params[name]) ? `${count(listed.length)} of ${count(data.count)} pairs` : `${count(data.count)} pairs`;
