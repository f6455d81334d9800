/* Two reports: what changed from the first to the second, whose own parts follow in the other tabs. */
const signed = v => (v > 0 ? "+" : v < 0 ? "−" : "") + digits(Math.abs(v), 1);
const signedWhole = v => (v > 0 ? "+" : "−") + whole(Math.abs(v));
const change = (a, b) => a === undefined || b === undefined ? undefined : b - a;
const relative = (a, b) => a ? (b - a) / a : undefined;
const shownBy = {bytes, cycles: whole, number: whole, milliseconds: v => v === undefined ? "–" : digits(v, 3) + " ms", db: v => decibel(v) + (typeof v === "number" ? " dB" : ""), percent: v => v === undefined ? "–" : v.toFixed(1) + " %", text: v => v ?? "–"};
function changeText(r) {
  if (r.unit === "text" || r.first === undefined || r.second === undefined) return r.first === r.second ? "" : "other";
  if (r.first === r.second) return "";
  if (r.unit === "db") return typeof r.first === "number" && typeof r.second === "number" ? signed(r.second - r.first) + " dB" : "other";
  if (r.unit === "percent") return signed(r.second - r.first) + " points";
  const part = relative(r.first, r.second);
  return part === undefined ? signed(r.second - r.first) : Math.abs(part) < .0005 ? "" : signed(100 * part) + " %";
}
/* "i8 → i16", or "i8" where both are. */
const kind = type => (type || "").split(/[[ ]/)[0] || undefined, bothOf = (a, b) => a === b ? a || "–" : `${a || "–"} → ${b || "–"}`;
function changesView() {
  const C = D.changes, view = $("view-changes"), layers = C.layers, cycles = layers.some(l => l.cycles), measured = layers.some(l => l.sqnr_db);
  const at = (l, k, i) => l[k] && l[k][i] !== null ? l[k][i] : undefined, gain = (l, k) => change(at(l, k, 0) ?? 0, at(l, k, 1) ?? 0);
  const db = (l, i) => { const v = at(l, "sqnr_db", i); return v === "exact" ? Infinity : v; };
  const far = Math.max(1, ...layers.map(l => Math.abs(gain(l, "cycles"))));
  const pair = (name, k, text) => [{title: name + " before", n: 1, value: l => at(l, k, 0), text: l => text(at(l, k, 0))}, {title: "after", csv: name + " after", n: 1, value: l => at(l, k, 1), text: l => text(at(l, k, 1))}];
  view.replaceChildren(el("h1", {}, "What changed"),
    el("p.soft", {}, `From ${C.first} to ${C.second}. ${Object.entries(C.layers_by).map(([k, v]) => `${v} ${k}`).join(", ")}. Layers go together by module and operator, then by source line, then by name.`),
    el("div.verdict", {}, el("p", {}, C.sentence)),
    el("h2", {}, "All of it"), table("What changed", C.summary, [{title: "what", value: r => r.what}, {title: "before", n: 1, value: r => r.first, text: r => shownBy[r.unit](r.first)}, {title: "after", n: 1, value: r => r.second, text: r => shownBy[r.unit](r.second)},
      {title: "change", n: 1, text: changeText}]),
    el("h2", {}, "Layer by layer"), table("Layers that changed", layers, [
      {title: "layer", value: l => l.name, cell: l => l.node >= 0 ? nodeLink(l.node) : l.name}, ...(layers.some(l => l.how !== "changed") ? [{title: "", value: l => l.how, csv: "how"}] : []),
      ...(cycles ? [...pair("cycles", "cycles", whole), {title: "change", csv: "change of cycles", n: 1, value: l => gain(l, "cycles"), text: l => Math.round(gain(l, "cycles")) ? signedWhole(gain(l, "cycles")) : ""},
        {title: "", bar: 1, cell: l => gain(l, "cycles") === 0 ? el("span", {}) : bar(Math.abs(gain(l, "cycles")) / far, gain(l, "cycles") > 0 ? "var(--bad)" : "var(--good)")}] : []),
      ...(measured ? [...pair("dB", "sqnr_db", decibel), {title: "change", csv: "change of dB", n: 1, value: l => change(db(l, 0), db(l, 1)), text: l => { const v = change(db(l, 0), db(l, 1)); return v && isFinite(v) ? signed(v) : ""; }}] : []),
      ...pair("bytes", "bytes", bytes), {title: "type", csv: "type before", value: l => at(l, "type", 0), cell: l => el("code", {}, bothOf(kind(at(l, "type", 0)), kind(at(l, "type", 1))))},
      ...(layers.some(l => at(l, "where", 0) !== at(l, "where", 1)) ? [{title: "runs on", csv: "place before", value: l => at(l, "where", 0), cell: l => bothOf(at(l, "where", 0), at(l, "where", 1))}] : []),
      placeColumn(l => l)], {pick: l => l.node >= 0 && show(l.node)}));
}
