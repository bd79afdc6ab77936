// SPDX-License-Identifier: Apache-2.0
// ECMP groups and LAGs of the chosen switch: what each member has sent, beside what an even hash would give it.
'use strict';

let groupRows = []; // of /api/show/hash/groups
let groupNode = null; // whose they are

// By group, in the order of the rows.
function groupsOf(rows) {
  const groups = new Map();
  rows.forEach((row) => groups.set(row.group, [...(groups.get(row.group) || []), row]));
  return groups;
}

const worstOf = (rows) => rows.reduce((worst, row) => Math.max(worst, row.over_expected), 0);

function listGroups(groups) {
  const list = byId('group');
  const before = list.value;
  const names = [...groups.keys()];
  if (names.length !== list.options.length || names.some((name, number) => list.options[number].value !== name)) {
    list.replaceChildren(...(names.length > 0 ? names : ['']).map((name) => {
      const option = document.createElement('option');
      option.value = name;
      return option;
    }));
    list.value = names.includes(before) ? before : names[0] || '';
  }
  names.forEach((name, number) => {
    const rows = groups.get(name);
    const text = `${name}${rows[0].destinations ? `, to ${rows[0].destinations}` : ''}: ${rows.length} members, most ${worstOf(rows).toFixed(2)} × its share`;
    if (list.options[number].textContent !== text) list.options[number].textContent = text;
  });
  if (names.length === 0) list.options[0].textContent = 'it chooses among nothing';
}

function fillGroups() {
  if (!groupNode) return;
  byId('groups-title').textContent = `Hash groups of ${groupNode}`;
  const groups = groupsOf(groupRows);
  listGroups(groups);
  const rows = groups.get(byId('group').value) || [];
  const shared = Math.max(0, ...rows.map((row) => row.also_in));
  byId('evenness').textContent = rows.length === 0 ? '' : `Chosen by ${rows[0].mode}; the member that sent most has ${worstOf(rows).toFixed(2)} times its share` +
    (shared > 0 ? `; ports also send for up to ${shared} other groups.` : '.');
  fill('members', ['member', 'to', 'sent', 'packets', 'share', 'expected', 'over expected', ''], rows.map((row) => [
    row.member, row.to, bytes(row.tx_bytes), String(row.tx_packets), percent(row.share), percent(row.expected), row.over_expected.toFixed(2), meter(row.share)]));
}

async function askGroups() {
  if (!opened) return;
  const node = opened;
  const rows = await ask('/api/show/hash/groups?node=' + encodeURIComponent(node) + (recorded ? `&at_ps=${current().at}` : ''));
  if (node !== opened) return;
  groupRows = rows;
  groupNode = node;
  fillGroups();
}

document.getElementById('group').addEventListener('change', fillGroups);
