//<![CDATA[
// What a page made with --interactive can be asked: a cross-hair over all charts that share the time axis, its zoom and pan,
// tables that are sorted and filtered. It reads what the page says already: the charts' places and the tables behind them.
// Text is only ever set as text. Without this script the page says the same, but stands still.
(() => {
  'use strict';
  const SVG = 'http://www.w3.org/2000/svg';
  const all = (of, what) => [...of.querySelectorAll(what)];
  const make = (name, text, more) => {
    const e = document.createElement(name);
    if (text) e.textContent = text;
    for (const [key, value] of Object.entries(more || {})) e.setAttribute(key, value);
    return e;
  };

  // ---- numbers in words ----

  const digits = (v) => {
    const a = Math.abs(v);
    return v.toFixed(a >= 100 || a === 0 ? 0 : a >= 10 ? 1 : 2);
  };
  const prefixed = (v, step, prefixes, unit) => {
    let i = 0;
    while (Math.abs(v) >= step * 0.9995 && i < prefixes.length - 1) { v /= step; i++; }
    return digits(v) + '\u202f' + prefixes[i] + unit;
  };
  const elapsed = (s) => {
    const a = Math.abs(s), two = (v) => String(Math.floor(v)).padStart(2, '0');
    if (a >= 3600) return Math.floor(a / 3600) + '\u202fh ' + two(a % 3600 / 60) + '\u202fmin ' + two(a % 60) + '\u202fs';
    if (a >= 60) return Math.floor(a / 60) + '\u202fmin ' + two(a % 60) + '\u202fs';
    return a >= 1 || a === 0 ? digits(a) + '\u202fs' : a >= 1e-3 ? digits(a * 1e3) + '\u202fms' : digits(a * 1e6) + '\u202f\u00b5s';
  };
  const words = (v, unit) => !isFinite(v) ? 'not measured'
    : unit === '%' ? digits(v * 100) + '\u202f%'
    : unit === 'time' ? elapsed(v)
    : unit === 'iB' ? prefixed(v, 1024, ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'], 'B')
    : Math.abs(v) > 0 && Math.abs(v) < 0.01 ? v.toPrecision(3) + '\u202f' + unit
    : prefixed(v, 1000, ['', 'k', 'M', 'G', 'T', 'P', 'E'], unit);

  // ---- the charts over time ----

  // A panel: where it is drawn, what of the time it shows, and the columns of its figure's table.
  const panels = all(document, 'svg.time').map((e) => {
    const number = (name) => Number(e.getAttribute(name));
    const root = e.parentNode.closest('svg');
    return {e, root, figure: e.closest('figure'), x: number('x'), y: number('y'), w: number('width'), h: number('height'),
      from: number('data-from'), to: number('data-to'), first: number('data-first'), columns: number('data-columns'),
      unit: e.getAttribute('data-unit') || '', wall: number('data-wall'), texts: all(e, 'text')};
  }).filter((p) => p.to > p.from && p.w > 0);
  if (panels.length) begin();

  function begin() {
    const whole = {from: Math.min(...panels.map((p) => p.from)), to: Math.max(...panels.map((p) => p.to))};
    const least = (whole.to - whole.from) / 2000;
    let view = null, at = null, drag = null, waiting = false;
    const tables = new Map();
    const span = () => view || whole;
    const shown = (p) => view || p;

    // The numbers behind a figure: x rising, and the columns.
    const table = (figure) => {
      if (tables.has(figure)) return tables.get(figure);
      const rows = all(figure, 'tbody tr').map((r) => [...r.cells].map((c) => c.textContent));
      const known = {heads: all(figure, 'thead th').map((c) => c.textContent), rows, x: rows.map((r) => Number(r[0]))};
      tables.set(figure, known);
      return known;
    };
    // The sample nearest to a time, if it is near enough to be one of it.
    const nearest = (x, t) => {
      let low = 0, high = x.length - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (x[middle] <= t) low = middle; else high = middle;
      }
      return high >= 0 && Math.abs(x[high] - t) < Math.abs(x[low] - t) ? high : low;
    };

    const readout = make('aside', '', {'class': 'readout', 'aria-label': 'Values at the cross-hair'});
    const when = make('p', '', {'class': 'when', role: 'status'}), list = make('ul'), buttons = make('div');
    readout.append(when, buttons, list);
    readout.hidden = true;
    document.body.append(readout);

    const place = (p, t) => {
      const s = shown(p);
      return p.x + (t - s.from) / (s.to - s.from) * p.w;
    };

    // One line through all panels of a picture, and its value beside each that has some.
    function drawCursor() {
      for (const old of all(document, '.cursor')) old.remove();
      if (at === null) return;
      for (const p of panels) {
        const x = place(p, at);
        if (x < p.x - 0.01 || x > p.x + p.w + 0.01) continue;
        const line = document.createElementNS(SVG, 'path');
        line.setAttribute('class', 'cursor');
        line.setAttribute('d', 'M' + x + ' ' + p.y + 'v' + p.h);
        p.root.append(line);
      }
    }

    // What all panels that are on the screen say at this time.
    function say() {
      readout.hidden = at === null && !view;
      if (readout.hidden) return;
      const wall = panels.find((p) => p.wall > 0), values = [], seen = new Set();
      for (const p of panels) {
        const box = p.root.getBoundingClientRect();
        if (at === null || !p.columns || !box.width || box.bottom < 0 || box.top > innerHeight) continue;
        const t = table(p.figure), row = t.rows[nearest(t.x, at)];
        for (let i = p.first; row && i < p.first + p.columns; i++) {
          const name = t.heads[i].replace(/ \([^)]*\)$/, '');
          if (seen.has(p.figure.id + i)) continue;
          seen.add(p.figure.id + i);
          values.push([name, words(row[i].trim() === '' ? NaN : Number(row[i]), p.unit)]);
        }
      }
      when.textContent = at === null ? 'from ' + elapsed(view.from) + ' to ' + elapsed(view.to)
        : elapsed(at) + (wall ? ', ' + new Date(wall.wall * 1000 + at * 1000).toISOString().slice(0, 19).replace('T', ' ') + ' UTC' : '');
      list.replaceChildren(...values.map(([name, value]) => {
        const li = make('li', name + ' ');
        li.append(make('b', value));
        return li;
      }));
    }

    const tics = (s, most) => {
      const rough = (s.to - s.from) / most, power = Math.pow(10, Math.floor(Math.log10(rough)));
      const nice = s.to - s.from > 120 ? [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400]
        : [1, 2, 5, 10].map((v) => v * power);
      const step = nice.find((v) => v >= rough) || rough, found = [];
      for (let t = Math.ceil(s.from / step) * step; t <= s.to + step * 1e-9; t += step) found.push(t);
      return found;
    };

    // While a part of the time is seen the printed tics make room for those of that part.
    function drawTics() {
      for (const old of all(document, '.own-tics')) old.remove();
      for (const g of all(document, 'g.tics')) {
        g.style.display = view ? 'none' : '';
        if (!view) continue;
        const [x, y, w] = ['data-x', 'data-y', 'data-width'].map((n) => Number(g.getAttribute(n)));
        const own = document.createElementNS(SVG, 'g');
        own.setAttribute('class', 'own-tics');
        const most = Math.max(2, Math.floor(w / 70));
        for (const t of tics(view, most)) {
          const px = x + (t - view.from) / (view.to - view.from) * w, text = document.createElementNS(SVG, 'text');
          const mark = document.createElementNS(SVG, 'path');
          mark.setAttribute('d', 'M' + px + ' ' + y + 'v3');
          text.setAttribute('x', px);
          text.setAttribute('y', y + 10.5);
          text.setAttribute('text-anchor', px > x + w - 20 ? 'end' : px < x + 10 ? 'start' : 'middle');
          text.textContent = elapsed(t);
          own.append(mark, text);
        }
        g.after(own);
      }
    }

    function drawView() {
      document.body.classList.toggle('magnified', !!view);
      for (const p of panels) {
        const s = shown(p), scale = p.w / (p.to - p.from);
        const x = p.x + (s.from - p.from) * scale, w = (s.to - s.from) * scale;
        p.e.setAttribute('viewBox', x + ' ' + p.y + ' ' + w + ' ' + p.h);
        for (const text of p.texts) { // they stay as wide as they are
          const tx = Number(text.getAttribute('x'));
          if (view) text.setAttribute('transform', 'translate(' + tx + ' 0) scale(' + w / p.w + ' 1) translate(' + -tx + ' 0)');
          else text.removeAttribute('transform');
        }
      }
      drawTics();
    }

    function update(all_of_it) {
      if (all_of_it) drawView();
      drawCursor();
      say();
    }
    const soon = () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; update(false); });
    };

    function see(from, to) {
      const width = Math.min(Math.max(to - from, least), whole.to - whole.from);
      from = Math.min(Math.max(from, whole.from), whole.to - width);
      view = width >= (whole.to - whole.from) * 0.999 ? null : {from, to: from + width};
      update(true);
    }
    const zoom = (factor, around) => {
      const s = span(), t = around === null ? (s.from + s.to) / 2 : around;
      see(t - (t - s.from) * factor, t + (s.to - t) * factor);
    };
    const pan = (share) => { const s = span(), by = (s.to - s.from) * share; see(s.from + by, s.to + by); };
    const move = (t) => {
      const s = span();
      at = Math.min(Math.max(t, whole.from), whole.to);
      if (view && (at < s.from || at > s.to)) see(at - (s.to - s.from) / 2, at + (s.to - s.from) / 2);
      else update(false);
    };
    const reset = () => { view = null; at = null; update(true); };

    for (const [text, label, act] of [['\u2212', 'see more time', () => zoom(2, at)], ['+', 'see less time', () => zoom(0.5, at)],
      ['\u2190', 'earlier', () => pan(-0.25)], ['\u2192', 'later', () => pan(0.25)], ['all', 'see all the time', () => see(whole.from, whole.to)],
      ['\u00d7', 'close', reset]]) {
      const b = make('button', text, {type: 'button', 'aria-label': label, title: label});
      b.addEventListener('click', act);
      buttons.append(b);
    }

    // Where in time the pointer is; null: on no panel.
    function timeOf(root, event) {
      const m = root.getScreenCTM();
      if (!m) return null;
      const x = (event.clientX - m.e) / m.a, y = (event.clientY - m.f) / m.d;
      const mine = panels.filter((p) => p.root === root);
      const p = mine.find((q) => x >= q.x && x <= q.x + q.w && y >= q.y - 14 && y <= q.y + q.h + 14);
      if (!p) return null;
      const s = shown(p);
      return s.from + (x - p.x) / p.w * (s.to - s.from);
    }

    for (const root of new Set(panels.map((p) => p.root))) {
      const box = root.closest('.scroll');
      root.classList.add('asked');
      root.addEventListener('pointermove', (event) => {
        const t = timeOf(root, event);
        if (t === null) return;
        at = t;
        if (drag && event.shiftKey) {
          const width = drag.to - drag.from;
          see(drag.from + drag.at - t + (span().from - drag.from), drag.from + drag.at - t + (span().from - drag.from) + width);
        }
        soon();
      });
      root.addEventListener('pointerdown', (event) => {
        const t = timeOf(root, event);
        if (t === null || event.button) return;
        drag = {at: t, shift: event.shiftKey, touch: event.pointerType === 'touch', ...span()};
        at = t;
        soon();
      });
      root.addEventListener('pointerup', (event) => {
        const t = timeOf(root, event), d = drag;
        drag = null;
        if (!d || t === null || d.shift || d.touch) return;
        if (Math.abs(t - d.at) > (span().to - span().from) / 100) see(Math.min(t, d.at), Math.max(t, d.at));
      });
      root.addEventListener('pointerleave', () => { drag = null; });
      root.addEventListener('dblclick', () => see(whole.from, whole.to));
      root.addEventListener('wheel', (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        zoom(event.deltaY > 0 ? 1.25 : 0.8, timeOf(root, event));
      }, {passive: false});
      box.addEventListener('keydown', (event) => {
        const s = span(), step = (s.to - s.from) / 100, now = at === null ? s.from : at;
        const act = {ArrowRight: () => move(now + step), ArrowLeft: () => move(now - step), Home: () => move(s.from),
          End: () => move(s.to), '+': () => zoom(0.5, at), '-': () => zoom(2, at), Escape: reset}[event.key];
        if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        act();
      });
    }
    addEventListener('scroll', () => { if (at !== null) soon(); }, {passive: true});
    addEventListener('beforeprint', reset);
  }

  // ---- tables ----

  // "1.5 kB/s" is more than "900 B/s", and "rank 17" than "rank 2"; what is no number, as "node-17", comes last.
  const powers = {k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, m: 1e-3, '\u00b5': 1e-6, n: 1e-9};
  function amount(text) {
    const found = /^(?:[^\d]*[\s\u202f(])?[<>\u2264\u2265~\u00d7\u00b1]*([\u2212-]?[\d\u202f,]*\.?\d+(?:e[+-]?\d+)?)[\s\u202f]*(.*)$/.exec(text.trim());
    if (!found) return NaN;
    const value = Number(found[1].replace('\u2212', '-').replace(/[\u202f,]/g, '')), unit = found[2];
    const binary = /^([KMGTP])i/.exec(unit);
    if (binary) return value * Math.pow(1024, 'KMGTP'.indexOf(binary[1]) + 1);
    const times = {min: 60, h: 3600, d: 86400}[unit.split(/[\s\u202f]/)[0]];
    return value * (times || (unit.length > 1 ? powers[unit[0]] || 1 : 1));
  }

  for (const table of document.querySelectorAll('table')) {
    const body = table.tBodies[0], rows = [...body.rows], figure = table.closest('figure');
    if (rows.length < 3) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const b = make('button', head.textContent, {type: 'button', 'class': 'sort'});
      head.replaceChildren(b);
      b.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') !== 'descending';
        for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const keyed = rows.map((row, place) => {
          const text = row.cells[column] ? row.cells[column].textContent : '';
          return {row, place, text, value: amount(text)};
        });
        const numbers = keyed.filter((k) => isFinite(k.value)).length * 2 > keyed.length;
        keyed.sort((a, c) => {
          if (numbers && isFinite(a.value) !== isFinite(c.value)) return isFinite(a.value) ? -1 : 1;
          const order = numbers && isFinite(a.value) ? a.value - c.value : a.text.localeCompare(c.text, 'en', {numeric: true});
          return (down ? -order : order) || a.place - c.place;
        });
        body.append(...keyed.map((k) => k.row));
      });
    });
    if (rows.length < 6 || !table.tHead.textContent.trim()) continue;
    const label = make('label', 'Rows with ', {'class': 'filter'}), input = make('input', '', {type: 'search'});
    const count = make('span', '', {role: 'status'});
    input.setAttribute('aria-label', 'Rows of ' + (figure.querySelector('h3') ? figure.querySelector('h3').textContent : figure.id) + ' with');
    label.append(input, count);
    table.closest('.scroll').before(label);
    input.addEventListener('input', () => {
      const wanted = input.value.toLowerCase();
      let seen = 0;
      for (const row of rows) {
        row.hidden = wanted !== '' && !row.textContent.toLowerCase().includes(wanted);
        if (!row.hidden) seen++;
      }
      count.textContent = wanted === '' ? '' : ' ' + seen + ' of ' + rows.length;
    });
  }
})();
//]]>
