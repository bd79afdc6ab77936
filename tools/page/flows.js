// SPDX-License-Identifier: Apache-2.0
// Flows through a chosen port, and the way of one of them on the fabric.
'use strict';

const MOST_FLOWS = 20, MOST_NUMBERED = 16; // rows; ports of a way that get numbers
let chosenPort = -1; // of fabric.ports
let everyPort = false; // instead of one
let chosenFlow = null; // its number
let flowAnswer = null; // of /api/show/flow/paths
let flowRates = new Map(); // bits a second, by flow: growth since the last answer
let flowRefusal = '';
let portNumbers = null; // by name

const portName = (port) => fabric.ports[port].name;
const portNumber = (name) => {
  if (!portNumbers) portNumbers = new Map(fabric.ports.map((port, number) => [port.name, number]));
  return portNumbers.get(name);
};
const chosenRow = () => (flowAnswer ? flowAnswer.rows.find((row) => row.flow === chosenFlow) : undefined);

function listPorts(node) {
  const options = [['', 'none chosen'], ['*', 'every port']];
  for (let port = node.first; port < node.first + node.count; port += 1) options.push([String(port), `${portName(port)} → ${portName(fabric.ports[port].peer)}`]);
  if (chosenPort >= 0 && fabric.ports[chosenPort].node !== node.number) options.push([String(chosenPort), `${portName(chosenPort)} → ${portName(fabric.ports[chosenPort].peer)}`]);
  byId('port').replaceChildren(...options.map(([value, text]) => {
    const option = document.createElement('option');
    option.value = value;
    option.textContent = text;
    return option;
  }));
  byId('port').value = everyPort ? '*' : chosenPort < 0 ? '' : String(chosenPort);
}

// -1: none; all: every port.
function choosePort(port, all = false) {
  chosenPort = port;
  everyPort = all;
  flowAnswer = null;
  flowRates = new Map();
  chosenFlow = null;
  if (port >= 0) listPorts(fabric.nodes[fabric.ports[port].node]);
  byId('port').value = all ? '*' : port < 0 ? '' : String(port);
  byId('turn').disabled = port < 0;
  show();
  askFlows().catch(lost);
}

function chooseFlow(flow) {
  chosenFlow = chosenFlow === flow ? null : flow;
  show();
}

// The next port of the chosen node.
function stepPort(by) {
  if (!chosen) return;
  const here = chosenPort >= 0 && chosen.members.find((node) => node.number === fabric.ports[chosenPort].node);
  const node = here || chosen.members[0];
  const place = here ? chosenPort - node.first + by : by > 0 ? 0 : node.count - 1;
  choosePort(node.first + (place + node.count) % node.count);
}

// The busiest port of the link that is drawn nearest.
function clickLink(x, y) {
  const away = ({ a, b }) => {
    const from = place(a), to = place(b);
    const length = (to.x - from.x) ** 2 + (to.y - from.y) ** 2;
    const along = Math.max(0, Math.min(1, ((x - from.x) * (to.x - from.x) + (y - from.y) * (to.y - from.y)) / (length || 1)));
    return Math.hypot(from.x + along * (to.x - from.x) - x, from.y + along * (to.y - from.y) - y);
  };
  const near = fabric.links.reduce((best, link) => (away(link) < away(best) ? link : best));
  if (away(near) > 6) return;
  choosePort(near.ports.reduce((best, port) => (current().load[port] > current().load[best] ? port : best)));
}

async function askFlows() {
  if (chosenPort < 0 && !everyPort) return;
  const wanted = chosenPort;
  const path = `/api/show/flow/paths?most=${MOST_FLOWS}` + (wanted < 0 ? '' : '&port=' + encodeURIComponent(portName(wanted))) +
    (recorded ? `&at_ps=${current().at}` : '');
  const answer = await ask(path).catch((why) => {
    if (!why.refused) throw why;
    flowRefusal = why.message;
    return null;
  });
  if (wanted !== chosenPort || !answer) { fillFlows(current()); return; }
  flowRefusal = '';
  if (flowAnswer && answer.at_ps > flowAnswer.at_ps) {
    const before = new Map(flowAnswer.rows.filter((row) => row.sent_bytes !== null).map((row) => [row.flow, row.sent_bytes]));
    const span = answer.at_ps - flowAnswer.at_ps;
    flowRates = new Map(answer.rows.filter((row) => before.has(row.flow) && row.sent_bytes !== null).map((row) => [row.flow, Math.max(0, row.sent_bytes - before.get(row.flow)) * 8e12 / span]));
  }
  flowAnswer = answer;
  fillFlows(current());
  draw();
}

// The port on a flow's way that was paused longest.
function pausedOn(row, frame) {
  const ports = row.path.map(portNumber).filter((port) => port !== undefined);
  const worst = ports.reduce((best, port) => (best < 0 || frame.paused[port] > frame.paused[best] ? port : best), -1);
  return worst >= 0 && frame.paused[worst] > 0 ? `${percent(frame.paused[worst])} at ${portName(worst)}` : '';
}

function fillFlows(frame) {
  const title = chosenPort >= 0 ? `Flows through ${portName(chosenPort)} → ${portName(fabric.ports[chosenPort].peer)}` : everyPort ? 'Flows' : 'Flows through a port';
  byId('flows-title').textContent = title;
  if (chosenPort < 0 && !everyPort) {
    fill('flows', [], []);
    byId('path').textContent = '';
    byId('crossing').textContent = 'Choose a port here, in a table, or with L on the fabric.';
    return;
  }
  if (!flowAnswer) { fill('flows', [], []); byId('crossing').textContent = flowRefusal; return; }
  const { flows, followed, found, rows } = flowAnswer;
  byId('crossing').textContent = `${found} of ${flows} flows` + (flowAnswer.sent_bytes === null ? '' : `, ${bytes(flowAnswer.sent_bytes)} sent`) + (rows.length < found ? `; the ${rows.length} that sent most` : '') +
    (followed < flows ? `; the ways of ${flows - followed} are not known yet` : '') + (flowAnswer.lacks ? `. ${flowAnswer.lacks}` : '');
  fill('flows', ['flow', 'workload', 'rate', 'sent', 'CNPs', 'state', 'paused on its way'], rows.map((row) => [
    button(`${row.source} QP ${row.source_qp} → ${row.destination} QP ${row.destination_qp}`, () => chooseFlow(row.flow), row.flow === chosenFlow),
    row.workload, flowRates.has(row.flow) ? rate(flowRates.get(row.flow)) : '', row.sent_bytes === null ? '' : bytes(row.sent_bytes),
    row.cnps === null ? '' : String(row.cnps), row.state, pausedOn(row, frame)]));
  const row = chosenRow();
  byId('path').textContent = row ? `The way of ${row.source} QP ${row.source_qp}: ${row.path.join(', ')}` + (row.is_drawn ? '; each packet takes some of these' : '') +
    `; ${row.end}.` : rows.length > 0 ? 'Press a flow to draw its way.' : '';
}

// A diamond in the middle of the chosen port's link.
function drawDiamond(pen, x, y, half) {
  pen.beginPath();
  pen.moveTo(x, y - half);
  pen.lineTo(x + half, y);
  pen.lineTo(x, y + half);
  pen.lineTo(x - half, y);
  pen.closePath();
}

const endsOf = (port) => [place(fabric.nodes[fabric.ports[port].node].group), place(fabric.nodes[fabric.ports[fabric.ports[port].peer].node].group)];

function drawChosenPort(pen) {
  if (chosenPort < 0) return;
  const [from, to] = endsOf(chosenPort);
  pen.strokeStyle = style('--ink');
  pen.fillStyle = style('--paper');
  pen.lineWidth = 2;
  pen.setLineDash([2, 3]);
  pen.beginPath();
  pen.moveTo(from.x, from.y);
  pen.lineTo(to.x, to.y);
  pen.stroke();
  pen.setLineDash([]);
  drawDiamond(pen, (from.x + to.x) / 2, (from.y + to.y) / 2, 8);
  pen.fill();
  pen.stroke();
}

// A thick line with a light edge; the ports of the way have numbers, in its order.
function drawWay(pen) {
  const row = chosenRow();
  if (!row) return;
  const ports = row.path.map(portNumber).filter((port) => port !== undefined);
  const ink = style('--way'), paper = style('--paper');
  const lines = (colourOf, thick) => {
    pen.strokeStyle = colourOf;
    pen.lineWidth = thick;
    ports.forEach((port) => {
      const [from, to] = endsOf(port);
      pen.beginPath();
      pen.moveTo(from.x, from.y);
      pen.lineTo(to.x, to.y);
      pen.stroke();
    });
  };
  lines(paper, 9);
  lines(ink, 5);
  if (ports.length > MOST_NUMBERED) return;
  pen.textBaseline = 'middle';
  ports.forEach((port, number) => {
    const [from, to] = endsOf(port);
    const at = { x: from.x + (to.x - from.x) * 0.35, y: from.y + (to.y - from.y) * 0.35 }; // nearer to who sends
    pen.fillStyle = paper;
    pen.strokeStyle = ink;
    pen.lineWidth = 2.5;
    drawDiamond(pen, at.x, at.y, 10);
    pen.fill();
    pen.stroke();
    pen.fillStyle = style('--ink');
    pen.fillText(String(number + 1), at.x, at.y + 1);
  });
  pen.textBaseline = 'alphabetic';
}

document.getElementById('port').addEventListener('change', (event) => {
  const value = event.target.value;
  choosePort(value === '' || value === '*' ? -1 : Number(value), value === '*');
});
document.getElementById('turn').addEventListener('click', () => { if (chosenPort >= 0) choosePort(fabric.ports[chosenPort].peer); });
