/* The page: what to compile, the verdict, files to take along, runs to compare. */
const chosen = {model: null, data: []}, runs = [];
let targets = [], boards = [], shown = null;
const stem = name => name.replace(/\.[^.]*$/, "");
const isData = f => /\.(npy|npz|png|jpe?g|wav)$/i.test(f.name), needsRules = f => /\.(png|jpe?g|wav)$/i.test(f.name);

/* ---- what is asked for ---- */
function choose(files) {
  const data = files.filter(isData), models = files.filter(f => !isData(f));
  if (models.length) chosen.model = models[0];
  if (data.length) chosen.data = data;
  told();
}
function told() {
  const size = f => `${f.name}, ${(f.size / 1e6).toFixed(f.size < 1e6 ? 2 : 1)} MB`;
  if (chosen.model) $("model-name").firstChild.textContent = size(chosen.model) + " ";
  if (chosen.data.length) $("data-name").textContent = chosen.data.length === 1 ? size(chosen.data[0]) : `${chosen.data.length} files`;
  $("rules").hidden = !chosen.data.some(needsRules);
  $("command").textContent = chosen.model ? commandText(wordsFor(outputFor(defaultKind()))) : "";
}
/* Words as a shell divides them. */
function divided(text) {
  return [...text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(m => m[0].replace(/"([^"]*)"|'([^']*)'/g, (_, a, b) => a ?? b));
}
const commandText = words => ["tosac", ...words].map(w => /^[\w+=:,./@%-]+$/.test(w) ? w : `'${w.replace(/'/g, `'\\''`)}'`).join(" ");
const dataName = () => chosen.data.length === 1 ? chosen.data[0].name : "data";
const fileList = () => [{name: chosen.model.name, file: chosen.model},
  ...chosen.data.map(file => ({name: (chosen.data.length === 1 ? "" : "data/") + file.name, file}))];
/* The target of a choice: a board's NPU, or its core. */
function targetOf(choice) {
  const [kind, name] = choice.split(" ");
  const board = kind === "board" && boards.find(b => b.board === name), target = board ? board.npu || board.core : name;
  return targets.find(t => t.target === target) || {target};
}
const defaultKind = () => { const t = targetOf($("where").value); return t.title === "VGF" ? "vgf" : t.title === "TOSA" ? "tosa" : t.takes_c ? "c" : "pte"; };
const outputFor = kind => ["--emit", kind, "-o", `${stem(chosen.model.name)}.${kind === "stream" ? "bin" : kind}`];
function wordsFor(output) {
  const [kind, name] = $("where").value.split(" "), words = ["compile", chosen.model.name, kind === "board" ? "--board" : "-t", name];
  if (chosen.data.length) words.push("--calib", dataName());
  if (chosen.data.some(needsRules) && $("preprocess").value) words.push("--preprocess", $("preprocess").value);
  return [...words, ...divided($("options").value), ...output];
}

/* ---- messages ---- */
function say(answer, words) {
  let list = [];
  try { list = JSON.parse(answer.err).messages; } catch { if (answer.err.trim()) list = [{severity: "error", text: answer.err.trim(), notes: []}]; }
  $("messages").replaceChildren(...list.map(m => {
    const at = [m.file || "tosac", m.place].filter(Boolean).join(": ");
    return el("pre." + m.severity, {}, [`${at}: ${m.severity}: ${m.text}${m.id ? ` [${m.id}]` : ""}`, ...m.notes.map(n => `${m.file || "tosac"}: note: ${n}`)].join("\n"));
  }));
  if (answer.code === 3 || answer.code === 70)
    $("messages").append(el("pre.error", {}, `This tab could not do it; the command line can use all memory and all cores:\n${commandText(words)}`));
}

/* ---- running ---- */
function progress({what, done, total}) {
  if (total > 1) $("bar").value = done / total; else $("bar").removeAttribute("value");
  $("doing").textContent = total > 1 ? `${done} of ${total} ${what}` : what;
}
async function command(words, files) {
  for (const [id, on] of [["stop", true], ["bar", true]]) $(id).hidden = !on;
  $("start").disabled = true;
  $("bar").removeAttribute("value");
  $("doing").textContent = "starting";
  const since = performance.now(), answer = await engine.run(words, files, progress);
  $("stop").hidden = $("bar").hidden = true;
  $("start").disabled = false;
  $("doing").textContent = answer ? `${((performance.now() - since) / 1000).toFixed(1)} s, ${(answer.memory / 1048576).toFixed(0)} MiB` : "Stopped.";
  return answer;
}
async function compile() {
  if (engine.isRunning()) return;
  if (!chosen.model) { say({code: 2, err: JSON.stringify({messages: [{severity: "error", text: "choose a model, or the example", notes: []}]})}); return; }
  const kind = defaultKind(), words = wordsFor(outputFor(kind)), files = fileList();
  const answer = await command([...words, "--report", "report.html", "--json"], files);
  if (!answer) return;
  say(answer, words);
  if (answer.code) return;
  const page = answer.files.find(f => f.name === "report.html");
  const run = {number: runs.length + 1, words, files, where: $("where").value, model: chosen.model.name, json: JSON.parse(answer.out), report: page.bytes,
    made: {[kind]: answer.files.filter(f => f !== page)}};
  runs.push(run);
  show(run);
}
/* Another kind of file of the same run. */
async function make(run, kind) {
  if (!run.made[kind]) {
    if (engine.isRunning()) return;
    const words = [...run.words.slice(0, -4), "--emit", kind, "-o", `${stem(run.model)}.${kind === "stream" ? "bin" : kind}`];
    const answer = await command([...words, "--json"], run.files);
    if (!answer) return;
    say(answer, words);
    if (answer.code) return;
    run.made[kind] = answer.files;
  }
  const files = run.made[kind];
  if (files.length === 1) save(files[0].name, files[0].bytes); else save(`${stem(run.model)}-${kind}.zip`, zipOf(files));
}

/* ---- the verdict ---- */
function figures(json) {
  const v = json.verdict, streams = json.regions.map(r => r.stream).filter(Boolean), sum = k => streams.reduce((s, x) => s + (x[k] || 0), 0);
  const db = (json.accuracy ? json.accuracy.outputs : []).map(o => o.sqnr_db).filter(x => typeof x === "number");
  return {
    fits: v && v.fits !== undefined ? v.fits ? "fits" : "does not fit" : "–",
    time: v && v.milliseconds ? [short(v.milliseconds) + " ms", v.milliseconds_low ? `${short(v.milliseconds_low)} to ${short(v.milliseconds_high)} ms` : ""]
      : streams.length ? [whole(sum("cycles")) + " cycles", `${whole(sum("cycles_low"))} to ${whole(sum("cycles_high"))}`] : ["–", ""],
    memory: v ? v.memories.map(m => `${m.name} ${bytes(m.used)} of ${bytes(m.size)}`).join(", ") : json.memory ? bytes(json.memory) + " of memory" : "",
    db: db.length ? decibel(Math.min(...db)) + " dB" : "–", size: bytes(json.bytes), left: v && v.not_counted ? `Not counted: ${v.not_counted}.` : "",
  };
}
function show(run) {
  const f = figures(run.json), name = run.where.split(" ")[1], part = (title, value, more) => el("div", {}, el("h2", {}, title), el("b", {}, value), el("p", {}, more));
  shown = run;
  $("verdict").hidden = $("files").hidden = $("runs").hidden = false;
  $("verdict").replaceChildren(el("p", {}, f.fits === "–" ? `${run.model} for ${name}: compiled` : `${run.model} on ${name}: ${f.fits}`),
    el("div.asked", {}, part(f.time[0].endsWith("ms") ? "Time" : "Cost", f.time[0], [f.time[1], f.left].filter(Boolean).join(". ")),
      part("Against float", f.db, run.json.accuracy ? `worst output, ${run.json.accuracy.samples} samples` : ""), part("Memory", f.size, f.memory)));
  const t = targetOf(run.where), kinds = ["pte", "tflite", "c", ...(t.takes_stream ? ["stream"] : []), ...(t.title === "VGF" ? ["vgf"] : []), "tosa"];
  $("files").replaceChildren("Download", ...kinds.map(kind => el("button.small", {type: "button", onclick: () => make(run, kind)}, kind === "c" ? "C" : kind === "stream" ? "stream" : "." + kind)),
    el("button.small", {type: "button", onclick: () => save(stem(run.model) + ".html", run.report, "text/html")}, "report"));
  listRuns();
  frame(run.report);
}
function frame(bytes) {
  URL.revokeObjectURL($("report").src);
  $("report").hidden = false;
  $("report").src = URL.createObjectURL(new Blob([bytes], {type: "text/html"}));
}
/* The report is as light or dark as the page around it. */
function tellReport() {
  $("report").contentWindow?.postMessage({theme: document.documentElement.dataset.theme}, "*");
}
function listRuns() {
  const head = ["", "Model", "For", "Fits", "Time", "dB", "Compare"].map(t => el("th", {scope: "col"}, t));
  $("runs").replaceChildren(el("table", {}, el("tr", {}, head), ...runs.map(run => {
    const f = figures(run.json), box = el("input", {type: "checkbox", checked: !!run.picked, "aria-label": `compare run ${run.number}`, onchange: e => pick(run, e.target.checked)});
    return el("tr", {}, el("td", {}, el("button.link", {type: "button", onclick: () => show(run)}, `Run ${run.number}`)),
      ...[run.model, run.where.split(" ")[1], f.fits, f.time[0], f.db].map(x => el("td", {}, x)), el("td", {}, box));
  })));
}
/* Two runs that are picked: what the later one changes. */
async function pick(run, on) {
  run.picked = on;
  const two = runs.filter(r => r.picked);
  if (two.length > 2) { two.find(r => r !== run).picked = false; listRuns(); }
  const [a, b] = runs.filter(r => r.picked);
  if (!b || engine.isRunning()) return;
  const words = ["report", "before.html", "after.html", "-o", "changes.html"];
  const answer = await command([...words, "--json"], [{name: "before.html", file: new Blob([a.report])}, {name: "after.html", file: new Blob([b.report])}]);
  if (!answer) return;
  say(answer, words);
  if (!answer.code) frame(answer.files[0].bytes);
}

/* ---- the example, the start ---- */
async function example() {
  if (!window.tosacExample) await engine.script("example.js");
  choose(await Promise.all(tosacExample.map(async f => new File([await engine.decoded(f.data).blob()], f.name))));
  await compile();
}
async function begin() {
  const list = async verb => JSON.parse((await engine.run([verb, "--json"], [])).out);
  boards = await list("boards");
  targets = await list("targets");
  const group = (label, items) => el("optgroup", {label}, items.map(([value, text]) => el("option", {value}, text)));
  $("where").append(group("Boards", boards.map(b => ["board " + b.board, b.board])), group("Targets", targets.map(t => ["target " + t.target, t.target])));
  $("where").value = "board alif-e7-hp";
  told();
  window.tosac = {engine, runs, choose, compile, make, shown: () => shown, ready: true};
}
$("form").addEventListener("submit", e => { e.preventDefault(); compile(); });
$("form").addEventListener("input", told);
for (const id of ["model", "data"]) $(id).addEventListener("change", e => choose([...e.target.files]));
$("example").addEventListener("click", example);
$("stop").addEventListener("click", engine.stop);
addEventListener("keydown", e => { if (e.key === "Escape") engine.stop(); });
addEventListener("dragover", e => { e.preventDefault(); document.body.classList.add("over"); });
addEventListener("dragleave", () => document.body.classList.remove("over"));
addEventListener("drop", e => { e.preventDefault(); document.body.classList.remove("over"); choose([...e.dataTransfer.files]); });
followTheme(tellReport);
$("report").addEventListener("load", tellReport);
begin();
