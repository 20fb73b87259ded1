'use strict';

// The page of the admin address. Every text of a peer or a program becomes a text node: nothing here makes markup of it.

const POINTS_MAX = 120;
// A cell with more is a text that may be broken into lines.
const NAME_CHARACTERS = 32;
const RETRY_MS = 1000;
// The reasons for which somebody else is to act, and those that hold bytes up.
const OF_PEER = new Set(['request_rest', 'response', 'attempt', 'settings', 'capacity', 'silence']);
const HELD = new Set(['stream_window', 'connection_window', 'transport', 'reader']);

const byId = (id) => document.getElementById(id);

let secret = '';
let previous = null;
const series = { requests: [], median: [], slow: [], bytesIn: [], bytesOut: [], open: [] };

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = String(text);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function replace(parent, children) {
  parent.replaceChildren(...children);
}

/** As `replace`; those that are there and stay are not touched, because one that is taken out and put back loses its place. */
function arrange(parent, wanted) {
  const stays = new Set(wanted);
  for (const child of [...parent.children]) if (!stays.has(child)) child.remove();
  for (const [at, child] of wanted.entries()) {
    if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] ?? null);
  }
}

function row(cells) {
  const made = element('tr');
  for (const cell of cells) {
    const td = element('td');
    if (cell instanceof Node) td.append(cell);
    else {
      td.textContent = cell === null || cell === undefined ? '' : String(cell);
      // Names that a peer may choose: of any length, and broken anywhere.
      if (td.textContent.length > NAME_CHARACTERS) td.className = 'text';
    }
    made.append(td);
  }
  return made;
}

function count(number) {
  return Math.round(number).toLocaleString('en');
}

function bytes(number) {
  if (number < 1024) return `${Math.round(number)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = number / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

function age(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function duration(ms) {
  return ms < 10 ? ms.toFixed(2) : count(ms);
}

/** A bar of `value` of `max` bytes; it is bad when little is left. */
function bar(label, value, max) {
  const made = element('span', undefined, { class: 'bar' });
  const full = Math.max(max, value, 1);
  const meter = element('meter', undefined, { min: 0, max: full, low: full / 10, high: full / 3, optimum: full, value });
  made.append(element('span', label), meter, element('span', bytes(value)));
  return made;
}

function waitOf(name, text) {
  if (!name) return element('span', '');
  const kind = HELD.has(name) ? 'held' : OF_PEER.has(name) ? 'peer' : 'own';
  return element('span', name, { class: 'wait', 'data-kind': kind, title: text ?? '' });
}

// Latencies of one second: the difference of two readings of the histogram.

function quantile(now, before, share) {
  const total = now.count - before.count;
  if (total <= 0) return null;
  const wanted = total * share;
  let lower = 0;
  let counted = 0;
  for (const [at, [bound, cumulative]] of now.buckets.entries()) {
    const until = cumulative - before.buckets[at][1];
    if (until >= wanted) {
      const within = until - counted;
      return within <= 0 ? bound : lower + ((bound - lower) * (wanted - counted)) / within;
    }
    lower = bound;
    counted = until;
  }
  return lower;
}

function keep(list, value) {
  list.push(value);
  if (list.length > POINTS_MAX) list.shift();
}

function observe(state) {
  if (previous === null || previous.process !== state.process) {
    previous = state;
    return;
  }
  const seconds = (state.time_ms - previous.time_ms) / 1000;
  if (seconds <= 0) return;
  const rate = (name) => Math.max(0, (state.counts[name] - previous.counts[name]) / seconds);
  keep(series.requests, rate('requests'));
  keep(series.bytesIn, rate('bytes_in'));
  keep(series.bytesOut, rate('bytes_out'));
  keep(series.open, state.counts.open);
  keep(series.median, quantile(state.durations, previous.durations, 0.5));
  keep(series.slow, quantile(state.durations, previous.durations, 0.99));
  previous = state;
}

function plot(id, lists, show) {
  const canvas = byId(id);
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (width === 0) return;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const style = getComputedStyle(document.documentElement);
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  const highest = Math.max(...lists.flat().filter((value) => value !== null), 0) || 1;
  context.strokeStyle = style.getPropertyValue('--line');
  context.beginPath();
  context.moveTo(0, height - 0.5);
  context.lineTo(width, height - 0.5);
  context.stroke();
  context.fillStyle = style.getPropertyValue('--soft');
  context.font = '11px system-ui, sans-serif';
  context.fillText(show(highest), 2, 11);
  for (const [at, list] of lists.entries()) {
    context.strokeStyle = style.getPropertyValue(at === 0 ? '--first' : '--second');
    context.lineWidth = 1.5;
    context.beginPath();
    let isDrawing = false;
    for (const [index, value] of list.entries()) {
      const x = width - ((list.length - 1 - index) * width) / (POINTS_MAX - 1);
      if (value === null) {
        isDrawing = false;
        continue;
      }
      const y = height - 2 - ((height - 18) * value) / highest;
      if (isDrawing) context.lineTo(x, y);
      else context.moveTo(x - 1, y);
      if (!isDrawing) context.lineTo(x, y);
      isDrawing = true;
    }
    context.stroke();
  }
  const latest = lists.map((list) => list.at(-1)).map((value) => (value === null || value === undefined ? '-' : show(value)));
  byId(`${id}-now`).textContent = latest.join(' / ');
}

function showTiles(state) {
  const counts = state.counts;
  const all = [
    ['Requests', count(counts.requests)],
    ['Open exchanges', count(counts.open)],
    ['Connections open', count(counts.connections_open)],
    ['Connections so far', count(counts.connections)],
  ];
  if (state.kind === 'server') {
    all.push(['Refused', count(counts.refused)], ['Resets', count(counts.resets)], ['ms late, workers', duration(state.lag_ms)]);
  } else {
    all.push(['Attempts', count(counts.attempts)], ['Failed', count(counts.failed)], ['Repeated', count(counts.repeated)]);
  }
  const classes = Object.entries(state.responses).filter(([, number]) => number > 0);
  for (const [name, number] of classes) all.push([`Responses ${name}`, count(number)]);
  const tiles = all.map(([label, value]) => {
    const tile = element('div', undefined, { class: 'tile' });
    tile.append(element('b', value), element('span', label));
    return tile;
  });
  for (const [name, budget] of Object.entries(state.budgets)) {
    const tile = element('div', undefined, { class: 'tile' });
    const used = element('meter', undefined, {
      min: 0,
      max: budget.total || 1,
      low: budget.total * 0.6,
      high: budget.total * 0.9,
      optimum: 0,
      value: budget.used,
    });
    const label = name === 'process' ? 'memory of the process' : `${name} budget`;
    const bound = budget.total > 0 ? `, of ${bytes(budget.total)}` : '';
    tile.append(element('b', bytes(budget.used)), ...(bound ? [used] : []), element('span', ` ${label}${bound}`));
    tiles.push(tile);
  }
  replace(byId('tiles'), tiles);
}

function showWaits(state) {
  const known = Object.entries(state.waits).sort((one, other) => other[1] - one[1]);
  const chips = known.map(([name, number]) => {
    const chip = element('li', undefined, { 'data-wait': name });
    chip.append(element('b', count(number)), ' ', waitOf(name));
    return chip;
  });
  replace(byId('waits'), chips.length > 0 ? chips : [element('li', 'no exchange is listed')]);
  const reason = byId('reason');
  const options = new Map([...reason.options].map((option) => [option.value, option]));
  const names = new Set(['', reason.value, ...known.map(([name]) => name)]);
  // It may be open: what somebody is about to choose stays where it is.
  if (document.activeElement === reason) for (const name of options.keys()) names.add(name);
  const wanted = [...names].sort();
  arrange(reason, wanted.map((name) => options.get(name) ?? element('option', name === '' ? 'any' : name, { value: name })));
}

function showStreams(streams) {
  const table = element('table');
  const head = element('thead');
  const line = element('tr');
  for (const name of ['Id', 'Request', 'State', 'Age', 'Waits for', 'In', 'Our window', 'Out', 'Peer\u2019s window']) {
    line.append(element('th', name));
  }
  head.append(line);
  const body = element('tbody');
  for (const stream of streams) {
    const cells = row([
      stream.id,
      stream.target ? `${stream.method} ${stream.target}` : stream.method,
      stream.state,
      age(stream.age_ms),
      waitOf(stream.wait, stream.text),
      stream.unread_bytes > 0 ? `${bytes(stream.received_bytes)}, ${bytes(stream.unread_bytes)} unread` : bytes(stream.received_bytes),
      stream.receive_window === 0 ? element('span', '-') : bar('', stream.receive_credit, stream.receive_window),
      stream.unsent_bytes > 0 ? `${bytes(stream.sent_bytes)}, ${bytes(stream.unsent_bytes)} wait` : bytes(stream.sent_bytes),
      stream.send_quota === null ? element('span', '-') : bar('', stream.send_quota, Math.max(stream.send_quota, 65_535)),
    ]);
    cells.dataset.stream = stream.id;
    body.append(cells);
  }
  table.append(head, body);
  const scroll = element('div', undefined, { class: 'scroll' });
  scroll.append(table);
  return scroll;
}

function showConnection(connection, streams) {
  const made = element('article', undefined, { class: 'connection' });
  const title = element('h3', connection.origin ?? connection.peer);
  const note = (text) => title.append(element('span', text));
  note(connection.version === null ? connection.stage ?? 'no answer' : `HTTP/${connection.version}`);
  if (connection.age_ms !== undefined) note(age(connection.age_ms));
  if (connection.version !== null) note(`${count(connection.exchanges)} exchanges`);
  if (connection.resets > 0) note(`${count(connection.resets)} resets`);
  if (connection.round_trip_us !== null && connection.round_trip_us !== undefined) {
    note(`round trip ${duration(connection.round_trip_us / 1000)} ms`);
  }
  if (connection.draining) note('draining');
  if (connection.stage === 'serving' && connection.version === null) note('its thread did not answer');
  made.append(title);
  if (connection.version !== null) {
    const windows = element('div', undefined, { class: 'windows' });
    windows.append(bar('our window', connection.receive_credit, connection.receive_window));
    if (connection.send_quota !== null) {
      windows.append(bar('peer\u2019s window', connection.send_quota, Math.max(connection.send_quota, 65_535)));
    }
    if (connection.unsent_bytes > 0) {
      const unsent = element('span', `${bytes(connection.unsent_bytes)} framed wait for `, { class: 'note' });
      unsent.append(waitOf(connection.wait));
      windows.append(unsent);
    }
    if (connection.unread_bytes > 0) windows.append(element('span', `${bytes(connection.unread_bytes)} unread`, { class: 'note' }));
    made.append(windows);
  }
  if (streams.length > 0) made.append(showStreams(streams));
  if (connection.unlisted > 0) made.append(element('p', `and ${count(connection.unlisted)} more exchanges`, { class: 'note' }));
  return made;
}

function showConnections(state) {
  const all = byId('filter').value === 'all';
  const reason = byId('reason').value;
  const shown = [];
  for (const connection of state.connections) {
    const streams = reason === '' ? connection.streams : connection.streams.filter((stream) => stream.wait === reason);
    const isMoving = connection.version === null || connection.wait === null;
    if (reason !== '' && streams.length === 0 && connection.wait !== reason) continue;
    if (!all && isMoving && connection.version !== null && streams.length + connection.unlisted === 0) continue;
    shown.push(showConnection(connection, streams));
  }
  replace(byId('connections'), shown.length > 0 ? shown : [element('p', 'none', { class: 'note' })]);
  const rest = state.unlisted_connections > 0 ? `and ${count(state.unlisted_connections)} that are not listed` : '';
  const silent = state.silent_workers > 0 ? `; ${count(state.silent_workers)} of ${count(state.workers)} workers did not answer` : '';
  byId('connections-rest').textContent = rest + silent;
}

function showQueue(state) {
  const isClient = state.kind === 'client';
  byId('origins-section').hidden = !isClient;
  byId('queue-section').hidden = !isClient;
  if (!isClient) return;
  const origins = state.origins.map((it) =>
    row([it.origin, it.connections, it.attempts, it.active, it.waiting + it.paused, waitOf(it.wait)]),
  );
  replace(byId('origins'), origins);
  replace(byId('queue'), state.queue.map((it) => row([it.origin, age(it.waited_ms), waitOf(it.wait, it.text)])));
  byId('queue-rest').textContent = state.unlisted_queue > 0 ? `and ${count(state.unlisted_queue)} that are not listed` : '';
}

/** The timeline of one failed request, read when it is opened: it does not change. */
function timeline({ id, headline }) {
  const made = element('details', undefined, { 'data-timeline': id });
  const text = element('pre');
  made.append(element('summary', `${id}: ${headline}`), text);
  let isKnown = false;
  made.addEventListener('toggle', async () => {
    if (!made.open || isKnown) return;
    isKnown = true;
    try {
      const response = await fetch(`/timelines/${id}`, { headers: authorization() });
      text.textContent = await response.text();
      isKnown = response.ok;
    } catch (error) {
      // Opened again it is read again.
      isKnown = false;
      text.textContent = `no connection: ${error.message}`;
    }
  });
  return made;
}

function showTimelines(timelines) {
  byId('timelines-section').hidden = timelines.length === 0;
  const box = byId('timelines');
  // Those that are there stay as they are: one may be open.
  const known = new Map([...box.children].map((made) => [made.dataset.timeline, made]));
  arrange(box, timelines.map((it) => known.get(String(it.id)) ?? timeline(it)));
}

const TABLES = [
  ['closed', 'Connections ended by'],
  ['violations', 'Violations'],
  ['resets_by', 'Exchanges reset by'],
  ['handshakes_failed', 'Failed handshakes'],
  ['failures', 'Failed requests'],
  ['connect_failures', 'Failed attempts'],
];

function showTables(state) {
  const made = [];
  for (const [key, title] of TABLES) {
    const rows = Object.entries(state[key] ?? {}).filter(([, number]) => number > 0);
    if (rows.length === 0) continue;
    const box = element('div');
    const table = element('table');
    const body = element('tbody');
    for (const [name, number] of rows) body.append(row([name, element('span', count(number))]));
    table.append(body);
    box.append(element('h2', title), table);
    made.push(box);
  }
  replace(byId('tables'), made);
}

function showActions(state) {
  const box = byId('actions');
  const names = state.actions.map((action) => `${action.name} ${action.chosen}`).join(' ');
  if (box.dataset.names === names) return;
  box.dataset.names = names;
  replace(box, state.actions.map((action) => button(action)));
}

/** The first press asks, the second acts. */
function button(action) {
  const made = element('button', action.label, { type: 'button', 'data-action': action.name });
  // One of several values of a setting.
  if (typeof action.chosen === 'boolean') made.setAttribute('aria-pressed', String(action.chosen));
  const calm = () => {
    delete made.dataset.sure;
    made.textContent = action.label;
  };
  made.addEventListener('blur', calm);
  made.addEventListener('click', async () => {
    if (made.dataset.sure === undefined) {
      made.dataset.sure = '';
      made.textContent = `${action.label}: press again`;
      return;
    }
    calm();
    try {
      const response = await fetch(`/actions/${encodeURIComponent(action.name)}`, {
        method: 'POST',
        headers: { ...authorization(), 'trunkline-page': secret },
      });
      if (!response.ok) setStatus('lost', `${action.label}: ${response.status} ${await response.text()}`);
    } catch (error) {
      setStatus('lost', `${action.label}: no connection: ${error.message}`);
    }
  });
  return made;
}

function setStatus(state, text) {
  const status = byId('status');
  status.dataset.state = state;
  status.textContent = text;
}

function draw(state) {
  showTiles(state);
  showWaits(state);
  showQueue(state);
  showConnections(state);
  showTimelines(state.timelines ?? []);
  showTables(state);
  plot('plot-requests', [series.requests], count);
  plot('plot-latency', [series.median, series.slow], duration);
  plot('plot-bytes', [series.bytesIn, series.bytesOut], (value) => bytes(value));
  plot('plot-open', [series.open], count);
}

let shown = null;

function take(state) {
  secret = state.page_secret;
  shown = state;
  byId('content').hidden = false;
  byId('token').hidden = true;
  byId('kind').textContent = `${state.kind}, process ${state.process}, version ${state.version}`;
  document.title = `trunkline ${state.kind} ${state.process}`;
  if (state.draining) setStatus('draining', 'drains: open exchanges finish');
  else setStatus('live', `live, ${new Date(state.time_ms).toLocaleTimeString()}`);
  showActions(state);
  observe(state);
  draw(state);
}

// The events are read by fetch, because EventSource sends no token.

function authorization() {
  const token = sessionStorage.getItem('token');
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

async function read(signal) {
  const response = await fetch('/events', { headers: authorization(), signal });
  if (signal.aborted) return false;
  if (response.status === 401) {
    sessionStorage.removeItem('token');
    byId('content').hidden = true;
    byId('token').hidden = false;
    setStatus('lost', 'a token is needed');
    return false;
  }
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return true;
    text += value;
    const events = text.split('\n\n');
    text = events.pop();
    // Those that came together: the last one is now.
    const last = events.at(-1);
    if (last !== undefined) take(JSON.parse(last.slice('data: '.length)));
  }
}

let reading = new AbortController();

/** Reads with the token that is there now, and no longer with the one before. */
async function run() {
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  while (!signal.aborted) {
    try {
      if (!(await read(signal))) return;
      setStatus('lost', 'the server has ended, or closed this page');
    } catch (error) {
      if (signal.aborted) return;
      setStatus('lost', `no connection: ${error.message}`);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

byId('token').addEventListener('submit', (event) => {
  event.preventDefault();
  const token = byId('token-text').value.trim();
  byId('token-text').value = '';
  // Sent a second time, it is empty.
  if (token === '') return;
  sessionStorage.setItem('token', token);
  run();
});
for (const id of ['filter', 'reason']) byId(id).addEventListener('change', () => shown && showConnections(shown));
run();
