/* SPDX-License-Identifier: Apache-2.0 */
/* tosac in node: the command line as functions.  index.d.ts says what they take. */
"use strict";
const fs = require("fs");
const path = require("path");
const create = require("./tosac.js");
const runTosac = require("./run.js");

const text = bytes => Buffer.from(bytes).toString("utf8");

/* The folders of this machine by their own names; on Windows, the current folder alone. */
function mount(FS) {
  const types = FS.filesystems.NODEFS;
  if (process.platform === "win32") {
    FS.mkdir("/here");
    FS.mount(types, {root: process.cwd()}, "/here");
    return FS.chdir("/here");
  }
  for (const entry of fs.readdirSync("/", {withFileTypes: true})) {
    const name = "/" + entry.name;
    if (!entry.isDirectory() || name === "/dev" || name === "/proc" || name === "/sys") continue;
    if (!FS.analyzePath(name).exists) FS.mkdir(name);
    FS.mount(types, {root: name}, name);
  }
  FS.chdir(process.cwd());
}

async function command(words, {stdin, progress} = {}) {
  const module = {wasmBinary: fs.readFileSync(path.join(__dirname, "tosac.wasm"))};
  const {code, out, err} = await runTosac(create, {module, words, prepare: mount, progress, stdin, environment: process.env});
  return {code, out, err};
}

class TosacError extends Error {
  constructor(code, messages, words) {
    super(messages.map(m => `${[m.file || "tosac", m.place].filter(Boolean).join(": ")}: ${m.severity}: ${m.text} [${m.id}]`).join("\n")
      || words || `tosac: exit ${code}`);
    Object.assign(this, {name: "TosacError", code, messages});
  }
}

/* { calib: "a.npz", strict: true, cpu: ["a", "b"] } as --calib=a.npz --strict --cpu=a --cpu=b; dumpDir is --dump-dir. */
function words(options) {
  const out = [];
  for (const [key, value] of Object.entries(options)) {
    const name = "--" + key.replace(/[A-Z]/g, c => "-" + c.toLowerCase());
    for (const v of Array.isArray(value) ? value : [value]) {
      if (v === true) out.push(name);
      else if (v !== false && v !== undefined && v !== null) out.push(`${name}=${v}`);
    }
  }
  return out;
}

async function verb(name, files, options = {}) {
  const {onProgress, ...rest} = options;
  const done = await command([name, ...[].concat(files), ...words(rest), "--json"], {progress: onProgress});
  let said = {messages: []};
  try { said = JSON.parse(text(done.err)); } catch { /* nothing was said, or words of the system */ }
  if (done.code) throw new TosacError(done.code, said.messages, text(done.err).trim());
  return {result: text(done.out).trim() ? JSON.parse(text(done.out)) : null, messages: said.messages};
}

module.exports = {
  command, TosacError,
  compile: (model, options) => verb("compile", model, options),
  run: (program, options) => verb("run", program, options),
  profile: (program, options) => verb("profile", program, options),
};
