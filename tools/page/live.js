// SPDX-License-Identifier: Apache-2.0
// The live page: it asks for the map once, for the loads again and again, and keeps the last minutes of them.
'use strict';

const UPDATE_MS = 100, LARGE_UPDATE_MS = 500, LARGE = 20000; // ports
const KEPT_MS = 180000, MOST_KEPT = 8e6; // of ports by frames: some 200 MB
const MOST_NODES = 64, FOLDED = 32; // of a tier; beyond, neighbours are folded into so many
const ROWS = 8, MOST_EVENTS = 60;
const CIVIDIS = ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55', '#fee838'];
const TIERS = ['hosts', 'ToRs', 'aggregation', 'core'];
const byId = (id) => document.getElementById(id);

let token = sessionStorage.getItem('token') || '';
let fabric = null; // the map: {nodes, ports, groups, links}
let kept = []; // {at, wall, load, paused, queue, queueBytes, drops, down, reasons}
let counts = null; // of the last answer: what growth is taken from
let shown = -1; // of kept; -1: the last
let chosen = null; // a group
let opened = null; // a node, whose thresholds are shown
let recorded = null; // of a recording (recording.js)

const headers = () => (token ? { Authorization: 'Bearer ' + token } : {});

async function ask(path) {
  const answer = await fetch(path, { headers: headers(), cache: 'no-store' });
  if (answer.status === 401) throw Object.assign(new Error('a token is needed'), { token: true });
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.error), { refused: answer.status === 400 });
  return body;
}

// Words of numbers.
const scaled = (value, units, step = 1000) => {
  let unit = 0;
  while (value >= step && unit + 1 < units.length) { value /= step; unit += 1; }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toPrecision(3)} ${units[unit]}`;
};
const bytes = (value) => scaled(value, ['B', 'kB', 'MB', 'GB']);
const rate = (value) => scaled(value, ['b/s', 'kb/s', 'Mb/s', 'Gb/s', 'Tb/s']);
const instant = (ps) => `${(ps / 1e9).toFixed(3)} ms`;
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
const colour = (share) => CIVIDIS[Math.max(0, Math.min(9, Math.floor(share * 10)))];

// Nodes by tier; a tier of many is folded: neighbours stand together.
function readMap(text) {
  const ports = [];
  const nodes = text.nodes.map(([name, tier, own], number) => {
    const node = { name, tier, number, first: ports.length, count: own.length, group: null };
    own.forEach(([port, peer, bps]) => ports.push({ name: `${name}:${port}`, node: number, peer, bps }));
    return node;
  });
  const tiers = [];
  nodes.forEach((node) => (tiers[node.tier] = tiers[node.tier] || []).push(node));
  const groups = [];
  tiers.forEach((all, tier) => {
    if (!all) return;
    const each = all.length > MOST_NODES ? Math.ceil(all.length / FOLDED) : 1;
    const count = Math.ceil(all.length / each);
    for (let i = 0; i < count; i += 1) {
      const members = all.slice(i * each, (i + 1) * each);
      const name = members.length === 1 ? members[0].name : `${members[0].name} – ${members[members.length - 1].name}`;
      const group = { name, tier, members, x: (i + 0.5) / count, place: i, index: groups.length };
      members.forEach((node) => { node.group = group; });
      groups.push(group);
    }
  });
  const links = new Map(); // both directions between two groups
  ports.forEach((port, number) => {
    const a = nodes[port.node].group, b = nodes[ports[port.peer].node].group;
    const key = a.index < b.index ? `${a.index} ${b.index}` : `${b.index} ${a.index}`;
    if (!links.has(key)) links.set(key, { a: a.index < b.index ? a : b, b: a.index < b.index ? b : a, ports: [] });
    links.get(key).ports.push(number);
  });
  return { testbed: text.testbed, nodes, ports, groups, tiers: tiers.length, links: [...links.values()], recording: text.recording };
}

// A frame: what each port did since the counts of another answer; none: since the start.
function readLoads(text, earlier) {
  const size = fabric.ports.length;
  const numbers = () => new Float32Array(size);
  const now = { at: text.at_ps, tx: new Float64Array(size), paused: new Float64Array(size) };
  const frame = { at: text.at_ps, wall: Date.now(), counts: now, moved: !earlier || now.at > earlier.at, load: numbers(), paused: numbers(), queue: new Uint8Array(size),
    queueBytes: numbers(), drops: numbers(), tx: numbers(), dropping: new Set(), down: new Set(text.down), reasons: text.drops };
  const before = earlier || { at: 0, tx: new Float64Array(size), paused: new Float64Array(size), drops: new Float64Array(size) };
  const span = Math.max(1, now.at - before.at);
  now.drops = Float64Array.from(before.drops);
  text.ports.forEach(([port, tx, paused, queue, queued, drops]) => {
    now.tx[port] = tx;
    now.paused[port] = paused;
    now.drops[port] = drops;
    frame.load[port] = Math.min(1, (tx - before.tx[port]) * 8e12 / (fabric.ports[port].bps * span));
    frame.paused[port] = Math.min(1, (paused - before.paused[port]) / span);
    frame.queue[port] = queue;
    frame.queueBytes[port] = queued;
    frame.drops[port] = drops;
    frame.tx[port] = tx;
    if (drops > before.drops[port]) frame.dropping.add(fabric.nodes[fabric.ports[port].node].group);
  });
  return frame;
}

function keep(frame) {
  if (!frame.moved && kept.length > 0) return;
  kept.push(frame);
  while (kept.length * fabric.ports.length > MOST_KEPT || frame.wall - kept[0].wall > KEPT_MS) {
    kept.shift();
    if (shown >= 0) shown = Math.max(0, shown - 1);
  }
}

const current = () => (recorded ? recorded.frame : kept[shown < 0 ? kept.length - 1 : shown]);
const last = () => (recorded ? recorded.instants : kept).length - 1;
const goesOn = () => (recorded ? recorded.playing : shown < 0);

// The canvas.
const canvas = byId('fabric');
let wide = 0, high = 0; // asked for once a frame: each time may lay out the page
const place = (group) => ({ x: 20 + group.x * (wide - 40), y: high - 30 - group.tier * (high - 60) / Math.max(1, fabric.tiers - 1) });

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// From whom the pause came, to whom it pauses.
function drawArrow(pen, from, to, share) {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const at = { x: from.x + (to.x - from.x) * 0.62, y: from.y + (to.y - from.y) * 0.62 };
  pen.lineWidth = 1 + 4 * share;
  pen.beginPath();
  pen.moveTo(from.x, from.y);
  pen.lineTo(at.x, at.y);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(at.x + 9 * Math.cos(angle), at.y + 9 * Math.sin(angle));
  pen.lineTo(at.x - 7 * Math.cos(angle - 0.6), at.y - 7 * Math.sin(angle - 0.6));
  pen.lineTo(at.x - 7 * Math.cos(angle + 0.6), at.y - 7 * Math.sin(angle + 0.6));
  pen.fill();
}

function drawLinks(pen, frame) {
  const faint = style('--faint');
  const looks = fabric.links.map((link) => ({ link, load: Math.max(...link.ports.map((port) => frame.load[port])),
    down: link.ports.every((port) => frame.down.has(port) || frame.down.has(fabric.ports[port].peer)) }));
  looks.sort((one, other) => one.load - other.load);
  looks.forEach(({ link, load, down }) => {
    const a = place(link.a), b = place(link.b);
    const width = chosen === link.a || chosen === link.b ? 4 : 1.2 + 2 * load;
    const line = (ink, thick) => {
      pen.strokeStyle = ink;
      pen.lineWidth = thick;
      pen.beginPath();
      pen.moveTo(a.x, a.y);
      pen.lineTo(b.x, b.y);
      pen.stroke();
    };
    pen.setLineDash(down ? [5, 4] : []);
    if (!down) line(faint, width + 1); // so that the scale's ends are seen on light and dark paper
    line(down ? faint : colour(load), width);
  });
  pen.setLineDash([]);
}

function drawPauses(pen, frame) {
  pen.strokeStyle = pen.fillStyle = style('--pause');
  fabric.links.forEach((link) => {
    [[link.a, link.b], [link.b, link.a]].forEach(([paused, pauser]) => {
      const share = Math.max(0, ...link.ports.filter((port) => fabric.nodes[fabric.ports[port].node].group === paused).map((port) => frame.paused[port]));
      if (share > 0 && paused !== pauser) drawArrow(pen, place(pauser), place(paused), share);
    });
  });
}

function drawNodes(pen, frame) {
  const ink = style('--ink'), paper = style('--paper'), drop = style('--drop'), accent = style('--accent');
  const count = {}, widest = {}; // by tier: nodes, and the room that a name needs
  fabric.groups.forEach(({ tier, name }) => { count[tier] = (count[tier] || 0) + 1; widest[tier] = Math.max(widest[tier] || 0, pen.measureText(name).width + 6); });
  fabric.groups.forEach((group) => {
    const { x, y } = place(group);
    const half = group.tier === 0 ? 4 : 7;
    pen.fillStyle = group === chosen ? accent : paper;
    pen.strokeStyle = ink;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.rect(x - half, y - half, 2 * half, 2 * half);
    pen.fill();
    pen.stroke();
    if (frame.dropping.has(group)) {
      pen.strokeStyle = drop;
      pen.lineWidth = 2.5;
      pen.beginPath();
      pen.arc(x, y, half + 6, 0, 7);
      pen.stroke();
    }
    // As many names as have room. Links cross them, so there is paper around each.
    if (group.place % Math.ceil(count[group.tier] * widest[group.tier] / canvas.clientWidth) !== 0) return;
    Object.assign(pen, { strokeStyle: paper, lineWidth: 4, fillStyle: ink });
    const foot = group.tier === 0 ? y + 20 : y - 12;
    pen.strokeText(group.name, x, foot);
    pen.fillText(group.name, x, foot);
  });
}

function draw() {
  const frame = current();
  if (!fabric || !frame) return;
  const sharp = window.devicePixelRatio || 1;
  canvas.width = (wide = canvas.clientWidth) * sharp;
  canvas.height = (high = canvas.clientHeight) * sharp;
  const pen = canvas.getContext('2d');
  pen.scale(sharp, sharp);
  pen.font = '11px system-ui, "DejaVu Sans", sans-serif';
  pen.textAlign = 'center';
  drawLinks(pen, frame);
  drawPauses(pen, frame);
  drawWay(pen);
  drawChosenPort(pen);
  drawNodes(pen, frame);
}

// Tables. Texts of the fabric are never markup. A cell is a text, a share (meter), or a text to press (button); what is
// there is changed in place, so that the keyboard's focus stays where it is.
const meter = (share) => ({ tag: 'meter', share });
const button = (text, act, pressed) => ({ tag: 'button', text, act, pressed });

function fillCell(into, cell) {
  if (cell.tag === undefined) {
    into.className = cell.length > 40 ? 'words' : '';
    if (into.textContent !== cell || into.firstElementChild) into.textContent = cell;
    return;
  }
  let made = into.firstElementChild;
  if (!made || made.localName !== cell.tag) {
    made = document.createElement(cell.tag);
    into.replaceChildren(made);
  }
  into.className = cell.tag === 'meter' ? 'bar' : '';
  if (cell.tag === 'meter') { made.value = cell.share; return; }
  if (made.textContent !== cell.text) made.textContent = cell.text;
  made.onclick = cell.act;
  made.setAttribute('aria-pressed', String(cell.pressed));
}

function fill(id, head, rows) {
  const table = byId(id);
  [head, ...rows].forEach((cells, number) => {
    const row = table.rows[number] || table.insertRow();
    const kind = number === 0 ? 'th' : 'td';
    while (row.cells.length > cells.length) row.lastElementChild.remove();
    while (row.cells.length < cells.length) row.append(document.createElement(kind));
    cells.forEach((cell, place) => fillCell(row.cells[place], cell));
  });
  while (table.rows.length > rows.length + 1) table.deleteRow(-1);
}

// The ports of the highest values, highest first.
function fullest(values) {
  const best = [];
  values.forEach((value, port) => {
    if (value <= 0 || (best.length === ROWS && value <= values[best[ROWS - 1]])) return;
    let at = best.length;
    while (at > 0 && values[best[at - 1]] < value) at -= 1;
    best.splice(at, 0, port);
    best.length = Math.min(best.length, ROWS);
  });
  return best;
}

function fillTables(frame) {
  const name = (port) => fabric.ports[port].name;
  const choice = (port) => button(name(port), () => choosePort(port), port === chosenPort);
  fill('busiest', ['port', 'load', ''], fullest(frame.load).map((port) => [choice(port), rate(frame.load[port] * fabric.ports[port].bps), meter(frame.load[port])]));
  fill('paused', ['port', 'paused by', 'time', ''], fullest(frame.paused).map((port) =>
    [choice(port), name(fabric.ports[port].peer), percent(frame.paused[port]), meter(frame.paused[port])]));
  fill('queues', ['port', 'queue', 'holds'], fullest(frame.queueBytes).map((port) => [choice(port), String(frame.queue[port]), bytes(frame.queueBytes[port])]));
  fill('drops', ['reason, or port', 'packets so far'], [...Object.entries(frame.reasons).sort((a, b) => b[1] - a[1]).map(([reason, count]) => [reason, String(count)]),
    ...fullest(frame.drops).map((port) => [choice(port), String(frame.drops[port])])]);
}

function describe() {
  if (!chosen) return;
  const frame = current();
  let load = 0, paused = 0, queued = 0;
  chosen.members.forEach((node) => {
    for (let port = node.first; port < node.first + node.count; port += 1) {
      load = Math.max(load, frame.load[port]);
      paused = Math.max(paused, frame.paused[port]);
      queued = Math.max(queued, frame.queueBytes[port]);
    }
  });
  byId('chosen').textContent = `${chosen.name} (${TIERS[chosen.tier] || ''}): busiest port ${percent(load)}, paused ${percent(paused)} of the time, ` +
    `fullest queue ${bytes(queued)}`;
}

// What a switch sent to each switch above it, since the start: how its hash has spread.
function fillUplinks(frame) {
  const node = opened && fabric.nodes.find((each) => each.name === opened);
  if (!node) return;
  const above = [];
  for (let port = node.first; port < node.first + node.count; port += 1) {
    if (fabric.nodes[fabric.ports[fabric.ports[port].peer].node].tier > node.tier) above.push(port);
  }
  const sum = above.reduce((all, port) => all + frame.tx[port], 0);
  byId('uplinks-title').textContent = `Uplinks of ${opened}`;
  fill('uplinks', ['port', 'to', 'share', ''], above.map((port) => {
    const share = sum > 0 ? frame.tx[port] / sum : 0;
    return [button(fabric.ports[port].name, () => choosePort(port), port === chosenPort), fabric.ports[fabric.ports[port].peer].name, percent(share), meter(share)];
  }));
}

async function fillThresholds() {
  if (!opened || (shown >= 0 && !recorded)) return;
  const rows = await ask('/api/show/thresholds?node=' + encodeURIComponent(opened) + (recorded ? `&at_ps=${current().at}` : ''));
  byId('node-title').textContent = `Thresholds of ${opened}`;
  const limit = (row) => row.xoff_bytes ?? row.marks_all_bytes;
  rows.sort((a, b) => b.bytes / limit(b) - a.bytes / limit(a));
  fill('thresholds', ['port', 'queue or group', 'holds', 'limit', ''], rows.slice(0, 2 * ROWS).map((row) => [row.port, row.of, bytes(row.bytes),
    row.xoff_bytes === null ? `marks ${bytes(row.marks_from_bytes)} – ${bytes(row.marks_all_bytes)}` : `XOFF ${bytes(row.xoff_bytes)}`,
    meter(Math.min(1, row.bytes / limit(row)))]));
}

// A row for each size of each collective, and who waits for whom.
async function fillCollectives() {
  const all = Object.entries(await ask('/api/show/collectives') || {});
  const time = (ps) => (ps === null ? '' : `${(ps / 1e6).toFixed(1)} µs`);
  const rows = all.flatMap(([name, of]) => Object.entries(of.sizes).map(([size, it]) =>
    [name, `${of.op}, ${of.ranks} ranks`, bytes(Number(size)), String(it.done), time(it.time_ps), it.busbw_bps === null ? '' : rate(it.busbw_bps)]));
  byId('ranks').hidden = rows.length === 0;
  fill('collectives', ['name', 'what', 'size', 'done', 'time', 'bus bandwidth'], rows.slice(0, 2 * ROWS));
  byId('waiting').textContent = all.flatMap(([, of]) => of.waiting).slice(0, ROWS).map((it) => `${it.host} waits for ${it.for}`).join(', ');
}

function show() {
  const frame = current();
  if (!frame) return;
  const slider = byId('slider');
  slider.max = String(last());
  slider.value = String(shown < 0 ? last() : shown);
  byId('instant').textContent = instant(frame.at);
  byId('play').textContent = goesOn() ? 'stop' : recorded ? 'play' : 'go on';
  byId('play').setAttribute('aria-pressed', String(goesOn()));
  draw();
  fillTables(frame);
  fillUplinks(frame);
  fillFlows(frame);
  describe();
  if (shown >= 0) drawStrips(); // with the slider's instant
}

function stopOrGoOn() {
  if (recorded) { playOrStop(); return; }
  shown = shown < 0 ? last() : -1;
  show();
}

// Keys: left and right along a tier, up and down between them.
function choose(group) {
  chosen = group;
  show();
}

function step(along, up) {
  if (!fabric) return;
  if (!chosen) { choose(fabric.groups[fabric.groups.length - 1]); return; }
  const tier = fabric.groups.filter((group) => group.tier === chosen.tier + up);
  if (tier.length === 0) return;
  if (up !== 0) { choose(tier.reduce((near, group) => (Math.abs(group.x - chosen.x) < Math.abs(near.x - chosen.x) ? group : near))); return; }
  choose(tier[(chosen.place + along + tier.length) % tier.length]);
}

function openChosen() {
  const node = chosen && chosen.members.find((each) => each.tier > 0);
  if (!node) return;
  opened = node.name;
  listPorts(node);
  show();
  fillThresholds().catch(lost);
  askGroups().catch(lost);
}

canvas.addEventListener('keydown', (event) => {
  const keys = { ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0), ArrowUp: () => step(0, 1), ArrowDown: () => step(0, -1), Enter: openChosen, ' ': stopOrGoOn,
    l: () => stepPort(1), L: () => stepPort(-1) };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
canvas.addEventListener('click', (event) => {
  if (!fabric) return;
  const box = canvas.getBoundingClientRect();
  const away = (group) => Math.hypot(place(group).x - (event.clientX - box.left), place(group).y - (event.clientY - box.top));
  const near = fabric.groups.reduce((best, group) => (away(group) < away(best) ? group : best));
  if (away(near) > 30) { clickLink(event.clientX - box.left, event.clientY - box.top); return; }
  choose(near);
  openChosen();
});
byId('play').addEventListener('click', stopOrGoOn);
byId('slider').addEventListener('input', (event) => {
  const number = Number(event.target.value);
  if (recorded) { recorded.playing = false; goTo(number, number - 1).catch(lost); return; }
  shown = number === last() ? -1 : number;
  show();
});
window.addEventListener('resize', draw);
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);

// Events. Those that a congested fabric has by the thousand are counted; the others are listed.
const COMMON = ['xoff_raised', 'xoff_cleared', 'pause_received', 'resume_received', 'pause_lapsed', 'drops'];
const counted = {};

function eventWords(event) {
  if (event.lost !== undefined) return ['', `${event.lost} events were lost: this page was too slow`];
  const more = [event.port, event.what, event.switch, event.circle, event.reason && `${event.packets} × ${event.reason}`,
    event.priorities && `priority ${event.priorities.join(', ')}`].filter(Boolean);
  return [event.t_ps === undefined ? '' : instant(event.t_ps), `${event.event} ${more.join(' ')}`];
}

function addEvents(events) {
  const list = byId('events');
  const isListed = (event) => event.lost !== undefined || (event.event !== undefined && !COMMON.includes(event.event));
  events.filter((event) => COMMON.includes(event.event)).forEach((event) => { counted[event.event] = (counted[event.event] || 0) + 1; });
  byId('counted').textContent = COMMON.filter((kind) => counted[kind]).map((kind) => `${kind} ${counted[kind]}`).join(', ');
  events.filter(isListed).slice(-MOST_EVENTS).forEach((event) => {
    const item = document.createElement('li');
    const [when, words] = eventWords(event);
    const mark = document.createElement('b');
    mark.textContent = words;
    item.append(`${when} `, mark);
    list.prepend(item);
  });
  while (list.childElementCount > MOST_EVENTS) list.lastElementChild.remove();
}

function listen() {
  const protocols = ['softspine.events'].concat(token ? ['bearer.' + token] : []);
  const socket = new WebSocket(`ws://${location.host}/events`, protocols);
  socket.onmessage = (message) => addEvents(JSON.parse(message.data));
  socket.onclose = () => setTimeout(listen, 2000);
}

function lost(why) {
  const state = byId('state');
  state.className = 'lost';
  state.textContent = why.message === 'Failed to fetch' ? 'no answer: the program has ended' : why.message;
  if (!why.token) return;
  byId('ask').hidden = false;
  byId('token').focus();
}

let looks = 0;
async function look() {
  const begun = performance.now();
  let pause = fabric.ports.length > LARGE ? LARGE_UPDATE_MS : UPDATE_MS;
  try {
    const frame = readLoads(await ask('/api/show/loads'), counts);
    if (frame.moved) counts = frame.counts;
    delete frame.counts;
    keep(frame);
    byId('state').className = '';
    byId('state').textContent = `${fabric.nodes.length} nodes, ${fabric.ports.length / 2} links`;
    if (shown < 0 || kept.length === 1) show();
    byId('slider').max = String(last());
    looks += 1;
    if (opened && looks % 5 === 0) await fillThresholds();
    if (opened && looks % 10 === 4 && shown < 0) await askGroups();
    if (looks % 5 === 2 && shown < 0) await askFlows();
    if (looks % 10 === 1) await fillCollectives();
    if (looks % 10 === 6 && shown < 0) await fillWaits();
    if (looks % 10 === 8 && shown < 0) await fillStrips();
  } catch (why) {
    lost(why);
    pause = 2000;
  }
  setTimeout(look, Math.max(20, pause - (performance.now() - begun)));
}

async function begin() {
  try {
    fabric = readMap(await ask('/api/show/map'));
  } catch (why) {
    lost(why);
    if (!why.token) setTimeout(begin, 2000);
    return;
  }
  byId('ask').hidden = true;
  byId('name').textContent = fabric.testbed;
  document.title = `${fabric.testbed} – softspine`;
  if (fabric.recording) { beginRecording().catch(lost); return; }
  listen();
  look();
}

byId('ask').addEventListener('submit', (event) => {
  event.preventDefault();
  token = byId('token').value;
  sessionStorage.setItem('token', token);
  begin();
});
begin();
