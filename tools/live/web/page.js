'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const marks = {
    ok: 'M1 6l3 3 6-7 1 1-7 8-4-4z', info: 'M5.5 0a5.5 5.5 0 1 0 .1 0zM5 4h1.2v5H5zM5 2h1.2v1.2H5z', watch: 'M5.5 0l5.5 10H0z',
    bad: 'M0 0h11v11H0zM3 2L2 3l2.5 2.5L2 8l1 1 2.5-2.5L8 9l1-1-2.5-2.5L9 3 8 2 5.5 4.5z', unknown: 'M5.5 0a5.5 5.5 0 1 0 .1 0zM5.5 1.5a4 4 0 1 1-.1 0zM5 7.5h1.2v1.2H5zM5 3h1.2v4H5z'};
  let token = '', control = '', node = '', meter = 'sent', paused = false, after = null, asked = '', said = 0,
    sure = '', unsure = null; // the session whose Stop was pressed once

  // The token to read with comes behind '#', and is kept in this tab alone.
  if (/^#[0-9a-f]{32}$/.test(location.hash)) {
    sessionStorage.setItem('netprof', location.hash.slice(1));
    history.replaceState(null, '', location.pathname);
  }
  token = sessionStorage.getItem('netprof') || '';

  const ask = (path, how) => fetch(path, Object.assign({cache: 'no-store', credentials: 'omit'}, how,
    {headers: {Authorization: 'Bearer ' + ((how && control) || token), Accept: '*/*'}}));

  // Texts from outside are texts, never markup.
  const make = (tag, className, text) => {
    const e = document.createElement(tag);
    if (className) e.className = className;
    if (text !== undefined && text !== null) e.textContent = text;
    return e;
  };
  const put = (id, text) => { if ($(id).textContent !== (text || '')) $(id).textContent = text || ''; };
  const svg = (tag, attributes) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const name in attributes) e.setAttribute(name, attributes[name]);
    return e;
  };
  const word = (severity, text) => {
    const e = make('span', 'word ' + severity), s = svg('svg', {viewBox: '0 0 11 11', 'aria-hidden': 'true'});
    s.append(svg('path', {d: marks[severity] || marks.unknown, 'fill-rule': 'evenodd'}));
    e.append(s, text || severity);
    return e;
  };
  // What is the same stays in place, with its focus.
  const fill = (id, rows) => {
    const to = $(id), old = [...to.children];
    rows.forEach((row, i) => {
      if (!old[i]) to.append(row);
      else if (!old[i].isEqualNode(row)) old[i].replaceWith(row);
    });
    old.slice(rows.length).forEach((e) => e.remove());
  };

  const finding = (f) => {
    const li = make('li', f.open ? '' : 'over');
    li.append(make('span', 'when', f.time ? f.time.slice(11) : ''), word(f.severity), make('span', 'what', f.text + (f.open ? '' : ' (over)')));
    return li;
  };
  const standing = (x) => {
    const li = make('li');
    li.append(make('b', '', x.node), word(x.severity, x.state.replace('_', ' ')), make('span', 'what', x.text));
    return li;
  };
  const session = (s) => {
    const planned = s.state === 'planned', ended = s.state === 'ended', end = planned ? 'Cancel' : 'Stop';
    const li = make('li', ended ? 'ended' : '');
    const button = make('button', ended ? '' : 'end', ended ? 'Report' : s.name === sure ? 'Sure?' : end);
    const name = make('b', '', (planned ? '○ ' : ended ? '✓ ' : '● ') + s.name), text = make('span', 'what', s.what + ', ' + s.long);
    button.type = 'button';
    button.dataset.session = s.name;
    button.dataset.what = ended ? 'report' : 'stop';
    button.dataset.end = end;
    button.setAttribute('aria-label', (ended ? 'Report of ' : end + ' ') + s.name);
    li.title = (planned ? 'planned from ' : ended ? 'ended ' : 'since ') + s.since;
    li.append(name, text, button);
    return li;
  };
  const tile = (t) => {
    const e = make('div', 'tile');
    e.append(make('b', '', String(t.count)), t.count ? word(t.severity, t.title) : make('span', 'word', t.title), make('div', 'small', t.detail));
    return e;
  };
  const lags = (list) => {
    const most = Math.max(1, ...list.map((l) => l.count));
    return list.map((l, i) => {
      const e = make('div', i > 2 ? 'late' : ''), s = svg('svg', {viewBox: '0 0 10 44', preserveAspectRatio: 'none', 'aria-hidden': 'true'});
      const high = l.count ? Math.max(2, 44 * l.count / most) : 0;
      s.append(svg('rect', {x: 0, y: 44 - high, width: 10, height: high}));
      e.append(make('b', '', String(l.count)), s, make('span', '', l.label));
      return e;
    });
  };
  const port = (p) => {
    const tr = make('tr');
    [p.name, p.sent, p.received, p.blocked, p.retries].forEach((t) => tr.append(make('td', '', t)));
    return tr;
  };

  // Of a busy server comes nothing: then what was drawn of the same before stays.
  const draw = async (id, path) => {
    const to = $(id), a = await ask(path + (path.includes('?') ? '&' : '?') + 'width=' + Math.floor(to.clientWidth));
    if (!a.ok && a.status !== 404 && to.dataset.drawn === path) return;
    to.dataset.drawn = a.ok || a.status === 404 ? path : '';
    if (!a.ok) {
      to.replaceChildren(make('p', 'small', a.status === 404 ? 'Nothing was measured in the last 15 minutes.' : 'No drawing came yet. It is asked for again.'));
      return;
    }
    const d = new DOMParser().parseFromString(await a.text(), 'image/svg+xml');
    if (d.documentElement.nodeName === 'svg') to.replaceChildren(document.importNode(d.documentElement, true));
  };

  const what = {sent: 'sent, bytes/s', received: 'received, bytes/s', paused: 'share of the time that the network let a port not send', gpu: 'share of the time that GPUs were busy', cpu: 'CPUs busy'};
  const show = (j) => {
    const shown = j.node ? j.node.node : '';
    put('where', j.head.host ? 'head ' + j.head.host : '');
    put('size', j.total_nodes + (j.total_nodes === 1 ? ' node' : ' nodes'));
    put('clock', (j.head.runs ? 'live ' : 'no head ') + j.time.replace(/^\S+ /, ''));
    $('headline').className = j.headline.severity;
    put('headline-text', j.headline.text);
    put('headline-detail', (j.headline.time ? 'Since ' + j.headline.time + ' UTC: ' : '') + (j.headline.detail || ''));
    $('headline-show').hidden = !j.headline.node;
    put('headline-show', 'Show ' + (j.headline.node || ''));
    $('headline-show').dataset.node = j.headline.node || '';
    fill('tiles', j.tiles.map(tile));
    fill('findings', j.findings.length ? j.findings.map(finding) : [make('li', 'small', j.judged ? 'None.' : 'Nothing is judged here.')]);
    put('older', j.older_findings ? j.older_findings + ' more: /findings' : '');
    fill('sessions', j.sessions.length ? j.sessions.map(session) : [make('li', 'small', 'None. Nothing is lost by that: a session may begin in the past.')]);
    put('health-of', 'of ' + $('size').textContent);
    fill('health', j.not_on_time.map(standing));
    fill('lags', lags(j.lags));
    put('head-load', j.head.load || 'not known');
    put('head-disk', j.head.disk || 'not known');
    put('map-what', what[meter] + (j.total_nodes > 120 ? '; a row is a group of neighbours' : '; each node a row'));
    const names = j.nodes.map((n) => { const o = make('option', '', n); o.value = n; return o; });
    if (j.nodes.length !== $('choose').options.length || j.nodes.some((n, i) => $('choose').options[i].value !== n)) $('choose').replaceChildren(...names);
    if (document.activeElement !== $('choose')) $('choose').value = shown;
    $('view').hidden = !j.charts || !j.total_nodes;
    $('view').dataset.node = j.total_nodes > 64 ? shown : '';
    $('view').title = 'The last 15 minutes of ' + (j.total_nodes > 64 ? shown + ', the node in detail' : 'all nodes') + ', as a PDF';
    if (j.node) {
      put('node-name', j.node.node);
      put('node-facts', [j.node.cpus, j.node.gpus, j.node.interval && 'a reading every ' + j.node.interval, j.node.version, j.node.clock].filter(Boolean).join(', '));
      put('node-state', j.node.state);
      const body = $('ports').tBodies[0], rows = j.node.ports.map(port);
      body.replaceChildren(...rows);
    }
    return shown;
  };

  const door = (text) => {
    $('all').hidden = true;
    $('door').hidden = false;
    put('door-said', text);
  };
  const turn = async () => {
    clearTimeout(after);
    const mine = ++said;
    document.body.dataset.looks = String(mine);
    try {
      const a = await ask('/live.json' + (node ? '?node=' + encodeURIComponent(node) : ''));
      if (mine !== said) return;
      if (a.status === 401) { door(token ? 'This token is not the right one.' : ''); return; }
      if (!a.ok) throw new Error(String(a.status));
      const j = await a.json();
      if (mine !== said) return;
      $('door').hidden = true;
      $('all').hidden = false;
      const shown = show(j);
      $('pulse').className = j.head.runs ? 'ok' : 'stale';
      if (j.charts) await Promise.all([draw('map', '/charts/map.svg?meter=' + meter), shown && draw('node', '/charts/node.svg?node=' + encodeURIComponent(shown))]);
      if (mine !== said) return;
      document.body.dataset.turns = String(Number(document.body.dataset.turns || 0) + 1);
    } catch (e) {
      $('pulse').className = 'stale';
      put('clock', 'no answer');
    }
    if (mine === said && !paused) after = setTimeout(turn, document.hidden ? 20000 : 2000);
  };

  // ---- what a reader does ----

  // What was asked is forgotten after a while, without a new look: a page that is paused stays as it is.
  const ask_sure = (name) => {
    sure = name;
    clearTimeout(unsure);
    if (name) unsure = setTimeout(ask_sure, 4000, '');
    for (const b of $('sessions').querySelectorAll('button.end')) b.textContent = b.dataset.session === sure ? 'Sure?' : b.dataset.end;
  };
  const order = async (path, body) => {
    put('session-said', '');
    if (!control) { asked = JSON.stringify([path, body]); $('control').hidden = false; $('control-key').focus(); return; }
    const a = await ask(path, {method: 'POST', body: JSON.stringify(body)});
    const j = await a.json().catch(() => ({}));
    if (a.status === 401 || a.status === 403) { control = ''; asked = JSON.stringify([path, body]); $('control').hidden = false; }
    if (!a.ok) put('session-said', j.message || 'It did not work.');
    else $('new').hidden = true;
    turn();
  };
  const report = async (path, name, button, said) => {
    button.disabled = true;
    put(said, '');
    const a = await ask(path);
    button.disabled = false;
    if (!a.ok) { put(said, (await a.json()).message); return; }
    const link = make('a'), url = URL.createObjectURL(await a.blob());
    link.href = url;
    link.download = name + '.pdf';
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  };
  // Of a few nodes all are in view; of many the one in detail.
  $('view').addEventListener('click', () => {
    const one = $('view').dataset.node;
    report('/view/report.pdf' + (one ? '?node=' + encodeURIComponent(one) : ''), one || 'view', $('view'), 'view-said');
  });
  $('sessions').addEventListener('click', (e) => {
    const b = e.target.closest('button');
    if (!b) return;
    if (b.dataset.what === 'report') report('/sessions/' + encodeURIComponent(b.dataset.session) + '/report.pdf', b.dataset.session, b, 'session-said');
    else if (b.dataset.session !== sure) ask_sure(b.dataset.session);
    else { ask_sure(''); order('/profiling/stop', {name: b.dataset.session}); }
  });
  $('door').addEventListener('submit', (e) => {
    e.preventDefault();
    token = $('key').value.trim();
    sessionStorage.setItem('netprof', token);
    turn();
  });
  $('control').addEventListener('submit', (e) => {
    e.preventDefault();
    control = $('control-key').value.trim();
    $('control-key').value = '';
    $('control').hidden = true;
    if (asked && control) order(...JSON.parse(asked));
  });
  $('begin').addEventListener('click', () => { $('new').hidden = false; $('new-name').focus(); });
  $('cancel').addEventListener('click', () => { $('new').hidden = true; });
  $('new').addEventListener('submit', (e) => {
    e.preventDefault();
    const body = {};
    if ($('new-name').value.trim()) body.name = $('new-name').value.trim();
    if ($('new-nodes').value.trim()) body.nodes = $('new-nodes').value.trim();
    if ($('new-in').value.trim()) body.in = $('new-in').value.trim();
    order('/profiling/start', body);
  });
  $('meters').addEventListener('click', (e) => {
    const b = e.target.closest('button');
    if (!b) return;
    meter = b.dataset.meter;
    for (const x of $('meters').children) x.setAttribute('aria-pressed', String(x === b));
    turn();
  });
  $('choose').addEventListener('change', () => { node = $('choose').value; turn(); });
  $('headline-show').addEventListener('click', () => {
    node = $('headline-show').dataset.node;
    $('node-card').scrollIntoView({behavior: 'smooth'});
    turn();
  });
  $('pause').addEventListener('click', () => {
    paused = !paused;
    $('pause').setAttribute('aria-pressed', String(paused));
    put('pause', paused ? 'Go on' : 'Pause');
    clearTimeout(after);
    if (!paused) turn();
  });
  document.addEventListener('visibilitychange', () => { if (!document.hidden && !paused) turn(); });
  turn();
})();
