/* The parts that are tables and charts: error, ranges, cost, memory, CPU, settings. */

/* ---- error ---- */
function errorView() {
  const view = $("view-error");
  if (!hasErrors) return view.replaceChildren(el("h1", {}, "Error"), el("p.empty", {}, "There is no data, so nothing was measured: add samples with --calib or -i."));
  const list = D.errors.map(i => N[i]), e = (n, w, f) => n["error_" + w] && n["error_" + w][f];
  const db = v => v === "exact" ? Infinity : v, both = N.some(n => n.error_integer) && N.some(n => n.error_typed);
  const worst = n => db(judged(n).sqnr_db), chart = el("div.box", {}), explained = both && list.some(n => n.no_integer);
  view.replaceChildren(el("h1", {}, "Error"),
    el("p.soft", {}, `Every value against the float model's, on ${S.samples} sample${S.samples === 1 ? "" : "s"}. SQNR is 10 log₁₀ (Σa² / Σ(a−b)²): higher is better.`),
    el("p", {}, el("span.key", {}, el("i", {style: "background:var(--edge)"}), "typed: on its quantization grid, in float arithmetic"), el("span.key", {}, el("i", {style: "background:var(--accent)"}), "integer: as the target computes it")),
    chart, el("h2", {}, "Worst first"),
    table("Error of every value", list, [
      nodeColumn("value", n => n.id),
      {title: "", bar: 1, cell: n => bar(Math.max(.01, Math.min(60, worst(n)) / 60), errorColour(worst(n)))},
      {title: both ? "typed dB" : "SQNR dB", n: 1, value: n => db(both ? e(n, "typed", "sqnr_db") : judged(n).sqnr_db), text: n => decibel(both ? e(n, "typed", "sqnr_db") : judged(n).sqnr_db)},
      ...(both ? [{title: "integer dB", n: 1, value: n => db(e(n, "integer", "sqnr_db")), text: n => decibel(e(n, "integer", "sqnr_db"))}] : []),
      {title: "max error", n: 1, value: n => judged(n).max_error, text: n => short(judged(n).max_error)},
      {title: "in steps", n: 1, value: n => judged(n).max_steps, text: n => short(judged(n).max_steps)},
      {title: "saturated", n: 1, value: n => judged(n).saturated, text: n => percent(judged(n).saturated)},
      {title: "type", value: n => asCompiled(n), cell: n => el("code", {}, asCompiled(n).split(" ")[0])},
      placeColumn(n => n),
      ...(explained ? [{title: "no integer dB, because", why: 1, value: n => n.no_integer || "", cell: n => el("span.soft", {}, n.no_integer || "")}] : [])], {pick: n => show(n.id)}));
  chart.replaceChildren(charts.error(Math.max(280, chart.clientWidth - 34)));
}

/* ---- ranges ---- */
/* The part of the type's range that numbers reach, and that the narrowest of the channels does. */
const reached = s => s.most > s.least ? Math.max(0, Math.min(s.hi, s.most) - Math.max(s.lo, s.least)) / (s.most - s.least) : undefined;
const narrowest = s => s.low.length > 1 && s.most > s.least ? Math.min(...s.low.map((v, i) => s.high[i] - v)) / (s.most - s.least) : undefined;
const outside = s => ((s.below || 0) + (s.above || 0)) / (s.bins.reduce((a, b) => a + b, 0) + (s.below || 0) + (s.above || 0));
const stepText = s => s.steps ? `${short(Math.min(...s.steps))} .. ${short(Math.max(...s.steps))}` : short(s.step);
function rangesView() {
  const view = $("view-ranges"), values = N.filter(n => n.values), weights = N.filter(n => n.weights);
  const picture = (n, of) => charts.mini(n[of]);
  const common = of => [nodeColumn(of === "values" ? "value" : "node", n => n.id), {title: "", cell: n => picture(n, of)},
    {title: "type", value: n => of === "values" ? n.typed : n.weights.type, cell: n => el("code", {}, (of === "values" ? n.typed : n.weights.type).split(" ")[0])},
    {title: "step", csv: "step", n: 1, value: n => n[of].step || Math.max(...(n[of].steps || [0])), text: n => stepText(n[of])},
    {title: "least", n: 1, value: n => n[of].lo, text: n => short(n[of].lo)}, {title: "greatest", n: 1, value: n => n[of].hi, text: n => short(n[of].hi)},
    {title: "channels", n: 1, value: n => n[of].channels}];
  view.replaceChildren(el("h1", {}, "Ranges"),
    values.length || weights.length ? el("p.soft", {}, "How numbers lie in the range that their codes can hold. A value that reaches little of it, or whose channels reach very differently far, wastes bits; what lies outside is clipped.")
      : el("p.empty", {}, "Nothing is quantized here."),
    ...(values.length ? [el("h2", {}, "Values, on calibration samples"), table("Ranges of values", values, [...common("values"),
      {title: "range", csv: "range from", n: 1, value: n => n.values.least, text: n => `${short(n.values.least)} .. ${short(n.values.most)}`}, {title: "reached", n: 1, value: n => reached(n.values), text: n => percent(reached(n.values))},
      {title: "narrowest channel", n: 1, value: n => narrowest(n.values), text: n => percent(narrowest(n.values))}, {title: "outside", n: 1, value: n => outside(n.values), text: n => outside(n.values) ? percent(outside(n.values)) : "0"}], {pick: n => show(n.id), most: 40})] : []),
    ...(weights.length ? [el("h2", {}, "Weights and other constants"), table("Ranges of weights", weights, [...common("weights"),
      {title: "narrowest channel", n: 1, value: n => narrowest(n.weights), text: n => percent(narrowest(n.weights))}, placeColumn(n => n)], {pick: n => show(n.id), most: 40})] : []));
}

/* ---- cost ---- */
const cost = {root: 0, by: metric, rows: "node"};
const seg = (name, choices, now, pick) => el("div.seg", {role: "group", "aria-label": name}, choices.map(c => el("button", {type: "button", "aria-pressed": c === now ? "true" : "false", onclick: () => pick(c)}, c)));
function costRows() {
  if (cost.rows === "node") return N.filter(n => n[cost.by]).map(n => ({...n, key: n.name, node: n.id}));
  const of = {line: n => n.place, module: n => n.module, operator: n => n.op}[cost.rows], sums = new Map();
  for (const n of N) {
    const key = of(n);
    if (!key || !(n.cycles || n.measured || n.macs || n.bytes)) continue;
    const s = sums.get(key) || sums.set(key, {key, cycles: 0, measured: 0, macs: 0, bytes: 0, traffic: 0, nodes: 0}).get(key);
    for (const m of ["cycles", "measured", "macs", "bytes", "traffic"]) s[m] += n[m] || 0;
    s.nodes++;
  }
  return [...sums.values()];
}
function costView() {
  const view = $("view-cost"), measures = ["cycles", "measured", "macs", "bytes"].filter(m => total(m));
  if (!measures.length) return view.replaceChildren(el("h1", {}, "Cost"), el("p.empty", {}, "Nothing is known of the cost."));
  const again = change => { Object.assign(cost, change); costView(); };
  const box = el("div.box", {}), rows = costRows().sort((a, b) => b[cost.by] - a[cost.by]), top = rows.length ? rows[0][cost.by] : 1;
  const trail = [];
  for (let g = cost.root; g >= 0; g = G[g].parent) { const at = g; trail.unshift(el("button.link", {type: "button", onclick: () => again({root: at})}, G[g].name || title)); }
  view.replaceChildren(el("h1", {}, "Cost"),
    el("p.soft", {}, hasCycles ? "Cycles, multiplications and traffic as in tosac profile, by source line; bytes follow from the shapes."
      : "Multiplications and bytes follow from the shapes of each operator."),
    hasMeasured ? el("p.soft", {}, `Measured: ${whole(M.cycles)} cycles on average of ${count(M.jobs)} jobs, ${whole(M.expected_cycles)} expected (${M.file}). What was measured together is divided by expected cycles.`) : "",
    el("div.row", {}, seg("Measure", measures, cost.by, m => again({by: m})), el("span.soft", {}, ...trail.flatMap((t, i) => i ? [" › ", t] : [t]))),
    box, el("h2", {}, "Dearest first"), el("div.row", {}, seg("Rows", ["node", "line", "module", "operator"], cost.rows, r => again({rows: r}))),
    table(`Cost by ${cost.rows}`, rows, [
      {title: cost.rows, value: r => r.key, cell: r => r.node !== undefined ? nodeLink(r.node) : r.key},
      {title: "", bar: 1, cell: r => bar(r[cost.by] / top)},
      {title: "share", n: 1, value: r => r[cost.by] / total(cost.by), text: r => percent(r[cost.by] / total(cost.by))},
      ...(hasCycles ? [{title: "cycles", n: 1, value: r => r.cycles, text: r => whole(r.cycles)}] : []),
      ...(hasMeasured ? [{title: "measured", n: 1, value: r => r.measured, text: r => r.measured ? whole(r.measured) : ""},
        {title: "against expected", n: 1, value: r => r.measured && r.cycles ? r.measured / r.cycles - 1 : undefined, text: r => r.measured && r.cycles ? (r.measured < r.cycles ? "−" : "+") + Math.abs(100 * (r.measured / r.cycles - 1)).toFixed(1) + " %" : ""}] : []),
      {title: "MACs", n: 1, value: r => r.macs, text: r => count(r.macs || 0)},
      ...(peak && hasCycles ? [{title: "in use", n: 1, value: utilisation, text: r => percent(utilisation(r))}] : []),
      {title: "bytes", n: 1, value: r => r.bytes, text: r => bytes(r.bytes)},
      ...(hasCycles ? [{title: "traffic", n: 1, value: r => r.traffic, text: r => bytes(r.traffic)}] : []),
      ...(cost.rows === "node" ? [placeColumn(r => r)] : [{title: "nodes", n: 1, value: r => r.nodes}])],
      {pick: cost.rows === "node" ? r => show(r.node) : undefined}));
  box.replaceChildren(charts.flame(cost.root, cost.by, Math.max(280, box.clientWidth - 34), g => again({root: g})), charts.flameLegend(cost.by));
}

/* ---- memory ---- */
function memoryView() {
  const when = (m, i) => m.clock ? Math.round(m.clock[i]) : i;
  $("view-memory").replaceChildren(el("h1", {}, "Memory"),
    D.memory.length ? el("p.soft", {}, "Time runs from left to right; a block is at its address while the value is alive. Above: bytes in use.") : el("p.empty", {}, "Nothing has an address."),
    ...D.memory.map(m => el("div.mem", {}, el("h2", {}, m.name[0].toUpperCase() + m.name.slice(1)), el("p.soft", {}, `${bytes(m.bytes)}, ${m.blocks.length} blocks, ${m.clock ? count(m.clock[m.steps]) + " cycles" : m.steps + " " + m.unit + "s"}`), charts.memory(m),
      table(`Blocks: ${m.name}`, [...m.blocks].sort((a, b) => b[4] - a[4]), [
        {title: "value", value: b => b[0], cell: b => byName.has(b[0].split(":")[0]) ? el("span", {}, nodeLink(byName.get(b[0].split(":")[0])), b[0].includes(":") ? el("span.soft", {}, b[0].slice(b[0].indexOf(":"))) : "") : b[0]},
        {title: "bytes", n: 1, value: b => b[4], text: b => bytes(b[4])}, {title: "address", n: 1, value: b => b[3]},
        {title: m.clock ? "from cycle" : `from ${m.unit}`, n: 1, value: b => when(m, b[1]), text: b => whole(when(m, b[1]))},
        {title: m.clock ? "to cycle" : `to ${m.unit}`, n: 1, value: b => when(m, b[2] + (m.clock ? 1 : 0)), text: b => whole(when(m, b[2] + (m.clock ? 1 : 0)))}], {most: 8}))));
}

/* ---- CPU ---- */
function cpuView() {
  const view = $("view-cpu"), reasons = new Map();
  for (const c of D.cpu) (reasons.get(c.why) || reasons.set(c.why, []).get(c.why)).push(c);
  view.replaceChildren(el("h1", {}, "On the CPU"),
    D.cpu.length ? el("p.soft", {}, `${D.cpu.length} of ${S.on_target + S.on_cpu} operators stay on the CPU, for ${reasons.size === 1 ? "one reason" : reasons.size + " reasons"}.`)
      : el("p.empty", {}, `Nothing: every operator runs on ${machine}.`),
    ...[...reasons].sort((a, b) => b[1].length - a[1].length).map(([why, list]) => el("div.reason", {}, el("h2", {}, why[0].toUpperCase() + why.slice(1)),
      table(`On the CPU: ${why}`, list, [{title: "node", value: c => c.node, cell: c => byName.has(c.node) ? nodeLink(byName.get(c.node)) : c.node}, {title: "operator", value: c => c.operator}, {title: "module", value: c => c.module}, placeColumn(c => c)],
        {pick: c => byName.has(c.node) && show(byName.get(c.node)), most: 20}))));
}

/* ---- settings ---- */
function frontierPart() {
  const rows = D.frontier || [], by = ["cycles", "flash"].filter(k => rows.filter(r => r[k]).length > 1);
  if (!rows.length) return [];
  const labelled = rows.some(r => r.drop);
  return [el("h2", {}, "Settings that were tried"), el("p.soft", {}, "Accuracy on calibration samples against the cost model's cycles and the bytes of constants; the chosen one is green, the line is the Pareto frontier."),
    ...by.map(k => el("div.box", {}, charts.frontier(rows, k, 640))),
    table("Settings that were tried", rows, [{title: "setting", value: r => r.name, cell: r => r.chosen ? el("b", {}, r.name, " (chosen)") : el("span", {}, r.name)}, {title: "SQNR dB", n: 1, value: r => r.sqnr_db, text: r => decibel(r.sqnr_db)}, {title: "agreement", n: 1, value: r => r.agreement, text: r => percent(r.agreement)},
      ...(labelled ? [{title: "points lost", n: 1, value: r => r.drop, text: r => short(r.drop)}] : []), {title: "cycles", n: 1, value: r => r.cycles, text: r => whole(r.cycles)}, {title: "flash", n: 1, value: r => r.flash, text: r => bytes(r.flash)}])];
}
function commandPart(text) {
  const copy = el("button.small", {type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(text); copy.textContent = "Copied"; } catch (_) { copy.textContent = "Not allowed"; }
    say(copy.textContent);
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  }}, "Copy");
  return el("div.command", {}, el("pre", {tabindex: "0"}, text), copy);
}
function settingsView() {
  const s = D.settings, rows = [["made by", s.version], ["model", D.model.file], ["model written by", D.model.producer], ["target", S.target], ["file", S.file],
    ["quantization", s.quantization || (D.kind === "compile" ? "target default" : undefined)], ["data", (s.data || []).join(", ")], ["second", s.second],
    ...Object.entries(s.system || {}).map(([k, v]) => ["system: " + k.replace(/_/g, " "), v]), ["schema", `${D.schema} ${D.schema_version}`]].filter(r => r[1]);
  $("view-settings").replaceChildren(el("h1", {}, "Settings"), ...(s.command ? [el("p.soft", {}, "The command that reproduces this:"), commandPart(s.command)] : []),
    ...frontierPart(), el("h2", {}, "Versions and files"), table("Versions and files", rows, [{title: "what", value: r => r[0], cell: r => el("span.soft", {}, r[0])}, {title: "is", value: r => r[1], cell: r => el("code", {}, r[1])}]),
    ...(D.regions.length ? [el("h2", {}, "Regions"), table("Regions", D.regions, [{title: "region", value: r => r.name}, {title: "operators", n: 1, value: r => r.operators}, {title: "of TOSA", n: 1, value: r => r.tosa_operators},
      {title: "transposes", n: 1, value: r => r.transposes}, {title: "in", n: 1, value: r => r.bytes_in, text: r => bytes(r.bytes_in)}, {title: "out", n: 1, value: r => r.bytes_out, text: r => bytes(r.bytes_out)},
      ...(hasCycles ? [{title: "cycles", n: 1, value: r => r.cycles, text: r => whole(r.cycles)}, {title: "scratch", n: 1, value: r => r.scratch, text: r => bytes(r.scratch)}, {title: "weights", n: 1, value: r => r.weights, text: r => bytes(r.weights)}] : [])])] : []));
}
