// Builds the page into the Python package, where it is checked in: nobody who installs OpenEnv needs Node.
import { build, context } from "esbuild";
import { copyFile, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = process.env.OUT ?? join(here, "../src/openenv/server/web/static");
const BUDGET = 150 * 1024;

const options = {
  absWorkingDir: here,
  entryPoints: { app: "src/app.tsx", frame: "src/frame/frame.ts" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022", "chrome109", "firefox115", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
};
const COPIED = ["src/index.html", "src/frame/frame.html", "src/icon.svg"];

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
for (const file of COPIED) await copyFile(join(here, file), join(out, file.split("/").at(-1)));

if (process.argv.includes("--watch")) {
  await (await context(options)).watch();
} else {
  await build(options);
  let total = 0;
  for (const name of (await readdir(out)).sort()) {
    const size = gzipSync(await readFile(join(out, name)), { level: 9 }).length;
    total += size;
    console.log(`${name.padEnd(12)} ${(size / 1024).toFixed(1).padStart(7)} KB gzipped`);
  }
  console.log(`${"together".padEnd(12)} ${(total / 1024).toFixed(1).padStart(7)} KB gzipped`);
  if (total > BUDGET) {
    console.error(`the page is larger than its ${BUDGET / 1024} KB`);
    process.exitCode = 1;
  }
}
