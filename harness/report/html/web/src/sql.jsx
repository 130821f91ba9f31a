// SQL as a reader wants it: formatted and highlighted by its own dialect, what differs marked.
import { MySQL, PostgreSQL, SQLite } from "@codemirror/lang-sql";
import { highlightTree, tagHighlighter, tags } from "@lezer/highlight";
import { diffArrays } from "diff";
import { formatDialect, mysql, postgresql, sqlite } from "sql-formatter";
import { visible } from "./words.js";

const DIALECTS = {
  sqlite: { format: sqlite, parser: SQLite.language.parser },
  mysql: { format: mysql, parser: MySQL.language.parser },
  postgresql: { format: postgresql, parser: PostgreSQL.language.parser },
};

const MOST_FORMATTED = 12_000;
const MOST_EDITS = 1_500;

const CLASSES = ["", "k", "s", "n", "c", "i"];
const highlighter = tagHighlighter([
  { tag: [tags.keyword, tags.typeName, tags.bool, tags.null, tags.standard(tags.name)], class: "k" },
  { tag: [tags.string, tags.special(tags.string)], class: "s" },
  { tag: tags.number, class: "n" },
  { tag: [tags.lineComment, tags.blockComment], class: "c" },
  { tag: tags.special(tags.name), class: "i" },
]);

export function formatted(sql, dialect) {
  if (sql.length > MOST_FORMATTED) return sql;
  try {
    return formatDialect(sql, { dialect: DIALECTS[dialect].format, tabWidth: 2, expressionWidth: 60 });
  } catch {
    // What no parser reads stands as it was written.
    return sql;
  }
}

function tokens(text, dialect) {
  const found = [];
  const tree = DIALECTS[dialect].parser.parse(text);
  const between = (from, to) => {
    for (const each of text.slice(from, to).matchAll(/\S+/g)) found.push([from + each.index, from + each.index + each[0].length]);
  };
  let end = 0;
  tree.iterate({
    enter(node) {
      if (node.node.firstChild || node.to <= node.from || node.from < end) return;
      between(end, node.from);
      if (text.slice(node.from, node.to).trim()) found.push([node.from, node.to]);
      end = node.to;
    },
  });
  between(end, text.length);
  return found;
}

const ENDS = /^(from|where|group|having|order|limit|union|intersect|except|window|into|fetch|offset)$/i;
const NAME = /^([\p{L}_][\p{L}\p{N}_$]*|".*"|`.*`|\[.*\])$/su;
const KEYWORDS = /^(end|null|true|false|current_date|current_time|current_timestamp|asc|desc)$/i;

const unquoted = (name) => name.replace(/^(["`])(.*)\1$/s, "$2").replace(/^\[(.*)\]$/s, "$1");

// What one item of a SELECT list is called: its alias, the column that it is, or its text.
function called(words, text) {
  const last = words.at(-1);
  const before = words.at(-2);
  if (words.length === 1 || before === "." || /^as$/i.test(before ?? "")) return unquoted(last);
  const isAlias = NAME.test(last) && !KEYWORDS.test(last) && (before === ")" || NAME.test(before) || /^['\d]/.test(before));
  return isAlias ? unquoted(last) : text;
}

// SQLite reads [a name] as one.
function bracketed(tokens, sql) {
  for (let place = 0; place < tokens.length; place++) {
    if (sql[tokens[place][0]] !== "[") continue;
    const end = tokens.findIndex(([from], other) => other > place && sql[from] === "]");
    if (end > 0) tokens.splice(place, end - place + 1, [tokens[place][0], tokens[end][1]]);
  }
}

// The names of a query's columns, as its outermost SELECT list says them; null where that does not tell so many.
export function resultColumns(sql, dialect, count) {
  if (sql.length > MOST_FORMATTED) return null;
  const isComment = ([from]) => /^(--|\/\*)/.test(sql.slice(from, from + 2));
  const written = tokens(sql, dialect).filter((token) => !isComment(token));
  const flat = written.flatMap(([from, to]) =>
    // A parser may read a.b or f( as one token.
    /^['"`[]/.test(sql[from]) ? [[from, to]] : [...sql.slice(from, to).matchAll(/[\p{L}\p{N}_$]+|[^\s]/gu)].map((each) => [from + each.index, from + each.index + each[0].length]),
  );
  if (dialect === "sqlite") bracketed(flat, sql);
  const words = flat.map(([from, to]) => sql.slice(from, to));
  let depth = 0;
  let begin = -1;
  const items = [];
  const add = (end) => {
    if (end > begin) items.push(called(words.slice(begin, end), sql.slice(flat[begin][0], flat[end - 1][1])));
    begin = end + 1;
  };
  let place = 0;
  for (; place < words.length; place++) {
    const word = words[place];
    if (word === "(") depth += 1;
    else if (word === ")") depth -= 1;
    else if (depth) continue;
    else if (begin < 0) {
      if (!/^select$/i.test(word)) continue;
      begin = place + 1;
      if (/^(distinct|all)$/i.test(words[begin] ?? "")) begin += 1;
    } else if (word === ",") add(place);
    else if (word === ";" || ENDS.test(word)) break;
  }
  if (begin < 0) return null;
  add(place);
  return items.length === count && !items.some((each) => /(^|\.)\*$/.test(each)) ? items : null;
}

// Case tells nothing but in texts and in names between double quotes; other quotes of names tell nothing.
const compared = (token) => (/^['"]/.test(token) ? token : token.replace(/^[`[](.*)[`\]]$/s, "$1").toLowerCase());

const isBlank = (text) => /^[ \t]+$/.test(text);

// For each text a byte a character: 1 where a token stands that the other text lacks. Null where they have too little in common.
export function differences(one, other, dialectOfOne, dialectOfOther = dialectOfOne) {
  const [ofOne, ofOther] = [tokens(one, dialectOfOne), tokens(other, dialectOfOther)];
  const texts = [one, other];
  const keys = (of, text) => of.map(([from, to]) => compared(text.slice(from, to)));
  const changes = diffArrays(keys(ofOne, one), keys(ofOther, other), { maxEditLength: MOST_EDITS });
  if (!changes) return null;
  const marks = [new Uint8Array(one.length), new Uint8Array(other.length)];
  const places = [0, 0];
  for (const change of changes) {
    for (const [side, of] of [ofOne, ofOther].entries()) {
      if (side === 0 ? change.added : change.removed) continue;
      const run = of.slice(places[side], places[side] + change.count);
      if (change.added || change.removed) {
        for (const [place, [from, to]] of run.entries()) {
          const before = place > 0 ? run[place - 1][1] : from;
          marks[side].fill(1, isBlank(texts[side].slice(before, from)) ? before : from, to);
        }
      }
      places[side] += change.count;
    }
  }
  return marks;
}

function* spans(text, dialect, marks) {
  const classes = new Uint8Array(text.length);
  highlightTree(DIALECTS[dialect].parser.parse(text), highlighter, (from, to, name) => classes.fill(CLASSES.indexOf(name), from, to));
  let from = 0;
  for (let place = 1; place <= text.length; place++) {
    if (place < text.length && classes[place] === classes[from] && marks?.[place] === marks?.[from]) continue;
    yield [text.slice(from, place), CLASSES[classes[from]], Boolean(marks?.[from])];
    from = place;
  }
}

export function Sql({ text, dialect, marks, label }) {
  const parts = [];
  for (const [part, name, isMarked] of text ? spans(text, dialect, marks) : []) {
    const shown = visible(part);
    parts.push(isMarked ? <mark class={name}>{shown}</mark> : name ? <span class={name}>{shown}</span> : shown);
  }
  return (
    <pre class="sql" tabIndex={0} role="region" aria-label={label}>
      <code>{parts}</code>
    </pre>
  );
}
