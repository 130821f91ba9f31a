// Views have addresses: #/pairs?engine=mysql&q=count, #/pair/mysql/gpt-4/137%232. What stands there twice has two
// values.
import { useEffect, useState } from "preact/hooks";

const decoded = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

// The values of a parameter: none, one or several.
export const listOf = (value) => [value ?? []].flat().filter((each) => each !== "");

export function parse(hash) {
  const text = hash.replace(/^#?\/?/, "");
  const mark = text.indexOf("?");
  const [view, ...parts] = (mark < 0 ? text : text.slice(0, mark)).split("/").map(decoded);
  const params = {};
  for (const [name, value] of new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)))
    params[name] = name in params ? [params[name], value].flat() : value;
  return { view: view || "overview", parts, params };
}

export function link(view, parts = [], params = {}) {
  const set = Object.entries(params).flatMap(([name, value]) => listOf(value).map((each) => [name, String(each).toWellFormed()]));
  const query = new URLSearchParams(set).toString();
  const path = [view, ...parts].map((part) => encodeURIComponent(String(part).toWellFormed())).join("/");
  return `#/${path === "overview" ? "" : path}${query ? `?${query}` : ""}`;
}

export const go = (address) => {
  location.hash = address;
};

const announced = (enter) => (address) => {
  enter.call(history, null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
};

const replace = announced(history.replaceState);

// As `go`, but before the next key is pressed.
export const goNow = announced(history.pushState);

// One parameter of the address as it is now, which may be another than the one that was drawn last.
export const change = (name, value) => {
  const { view, parts, params } = parse(location.hash);
  replace(link(view, parts, { ...params, [name]: value }));
};

export function useRoute() {
  const [route, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => set(parse(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
