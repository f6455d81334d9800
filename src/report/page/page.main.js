/* The page: tabs, tables, search, what is known of a node. */
const troubles = [];
addEventListener("error", e => troubles.push(e.message));
const S = D.summary;
/* "mobilevit_s/model.pt2": a file's name alone often says little. */
const title = (D.model.file || "model").split("/").filter(Boolean).slice(-2).join("/");

/* ---- tables ---- */
/* columns: {title, text(row), sort(row), n: number, cell(row)}; rows beyond `most` come on request. */
function table(rows, columns, pick, sorted, most = 60) {
  let by = sorted ?? -1, turn = 1, shown = most;
  const body = el("tbody"), head = el("tr"), more = el("button.more", {onclick: () => { shown += 500; fill(); }}), box = el("div", {}, el("div.scroll", {}, el("table", {}, el("thead", {}, head), body)), more);
  columns.forEach((c, i) => head.append(el("th" + (c.n ? ".n" : "") + (c.sort ? ".sort" : ""), c.sort ? {onclick: () => { turn = by === i ? -turn : 1; by = i; fill(); }} : {}, c.title)));
  function fill() {
    const list = by >= 0 ? [...rows].sort((a, b) => { const x = columns[by].sort(a), y = columns[by].sort(b); return turn * (x < y ? -1 : x > y ? 1 : 0); }) : rows;
    body.replaceChildren(...list.slice(0, shown).map(r => el(pick ? "tr.pick" : "tr", pick ? {onclick: () => pick(r)} : {},
      columns.map(c => { const v = c.cell ? c.cell(r) : c.text(r); return el("td" + (c.n ? ".n" : "") + (c.bar ? ".barcell" : ""), {}, v ?? "–"); }))));
    more.hidden = rows.length <= shown;
    more.textContent = `Show more of ${rows.length}`;
  }
  fill();
  return box;
}
const bar = (share, c) => el("span.bar", {style: `width:${Math.max(0, Math.min(100, 100 * share)).toFixed(2)}%;${c ? "background:" + c : ""}`});
const nodeLink = k => el("button.link", {onclick: e => { e.stopPropagation(); show(k); }}, N[k].name);

/* ---- overview ---- */
function card(value, unit, label) { return el("div.card", {}, el("b", {}, value, unit ? el("small", {}, unit) : ""), el("span", {}, label)); }
function cards() {
  const list = [], split = text => text.split(" ");
  if (S.sqnr_integer_db !== undefined || S.sqnr_typed_db !== undefined) list.push(card(decibel(S.sqnr_integer_db ?? S.sqnr_typed_db), "dB", `SQNR of the output, ${S.samples} sample${S.samples === 1 ? "" : "s"}`));
  if (S.seconds) { const [v, u] = seconds(S.seconds); list.push(card(v, u, `per inference at ${count(S.clock_hz)}Hz, estimated`)); }
  if (S.cycles) list.push(card(...split(count(S.cycles)), "cycles of the accelerator"));
  if (S.macs) list.push(card(...split(count(S.macs)), "multiplications"));
  if (S.cycles && S.macs && peak) list.push(card(...split(percent(S.macs / S.cycles / peak)), "of the multipliers in use"));
  if (S.bytes) list.push(card(...split(bytes(S.bytes)), "written"));
  if (S.sram) list.push(card(...split(bytes(S.sram)), "of the accelerator's SRAM, at most"));
  if (S.memory) list.push(card(...split(bytes(S.memory)), "for activations of the program"));
  if (S.regions !== undefined) list.push(card(S.regions, "", S.regions === 1 ? "region on the accelerator" : "regions on the accelerator"));
  if (S.on_cpu !== undefined) list.push(card(S.on_cpu, `of ${S.on_target + S.on_cpu}`, "operators on the CPU"));
  list.push(card(S.operators, "", "operators in the model"));
  return el("div.cards", {}, list);
}
function overview() {
  const view = $("view-overview"), parts = [el("h1", {}, title),
    el("p.soft", {}, [S.target && `for ${S.target}`, D.model.producer, D.settings.second && `compared with ${leaf(D.settings.second)}`].filter(Boolean).join(" · ")), cards()];
  const dear = [...N].filter(n => n[metric]).sort((a, b) => b[metric] - a[metric]).slice(0, 6), poor = D.errors.slice(0, 6).map(i => N[i]);
  const two = el("div.two", {});
  if (dear.length) two.append(el("div", {}, el("h2", {}, `Where the ${metric} go`), table(dear, [
    {title: "node", cell: n => nodeLink(n.id)}, {title: metric, n: 1, text: n => count(n[metric])}, {title: "", bar: 1, cell: n => bar(n[metric] / dear[0][metric])}], n => show(n.id))));
  if (poor.length) two.append(el("div", {}, el("h2", {}, "Least exact values"), table(poor, [
    {title: "value", cell: n => nodeLink(n.id)}, {title: "SQNR dB", n: 1, text: n => decibel((n.error_integer || n.error_typed).sqnr_db)}, {title: "from", cell: n => el("span.soft", {}, n.place || "")}], n => show(n.id))));
  if (two.children.length) parts.push(two);
  if (hasCycles || total("macs")) parts.push(el("h2", {}, "By module"), el("div.box", {id: "overview-flame"}));
  const A = S.accuracy, said = (o, f) => o[f] === undefined ? "" : o.real ? (o[f] === null ? "the same" : decibel(o[f])) : "";
  if (A && A.outputs.length) parts.push(el("h2", {}, "The compiled program against the model"),
    el("p.soft", {}, `On ${A.samples} ${A.invented ? "random " : ""}sample${A.samples === 1 ? "" : "s"}${A.set_aside ? `, and on ${A.set_aside} that calibration set aside` : ""}, before it was written.`),
    table(A.outputs, [{title: "output", text: o => o.name}, {title: "SQNR dB", n: 1, text: o => said(o, "sqnr_db")}, {title: "as typed, dB", n: 1, text: o => said(o, "typed_sqnr_db")},
      {title: "equal", n: 1, text: o => o.real ? "" : percent(o.agreement)}, {title: "lost", n: 1, text: o => o.lost}, {title: "set aside, dB", n: 1, text: o => o.set_aside ? said({...o.set_aside, real: o.real}, "sqnr_db") : ""}], null));
  const ports = [...D.model.inputs.map(p => ["in", p]), ...D.model.outputs.map(p => ["out", p])];
  parts.push(el("h2", {}, "Inputs and outputs"), table(ports, [{title: "", text: p => p[0]}, {title: "name", text: p => p[1].name}, {title: "type", cell: p => el("code", {}, p[1].type)}], null));
  view.replaceChildren(...parts);
  const box = $("overview-flame");
  if (box) box.replaceChildren(charts.flame(0, metric, Math.max(280, box.clientWidth - 34), g => { cost.root = g; go("cost"); }));
}

/* ---- error ---- */
function errorView() {
  const view = $("view-error");
  if (!hasErrors) return view.replaceChildren(el("h1", {}, "Error"), el("p.empty", {}, "There is no data, so nothing was measured: add samples with --calib or -i."));
  const list = D.errors.map(i => N[i]), e = (n, w, f) => n["error_" + w] && n["error_" + w][f];
  const db = v => v === "exact" ? Infinity : v ?? Infinity, both = N.some(n => n.error_integer) && N.some(n => n.error_typed);
  const worst = n => db((n.error_integer || n.error_typed).sqnr_db);
  const chart = el("div.box", {});
  view.replaceChildren(el("h1", {}, "Error"),
    el("p.soft", {}, `Every value against the float model's, on ${S.samples} sample${S.samples === 1 ? "" : "s"}. SQNR is 10 log₁₀ (Σa² / Σ(a−b)²): higher is better.`),
    el("p", {}, el("span.key", {}, el("i", {style: "background:var(--faint)"}), "typed: on its quantization grid, in float arithmetic"), el("span.key", {}, el("i", {style: "background:var(--accent)"}), "integer: as the target computes it")),
    chart, el("h2", {}, "Worst first"),
    table(list, [
      {title: "value", sort: n => n.name, cell: n => nodeLink(n.id)},
      {title: "", bar: 1, cell: n => bar(Math.max(.01, Math.min(60, worst(n)) / 60), errorColour(worst(n)))},
      {title: both ? "typed dB" : "SQNR dB", n: 1, sort: n => db(e(n, "typed", "sqnr_db")), text: n => decibel(both ? e(n, "typed", "sqnr_db") : (n.error_integer || n.error_typed).sqnr_db)},
      ...(both ? [{title: "integer dB", n: 1, sort: n => db(e(n, "integer", "sqnr_db")), text: n => decibel(e(n, "integer", "sqnr_db"))}] : []),
      {title: "max error", n: 1, sort: n => -(n.error_integer || n.error_typed).max_error, text: n => short((n.error_integer || n.error_typed).max_error)},
      {title: "in steps", n: 1, sort: n => -((n.error_integer || n.error_typed).max_steps || 0), text: n => short((n.error_integer || n.error_typed).max_steps)},
      {title: "saturated", n: 1, sort: n => -((n.error_integer || n.error_typed).saturated || 0), text: n => percent((n.error_integer || n.error_typed).saturated)},
      {title: "type", cell: n => el("code", {}, (n.typed || n.second || n.type || "").split(" ")[0])},
      {title: "from", cell: n => el("span.soft", {}, n.place || "")}], n => show(n.id)));
  chart.replaceChildren(charts.error(Math.max(280, chart.clientWidth - 34)));
}

/* ---- cost ---- */
const cost = {root: 0, by: metric, rows: "node"};
const seg = (choices, now, pick) => el("div.seg", {}, choices.map(c => el("button", {"aria-pressed": c === now ? "true" : "false", onclick: () => pick(c)}, c)));
function costRows() {
  if (cost.rows === "node") return N.filter(n => n[cost.by]).map(n => ({...n, key: n.name, node: n.id}));
  const of = {line: n => n.place, module: n => n.module, operator: n => n.op}[cost.rows], sums = new Map();
  for (const n of N) {
    const key = of(n);
    if (!key || !(n.cycles || n.macs || n.bytes)) continue;
    const s = sums.get(key) || sums.set(key, {key, cycles: 0, macs: 0, bytes: 0, traffic: 0, nodes: 0}).get(key);
    for (const m of ["cycles", "macs", "bytes", "traffic"]) s[m] += n[m] || 0;
    s.nodes++;
  }
  return [...sums.values()];
}
function costView() {
  const view = $("view-cost"), measures = ["cycles", "macs", "bytes"].filter(m => total(m));
  if (!measures.length) return view.replaceChildren(el("h1", {}, "Cost"), el("p.empty", {}, "Nothing was compiled, so there are no costs."));
  const again = change => { Object.assign(cost, change); costView(); };
  const box = el("div.box", {}), rows = costRows().sort((a, b) => b[cost.by] - a[cost.by]), top = rows.length ? rows[0][cost.by] : 1;
  const trail = [];
  for (let g = cost.root; g >= 0; g = G[g].parent) { const at = g; trail.unshift(el("button.link", {onclick: () => again({root: at})}, G[g].name || title)); }
  view.replaceChildren(el("h1", {}, "Cost"),
    el("p.soft", {}, hasCycles ? "Cycles, multiplications and traffic as in tosac profile, by source line; bytes follow from the shapes."
      : "Multiplications and bytes follow from the shapes of each operator."),
    el("div.row", {}, seg(measures, cost.by, m => again({by: m})), el("span.soft", {}, ...trail.flatMap((t, i) => i ? [" › ", t] : [t]))),
    box, el("p.soft", {style: "margin-top:8px"}, peak && hasCycles ? [el("span.key", {}, el("i", {style: "background:var(--cpu)"}), "few of the multipliers in use"), el("span.key", {}, el("i", {style: "background:var(--good)"}), "many")] : ""),
    el("h2", {}, "Dearest first"), el("div.row", {}, seg(["node", "line", "module", "operator"], cost.rows, r => again({rows: r}))),
    table(rows, [
      {title: cost.rows, sort: r => r.key, cell: r => r.node !== undefined ? nodeLink(r.node) : r.key},
      {title: "", bar: 1, cell: r => bar(r[cost.by] / top)},
      {title: "share", n: 1, sort: r => -r[cost.by], text: r => percent(r[cost.by] / total(cost.by))},
      ...(hasCycles ? [{title: "cycles", n: 1, sort: r => -(r.cycles || 0), text: r => whole(r.cycles)}] : []),
      {title: "MACs", n: 1, sort: r => -(r.macs || 0), text: r => count(r.macs || 0)},
      ...(peak && hasCycles ? [{title: "in use", n: 1, sort: r => -(utilisation(r) || 0), text: r => percent(utilisation(r))}] : []),
      {title: "bytes", n: 1, sort: r => -(r.bytes || 0), text: r => bytes(r.bytes)},
      ...(hasCycles ? [{title: "traffic", n: 1, sort: r => -(r.traffic || 0), text: r => bytes(r.traffic)}] : []),
      ...(cost.rows === "node" ? [{title: "from", cell: r => el("span.soft", {}, r.place || "")}] : [{title: "nodes", n: 1, sort: r => -r.nodes, text: r => r.nodes}])],
      r => r.node !== undefined && show(r.node), -1));
  box.replaceChildren(charts.flame(cost.root, cost.by, Math.max(280, box.clientWidth - 34), g => again({root: g})));
}

/* ---- memory, CPU, settings ---- */
function memoryView() {
  const dark = document.documentElement.dataset.theme === "dark";
  $("view-memory").replaceChildren(el("h1", {}, "Memory"),
    D.memory.length ? el("p.soft", {}, "Time runs from left to right; a block is at its address while the value is alive. Above: bytes in use.") : el("p.empty", {}, "Nothing was compiled, so nothing has an address."),
    ...D.memory.map(m => el("div.mem", {}, el("h2", {}, m.name + " "), el("p.soft", {}, `${bytes(m.bytes)}, ${m.blocks.length} blocks, ${m.clock ? count(m.clock[m.steps]) + " cycles" : m.steps + " " + m.unit + "s"}`), charts.memory(m, dark))));
}
function cpuView() {
  const view = $("view-cpu"), reasons = new Map();
  for (const c of D.cpu) (reasons.get(c.why) || reasons.set(c.why, []).get(c.why)).push(c);
  view.replaceChildren(el("h1", {}, "On the CPU"),
    D.kind !== "compile" ? el("p.empty", {}, "Nothing was compiled, so nothing was split.")
      : D.cpu.length ? el("p.soft", {}, `${D.cpu.length} of ${S.on_target + S.on_cpu} operators stay on the CPU, for ${reasons.size === 1 ? "one reason" : reasons.size + " reasons"}.`)
      : el("p.empty", {}, "Nothing: every operator runs on the accelerator."),
    ...[...reasons].sort((a, b) => b[1].length - a[1].length).map(([why, list]) => el("div.reason", {}, el("h3", {}, why[0].toUpperCase() + why.slice(1)),
      table(list, [{title: "node", cell: c => byName.has(c.node) ? nodeLink(byName.get(c.node)) : c.node}, {title: "operator", text: c => c.operator}, {title: "module", text: c => c.module}, {title: "from", cell: c => el("span.soft", {}, c.place || "")}],
        c => byName.has(c.node) && show(byName.get(c.node)), undefined, 20))));
}
function frontierPart() {
  const rows = D.frontier || [], by = ["cycles", "flash"].filter(k => rows.filter(r => r[k]).length > 1);
  if (!rows.length) return [];
  const labelled = rows.some(r => r.drop);
  return [el("h2", {}, "Settings that were tried"), el("p.soft", {}, "Accuracy on calibration samples against the cost model's cycles and the bytes of constants; the chosen one is green, the line is the Pareto frontier."),
    ...by.map(k => el("div.box", {}, charts.frontier(rows, k, 640))),
    table(rows, [{title: "setting", cell: r => r.chosen ? el("b", {}, r.name) : el("span", {}, r.name)}, {title: "SQNR dB", n: 1, text: r => decibel(r.sqnr_db)}, {title: "agreement", n: 1, text: r => percent(r.agreement)},
      ...(labelled ? [{title: "points lost", n: 1, text: r => short(r.drop)}] : []), {title: "cycles", n: 1, text: r => whole(r.cycles)}, {title: "flash", n: 1, text: r => bytes(r.flash)}], null)];
}
function settingsView() {
  const s = D.settings, rows = [["made by", s.version], ["model", D.model.file], ["model written by", D.model.producer], ["target", S.target], ["file", S.file],
    ["quantization", s.quantization || (D.kind === "compile" ? "target default" : undefined)], ["data", (s.data || []).join(", ")], ["second", s.second],
    ...Object.entries(s.vela || s.own || {}).map(([k, v]) => [(s.vela ? "Vela: " : "own back end: ") + k.replace(/_/g, " "), v]), ["schema", `${D.schema} ${D.schema_version}`]].filter(r => r[1]);
  const copy = el("button.button", {onclick: () => navigator.clipboard && navigator.clipboard.writeText(s.command)}, "Copy");
  $("view-settings").replaceChildren(el("h1", {}, "Settings"), s.command ? el("p.soft", {}, "The command that reproduces this:") : "", s.command ? el("pre", {}, s.command) : "", s.command ? copy : "",
    ...frontierPart(), el("h2", {}, "Versions and files"), table(rows, [{title: "", cell: r => el("span.soft", {}, r[0])}, {title: "", cell: r => el("code", {}, r[1])}], null),
    ...(D.regions.length ? [el("h2", {}, "Regions"), table(D.regions, [{title: "region", text: r => r.name}, {title: "operators", n: 1, text: r => r.operators}, {title: "of TOSA", n: 1, text: r => r.tosa_operators},
      {title: "transposes", n: 1, text: r => r.transposes}, {title: "in", n: 1, text: r => bytes(r.bytes_in)}, {title: "out", n: 1, text: r => bytes(r.bytes_out)},
      ...(hasCycles ? [{title: "cycles", n: 1, text: r => whole(r.cycles)}, {title: "scratch", n: 1, text: r => bytes(r.scratch)}, {title: "weights", n: 1, text: r => bytes(r.weights)}] : [])], null)] : []));
}

/* ---- a node ---- */
let selected = -1;
function select(k) {
  selected = k;
  graph.mark(k);
  const box = $("detail");
  box.hidden = k < 0;
  if (k < 0) return;
  const n = N[k], row = (name, ...v) => v[0] === undefined || v[0] === "" ? [] : [el("dt", {}, name), el("dd", {}, ...v)];
  const links = list => el("div.links", {}, list.slice(0, 24).map(nodeLink), list.length > 24 ? el("span.soft", {}, `and ${list.length - 24} more`) : "");
  const quant = /^(.*?) q\((.*):(.*)\)$/.exec(n.typed || ""), used = utilisation(n), errors = [["typed", n.error_typed], ["integer", n.error_integer]].filter(e => e[1]);
  box.replaceChildren(
    el("button.plain.close", {"aria-label": "Close", onclick: () => select(-1)}, "✕"),
    el("h3", {}, n.name), el("div.soft.mono", {}, n.target || n.op),
    el("dl", {}, row("Python", n.place && el("code", {}, n.place)), row("module", n.module && el("code", {}, n.module)), row("of type", n.module_type && el("code", {}, n.module_type.split(".").pop())),
      row("runs on", whereText(n)), row("because", n.why), row("float", n.type && el("code", {}, n.type)),
      ...(quant ? [row("quantized", el("code", {}, quant[1])), row("scale", el("code", {}, quant[2])), row("zero point", el("code", {}, quant[3]))] : [row("quantized", n.typed && n.typed !== n.type ? el("code", {}, n.typed) : undefined)]).flat(),
      row("second", n.second && el("code", {}, n.second)),
      row("cycles", n.cycles ? `${whole(n.cycles)}, ${percent(n.cycles / total("cycles"))} of all` : undefined), row("MACs", n.macs ? count(n.macs) : undefined),
      row("in use", used !== undefined ? `${percent(used)} of the multipliers` : undefined), row("bytes", n.bytes ? bytes(n.bytes) : undefined), row("traffic", n.traffic ? bytes(n.traffic) : undefined), row("hint", n.hint)),
    errors.length ? el("h4", {}, "Error") : "",
    errors.length ? el("table", {}, el("tr", {}, ["", "SQNR dB", "max", "steps", "saturated"].map((t, i) => el(i ? "th.n" : "th", {}, t))),
      errors.map(([w, e]) => el("tr", {}, el("td", {}, w), el("td.n", {}, decibel(e.sqnr_db)), el("td.n", {}, short(e.max_error)), el("td.n", {}, short(e.max_steps)), el("td.n", {}, percent(e.saturated))))) : "",
    n.tosa ? el("h4", {}, "TOSA operators") : "", n.tosa ? el("div", {}, chips(n.tosa)) : "",
    n.in.length ? el("h4", {}, "Reads") : "", n.in.length ? links(n.in) : "", readers[k].length ? el("h4", {}, "Read by") : "", readers[k].length ? links(readers[k]) : "");
  box.scrollTop = 0;
}
function chips(list) {
  const counts = new Map();
  for (const t of list) counts.set(t, (counts.get(t) || 0) + 1);
  return [...counts].map(([t, c]) => el("span.chip", {}, t + (c > 1 ? " × " + c : "")));
}
/* From anywhere: the node in the graph, with what is known of it. */
function show(k) { go("graph"); select(k); graph.reveal(k); }

/* ---- search ---- */
let matches = [], at = 0;
function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean), list = $("found");
  matches = []; at = 0;
  if (words.length) {
    for (const n of N) {
      const hay = [n.name, n.op, n.target, n.module, n.place, n.module_type].filter(Boolean).join(" ").toLowerCase();
      if (words.every(w => hay.includes(w))) matches.push(n);
    }
    const rank = n => n.name.toLowerCase() === text.toLowerCase() ? 0 : n.name.toLowerCase().startsWith(words[0]) ? 1 : 2;
    matches.sort((a, b) => rank(a) - rank(b) || a.id - b.id);
  }
  list.hidden = !words.length;
  list.replaceChildren(...(matches.length ? matches.slice(0, 50).map((n, i) => el("li", {role: "option", "aria-selected": i === at ? "true" : "false", onpointerdown: e => { e.preventDefault(); take(i); }},
    n.name, el("small", {}, [n.op, n.module, n.place].filter(Boolean).join(" · ")))) : words.length ? [el("li.none", {}, "Nothing of that name")] : []));
}
function take(i) {
  if (!matches[i]) return;
  $("found").hidden = true;
  $("search").blur();
  show(matches[i].id);
}
$("search").addEventListener("input", e => find(e.target.value));
$("search").addEventListener("focus", e => e.target.value && find(e.target.value));
$("search").addEventListener("blur", () => { $("found").hidden = true; });
$("search").addEventListener("keydown", e => {
  if (e.key === "Enter") take(at);
  else if (e.key === "Escape") e.target.blur();
  else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
    at = Math.max(0, Math.min(Math.min(50, matches.length) - 1, at + (e.key === "ArrowDown" ? 1 : -1)));
    [...$("found").children].forEach((li, i) => { li.setAttribute("aria-selected", i === at); if (i === at) li.scrollIntoView({block: "nearest"}); });
  } else return;
  e.preventDefault();
});
addEventListener("keydown", e => {
  if (e.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) { e.preventDefault(); $("search").focus(); }
  if (e.key === "Escape" && selected >= 0) select(-1);
});

/* ---- tabs, colours ---- */
const tabs = [["overview", "Overview", overview], ["graph", "Graph", null], ["error", "Error", errorView], ["cost", "Cost", costView], ["memory", "Memory", memoryView], ["cpu", "CPU", cpuView], ["settings", "Settings", settingsView]];
let now = "";
function go(name) {
  if (!tabs.some(t => t[0] === name)) name = "overview";
  const before = now;
  now = name;
  for (const [id] of tabs) { $("view-" + id).hidden = id !== name; $("tab-" + id).setAttribute("aria-selected", id === name); }
  if (name !== "graph" && selected >= 0) select(-1);
  if (name === "graph" && !graph.started) { graph.started = true; graph.start(); }
  graph.redraw();
  const fill = tabs.find(t => t[0] === name)[2];
  if (fill && before !== name) fill();
  tip(null);
  if (location.hash !== "#" + name) history.replaceState(null, "", "#" + name);
  $("tab-" + name).scrollIntoView({block: "nearest", inline: "nearest"});
}
function legend() {
  const mode = $("colour").value, key = (c, t) => el("span.key", {}, el("i", {style: "background:" + c}), t);
  graph.colourBy(mode);
  $("legend").replaceChildren(...(mode === "error" ? [key(palette.bad, "15 dB"), key(palette.mid, "27 dB"), key(palette.good, "40 dB and more")]
    : mode === "cost" ? [key(costColour(0), "cheap"), key(costColour(.3), `expensive, by ${metric}`)]
    : D.kind === "compile" ? [...D.regions.slice(0, 6).map((r, i) => key(palette["r" + i], r.name)), key(palette.cpu, "CPU"), key(palette.merged, "fused into others")] : [key(palette.r0, "operator")]));
}
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  readPalette();
  legend();
  const fill = tabs.find(t => t[0] === now);
  if (fill && fill[2]) fill[2]();
  graph.redraw();
}
for (const [id, title] of tabs) $("tabs").append(el("button", {id: "tab-" + id, role: "tab", onclick: () => go(id)}, title));
for (const [value, title] of [["where", "by place"], ["error", "by error"], ["cost", "by cost"]])
  if (value === "where" || (value === "error" ? hasErrors : total(metric))) $("colour").append(el("option", {value}, title));
$("colour").addEventListener("change", legend);
document.querySelectorAll("[data-graph]").forEach(b => b.addEventListener("click", () => graph[b.dataset.graph]()));
$("name").textContent = title;
$("about").textContent = S.target ? "for " + S.target : D.kind === "compare" ? "compared with " + leaf(D.settings.second) : D.kind === "quantize" ? "quantized" : "";
const dark = matchMedia("(prefers-color-scheme: dark)");
$("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
dark.addEventListener("change", e => setTheme(e.matches ? "dark" : "light"));
setTheme(dark.matches ? "dark" : "light");
go(location.hash.slice(1));
addEventListener("hashchange", () => go(location.hash.slice(1)));
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; const fill = tabs.find(t => t[0] === now)[2]; if (fill) fill(); } });
window.tosac = {data: D, graph, show, select, go, find, take, troubles, selected: () => selected, matches: () => matches, ready: true};
