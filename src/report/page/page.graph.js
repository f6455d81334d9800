/* The graph: rows come with the content; where they lie follows from the boxes that are open.
   Drawn on a canvas, only what is in sight. */
const graph = (() => {
  const canvas = $("graph"), draw2d = canvas.getContext("2d");
  const ROW = 26, SIDE = 22, PASS = 12, PAD = 16, HEAD = 30, NODE = 40;
  const open = new Uint8Array(G.length);
  let boxes = [], edges = [], size = {w: 0, h: 0}, view = {x: 0, y: 0, k: 1}, selected = -1, hover = null, mode = "where", frame = 0;
  const edgeIndex = G.map(g => {
    const m = new Map();
    for (let e = 0; e < g.edges.length / 2; e++) m.set(g.edges[2 * e] * 1e6 + g.edges[2 * e + 1], e);
    return m;
  });

  /* ---- sizes ---- */
  const widths = new Map();
  function textWidth(text, font) {
    const key = font + text;
    if (!widths.has(key)) { draw2d.font = font; widths.set(key, draw2d.measureText(text).width); }
    return widths.get(key);
  }
  const NAME = "600 13px system-ui, sans-serif", SMALL = "11.5px system-ui, sans-serif";
  /* "conv  i8[1,48,28,28] × 0.0123": the type where it runs, and its scale. */
  const scaleOf = n => { const q = / q\(([^ :]+):/.exec(asCompiled(n)); return q ? " × " + short(+q[1]) : ""; };
  const subtitle = n => (isOperator(n) ? n.op + "  " : "") + asCompiled(n).split(" ")[0] + scaleOf(n);
  const groupTitle = g => g.name || leaf(D.model.file);
  const groupNote = g => (g.type ? g.type.split(".").pop() + ", " : "") + g.sum.nodes + " nodes";
  function sizeOf(item) {
    if (item >= 0) {
      const n = N[item];
      return {w: Math.min(240, Math.max(96, textWidth(n.name, NAME), textWidth(subtitle(n), SMALL)) + 28), h: NODE};
    }
    const g = G[-1 - item];
    return {w: Math.min(260, Math.max(110, textWidth(groupTitle(g), NAME) + 20, textWidth(groupNote(g), SMALL)) + 30), h: NODE + 4};
  }

  /* Least squares under "each at least so far right of the one before": pool adjacent violators. */
  function spread(row, wish) {
    let offset = 0;
    const pools = [];
    row.forEach((s, i) => {
      if (i) offset += (row[i - 1].w + s.w) / 2 + (s.edge >= 0 || row[i - 1].edge >= 0 ? SIDE / 2 : SIDE);
      s.offset = offset;
      let pool = {sum: s.weight * (wish[i] - offset), weight: s.weight, n: 1};
      while (pools.length && pools[pools.length - 1].sum / pools[pools.length - 1].weight > pool.sum / pool.weight) {
        const before = pools.pop();
        pool = {sum: pool.sum + before.sum, weight: pool.weight + before.weight, n: pool.n + before.n};
      }
      pools.push(pool);
    });
    let i = 0;
    for (const p of pools) for (let k = 0; k < p.n; k++, i++) row[i].x = p.sum / p.weight + row[i].offset;
  }

  /* Places the contents of a box; positions are of centres, from its own middle and top. */
  function place(gi) {
    const g = G[gi], inner = g.items.map(item => item < 0 && open[-1 - item] ? place(-1 - item) : null);
    const chain = [], itemSpot = [];
    const rows = g.rows.map(r => r.map(what => {
      const s = {edge: what < 0 ? -1 - what : -1, item: what < 0 ? 0 : what, up: [], down: [], x: 0};
      if (what < 0) { s.w = PASS; s.h = 0; (chain[s.edge] = chain[s.edge] || []).push(s); }
      else { const z = inner[what] || sizeOf(g.items[what]); s.w = z.w; s.h = z.h; itemSpot[what] = s; }
      s.weight = what < 0 ? 3 : 1;
      return s;
    }));
    for (let e = 0; e < g.edges.length / 2; e++) {
      const path = [itemSpot[g.edges[2 * e]], ...(chain[e] || []), itemSpot[g.edges[2 * e + 1]]];
      for (let i = 1; i < path.length; i++) { path[i - 1].down.push(path[i]); path[i].up.push(path[i - 1]); }
    }
    rows.forEach(r => {
      let x = 0;
      const all = r.reduce((a, s) => a + s.w + SIDE, -SIDE);
      r.forEach(s => { s.x = x + s.w / 2 - all / 2; x += s.w + SIDE; });
    });
    const mean = (list, else_) => list.length ? list.reduce((a, s) => a + s.x, 0) / list.length : else_;
    for (let sweep = 0; sweep < 6; sweep++) {
      const down = sweep % 2 === 0;
      for (let i = 0; i < rows.length; i++) {
        const r = rows[down ? i : rows.length - 1 - i];
        spread(r, r.map(s => mean(down ? s.up : s.down, s.x)));
      }
    }
    let left = Infinity, right = -Infinity, y = HEAD + PAD / 2;
    rows.forEach(r => {
      const h = Math.max(...r.map(s => s.h), 4);
      r.forEach(s => { left = Math.min(left, s.x - s.w / 2); right = Math.max(right, s.x + s.w / 2); s.y = y + h / 2; });
      y += h + ROW;
    });
    if (!rows.length) { left = right = 0; y += ROW; }
    const w = Math.max(right - left + 2 * PAD, textWidth(groupTitle(g), NAME) + textWidth(groupNote(g), SMALL) + 60);
    return {gi, w, h: y - ROW + PAD, rows, inner, chain, itemSpot, middle: (left + right) / 2};
  }

  /* ---- what is in sight, in absolute places ---- */
  let seen, boxOf, frames;
  function settle(layout, x, y) {
    frames[layout.gi] = {x, y, w: layout.w, h: layout.h, layout};
    boxes.push({kind: 2, group: layout.gi, x, y, w: layout.w, h: layout.h});
    G[layout.gi].items.forEach((item, k) => {
      const s = layout.itemSpot[k], cx = x + layout.w / 2 + s.x - layout.middle, top = y + s.y - s.h / 2;
      if (layout.inner[k]) settle(layout.inner[k], cx - s.w / 2, top);
      else {
        const b = {kind: item < 0 ? 1 : 0, group: item < 0 ? -1 - item : layout.gi, node: item, x: cx - s.w / 2, y: top, w: s.w, h: s.h};
        boxes.push(b);
        if (item >= 0) boxOf.set(item, b); else seen.set(-1 - item, b);
      }
    });
  }
  function visible(node) {
    let last = null;
    if (boxOf.has(node)) return boxOf.get(node);
    for (let g = groupOf[node]; g >= 0; g = G[g].parent) if (seen.has(g)) last = seen.get(g);
    return last;
  }
  function routes() {
    const drawn = new Map();
    const chainOf = k => { const c = []; for (let g = groupOf[k], i = itemOf[k]; g >= 0; i = placeOf[g], g = G[g].parent) c.push([g, i]); return c; };
    const chains = N.map((n, k) => chainOf(k));
    N.forEach((n, k) => n.in.forEach(j => {
      const a = visible(j), b = visible(k);
      if (!a || !b || a === b) return;
      const pairs = drawn.get(a) || drawn.set(a, new Map()).get(a);
      if (pairs.has(b)) { pairs.get(b).ends.push([j, k]); return; }
      const above = new Map(chains[j]), meet = chains[k].find(([g]) => above.has(g)), g = meet[0];
      const e = edgeIndex[g].get(above.get(g) * 1e6 + meet[1]), f = frames[g];
      const points = [[a.x + a.w / 2, a.y + a.h]];
      if (f && e !== undefined) {
        const from = f.layout.itemSpot[above.get(g)], to = f.layout.itemSpot[meet[1]], at = s => f.x + f.w / 2 + s.x - f.layout.middle;
        const exit = f.y + from.y + from.h / 2, entry = f.y + to.y - to.h / 2;
        if (exit > a.y + a.h + 1) points.push([a.x + a.w / 2, exit]);
        for (const s of f.layout.chain[e] || []) points.push([at(s), f.y + s.y]);
        if (entry < b.y - 1) points.push([b.x + b.w / 2, entry]);
      }
      points.push([b.x + b.w / 2, b.y]);
      const path = new Path2D();
      path.moveTo(...points[0]);
      let lo = Infinity, hi = -Infinity;
      points.forEach(([x]) => { lo = Math.min(lo, x); hi = Math.max(hi, x); });
      for (let i = 1; i < points.length; i++) {
        const [px, py] = points[i - 1], [qx, qy] = points[i], m = (py + qy) / 2;
        path.bezierCurveTo(px, m, qx, m, qx, qy);
      }
      const edge = {a, b, path, x0: lo, x1: hi, y0: Math.min(points[0][1], b.y), y1: Math.max(points[0][1], b.y), ends: [[j, k]], tip: points[points.length - 1]};
      pairs.set(b, edge);
      edges.push(edge);
    }));
  }
  function layOut() {
    boxes = []; edges = []; seen = new Map(); boxOf = new Map(); frames = [];
    open[0] = 1;
    const root = place(0);
    settle(root, 0, 0);
    size = {w: root.w, h: root.h};
    routes();
    redraw();
  }

  /* ---- drawing ---- */
  const share = x => total(metric) ? (x[metric] || 0) / total(metric) : 0;
  function tint(b) {
    const group = b.kind === 1, x = group ? G[b.group].sum : N[b.node];
    if (mode === "error") return errorColour(group ? x.worst : sqnr(x));
    if (mode === "cost") return costColour(share(x));
    if (group) return x.cpu ? x.cpu === x.nodes ? palette.cpu : mix(palette.r0, palette.cpu, x.cpu / x.nodes) : palette.r0;
    if (!isOperator(x)) return palette.soft;
    return x.where === "cpu" ? palette.cpu : x.where === "merged" ? palette.merged : palette["r" + ((x.region || 0) % 6)];
  }
  function roundRect(x, y, w, h, r) { draw2d.beginPath(); draw2d.roundRect(x, y, w, h, r); }
  function fitted(text, font, room) {
    if (textWidth(text, font) <= room) return text;
    let lo = 0, hi = text.length;
    while (lo < hi) { const m = (lo + hi + 1) >> 1; if (textWidth(text.slice(0, m) + "…", font) <= room) lo = m; else hi = m - 1; }
    return text.slice(0, lo) + "…";
  }
  const fits = new Map();
  function label(text, font, room) {
    const key = text + "|" + font + "|" + (room | 0);
    if (!fits.has(key)) fits.set(key, fitted(text, font, room));
    return fits.get(key);
  }
  function paint() {
    frame = 0;
    const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (!w) return;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
    draw2d.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw2d.fillStyle = palette.bg;
    draw2d.fillRect(0, 0, w, h);
    draw2d.setTransform(ratio * view.k, 0, 0, ratio * view.k, ratio * view.x, ratio * view.y);
    const x0 = -view.x / view.k, y0 = -view.y / view.k, x1 = x0 + w / view.k, y1 = y0 + h / view.k, close = view.k > .42;
    const inSight = b => b.x < x1 && b.x + b.w > x0 && b.y < y1 && b.y + b.h > y0;
    for (const b of boxes) if (b.kind === 2 && b.group && inSight(b)) {
      roundRect(b.x, b.y, b.w, b.h, 12);
      draw2d.fillStyle = palette.wash; draw2d.globalAlpha = .55; draw2d.fill(); draw2d.globalAlpha = 1;
      draw2d.strokeStyle = hover === b ? palette.accent : palette.line; draw2d.lineWidth = 1; draw2d.stroke();
      if (close) {
        draw2d.textAlign = "left"; draw2d.textBaseline = "middle";
        draw2d.fillStyle = palette.soft; draw2d.font = NAME;
        const title = "▾ " + groupTitle(G[b.group]);
        draw2d.fillText(title, b.x + 12, b.y + HEAD / 2 + 1);
        draw2d.font = SMALL; draw2d.fillStyle = palette.soft;
        draw2d.fillText(groupNote(G[b.group]), b.x + 18 + textWidth(title, NAME), b.y + HEAD / 2 + 1.5);
      }
    }
    draw2d.lineWidth = Math.max(1.2, .7 / view.k);
    for (const e of edges) {
      if (e.x0 > x1 || e.x1 < x0 || e.y0 > y1 || e.y1 < y0) continue;
      const marked = selected >= 0 && e.ends.some(([j, k]) => j === selected || k === selected);
      draw2d.strokeStyle = marked ? palette.accent : palette.merged;
      draw2d.globalAlpha = marked ? 1 : .75;
      draw2d.stroke(e.path);
      if (close) {
        const [tx, ty] = e.tip;
        draw2d.beginPath(); draw2d.moveTo(tx, ty); draw2d.lineTo(tx - 3.5, ty - 6); draw2d.lineTo(tx + 3.5, ty - 6); draw2d.closePath();
        draw2d.fillStyle = draw2d.strokeStyle; draw2d.fill();
      }
    }
    draw2d.globalAlpha = 1;
    for (const b of boxes) {
      if (b.kind === 2 || !inSight(b)) continue;
      const chosen = b.kind === 0 && b.node === selected, c = tint(b);
      roundRect(b.x, b.y, b.w, b.h, 8);
      draw2d.fillStyle = mode === "cost" ? c : palette.panel; draw2d.fill();
      draw2d.strokeStyle = chosen || hover === b ? palette.accent : palette.line;
      draw2d.lineWidth = chosen ? 2.5 : 1.2; draw2d.stroke();
      if (mode !== "cost" || !close) {
        draw2d.save(); roundRect(b.x, b.y, b.w, b.h, 8); draw2d.clip();
        draw2d.fillStyle = c; draw2d.globalAlpha = close ? 1 : .8;
        draw2d.fillRect(b.x, b.y, close ? 5 : b.w, b.h); draw2d.restore();
      }
      if (!close) continue;
      draw2d.textAlign = "left"; draw2d.textBaseline = "middle";
      const x = b.kind === 1 ? G[b.group] : N[b.node], room = b.w - 24;
      draw2d.fillStyle = palette.ink; draw2d.font = NAME;
      draw2d.fillText(label(b.kind === 1 ? "▸ " + groupTitle(x) : x.name, NAME, room), b.x + 15, b.y + b.h / 2 - 8);
      draw2d.fillStyle = mode === "cost" ? palette.ink : palette.soft; draw2d.font = SMALL;
      draw2d.fillText(label(b.kind === 1 ? groupNote(x) : subtitle(x), SMALL, room), b.x + 15, b.y + b.h / 2 + 9);
    }
  }
  function redraw() { if (!frame) frame = requestAnimationFrame(paint); }

  /* ---- moving about ---- */
  function clampZoom(k) { return Math.max(.02, Math.min(2.5, k)); }
  function zoomAt(x, y, factor) {
    const k = clampZoom(view.k * factor);
    view.x = x - (x - view.x) * k / view.k; view.y = y - (y - view.y) * k / view.k; view.k = k;
    redraw();
  }
  function fit() {
    const w = canvas.clientWidth, h = canvas.clientHeight;
    if (!w) return;
    view.k = clampZoom(Math.min(1.1, (w - 40) / size.w, (h - 90) / size.h));
    if (view.k < .35) view.k = clampZoom(Math.min(.8, Math.max(.35, (w - 40) / size.w)));
    view.x = (w - size.w * view.k) / 2;
    view.y = size.h * view.k < h - 90 ? (h - size.h * view.k) / 2 : 48;
    redraw();
  }
  function centre(b) {
    const panel = innerWidth > 820 && !$("detail").hidden ? 368 : 0, w = canvas.clientWidth - panel, h = canvas.clientHeight - (innerWidth > 820 ? 0 : $("detail").offsetHeight);
    view.k = Math.max(.75, Math.min(1.2, view.k));
    view.x = w / 2 - (b.x + b.w / 2) * view.k; view.y = h / 2 - (b.y + b.h / 2) * view.k;
    redraw();
  }
  function reveal(node) {
    for (let g = groupOf[node]; g >= 0; g = G[g].parent) open[g] = 1;
    layOut();
    centre(visible(node));
  }
  /* A box opens or closes and stays where the pointer is. */
  function toggle(gi, b) {
    const sx = b.x + b.w / 2, sy = b.y;
    open[gi] ^= 1;
    layOut();
    const now = open[gi] ? frames[gi] : seen.get(gi);
    if (now) { view.x += (sx - now.x - now.w / 2) * view.k; view.y += (sy - now.y) * view.k; }
    redraw();
  }
  function hit(event) {
    const r = canvas.getBoundingClientRect(), x = (event.clientX - r.left - view.x) / view.k, y = (event.clientY - r.top - view.y) / view.k;
    let frameHit = null;
    for (let i = boxes.length - 1; i >= 0; i--) {
      const b = boxes[i];
      if (x < b.x || x > b.x + b.w || y < b.y || y > b.y + b.h) continue;
      if (b.kind !== 2) return b;
      if (b.group && y < b.y + HEAD && !frameHit) frameHit = b;
    }
    return frameHit;
  }
  function press(event) {
    const b = hit(event);
    if (!b) select(-1);
    else if (b.kind === 0) select(b.node);
    else toggle(b.group, b);
  }
  const fingers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", e => { fingers.set(e.pointerId, [e.clientX, e.clientY]); moved = 0; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", e => {
    const before = fingers.get(e.pointerId);
    if (!before) {
      const b = hit(e);
      canvas.classList.toggle("over", !!b);
      if (b !== hover) { hover = b; redraw(); }
      if (b && b.kind === 0) tip(e, N[b.node].name, ...[N[b.node].place, asCompiled(N[b.node])].filter(Boolean)); else tip(null);
      return;
    }
    const others = [...fingers.entries()].filter(([id]) => id !== e.pointerId);
    const dx = e.clientX - before[0], dy = e.clientY - before[1];
    moved += Math.abs(dx) + Math.abs(dy);
    if (others.length) {
      const [ox, oy] = others[0][1], r = canvas.getBoundingClientRect();
      const was = Math.hypot(before[0] - ox, before[1] - oy), now = Math.hypot(e.clientX - ox, e.clientY - oy);
      if (was > 0) zoomAt((e.clientX + ox) / 2 - r.left, (e.clientY + oy) / 2 - r.top, now / was);
    } else if (moved > 4) { view.x += dx; view.y += dy; canvas.classList.add("drag"); tip(null); redraw(); }
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
  });
  const lift = e => {
    if (fingers.delete(e.pointerId) && e.type === "pointerup" && moved <= 4 && !fingers.size) press(e);
    if (!fingers.size) canvas.classList.remove("drag");
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => { hover = null; tip(null); redraw(); });
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    const r = canvas.getBoundingClientRect();
    if (e.ctrlKey || e.metaKey || !e.shiftKey && e.deltaMode === 0 && Math.abs(e.deltaX) < 1)
      zoomAt(e.clientX - r.left, e.clientY - r.top, Math.exp(-e.deltaY * (e.ctrlKey ? .01 : .0016)));
    else { view.x -= e.deltaX || e.deltaY; view.y -= e.shiftKey ? 0 : e.deltaY; redraw(); }
  }, {passive: false});
  /* Up: what a node reads; down: what reads it; left and right: in the order of the program. */
  function neighbour(key) {
    if (selected < 0) return 0;
    return {ArrowUp: N[selected].in[0], ArrowDown: readers[selected][0], ArrowLeft: selected - 1, ArrowRight: selected + 1}[key];
  }
  canvas.addEventListener("keydown", e => {
    const step = {ArrowUp: [0, 60], ArrowDown: [0, -60], ArrowLeft: [60, 0], ArrowRight: [-60, 0]}[e.key];
    if (step && e.shiftKey) { view.x += step[0]; view.y += step[1]; redraw(); }
    else if (step) {
      const to = neighbour(e.key);
      if (N[to]) { select(to); reveal(to); }
    }
    else if (e.key === "+" || e.key === "-") zoomAt(canvas.clientWidth / 2, canvas.clientHeight / 2, e.key === "+" ? 1.25 : .8);
    else return;
    e.preventDefault();
  });
  new ResizeObserver(redraw).observe(canvas);

  /* Boxes are opened from the outside in while few things are in sight. */
  function openSome(most) {
    let inSight = G[0].items.length;
    const queue = [0];
    open.fill(0); open[0] = 1;
    while (queue.length) {
      const inner = G[queue.shift()].items.filter(i => i < 0).map(i => -1 - i).sort((a, b) => G[a].items.length - G[b].items.length);
      for (const g of inner) if (inSight + G[g].items.length <= most) { open[g] = 1; inSight += G[g].items.length; queue.push(g); }
    }
  }
  return {
    start() { openSome(90); layOut(); fit(); },
    openAll() { open.fill(1); layOut(); fit(); }, closeAll() { open.fill(0); layOut(); fit(); }, fit,
    nearer() { zoomAt(canvas.clientWidth / 2, canvas.clientHeight / 2, 1.3); },
    farther() { zoomAt(canvas.clientWidth / 2, canvas.clientHeight / 2, 1 / 1.3); },
    reveal, redraw, zoomAt, toggle,
    mark(node) { selected = node; redraw(); },
    colourBy(m) { mode = m; redraw(); },
    pan(dx, dy) { view.x += dx; view.y += dy; redraw(); },
    paint,
    state: () => ({boxes: boxes.length, edges: edges.length, selected, view: {...view}, size: {...size}}),
    /* Where a node is on the screen, for tests. */
    screen(node) { const b = visible(node), r = canvas.getBoundingClientRect(); return b ? {x: r.left + view.x + (b.x + b.w / 2) * view.k, y: r.top + view.y + (b.y + b.h / 2) * view.k} : null; },
  };
})();
