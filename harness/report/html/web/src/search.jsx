// The search field. What stands in it is its own: only typing changes it, and a way that the browser goes (back,
// a link). The address follows after a short rest; it is never written back over what was typed meanwhile.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { listOf, parse } from "./route.js";

const REST = 120;

// `change` takes the text. `isAwaited`, a ref, says that the field is to have the focus as soon as it is there.
export function Search({ label, hint, change, isAwaited }) {
  const [text, set] = useState(() => listOf(parse(location.hash).params.q).join(" "));
  const field = useRef();
  const timer = useRef();
  useLayoutEffect(() => {
    if (isAwaited.current) field.current.focus();
    isAwaited.current = false;
  }, []);
  useEffect(() => {
    const moved = (event) => {
      if (!event.isTrusted) return;
      clearTimeout(timer.current);
      set(listOf(parse(location.hash).params.q).join(" "));
    };
    addEventListener("hashchange", moved);
    return () => {
      removeEventListener("hashchange", moved);
      clearTimeout(timer.current);
    };
  }, []);
  const typed = (next) => {
    set(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change(next), REST);
  };
  return (
    <label class="search">
      <span class="hidden">{label}</span>
      <input ref={field} id="search" type="search" value={text} placeholder={`${hint}   /`} onInput={(event) => typed(event.target.value)} />
    </label>
  );
}
