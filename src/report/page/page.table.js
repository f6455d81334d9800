/* Tables: sorted by a click on a heading, and each as CSV.
   columns: {title, value(row): what it is sorted by and written as, text(row) or cell(row): how it is shown, n: a number}. */
const plain = v => v === undefined || v === null || v === Infinity ? "" : typeof v === "number" ? v : String(v);
/* RFC 4180: a comma, a quote or a line's end puts a field into quotes. */
const csvField = v => /[",\r\n]/.test(v) ? '"' + v.replace(/"/g, '""') + '"' : v;
const shownAs = (c, r) => c.text ? c.text(r) : c.value ? plain(c.value(r)) : c.cell(r);
function csvOf(rows, columns) {
  const kept = columns.filter(c => c.value || c.text);
  return [kept.map(c => c.csv || c.title), ...rows.map(r => kept.map(c => plain(c.value ? c.value(r) : c.text(r))))]
    .map(line => line.map(f => csvField(String(f))).join(",") + "\r\n").join("");
}
const slug = text => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
function say(text) { $("said").textContent = text; }

/* name: of the table, for its CSV; pick(row): a click on a row; most: rows at first. */
function table(name, rows, columns, {pick, most = 60} = {}) {
  let by = -1, turn = 1, shown = most;
  const body = el("tbody"), head = el("tr"), more = el("button.small", {type: "button", onclick: () => { shown += 500; fill(); }});
  const csv = el("button.small", {type: "button", "aria-label": `${name} as CSV`, onclick: () => { const file = `${slug(title)}-${slug(name)}.csv`; save(file, csvOf(sorted(), columns), "text/csv"); say(`${file} is saved`); }}, "CSV");
  const marks = columns.map((c, i) => {
    const th = el(c.n ? "th.n" : "th", {scope: "col"}, c.value && c.title ? el("button", {type: "button", onclick: () => { turn = by === i ? -turn : c.n ? -1 : 1; by = i; fill(); }}, c.title) : c.title);
    head.append(th);
    return th;
  });
  const last = c => c.n && turn < 0 ? -Infinity : Infinity;
  function sorted() {
    if (by < 0) return rows;
    const c = columns[by], key = r => { const v = c.value(r); return v === undefined || v === null ? last(c) : v; };
    return [...rows].sort((a, b) => { const x = key(a), y = key(b); return turn * (x < y ? -1 : x > y ? 1 : 0); });
  }
  function fill() {
    body.replaceChildren(...sorted().slice(0, shown).map(r => el(pick ? "tr.pick" : "tr", pick ? {onclick: () => pick(r)} : {},
      columns.map(c => { const v = c.cell ? c.cell(r) : shownAs(c, r); return el("td" + (c.n ? ".n" : "") + (c.bar ? ".barcell" : "") + (c.why ? ".why" : ""), {}, v === "" || v === undefined || v === null ? "–" : v); }))));
    marks.forEach((th, i) => i === by ? th.setAttribute("aria-sort", turn < 0 ? "descending" : "ascending") : th.removeAttribute("aria-sort"));
    more.hidden = rows.length <= shown;
    more.textContent = `Show more of ${rows.length}`;
  }
  fill();
  return el("div", {}, el("div.scroll", {tabindex: "0", role: "region", "aria-label": name}, el("table", {}, el("caption.sr", {}, name), el("thead", {}, head), body)), el("div.under", {}, more, csv));
}
const bar = (share, c) => el("span.bar", {"aria-hidden": "true", style: `width:${Math.max(0, Math.min(100, 100 * share)).toFixed(2)}%;${c ? "background:" + c : ""}`});
const nodeLink = k => el("button.link", {type: "button", onclick: e => { e.stopPropagation(); show(k); }}, N[k].name);
const nodeColumn = (title, of) => ({title, value: r => N[of(r)].name, cell: r => nodeLink(of(r))});
const placeColumn = of => ({title: "from", value: r => of(r).place || "", cell: r => el("span.soft", {}, of(r).place || "")});
