// Filters of several values each. What is chosen is in the address, and stands below as what can be taken away again.
import { useEffect, useRef } from "preact/hooks";
import { change, link, listOf } from "./route.js";
import { visible } from "./words.js";

function close(details) {
  if (!details?.open) return;
  details.open = false;
  if (details.contains(document.activeElement)) details.querySelector("summary").focus();
}

// `all` has values and what they are called.
export function Choice({ name, title, all, params }) {
  const place = useRef();
  const chosen = listOf(params[name]);
  useEffect(() => {
    const pressed = (event) => {
      if (!place.current.contains(event.target)) close(place.current);
    };
    addEventListener("pointerdown", pressed);
    return () => removeEventListener("pointerdown", pressed);
  }, []);
  const toggle = (value) => change(name, chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value]);
  return (
    <details
      class={chosen.length ? "choice set" : "choice"}
      name="choices"
      ref={place}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !place.current.open) return;
        event.stopPropagation();
        place.current.open = false;
        place.current.querySelector("summary").focus();
      }}
    >
      <summary>
        {title}
        {chosen.length > 0 && <b>{` ${chosen.length}`}</b>}
      </summary>
      <fieldset>
        <legend class="hidden">{title}</legend>
        {all.map(([value, label]) => {
          const written = value.toWellFormed();
          return (
            <label>
              <input type="checkbox" name={name} value={written} checked={chosen.includes(written)} onChange={() => toggle(written)} /> {label}
            </label>
          );
        })}
      </fieldset>
    </details>
  );
}

// What is filtered by now. `options`: by parameter its title and its values.
export function Chosen({ options, params, view }) {
  const chosen = Object.entries(options).flatMap(([name, { title, all }]) =>
    listOf(params[name]).map((value) => ({ name, value, title, label: all.find(([each]) => each.toWellFormed() === value)?.[1] ?? visible(value) })),
  );
  if (params.q) chosen.unshift({ name: "q", value: null, title: "Words", label: visible(listOf(params.q).join(" ")) });
  if (!chosen.length) return null;
  const without = ({ name, value }) => ({ ...params, [name]: value === null ? [] : listOf(params[name]).filter((each) => each !== value) });
  const none = Object.fromEntries(Object.entries(params).filter(([name]) => name !== "q" && !(name in options)));
  return (
    <ul class="chosen" aria-label="Active filters">
      {chosen.map((each) => (
        <li>
          <a href={link(view, [], without(each))} aria-label={`Remove ${each.title}: ${each.label}`}>
            <span>{`${each.title}: `}</span>
            {each.label} <b aria-hidden="true">×</b>
          </a>
        </li>
      ))}
      <li>
        <a class="clear" href={link(view, [], none)}>
          Clear
        </a>
      </li>
    </ul>
  );
}
