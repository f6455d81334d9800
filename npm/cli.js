#!/usr/bin/env node
/* SPDX-License-Identifier: Apache-2.0 */
/* The command line in node: files are those of this machine, by the same names. */
"use strict";
const fs = require("fs");
const {command} = require("./index.js");

let input, at = 0;
function stdin() { // read when it is asked for
  if (!input) try { input = fs.readFileSync(0); } catch { input = Buffer.alloc(0); }
  return at < input.length ? input[at++] : null;
}
const line = process.stderr.isTTY;
let drawn = 0;
function progress(what, done, total) {
  if (!line || Date.now() - drawn < 200) return;
  drawn = Date.now();
  process.stderr.write(`\r${total > 1 ? `${done} of ${total} ` : ""}${what} \x1b[K`);
}
function write(to, bytes) {
  for (let from = 0; from < bytes.length;) {
    try { from += fs.writeSync(to, bytes, from); } catch (e) {
      if (e.code === "EPIPE") return;
      if (e.code !== "EAGAIN") throw e;
    }
  }
}
command(process.argv.slice(2), {stdin, progress}).then(done => {
  if (drawn) process.stderr.write("\r\x1b[K");
  write(1, done.out);
  write(2, done.err);
  process.exitCode = done.code;
}).catch(e => {
  process.stderr.write(`tosac: error: the program stopped: ${e.message} [bug]\n`);
  process.exitCode = 70;
});
