// Writes the committed bundle: one script, one style sheet, and the licences of what is in them.
// `npm run build -- FOLDER` writes it there instead; equal sources and versions give equal bytes.
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(here, "..", "bundle"));

const result = await build({
  absWorkingDir: here,
  entryPoints: { report: "src/main.jsx" },
  outdir: out,
  bundle: true,
  write: false,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
});

const packages = new Set();
for (const output of Object.values(result.metafile.outputs)) {
  for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
    const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
    if (found && bytesInOutput > 0) packages.add(found[1]);
  }
}

const licences = ["report.js contains parts of these packages, each under its own licence.\n"];
for (const name of [...packages].sort()) {
  const folder = path.join(here, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).sort().find((each) => /^(licen[sc]e|copying)(\.|$)/i.test(each));
  if (!file) throw new Error(`${name} comes without the text of its licence`);
  const text = (await readFile(path.join(folder, file), "utf8")).replaceAll("\r\n", "\n").trim();
  licences.push(`${"=".repeat(78)}\n${name} ${version} (${license})\n\n${text}\n`);
}

await mkdir(out, { recursive: true });
for (const file of result.outputFiles) await writeFile(file.path, file.contents);
await writeFile(path.join(out, "LICENSES.txt"), licences.join("\n"));
for (const file of result.outputFiles) console.log(`${path.basename(file.path)}: ${file.contents.length} bytes`);
