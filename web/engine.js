/* The compiler in a tab: one command at a time, each in a worker of its own, whose memory goes with it.  Where the server isolates the
 * page, the program is the one whose threads share memory. */
"use strict";
const engine = (() => {
  const decoded = text => new Response(new Blob([Uint8Array.from(atob(text), c => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("gzip")));
  const threads = globalThis.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, 16) : 1;
  let loaded, worker = null, end = null;
  function script(src) {
    return new Promise((resolve, reject) => document.body.append(el("script", {src, onload: resolve, onerror: () => reject(new Error(src))})));
  }
  const url = text => URL.createObjectURL(new Blob([text], {type: "text/javascript"}));
  async function load() {
    await script(threads > 1 ? "threads.js" : "program.js");
    const {wasm, main, thread, run} = tosacProgram;
    delete tosacProgram.wasm;
    return {module: await WebAssembly.compile(await (await decoded(wasm)).arrayBuffer()), url: url(main + "\n" + run), threads, main: url(main), thread: thread && url(thread)};
  }
  /* files: [{name, file}], a File or Blob each.  The answer: {code, out, err, memory, files}; null when it was stopped. */
  async function run(words, files, progress) {
    const program = await (loaded = loaded || load());
    return new Promise(resolve => {
      worker = new Worker(program.url);
      end = answer => { worker.terminate(); worker = end = null; resolve(answer); };
      worker.onmessage = ({data}) => data.done ? end(data.done) : progress && progress(data.progress);
      worker.onerror = e => end({code: 70, out: "", err: e.message || "the worker did not start", memory: 0, files: []});
      worker.postMessage({...program, words, files});
    });
  }
  return {run, decoded, script, threads, stop: () => end && end(null), isRunning: () => !!worker};
})();
