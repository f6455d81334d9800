/* What one wants to know first: does it fit, how long does it take, how accurate is it, what is left to the CPU. */
const V = D.verdict, board = V && (V.title || V.board); /* with --board */
const boardShort = board && board.split(/ \(|,/)[0];

function question(name, mark, value, unit, ...notes) {
  return el("div", {}, el("h2", {}, el("i", {style: `background:var(--${mark})`, "aria-hidden": "true"}), name),
    el("b", {}, value, unit ? el("small", {}, unit) : ""), notes.filter(Boolean).map(n => typeof n === "string" ? el("p", {}, n) : n));
}
const roomText = m => `${bytes(m.used)} of ${bytes(m.size)}, ${m.used > m.size ? bytes(m.used - m.size) + " too much" : bytes(m.size - m.used) + " left"}`;
function room(m) {
  return el("div.room" + (m.used > m.size ? ".over" : ""), {}, el("span", {}, el("span", {}, m.name), el("span", {}, roomText(m))),
    el("i", {"aria-hidden": "true"}, el("u", {style: `width:${m.size ? Math.min(100, 100 * m.used / m.size) : 100 * (m.used > 0)}%`})));
}
const flash = S.weights || S.bytes, activations = S.sram || S.memory;
function fits() {
  if (V) return question("Does it fit?", V.fits ? "good" : "bad", V.fits ? "Yes" : "No", V.fits ? "it fits" : "", board, el("div", {}, V.memories.map(room)), V.bound && V.memories.some(m => m.kind === "sram" && m.used > m.size) ? `${V.bound}.` : "");
  const [a, u] = bytes(activations).split(" ");
  return question("Does it fit?", "merged", activations ? a : "–", activations ? u + (S.sram ? " of SRAM" : " of memory") : "",
    flash ? `and ${bytes(flash)} of ${S.weights ? "weights" : "file"}.` : "", "No board was named, so there is nothing to compare with: --board NAME.");
}
function time() {
  const s = V && V.milliseconds ? V.milliseconds / 1000 : S.seconds;
  if (!s) return question("How long does it take?", "merged", S.cycles ? count(S.cycles) : "–", S.cycles ? "cycles" : "",
    S.cycles ? "A clock is not known for this target." : "There is no model of this target's time.",
    S.cycles && S.on_cpu ? `Not counted: ${S.on_cpu} operator${S.on_cpu === 1 ? "" : "s"} in float or left to the caller.` : "");
  const rate = V && V.inferences_per_second || 1 / s, idle = peak && S.macs && S.cycles ? `${percent(S.macs / S.cycles / peak)} of the multipliers in use.` : "";
  return question("How long does it take?", "merged", ...seconds(s), `${rate < 1000 ? digits(rate, 1) : whole(rate)} inferences a second.`,
    S.cycles ? `${count(S.cycles)} cycles${S.cycles_high ? ` (${count(S.cycles_low)} to ${count(S.cycles_high)})` : ""}${V ? V.npu_clock_hz ? ` at ${count(V.npu_clock_hz)}Hz` : "" : S.clock_hz ? ` at ${count(S.clock_hz)}Hz` : ""}, estimated. ${idle}` : idle,
    V && V.not_counted ? `Not counted: ${V.not_counted}.` : "");
}
/* One figure for one thing: what compile says of the program, its least accurate output; else what the values' comparison gave. */
const proved = (S.accuracy ? S.accuracy.outputs : []).map(o => o.sqnr_db).filter(db => typeof db === "number");
const decibels = proved.length ? Math.min(...proved) : S.sqnr_integer_db ?? S.sqnr_typed_db;
function measuredOn() {
  const A = S.accuracy, n = proved.length ? A.samples : S.samples, some = (k, kind) => `${k} ${kind}sample${k === 1 ? "" : "s"}`;
  if (!n) return "";
  if (proved.length && A.invented) return `, on ${some(n, "random ")}`;
  if (proved.length && A.kept_back && A.calibration_samples) return `, on ${n} held-out and ${some(A.calibration_samples, "calibration ")}`;
  return `, on ${some(n, "")}`;
}
const rated = db => db === undefined ? ["merged", ""] : db === "exact" || db >= 30 ? ["good", "good"] : db >= 20 ? ["mid", "fair"] : ["bad", "poor"];
const share = a => a.right / a.samples, tenths = v => (100 * v).toFixed(1) + " %";
function accuracy() {
  const [mark] = rated(decibels), a = S.answers, db = decibels;
  const aside = S.set_aside && S.set_aside.length ? `${S.set_aside.length} sample${S.set_aside.length === 1 ? " was" : "s were"} set aside.` : "";
  if (a && a[1]) return question("How accurate is it?", share(a[1]) > share(a[0]) - .02 ? "good" : "mid", tenths(share(a[1])), "right",
    `The float model: ${tenths(share(a[0]))}; the same answer in ${tenths(a[1].agree / a[1].samples)} of ${a[1].samples} samples.`, db === undefined ? "" : `${decibel(db)} dB.`, aside);
  if (db === undefined) return question("How accurate is it?", "merged", "–", "", "Nothing was measured: samples come with --calib.");
  return question("How accurate is it?", mark, decibel(db), db === "exact" ? "" : "dB",
    `${!proved.length && S.sqnr_integer_db === undefined ? "As typed" : "The output"} against the float model${measuredOn()}.`,
    S.answers || !isCompiled ? "" : "Labels (--labels) would say how many answers are right.", aside);
}
function onCpu() {
  const all = S.on_target + S.on_cpu;
  const dear = D.cpu.length, conversions = D.cpu.filter(c => c.operator === "rescale").length;
  return question("What is on the CPU?", S.on_cpu === 0 ? "good" : S.on_target ? S.on_cpu <= 2 ? "good" : "mid" : "merged", S.on_cpu ? S.on_cpu : "Nothing", S.on_cpu ? `of ${all} operators` : "",
    S.on_cpu === 0 ? `All ${all} operators are on ${machine}${S.regions > 1 ? `, in ${S.regions} regions` : ""}.`
      : S.on_target ? `${S.on_target} are on ${machine}, in ${S.regions} region${S.regions === 1 ? "" : "s"}.` : "Everything.",
    conversions && conversions === dear ? "They convert between float and integers." : dear && S.on_target ? el("p", {}, el("button.link", {type: "button", onclick: () => go("cpu")}, "Which, and why")) : "");
}
/* The four answers as one sentence. */
function sentence() {
  const list = [], s = V && V.milliseconds ? V.milliseconds / 1000 : S.seconds, a = S.answers;
  if (V) list.push(V.fits ? `It fits on ${boardShort}` : `It does not fit on ${boardShort}`);
  if (s) list.push(`${seconds(s).join(" ")} an inference${V ? "" : ` on ${S.target}`}`);
  else if (S.cycles) list.push(`${count(S.cycles)} cycles on ${S.target}`);
  else if (S.target && !V) list.push(`Compiled for ${S.target}`);
  if (a && a[1]) list.push(`${tenths(share(a[1]))} right where float has ${tenths(share(a[0]))}`);
  else if (decibels !== undefined) list.push(decibels === "exact" ? "the same numbers as float" : `${decibel(decibels)} dB against float`);
  if (S.on_target) list.push(S.on_cpu ? `${S.on_target} of ${S.on_target + S.on_cpu} operators on ${machine}` : `everything on ${machine}`);
  const text = list.join(", ") || `${S.operators} operators`;
  return text[0].toUpperCase() + text.slice(1) + ".";
}
function figures() {
  const list = [["cycles", S.cycles && whole(S.cycles)], ["multiplications", S.macs && count(S.macs)], ["multipliers in use", S.cycles && S.macs && peak ? percent(S.macs / S.cycles / peak) : 0],
    ["written", S.bytes && bytes(S.bytes)], ["weights", S.weights && bytes(S.weights)], ["accelerator's SRAM", S.sram && bytes(S.sram)], ["program's activations", S.memory && bytes(S.memory)],
    ["regions", S.regions], ["operators in the model", S.operators],
    ...(S.fourier_transforms || []).map(f => [`${f.node}: DFT of ${f.points} points`, f.how])].filter(f => f[1] !== undefined && f[1] !== 0);
  return el("dl.figures", {}, list.map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, v))));
}
function alternatives() {
  const list = V && V.alternatives || [], used = (t, m) => ((t.memories || []).find(x => x.name === m.name) || {}).used;
  if (!list.length) return [];
  return [el("h2", {}, list.some(t => t.fits) ? "What would fit" : "What was tried to make it fit"), table("Alternatives", list, [
    {title: "with", value: t => t.options, cell: t => el("code", {}, t.options)}, {title: "fits", value: t => t.fits ? "yes" : "no"},
    ...V.memories.map(m => ({title: m.name, n: 1, value: t => used(t, m), text: t => bytes(used(t, m))})),
    {title: "ms", n: 1, value: t => t.milliseconds, text: t => short(t.milliseconds || undefined)}, {title: "dB", n: 1, value: t => t.sqnr_db, text: t => decibel(t.sqnr_db ?? undefined)},
    ...(list.some(t => t.why) ? [{title: "not compiled, because", why: 1, value: t => t.why || ""}] : [])])];
}
function asideTable() {
  const list = S.set_aside || [];
  return list.length ? [el("h2", {}, "Samples that were set aside"),
    el("p.soft", {}, "Their values reach more than twice as far as the other samples' do; ranges were chosen without them (--keep-odd-samples keeps them)."),
    table("Samples that were set aside", list, [{title: "sample", n: 1, value: a => a.sample}, ...(list.some(a => a.file) ? [{title: "file", value: a => a.file}] : []),
      {title: "far out in", n: 1, value: a => a.far_in, text: a => `${a.far_in} of ${a.of} ranges`}])] : [];
}
function answersTable() {
  return S.answers ? [el("h2", {}, "Right answers"), table("Right answers", S.answers, [{title: "program", value: a => a.program}, {title: "top-1", n: 1, value: share, text: a => tenths(share(a))},
    {title: "95 % within", n: 1, value: a => a.low, text: a => `${tenths(a.low)} .. ${tenths(a.high)}`},
    ...(S.answers[0].classes > 5 ? [{title: "top-5", n: 1, value: a => a.right_in_5 / a.samples, text: a => tenths(a.right_in_5 / a.samples)}] : []),
    {title: "as the model", n: 1, value: a => a.agree / a.samples, text: a => tenths(a.agree / a.samples)}, {title: "samples", n: 1, value: a => a.samples}])] : [];
}
function outputsTable() {
  const A = S.accuracy, db = (o, f) => o.real ? o[f] === null ? Infinity : o[f] : undefined, text = v => v === undefined ? "" : v === Infinity ? "the same" : decibel(v);
  return A && A.outputs.length ? [el("h2", {}, "The compiled program against the model"),
    el("p.soft", {}, `On ${A.samples} ${A.invented ? "random " : ""}sample${A.samples === 1 ? "" : "s"}${A.set_aside ? `, and on ${A.set_aside} that calibration set aside` : ""}, before it was written.`),
    table("Outputs", A.outputs, [{title: "output", value: o => o.name}, {title: "SQNR dB", n: 1, value: o => db(o, "sqnr_db"), text: o => text(db(o, "sqnr_db"))}, {title: "as typed, dB", n: 1, value: o => db(o, "typed_sqnr_db"), text: o => text(db(o, "typed_sqnr_db"))},
      {title: "equal", n: 1, value: o => o.agreement, text: o => o.real ? "" : percent(o.agreement)}, {title: "lost", n: 1, value: o => o.lost},
      ...(A.set_aside ? [{title: "set aside, dB", n: 1, value: o => o.set_aside && db({...o.set_aside, real: o.real}, "sqnr_db"), text: o => o.set_aside ? text(db({...o.set_aside, real: o.real}, "sqnr_db")) : ""}] : [])])] : [];
}
function adviceTable() {
  const A = D.advice, known = i => i.node && byName.has(i.node);
  if (!A) return [];
  const signed = (v, digits, unit) => Math.abs(v) >= 0.5 / 10 ** digits ? (v > 0 ? "+" : "") + v.toFixed(digits) + unit : "";
  const column = (title, value, digits, unit) => ({title, n: 1, value, text: i => signed(value(i), digits, unit)});
  const part = (title, f) => column(title, i => i.before[f] > 0 ? 100 * (i.then[f] / i.before[f] - 1) : undefined, 1, " %"), left = f => f.on_cpu + f.converts;
  return [el("h2", {id: "advice"}, "Advice"),
    el("p.soft", {}, `${A.tried} changes tried, ${A.advice.length} worth making. Each is the whole program, compiled without and with it: cycles are estimated by the cost model, dB measured on samples.`),
    table("Advice", A.advice, [{title: "change", value: i => i.change, cell: i => el("div", {}, i.change, el("div.soft", {}, i.why + (i.retrain ? "; to be trained again" : "")), i.option ? el("code", {}, i.option) : "")},
      part("cycles", "cycles"), part("SRAM", "sram"), part("flash", "flash"), column("on the CPU", i => left(i.then) - left(i.before), 0, ""), column("dB", i => i.then.sqnr_db - i.before.sqnr_db, 1, ""),
      {title: "figures", value: i => i.basis}], {pick: i => known(i) && show(byName.get(i.node))})];
}
function overview() {
  const view = $("view-overview"), parts = [el("h1", {}, title),
    el("p.soft", {}, [S.target && `for ${S.target}`, D.model.producer, D.settings.second && `compared with ${leaf(D.settings.second)}`].filter(Boolean).join(" · ")),
    el("div.verdict", {id: "verdict"}, el("p", {}, sentence()), el("div.asked", {}, isCompiled ? [fits(), time(), accuracy(), onCpu()] : accuracy())), figures(), ...alternatives()];
  const dear = [...N].filter(n => n[metric]).sort((a, b) => b[metric] - a[metric]).slice(0, 6), poor = D.errors.slice(0, 6).map(i => N[i]);
  const two = el("div.two", {});
  if (dear.length) two.append(el("div", {}, el("h2", {}, `Where the ${metric} go`), table(`Where the ${metric} go`, dear, [
    nodeColumn("node", n => n.id), {title: metric, n: 1, value: n => n[metric], text: n => count(n[metric])}, {title: "", bar: 1, cell: n => bar(n[metric] / dear[0][metric])}], {pick: n => show(n.id)})));
  if (poor.length) two.append(el("div", {}, el("h2", {}, "Least exact values"), table("Least exact values", poor, [
    nodeColumn("value", n => n.id), {title: "SQNR dB", n: 1, value: n => judged(n).sqnr_db, text: n => decibel(judged(n).sqnr_db)}, placeColumn(n => n)], {pick: n => show(n.id)})));
  if (two.children.length) parts.push(two);
  parts.push(...adviceTable());
  if (hasCycles || total("macs")) parts.push(el("h2", {}, "By module"), el("div.box", {id: "overview-flame"}));
  parts.push(...answersTable(), ...outputsTable(), ...asideTable());
  const ports = [...D.model.inputs.map(p => ["in", p]), ...D.model.outputs.map(p => ["out", p])];
  parts.push(el("h2", {}, "Inputs and outputs"), table("Inputs and outputs", ports, [{title: "direction", value: p => p[0]}, {title: "name", value: p => p[1].name}, {title: "type", value: p => p[1].type, cell: p => el("code", {}, p[1].type)}]));
  view.replaceChildren(...parts);
  const box = $("overview-flame");
  if (box) box.replaceChildren(charts.flame(0, metric, Math.max(280, box.clientWidth - 34), g => { cost.root = g; go("cost"); }), charts.flameLegend(metric));
}
