// SPDX-License-Identifier: Apache-2.0
// What ranks of collectives and trainings waited for, if the run finds the reasons (--steps).
'use strict';

const MOST_RANKS = 16;
let noSteps = false; // nothing is recorded: nobody asks again

const asOfSlider = () => (recorded ? `?at_ps=${current().at}` : '');

// The section is there if either part is.
function showRankPart(part, isThere) {
  byId(part).hidden = !isThere;
  byId('waits').hidden = byId('waits-part').hidden && byId('strips-part').hidden;
}

async function fillWaits() {
  if (noSteps) return;
  const jobs = await ask('/api/show/rank/waits' + asOfSlider());
  noSteps = jobs === null;
  if (noSteps) return;
  const time = (ps) => `${(ps / 1e6).toFixed(1)} µs`;
  const rank = (number, host) => `${number} (${host})`;
  showRankPart('waits-part', jobs.some((job) => job.rows.length > 0));
  byId('jobs').textContent = jobs.map((job) => `${job.name}: ${job.kind} of ${job.ranks} ranks`).join('; ');
  fill('rank-waits', ['job', 'rank', 'waited in all', 'longest', 'at', 'for', 'cause', 'reason'], jobs.flatMap((job) => job.rows.slice(0, MOST_RANKS).map((row) => [
    job.name, rank(row.rank, row.host), time(row.waited_ps), time(row.longest_ps), instant(row.from_ps), rank(row.peer, row.peer_host), row.cause, row.text])));
  fill('causes', ['job', 'cause', 'at', 'by', 'waits', 'waited'], jobs.flatMap((job) => job.causes.slice(0, ROWS).map((row) => [
    job.name, row.cause, row.at, row.by || '–', String(row.waits), time(row.waited_ps)])));
}
