/* What the report tells, and what follows from it. */
const D = JSON.parse($("data").textContent);
/* Cycles that a machine's counter took, by node: tosac profile --pmu LOG --into writes them. */
const M = JSON.parse($("measured").textContent);
const N = D.nodes, G = D.groups, S = D.summary;
/* "mobilevit_s/model.pt2": a file's name alone often says little. */
const title = (D.model.file || "model").split("/").filter(Boolean).slice(-2).join("/");
const leaf = path => (path || "").split("/").pop();

/* ---- what follows from the content ---- */
const isCompiled = D.kind === "compile";
/* What regions run on: a Cortex-M by itself is no accelerator. */
const machine = /^cortex-m[^+]*$/.test(S.target || "") ? S.target : "the accelerator";
const readers = N.map(() => []), groupOf = new Int32Array(N.length), itemOf = new Int32Array(N.length), placeOf = new Int32Array(G.length);
N.forEach((n, k) => { n.id = k; for (const i of n.in) readers[i].push(k); });
G.forEach((g, i) => g.items.forEach((item, k) => {
  if (item < 0) placeOf[-1 - item] = k; else { groupOf[item] = i; itemOf[item] = k; }
}));
const byName = new Map(N.map(n => [n.name, n.id]).reverse());
for (const [name, cycles] of Object.entries(M.nodes || {})) if (byName.has(name)) N[byName.get(name)].measured = cycles;
const hasMeasured = N.some(n => n.measured);
const isOperator = n => n.op !== "input" && n.op !== "output";
/* What a value is judged by: as the target computes it, where that is known. */
const judged = n => n.error_integer || n.error_typed || {};
/* The type that it has where it runs. */
const asCompiled = n => n.typed || n.second || n.type || "";
const sqnr = n => { const e = n.error_integer || n.error_typed; return e ? e.sqnr_db === "exact" ? Infinity : e.sqnr_db : undefined; };
const hasCycles = N.some(n => n.cycles), hasErrors = D.errors.length > 0;
const metric = hasCycles ? "cycles" : N.some(n => n.macs) ? "macs" : "bytes";
const peak = S.macs_per_cycle;
const utilisation = x => peak && x.cycles && x.macs ? x.macs / (x.cycles * peak) : undefined;
const whereText = n => n.region !== undefined ? `${machine}, ${(D.regions[n.region] || {}).name || "region " + n.region}`
  : n.where === "cpu" ? "CPU" : n.where === "merged" ? "fused into its neighbours" : undefined;

/* Sums over everything inside a group; least exact value. */
G.forEach(g => { g.sum = {cycles: 0, measured: 0, macs: 0, bytes: 0, nodes: 0, worst: undefined, cpu: 0}; });
N.forEach(n => {
  for (let g = groupOf[n.id]; g >= 0; g = G[g].parent) {
    const s = G[g].sum, e = sqnr(n);
    for (const m of ["cycles", "measured", "macs", "bytes"]) s[m] += n[m] || 0;
    s.nodes++;
    if (n.where === "cpu") s.cpu++;
    if (e !== undefined && (s.worst === undefined || e < s.worst)) s.worst = e;
  }
});
const total = m => G[0].sum[m];

/* ---- colours ---- */
const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
let palette = {};
function readPalette() {
  for (const k of ["bg", "panel", "ink", "soft", "edge", "line", "wash", "accent", "accent-wash", "cpu", "merged", "good", "mid", "bad", "r0", "r1", "r2", "r3", "r4", "r5", "tint", "block"])
    palette[k] = colour(k);
}
const parts = c => c[0] === "#" ? [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16)) : c.match(/\d+/g).map(Number);
function mix(a, b, t) {
  const x = parts(a), y = parts(b);
  return "rgb(" + x.map((v, i) => Math.round(v + (y[i] - v) * t)).join(",") + ")";
}
/* 15 dB and less is bad, 40 and more is good. */
const errorColour = db => db === undefined ? palette.merged : db >= 40 ? palette.good
  : db <= 15 ? palette.bad : db < 27 ? mix(palette.bad, palette.mid, (db - 15) / 12) : mix(palette.mid, palette.good, (db - 27) / 13);
/* A colour behind text: so much of it as the sheet says. */
const tinted = c => mix(palette.panel, c, parseFloat(palette.tint) / 100);
const costColour = share => mix(palette.panel, palette.accent, Math.min(1, .12 + 4 * Math.sqrt(share) * .42) * parseFloat(palette.tint) / 100);

/* ---- a note at the pointer ---- */
function tip(event, ...lines) {
  const t = $("tip");
  if (!event) { t.hidden = true; return; }
  t.replaceChildren(...lines.map((l, i) => i ? el("small", {}, l) : el("span", {}, l)));
  t.hidden = false;
  const r = t.getBoundingClientRect();
  t.style.left = Math.max(6, Math.min(innerWidth - r.width - 8, event.clientX + 14)) + "px";
  t.style.top = Math.max(6, event.clientY + 18 + r.height > innerHeight ? event.clientY - r.height - 12 : event.clientY + 18) + "px";
}
