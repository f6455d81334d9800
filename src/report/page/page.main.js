/* The page: tabs, search, what is known of a node. */
const troubles = [];
addEventListener("error", e => troubles.push(e.message));

/* ---- a node ---- */
let selected = -1;
/* "i8[1,8] q(0.05:-3)" in parts. */
const quantOf = type => { const q = /^(.*?) q\((.*):(.*)\)$/.exec(type || ""); return q ? {type: q[1], scale: q[2], zero: q[3]} : undefined; };
function spreadPart(name, s) {
  if (!s) return [];
  return [el("h4", {}, name), charts.histogram(s), el("p.soft.note", {}, `${short(s.lo)} .. ${short(s.hi)} in a range of ${short(s.least)} .. ${short(s.most)}, step ${stepText(s)}${outside(s) ? `, ${percent(outside(s))} outside` : ""}. Heights are logarithms.`),
    ...(s.low.length > 1 ? [charts.channels(s), el("p.soft.note", {}, `Least to greatest of ${s.channels} channels${s.each > 1 ? `, ${s.each} in a bar` : ""}, along axis ${s.axis}.`)] : [])];
}
function select(k) {
  const before = selected;
  selected = k;
  graph.mark(k);
  const box = $("detail");
  box.hidden = k < 0;
  if (k < 0 && before >= 0 && now === "graph" && box.contains(document.activeElement)) $("graph").focus();
  if (k < 0) return;
  const n = N[k], row = (name, ...v) => v[0] === undefined || v[0] === "" ? [] : [el("dt", {}, name), el("dd", {}, ...v)];
  const links = list => el("div.links", {}, list.slice(0, 24).map(nodeLink), list.length > 24 ? el("span.soft", {}, `and ${list.length - 24} more`) : "");
  const quant = quantOf(n.typed), used = utilisation(n), errors = [["typed", n.error_typed], ["integer", n.error_integer]].filter(e => e[1]);
  const here = "compiled to";
  box.replaceChildren(
    el("button.plain.close", {type: "button", "aria-label": "Close", onclick: () => select(-1)}, "✕"),
    el("h3", {}, n.name), el("div.soft.mono", {}, n.target || n.op),
    el("dl", {}, row("Python", n.place && el("code", {}, n.place)), row("module", n.module && el("code", {}, n.module)), row("of type", n.module_type && el("code", {}, n.module_type.split(".").pop())),
      row("runs on", whereText(n)), row("because", n.why),
      ...(quant ? [row(here, el("code", {}, quant.type)), row("scale", el("code", {}, quant.scale)), row("zero point", el("code", {}, quant.zero))] : [row(here, n.typed && n.typed !== n.type ? el("code", {}, n.typed) : undefined)]).flat(),
      row("together with", n.joined && (byName.has(n.joined) ? nodeLink(byName.get(n.joined)) : n.joined)),
      row("second", n.second && el("code", {}, n.second)), row("in the model", n.type && el("code", {}, n.type)),
      row("cycles", n.cycles ? `${whole(n.cycles)}, ${percent(n.cycles / total("cycles"))} of all` : undefined), row("measured", n.measured ? `${whole(n.measured)} cycles` : undefined), row("MACs", n.macs ? count(n.macs) : undefined),
      row("in use", used !== undefined ? `${percent(used)} of the multipliers` : undefined), row("bytes", n.bytes ? bytes(n.bytes) : undefined), row("traffic", n.traffic ? bytes(n.traffic) : undefined), row("hint", n.hint)),
    errors.length || n.no_integer ? el("h4", {}, "Error") : "",
    errors.length ? el("table", {}, el("tr", {}, ["", "SQNR dB", "max", "steps", "saturated"].map((t, i) => el(i ? "th.n" : "th", {scope: "col"}, t))),
      errors.map(([w, e]) => el("tr", {}, el("td", {}, w), el("td.n", {}, decibel(e.sqnr_db)), el("td.n", {}, short(e.max_error)), el("td.n", {}, short(e.max_steps)), el("td.n", {}, percent(e.saturated))))) : "",
    n.no_integer ? el("p.soft.note", {}, `No integer dB: ${n.no_integer}.`) : "",
    ...spreadPart("Values", n.values), ...spreadPart("Weights", n.weights),
    n.tosa ? el("h4", {}, "TOSA operators") : "", n.tosa ? el("div", {}, chips(n.tosa)) : "",
    n.in.length ? el("h4", {}, "Reads") : "", n.in.length ? links(n.in) : "", readers[k].length ? el("h4", {}, "Read by") : "", readers[k].length ? links(readers[k]) : "");
  box.scrollTop = 0;
  say(`${n.name}, ${n.op}, ${asCompiled(n).split(" ")[0]}${whereText(n) ? ", " + whereText(n) : ""}`);
}
function chips(list) {
  const counts = new Map();
  for (const t of list) counts.set(t, (counts.get(t) || 0) + 1);
  return [...counts].map(([t, c]) => el("span.chip", {}, t + (c > 1 ? " × " + c : "")));
}
/* From anywhere: the node in the graph, with what is known of it. */
function show(k) { go("graph"); select(k); graph.reveal(k); $("graph").focus({preventScroll: true}); }

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
  $("search").setAttribute("aria-expanded", words.length ? "true" : "false");
  $("search").setAttribute("aria-activedescendant", matches.length ? "found-0" : "");
  list.replaceChildren(...(matches.length ? matches.slice(0, 50).map((n, i) => el("li", {role: "option", id: "found-" + i, "aria-selected": i === at ? "true" : "false", onpointerdown: e => { e.preventDefault(); take(i); }},
    n.name, el("small", {}, [n.op, n.module, n.place].filter(Boolean).join(" · ")))) : words.length ? [el("li.none", {role: "option", "aria-disabled": "true"}, "Nothing of that name")] : []));
}
function take(i) {
  if (!matches[i]) return;
  $("found").hidden = true;
  $("search").blur();
  show(matches[i].id);
}
$("search").addEventListener("input", e => find(e.target.value));
$("search").addEventListener("focus", e => e.target.value && find(e.target.value));
$("search").addEventListener("blur", () => { $("found").hidden = true; $("search").setAttribute("aria-expanded", "false"); });
$("search").addEventListener("keydown", e => {
  if (e.key === "Enter") take(at);
  else if (e.key === "Escape") e.target.blur();
  else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
    at = Math.max(0, Math.min(Math.min(50, matches.length) - 1, at + (e.key === "ArrowDown" ? 1 : -1)));
    e.target.setAttribute("aria-activedescendant", "found-" + at);
    [...$("found").children].forEach((li, i) => { li.setAttribute("aria-selected", i === at); if (i === at) li.scrollIntoView({block: "nearest"}); });
  } else return;
  e.preventDefault();
});
addEventListener("keydown", e => {
  if (e.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) { e.preventDefault(); $("search").focus(); }
  if (e.key === "Escape" && selected >= 0) select(-1);
});

/* ---- tabs, colours ---- */
const tabs = [...(D.changes ? [["changes", "Changes", changesView]] : []), ["overview", "Overview", overview], ["graph", "Graph", null], ["error", "Error", errorView], ["ranges", "Ranges", rangesView], ["cost", "Cost", costView], ["memory", "Memory", memoryView], ["cpu", "CPU", cpuView], ["settings", "Settings", settingsView]]
  .filter(([id]) => id === "ranges" ? N.some(n => n.values || n.weights) : isCompiled || !["cost", "memory", "cpu"].includes(id));
let now = "";
function go(name) {
  if (!tabs.some(t => t[0] === name)) name = tabs[0][0];
  const before = now;
  now = name;
  for (const [id] of tabs) { $("view-" + id).hidden = id !== name; $("tab-" + id).setAttribute("aria-selected", id === name); $("tab-" + id).tabIndex = id === name ? 0 : -1; }
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
function repaint() {
  readPalette();
  legend();
  const fill = tabs.find(t => t[0] === now);
  if (fill && fill[2]) fill[2]();
  graph.redraw();
}
for (const [id, text] of tabs) {
  $("tabs").append(el("button", {id: "tab-" + id, type: "button", role: "tab", "aria-controls": "view-" + id, onclick: () => go(id)}, text));
  for (const [k, v] of [["role", "tabpanel"], ["aria-labelledby", "tab-" + id], ["tabindex", "-1"]]) $("view-" + id).setAttribute(k, v);
}
$("tabs").addEventListener("keydown", e => {
  const at = tabs.findIndex(t => t[0] === now), to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1}[e.key];
  if (to === undefined) return;
  e.preventDefault();
  go(tabs[(to + tabs.length) % tabs.length][0]);
  $("tab-" + now).focus();
});
$("skip").addEventListener("click", e => { e.preventDefault(); (now === "graph" ? $("graph") : $("view-" + now)).focus(); });
for (const [value, title] of [["where", "by place"], ["error", "by error"], ["cost", "by cost"]])
  if (value === "where" || (value === "error" ? hasErrors : total(metric))) $("colour").append(el("option", {value}, title));
$("colour").addEventListener("change", legend);
document.querySelectorAll("[data-graph]").forEach(b => b.addEventListener("click", () => graph[b.dataset.graph]()));
$("name").textContent = title;
$("about").textContent = S.target ? "for " + S.target : D.kind === "compare" ? "compared with " + leaf(D.settings.second) : D.kind === "quantize" ? "quantized" : "";
followTheme(repaint);
go(location.hash.slice(1));
addEventListener("hashchange", () => go(location.hash.slice(1)));
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; const fill = tabs.find(t => t[0] === now)[2]; if (fill) fill(); } });
window.tosac = {data: D, graph, show, select, go, find, take, troubles, selected: () => selected, matches: () => matches, ready: true};
