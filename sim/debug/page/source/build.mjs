// Builds src/ into the files that sim.debug.page gives to browsers: those of a session (view), and those of what a
// campaign found (results); `node build.mjs FOLDER` into another folder.
// Their first line has the digest of what they were built from: tests/test_debug_page.py computes it again.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const own = new URL(".", import.meta.url);
const folder = process.argv[2] ?? fileURLToPath(new URL("..", own));
const sources = [...readdirSync(new URL("src/", own)).map((name) => `src/${name}`), "build.mjs", "package-lock.json"];
const digest = createHash("sha256");
for (const name of sources.sort()) digest.update(readFileSync(new URL(name, own)));
const note = `/* built from source/ by make page: ${digest.digest("hex")} */`;

await build({
  absWorkingDir: fileURLToPath(own),
  entryPoints: ["src/view.ts", "src/view.css", "src/results.ts", "src/results.css"],
  outdir: folder,
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  banner: { js: note, css: note },
  logLevel: "warning",
});
