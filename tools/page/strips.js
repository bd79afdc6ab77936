// SPDX-License-Identifier: Apache-2.0
// What ranks did over time, if the run (--steps) or a recording has it: a row for each rank, in it a strip for each kind of step.
//
//   strips   {rows: [{job, rank, host, spans}], from, to: of all that is there, ps, marked: a row's number}
//   section  {from, to}: the time that is drawn; null: all of it, and what comes
'use strict';

const KINDS = { compute: '--compute', reduce: '--reduce', send: '--send', wait: '--wait' }; // from the top of a row, with their colours
const STRIP_ROW = 22, STRIP_HEIGHT = 4, STRIP_LEFT = 120, STRIP_RIGHT = 10, STRIP_BOTTOM = 18;
const stripCanvas = byId('strips');
let strips = null;
let section = null;
let noSpans = false; // nothing is recorded: nobody asks again

const drawnTime = () => section || strips;
const stripPlace = (ps) => STRIP_LEFT + (ps - drawnTime().from) / Math.max(1, drawnTime().to - drawnTime().from) * (stripCanvas.clientWidth - STRIP_LEFT - STRIP_RIGHT);
const stripInstant = (x) => drawnTime().from + (x - STRIP_LEFT) / (stripCanvas.clientWidth - STRIP_LEFT - STRIP_RIGHT) * (drawnTime().to - drawnTime().from);

function readStrips(jobs) {
  // By rank: who has waited longest changes, and a row that moves cannot be followed.
  const rows = jobs.flatMap((job) => job.rows.map((row) => ({ job: job.name, ...row })).sort((one, other) => one.rank - other.rank));
  const ends = rows.flatMap((row) => Object.values(row.spans).filter((spans) => spans.length > 0).map((spans) => [spans[0][0], spans[spans.length - 1][1]]));
  const before = strips && strips.rows[strips.marked];
  const marked = before ? rows.findIndex((row) => row.job === before.job && row.rank === before.rank) : -1;
  strips = { rows, from: Math.min(...ends.map(([from]) => from)), to: Math.max(...ends.map(([, to]) => to)), marked };
  return ends.length > 0;
}

function drawStrip(pen, row, top) {
  pen.fillText(`${row.rank} ${row.host}`, 4, top + 14);
  Object.entries(KINDS).forEach(([kind, ink], number) => {
    pen.fillStyle = style(ink);
    row.spans[kind].forEach(([from, to]) => {
      if (to < drawnTime().from || from > drawnTime().to) return;
      const left = Math.max(STRIP_LEFT, stripPlace(from));
      const right = Math.min(stripCanvas.clientWidth - STRIP_RIGHT, stripPlace(to));
      pen.fillRect(left, top + 2 + number * (STRIP_HEIGHT + 0.5), Math.max(0.7, right - left), STRIP_HEIGHT);
    });
  });
}

function drawStrips() {
  if (!strips) return;
  const sharp = window.devicePixelRatio || 1;
  stripCanvas.style.height = `${strips.rows.length * STRIP_ROW + STRIP_BOTTOM}px`;
  stripCanvas.width = stripCanvas.clientWidth * sharp;
  stripCanvas.height = stripCanvas.clientHeight * sharp;
  const pen = stripCanvas.getContext('2d');
  pen.scale(sharp, sharp);
  pen.font = '11px system-ui, "DejaVu Sans", sans-serif';
  strips.rows.forEach((row, number) => {
    pen.fillStyle = style('--ink');
    drawStrip(pen, row, number * STRIP_ROW);
    if (number !== strips.marked) return;
    pen.strokeStyle = style('--accent');
    pen.lineWidth = 2;
    pen.strokeRect(1, number * STRIP_ROW + 1, stripCanvas.clientWidth - 2, STRIP_ROW - 2);
  });
  pen.fillStyle = style('--faint');
  const foot = strips.rows.length * STRIP_ROW + 13;
  pen.fillText(instant(drawnTime().from), STRIP_LEFT, foot);
  pen.textAlign = 'right';
  pen.fillText(instant(drawnTime().to), stripCanvas.clientWidth - STRIP_RIGHT, foot);
  const at = current() && current().at;
  if (shown < 0 || at < drawnTime().from || at > drawnTime().to) return; // the slider's instant
  pen.fillRect(stripPlace(at), 0, 1.5, strips.rows.length * STRIP_ROW);
}

// What the marked rank did in the time that is drawn.
function describeStrip() {
  const row = strips && strips.rows[strips.marked];
  if (!row) return;
  const { from, to } = drawnTime();
  const share = (kind) => row.spans[kind].reduce((sum, [begun, ended, busy]) =>
    sum + busy * Math.max(0, Math.min(ended, to) - Math.max(begun, from)) / Math.max(1, ended - begun), 0) / Math.max(1, to - from);
  byId('strip').textContent = `${row.job}, rank ${row.rank} (${row.host}), ${instant(from)} to ${instant(to)}: ` +
    Object.keys(KINDS).map((kind) => `${kind} ${percent(share(kind))}`).join(', ');
}

function showStrips() {
  drawStrips();
  describeStrip();
}

async function fillStrips() {
  if (noSpans) return;
  const jobs = await ask('/api/show/rank/spans' + asOfSlider());
  noSpans = jobs === null;
  if (!readStrips(jobs || [])) strips = null;
  showRankPart('strips-part', strips !== null);
  showStrips();
}

// Around a place of the time that is drawn, from 0 to 1.
function zoomStrips(times, around) {
  const { from, to } = drawnTime();
  const span = Math.max(1000, (to - from) * times);
  const left = Math.max(strips.from, from + (to - from) * around - span * around);
  section = span >= strips.to - strips.from ? null : { from: left, to: left + span };
}

function moveStrips(part) {
  if (!section) return;
  const span = section.to - section.from;
  const left = Math.max(strips.from, Math.min(strips.to - span, section.from + part * span));
  section = { from: left, to: left + span };
}

function markStrip(number) {
  strips.marked = (number + strips.rows.length) % strips.rows.length;
}

stripCanvas.addEventListener('keydown', (event) => {
  const keys = { ArrowUp: () => markStrip(strips.marked < 0 ? strips.rows.length - 1 : strips.marked - 1), ArrowDown: () => markStrip(strips.marked + 1),
    ArrowLeft: () => moveStrips(-0.25), ArrowRight: () => moveStrips(0.25), '+': () => zoomStrips(0.5, 0.5), '-': () => zoomStrips(2, 0.5), 0: () => { section = null; } };
  if (!strips || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
  showStrips();
});
stripCanvas.addEventListener('click', (event) => {
  if (!strips) return;
  const box = stripCanvas.getBoundingClientRect();
  markStrip(Math.min(strips.rows.length - 1, Math.floor((event.clientY - box.top) / STRIP_ROW)));
  showStrips();
});
stripCanvas.addEventListener('wheel', (event) => {
  if (!strips || !event.ctrlKey) return; // as in maps: the page still scrolls
  event.preventDefault();
  const at = (stripInstant(event.clientX - stripCanvas.getBoundingClientRect().left) - drawnTime().from) / (drawnTime().to - drawnTime().from);
  zoomStrips(event.deltaY < 0 ? 0.8 : 1.25, Math.max(0, Math.min(1, at)));
  showStrips();
}, { passive: false });
window.addEventListener('resize', showStrips);
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showStrips);
