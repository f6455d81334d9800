/* SPDX-License-Identifier: Apache-2.0 */
"use strict";
/* One command in one instance of the program, whose memory goes with it.
 *
 *   create     the module that emscripten makes
 *   module     { wasmBinary } or { instantiateWasm }: where its code comes from
 *   words      the command line, after "tosac"
 *   prepare    fills the file system before the start; it gets FS
 *   progress   called with what is being done, how many are done and of how many
 *
 * The answer has the exit code, what was printed (bytes), the file system, and the bytes of memory that were used. */
async function runTosac(create, {module, words, prepare, progress, stdin, environment}) {
  const out = [], err = [];
  const into = list => byte => { if (byte !== null) list.push(byte & 255); };
  let code = 70;
  const program = await create({
    ...module, progress, thisProgram: "tosac", stdin: stdin || (() => null), stdout: into(out), stderr: into(err),
    onExit: c => { code = c; },
    quit: (status, thrown) => { throw thrown; }, // to callMain(); in node the process would end
    preRun: [m => Object.assign(m.ENV, environment)],
  });
  prepare(program.FS);
  const returned = program.callMain(words);
  if (typeof returned === "number" && code === 70) code = returned;
  return {code, out: Uint8Array.from(out), err: Uint8Array.from(err), FS: program.FS, memory: program.HEAP8.length};
}
if (typeof module === "object") module.exports = runTosac;
