/* The compiler in a tab: one command at a time, each in a worker of its own, whose memory goes with it. */
"use strict";
const engine = (() => {
  const decoded = text => new Response(new Blob([Uint8Array.from(atob(text), c => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("gzip")));
  let loaded, worker = null, end = null;
  async function load() {
    const module = await WebAssembly.compile(await (await decoded(tosacProgram.wasm)).arrayBuffer());
    delete tosacProgram.wasm;
    return {module, url: URL.createObjectURL(new Blob([tosacProgram.worker], {type: "text/javascript"}))};
  }
  /* files: [{name, file}], a File or Blob each.  The answer: {code, out, err, memory, files}; null when it was stopped. */
  async function run(words, files, progress) {
    const {module, url} = await (loaded = loaded || load());
    return new Promise(resolve => {
      worker = new Worker(url);
      end = answer => { worker.terminate(); worker = end = null; resolve(answer); };
      worker.onmessage = ({data}) => data.done ? end(data.done) : progress && progress(data.progress);
      worker.onerror = e => end({code: 70, out: "", err: e.message || "the worker did not start", memory: 0, files: []});
      worker.postMessage({module, words, files});
    });
  }
  return {run, decoded, stop: () => end && end(null), isRunning: () => !!worker};
})();
