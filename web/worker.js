/* In the worker: one command, then it is over.  {module, threads, main, thread, words, files: [{name, file}]} comes in, main and thread
 * the scripts that further threads start with; progress and the answer go out. */
const textOf = bytes => new TextDecoder().decode(bytes);
function filesBelow(FS, folder, known, out) {
  for (const name of FS.readdir(folder).filter(n => n !== "." && n !== "..")) {
    const path = folder + "/" + name;
    if (FS.isDir(FS.stat(path).mode)) filesBelow(FS, path, known, out);
    else if (!known.has(path)) out.push({name: path.slice("/work/".length), bytes: FS.readFile(path)});
  }
  return out;
}
let told = 0, last = "";
function progress(what, done, total) {
  if (what === last && performance.now() - told < 50) return;
  last = what; told = performance.now();
  postMessage({progress: {what, done, total}});
}
onmessage = async ({data: {module, threads, main, thread, words, files}}) => {
  try {
    const contents = await Promise.all(files.map(async f => [f.name, new Uint8Array(await f.file.arrayBuffer())])), known = new Set();
    const prepare = FS => {
      FS.mkdir("/work");
      FS.chdir("/work");
      for (const [name, bytes] of contents) {
        const path = "/work/" + name, folder = path.slice(0, path.lastIndexOf("/"));
        if (!FS.analyzePath(folder).exists) FS.mkdir(folder);
        FS.writeFile(path, bytes, {canOwn: true});
        known.add(path);
      }
    };
    const instantiateWasm = (imports, receive) => { WebAssembly.instantiate(module, imports).then(i => receive(i, module)); return {}; };
    const {code, out, err, FS, memory} = await runTosac(createTosac, {module: {instantiateWasm, threads, mainScriptUrlOrBlob: main, locateFile: () => thread}, words, prepare, progress});
    postMessage({done: {code, out: textOf(out), err: textOf(err), memory, files: filesBelow(FS, "/work", known, [])}});
  } catch (e) {
    postMessage({done: {code: 70, out: "", err: String(e && e.message || e), memory: 0, files: []}});
  }
};
