// The manifest of the run folder.
import { visible, words } from "./words.js";

function Content({ value, depth }) {
  if (value === null) return <span class="null">none</span>;
  if (Array.isArray(value)) {
    if (!value.length) return <span class="null">none</span>;
    if (value.every((each) => typeof each !== "object")) return visible(value.join(", "));
    return (
      <ul>
        {value.map((each) => (
          <li>
            <Content value={each} depth={depth + 1} />
          </li>
        ))}
      </ul>
    );
  }
  if (typeof value === "object") return Object.keys(value).length ? <Facts facts={value} depth={depth} /> : <span class="null">none</span>;
  return visible(String(value));
}

function Facts({ facts, depth = 0 }) {
  return (
    <dl class={depth ? "facts inner" : "facts"}>
      {Object.entries(facts).map(([name, value]) => (
        <div>
          <dt>{visible(depth ? name : words(name))}</dt>
          <dd>
            <Content value={value} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Run({ data }) {
  return (
    <div class="page">
      {Object.entries(data.manifests).map(([name, manifest]) => (
        <section>
          <h1>{name}</h1>
          <Facts facts={manifest} />
        </section>
      ))}
    </div>
  );
}
