"use strict";
/* Small helpers that the report's page and the compiler's page (web) use: elements, numbers for people, files to take along, light and dark. */
const $ = id => document.getElementById(id);

/* el("td.n", {title: "x"}, "text", child) */
function el(what, attributes, ...children) {
  const [tag, ...classes] = what.split("."), e = document.createElement(tag);
  if (classes.length) e.className = classes.join(" ");
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined && c !== false) e.append(c);
  return e;
}
function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v);
  }
  for (const c of children) e.append(c);
  return e;
}

/* ---- numbers for people ---- */
const digits = (v, n) => v >= 100 || v === Math.round(v) ? Math.round(v).toString() : v.toFixed(v >= 10 ? Math.min(n, 1) : n);
function scaled(v, step, units) {
  let i = 0;
  while (v >= step && i < units.length - 1) { v /= step; i++; }
  return [digits(v, 2), units[i]];
}
const count = v => v === undefined ? "–" : scaled(v, 1000, ["", " k", " M", " G", " T"]).join("");
const bytes = v => v === undefined ? "–" : scaled(v, 1024, ["B", "KiB", "MiB", "GiB"]).join(" ");
const seconds = v => v < 1e-3 ? [digits(v * 1e6, 1), "µs"] : v < 1 ? [digits(v * 1e3, 2), "ms"] : [digits(v, 2), "s"];
const percent = v => v === undefined || isNaN(v) ? "–" : v > 0 && v < .0005 ? "< 0.1 %" : (100 * v).toFixed(v < .0995 ? 1 : 0) + " %";
const whole = v => v === undefined ? "–" : Math.round(v).toLocaleString("en").replace(/,/g, "\u202f");
const decibel = v => v === undefined ? "–" : v === "exact" ? "exact" : v.toFixed(1);
const short = v => v === undefined ? "–" : +v.toPrecision(3) + "";

/* ---- a file to take along ---- */
function save(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], {type})), a = el("a", {href: url, download: name});
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* ---- light or dark, as the system has it until the button or the page around this one says otherwise; set(theme) at each change ---- */
function followTheme(set) {
  const dark = matchMedia("(prefers-color-scheme: dark)"), turn = theme => { document.documentElement.dataset.theme = theme; set(theme); };
  const system = () => turn(dark.matches ? "dark" : "light");
  $("theme").addEventListener("click", () => turn(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  dark.addEventListener("change", system);
  addEventListener("message", e => { if (e.source === parent && /^(light|dark)$/.test(e.data?.theme)) turn(e.data.theme); });
  system();
}
