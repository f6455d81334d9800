/* Charts: error along the program, cost by module, memory over time. */
const charts = (() => {
  /* ---- error ---- */
  function error(width) {
    const H = 230, L = 40, R = 12, T = 12, B = 24;
    const points = N.filter(n => n.error_typed || n.error_integer);
    const value = e => e ? e.sqnr_db === "exact" ? 100 : e.sqnr_db : undefined;
    const finite = points.flatMap(n => [value(n.error_typed), value(n.error_integer)]).filter(v => v !== undefined && v < 100);
    const hi = Math.min(90, Math.ceil(Math.max(20, ...finite) / 10) * 10), lo = Math.min(0, Math.floor(Math.min(...finite, 0) / 10) * 10);
    const x = i => L + (width - L - R) * (points.length > 1 ? i / (points.length - 1) : .5), y = v => T + (H - T - B) * (1 - (Math.min(hi, Math.max(lo, v)) - lo) / (hi - lo));
    const s = svg("svg", {class: "chart", viewBox: `0 0 ${width} ${H}`, height: H, role: "img", "aria-label": "Error along the program"});
    for (let v = lo; v <= hi; v += hi - lo > 60 ? 20 : 10)
      s.append(svg("line", {class: "grid", x1: L, x2: width - R, y1: y(v), y2: y(v)}), svg("text", {class: "axis", x: L - 8, y: y(v) + 4, "text-anchor": "end"}, v));
    s.append(svg("text", {class: "axis", x: L, y: H - 4}, "first value"), svg("text", {class: "axis", x: width - R, y: H - 4, "text-anchor": "end"}, "last value"));
    /* A line breaks where a value has no such form. */
    const line = which => points.map((n, i) => [i, value(n[which])]).filter(p => p[1] !== undefined)
      .map(([i, v], k, all) => (k && all[k - 1][0] === i - 1 ? "L" : "M") + x(i).toFixed(1) + " " + y(v).toFixed(1) + "h.01").join("");
    s.append(svg("path", {d: line("error_typed"), fill: "none", stroke: palette.edge, "stroke-width": 1.6, "stroke-linecap": "round"}));
    s.append(svg("path", {d: line("error_integer"), fill: "none", stroke: palette.accent, "stroke-width": 1.6, "stroke-linecap": "round"}));
    const dot = svg("circle", {r: 4, fill: palette.accent, visibility: "hidden"});
    const near = e => {
      const r = s.getBoundingClientRect();
      return Math.max(0, Math.min(points.length - 1, Math.round(((e.clientX - r.left) * width / r.width - L) / (width - L - R) * (points.length - 1))));
    };
    s.append(dot);
    s.addEventListener("pointermove", e => {
      const i = near(e), n = points[i];
      dot.setAttribute("cx", x(i)); dot.setAttribute("cy", y(Math.min(value(n.error_integer) ?? Infinity, value(n.error_typed) ?? Infinity))); dot.setAttribute("visibility", "visible");
      tip(e, n.name, `typed ${decibel((n.error_typed || {}).sqnr_db)} dB, integer ${decibel((n.error_integer || {}).sqnr_db)} dB`, n.place || "");
    });
    s.addEventListener("pointerleave", () => { dot.setAttribute("visibility", "hidden"); tip(null); });
    s.addEventListener("click", e => show(points[near(e)].id));
    s.style.cursor = "pointer";
    return s;
  }

  /* ---- cost: each module as wide as what it takes ---- */
  const children = gi => G[gi].items.map(i => i < 0 ? {group: -1 - i, x: G[-1 - i].sum, name: G[-1 - i].name} : {node: i, x: N[i], name: N[i].name});
  function depth(gi) { return 1 + Math.max(0, ...G[gi].items.map(i => i < 0 ? depth(-1 - i) : 1)); }
  /* From none of the multipliers to 62 % and more of them. */
  const usedColour = used => tinted(mix(palette.cpu, palette.good, Math.min(1, used * 1.6))), unusedColour = () => tinted(palette.merged);
  function flameLegend(by) {
    const key = (style, ...text) => el("span.key", {}, style ? el(`i${style.ramp ? ".ramp" : ""}`, {style: `background:${style.ramp || style}`}) : "", ...text), known = peak && hasCycles && by !== "bytes";
    return el("p.legend", {}, key("", `Width: share of ${by}.`), key("", "A row: what the one above holds."),
      known ? key({ramp: `linear-gradient(90deg, ${[0, .2, .4, .62].map(usedColour).join(",")})`}, "colour: multipliers in use, from 0 to 62 % and more") : "",
      key(unusedColour(), known ? "without multiplications" : "a module or a node"), key("", "Click: go into a module, show a node."));
  }
  function flame(root, by, width, zoom) {
    const H = 24, levels = Math.min(14, depth(root)), s = svg("svg", {class: "chart flame", viewBox: `0 0 ${width} ${levels * H}`, height: levels * H, role: "group", "aria-label": "Cost by module"});
    const all = G[root].sum[by] || 1;
    function bar(x, w, level, thing, onclick) {
      const used = by === "bytes" ? undefined : utilisation(thing.x), share = (thing.x[by] || 0) / all, told = `${count(thing.x[by] || 0)} ${by}, ${percent((thing.x[by] || 0) / total(by))}`;
      const fill = used === undefined ? unusedColour() : usedColour(used);
      const g = svg("g", w > 34 ? {class: "slice", tabindex: 0, role: "button", "aria-label": `${thing.path || thing.name}: ${told}`} : {class: "slice", "aria-hidden": "true"});
      g.append(svg("rect", {x: x + .5, y: level * H + .5, width: Math.max(.5, w - 1), height: H - 2, rx: 3, fill}));
      if (w > 34) {
        const t = svg("text", {x: x + 7, y: level * H + 15.5});
        t.textContent = thing.name.length * 6.4 + 12 > w ? thing.name.slice(0, Math.max(1, Math.floor((w - 18) / 6.4))) + "…" : thing.name;
        g.append(t);
      }
      g.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); onclick(); } });
      g.addEventListener("pointermove", e => tip(e, thing.path || thing.name, told +
        (used === undefined ? "" : `, ${percent(used)} of the multipliers in use`), thing.x.place || ""));
      g.addEventListener("pointerleave", () => tip(null));
      g.addEventListener("click", onclick);
      s.append(g);
    }
    (function level(gi, x, w, at) {
      const g = G[gi];
      bar(x, w, at, {name: g.name || leaf(D.model.file), path: g.path, x: g.sum}, () => { tip(null); zoom(gi === root && g.parent >= 0 ? g.parent : gi); });
      if (at + 1 >= levels) return;
      for (const c of children(gi)) {
        const part = w * (c.x[by] || 0) / (g.sum[by] || 1);
        if (part >= .6) {
          if (c.group !== undefined) level(c.group, x, part, at + 1);
          else bar(x, part, at + 1, c, () => show(c.node));
        }
        x += part;
      }
    })(root, 0, width, 0);
    return s;
  }

  /* ---- memory: a block is a rectangle from its first step to its last, at its address ---- */
  const hue = text => { let h = 7; for (const c of text) h = (h * 31 + c.charCodeAt(0)) >>> 0; return 150 + h % 150; };
  function memory(m) {
    const H = 260, LIVE = 46, canvas = el("canvas", {height: H + LIVE, role: "img", "aria-label": m.name}), steps = Math.max(1, m.steps);
    canvas.style.height = H + LIVE + "px";
    const live = new Float64Array(steps + 1);
    for (const [, a, b, , n] of m.blocks) { live[a] += n; live[b + 1] -= n; }
    let most = 1;
    for (let i = 1; i <= steps; i++) live[i] += live[i - 1];
    for (let i = 0; i < steps; i++) most = Math.max(most, live[i]);
    let over = null;
    const end = m.clock ? m.clock[steps] || 1 : steps, along = m.clock ? i => m.clock[i] / end : i => i / steps;
    const rect = ([, a, b, at, n], w) => [along(a) * w, LIVE + H - (at + n) / m.bytes * H, Math.max(1, (along(b + 1) - along(a)) * w), Math.max(.8, n / m.bytes * H)];
    const stepAt = part => { let lo = 0, hi = steps - 1; while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (along(mid) <= part) lo = mid; else hi = mid - 1; } return lo; };
    function paint() {
      const w = canvas.clientWidth, ratio = devicePixelRatio || 1, c = canvas.getContext("2d");
      if (!w) return;
      canvas.width = w * ratio; canvas.height = (H + LIVE) * ratio;
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      c.clearRect(0, 0, w, H + LIVE);
      c.beginPath(); c.moveTo(0, LIVE - 6);
      for (let i = 0; i < steps; i++) { const y = LIVE - 6 - live[i] / most * (LIVE - 12); c.lineTo(along(i) * w, y); c.lineTo(along(i + 1) * w, y); }
      c.lineTo(w, LIVE - 6); c.closePath(); c.fillStyle = palette.accent; c.globalAlpha = .35; c.fill(); c.globalAlpha = 1;
      for (const b of m.blocks) {
        const [x, y, bw, bh] = rect(b, w);
        c.fillStyle = `hsl(${hue(b[0].split(":")[0])} ${palette.block})`;
        c.globalAlpha = over && over !== b ? .45 : 1;
        c.fillRect(x + .3, y + .3, Math.max(.7, bw - .6), Math.max(.6, bh - .6));
        c.globalAlpha = 1;
        if (bw > 70 && bh > 16) {
          c.fillStyle = palette.ink; c.font = "11.5px system-ui, sans-serif"; c.textBaseline = "middle";
          c.save(); c.beginPath(); c.rect(x, y, bw - 4, bh); c.clip(); c.fillText(b[0], x + 6, y + bh / 2); c.restore();
        }
      }
    }
    canvas.addEventListener("pointermove", e => {
      const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
      const found = m.blocks.findLast(b => { const [bx, by, bw, bh] = rect(b, r.width); return x >= bx && x <= bx + bw && y >= by && y <= by + bh; }) || null;
      if (found !== over) { over = found; paint(); }
      const step = stepAt(x / r.width);
      if (found) tip(e, found[0], `${bytes(found[4])} at ${found[3]}`, `${m.unit} ${found[1]} to ${found[2]}`);
      else tip(e, `${m.unit} ${step}`, `${bytes(live[step])} in use`);
    });
    canvas.addEventListener("pointerleave", () => { over = null; tip(null); paint(); });
    new ResizeObserver(paint).observe(canvas);
    return canvas;
  }
  /* ---- settings that were tried: accuracy against what each takes ---- */
  function frontier(rows, by, width) {
    const H = 250, L = 44, R = 16, T = 14, B = 34, points = rows.filter(r => r[by] && r.sqnr_db !== "exact");
    const xs = points.map(r => r[by]), ys = points.map(r => r.sqnr_db), pad = (lo, hi) => (hi - lo || Math.abs(hi) || 1) * .06;
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)], px = pad(x0, x1), py = pad(y0, y1);
    const x = v => L + (width - L - R) * (v - x0 + px) / (x1 - x0 + 2 * px), y = v => T + (H - T - B) * (1 - (v - y0 + py) / (y1 - y0 + 2 * py));
    const shown = v => by === "flash" ? bytes(v) : count(v);
    const s = svg("svg", {class: "chart", viewBox: `0 0 ${width} ${H}`, height: H, role: "img", "aria-label": `Accuracy against ${by}`});
    for (let k = 0; k <= 4; k++) {
      const v = y0 + (y1 - y0) * k / 4, u = x0 + (x1 - x0) * k / 4;
      s.append(svg("line", {class: "grid", x1: L, x2: width - R, y1: y(v), y2: y(v)}), svg("text", {class: "axis", x: L - 8, y: y(v) + 4, "text-anchor": "end"}, v.toFixed(0)));
      if (k % 2 === 0) s.append(svg("text", {class: "axis", x: x(u), y: H - 16, "text-anchor": "middle"}, shown(u)));
    }
    s.append(svg("text", {class: "axis", x: width - R, y: H - 2, "text-anchor": "end"}, by));
    /* What nothing else beats in both. */
    const edge = [...points].sort((a, b) => a[by] - b[by] || b.sqnr_db - a.sqnr_db).filter((r, i, all) => all.slice(0, i).every(q => q.sqnr_db < r.sqnr_db));
    s.append(svg("path", {d: edge.map((r, i) => (i ? "L" : "M") + x(r[by]).toFixed(1) + " " + y(r.sqnr_db).toFixed(1)).join(""), fill: "none", stroke: palette.edge, "stroke-width": 1.6}));
    for (const r of points) {
      const dot = svg("circle", {cx: x(r[by]), cy: y(r.sqnr_db), r: r.chosen ? 6 : 4, fill: r.chosen ? palette.good : palette.accent});
      dot.addEventListener("pointermove", e => tip(e, r.name, `${decibel(r.sqnr_db)} dB, ${shown(r[by])}${by === "flash" ? "" : " cycles"}`, r.chosen ? "chosen" : ""));
      dot.addEventListener("pointerleave", () => tip(null));
      s.append(dot);
    }
    return s;
  }

  /* ---- how numbers lie in the range of their codes ---- */
  /* Counts as a curve of their logarithms: the tails are what matters. */
  const heights = s => { const most = Math.max(...s.bins, s.below || 0, s.above || 0, 1); return v => v ? .08 + .92 * Math.log1p(v) / Math.log1p(most) : 0; };
  function mini(s) {
    const W = 120, H = 22, of = heights(s), w = W / (s.bins.length + 2), out = svg("svg", {class: "mini spread", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Histogram"});
    [s.below || 0, ...s.bins, s.above || 0].forEach((v, i, all) => {
      const h = of(v) * H;
      if (h) out.append(svg("rect", {class: i === 0 || i === all.length - 1 ? "out" : "in", x: (i * w).toFixed(2), y: (H - h).toFixed(2), width: Math.max(.5, w - .4).toFixed(2), height: h.toFixed(2)}));
    });
    return out;
  }
  function histogram(s) {
    const W = 310, H = 92, B = 18, of = heights(s), w = W / (s.bins.length + 2), all = s.bins.reduce((a, b) => a + b, 0) + (s.below || 0) + (s.above || 0);
    const out = svg("svg", {class: "spread", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `Histogram from ${short(s.least)} to ${short(s.most)}`});
    out.append(svg("rect", {class: "range", x: w, y: 0, width: W - 2 * w, height: H - B}));
    [s.below || 0, ...s.bins, s.above || 0].forEach((v, i) => {
      const h = of(v) * (H - B), inside = i > 0 && i <= s.bins.length, each = (s.most - s.least) / s.bins.length;
      const r = svg("rect", {class: inside ? "in" : "out", x: (i * w).toFixed(2), y: (H - B - h).toFixed(2), width: Math.max(.5, w - .6).toFixed(2), height: h.toFixed(2)});
      r.addEventListener("pointermove", e => tip(e, inside ? `${short(s.least + (i - 1) * each)} .. ${short(s.least + i * each)}` : i ? `above ${short(s.most)}` : `below ${short(s.least)}`, `${v} numbers, ${percent(v / all)}`));
      r.addEventListener("pointerleave", () => tip(null));
      out.append(r);
    });
    out.append(svg("text", {class: "axis", x: w, y: H - 4}, short(s.least)), svg("text", {class: "axis", x: W - w, y: H - 4, "text-anchor": "end"}, short(s.most)));
    if (s.least < 0 && s.most > 0) { const x = w - s.least / (s.most - s.least) * (W - 2 * w); out.append(svg("line", {class: "line", x1: x, x2: x, y1: 0, y2: H - B}), x > 60 && x < W - 60 ? svg("text", {class: "axis", x, y: H - 4, "text-anchor": "middle"}, "0") : ""); }
    return out;
  }
  /* Each channel from its least number to its greatest. */
  function channels(s) {
    const W = 310, H = 92, T = 4, B = 18, lo = Math.min(s.least, s.lo), hi = Math.max(s.most, s.hi), n = s.low.length, w = (W - 2) / n;
    const y = v => T + (H - T - B) * (1 - (v - lo) / (hi - lo || 1)), out = svg("svg", {class: "spread", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `Reach of each of ${s.channels} channels`});
    out.append(svg("rect", {class: "range", x: 0, y: y(s.most), width: W, height: Math.max(1, y(s.least) - y(s.most))}));
    if (lo < 0 && hi > 0) out.append(svg("line", {class: "line", x1: 0, x2: W, y1: y(0), y2: y(0)}));
    s.low.forEach((v, i) => {
      const r = svg("rect", {class: "in", x: (1 + i * w).toFixed(2), y: y(s.high[i]).toFixed(2), width: Math.max(.6, w - .6).toFixed(2), height: Math.max(1, y(v) - y(s.high[i])).toFixed(2)});
      const last = Math.min(s.channels, (i + 1) * s.each) - 1;
      r.addEventListener("pointermove", e => tip(e, s.each > 1 && last > i * s.each ? `channels ${i * s.each} to ${last}` : `channel ${i * s.each}`, `${short(v)} .. ${short(s.high[i])}`, s.steps ? `step ${short(s.steps[i])}` : ""));
      r.addEventListener("pointerleave", () => tip(null));
      out.append(r);
    });
    out.append(svg("text", {class: "axis", x: 0, y: H - 4}, "channel 0"), svg("text", {class: "axis", x: W, y: H - 4, "text-anchor": "end"}, s.channels - 1));
    return out;
  }
  return {error, flame, flameLegend, memory, frontier, mini, histogram, channels};
})();
