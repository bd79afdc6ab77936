// SPDX-License-Identifier: Apache-2.0
// The live page over a recording (`softspine view`): it asks for the loads of the instant that the slider is at.
//
//   recorded   {instants, answers: loads by instant's number, frame: what is shown, wanted: the last number asked for, playing}
'use strict';

const MOST_INSTANTS = 2000, PLAYED = 200, MOST_ANSWERS = 8; // on the slider; when it is played; kept

async function loadsAt(number) {
  if (number < 0) return null;
  if (!recorded.answers.has(number)) recorded.answers.set(number, await ask(`/api/show/loads?at_ps=${recorded.instants[number]}`));
  const answer = recorded.answers.get(number);
  recorded.answers.delete(number); // the oldest use comes first
  recorded.answers.set(number, answer);
  while (recorded.answers.size > MOST_ANSWERS) recorded.answers.delete(recorded.answers.keys().next().value);
  return answer;
}

async function showRecordedEvents() {
  const answer = await ask(`/api/recording/events?at_ps=${current().at}&most=${MOST_EVENTS}&without=${COMMON.join(',')}`);
  COMMON.forEach((kind) => { counted[kind] = answer.counts[kind] || 0; });
  byId('events').replaceChildren();
  addEvents(answer.events);
}

// Shows an instant: what ports did since another. The last one that was asked for counts.
async function goTo(number, since) {
  recorded.wanted = number;
  const before = await loadsAt(since);
  const now = await loadsAt(number);
  if (recorded.wanted !== number) return;
  recorded.frame = readLoads(now, before && readLoads(before, null).counts);
  shown = number;
  show();
  await showRecordedEvents();
  await fillThresholds();
  await askFlows();
  await askGroups();
  await fillWaits();
  await fillStrips();
}

async function playOrStop() {
  recorded.playing = !recorded.playing;
  show();
  if (!recorded.playing) return;
  const jump = Math.max(1, Math.round(last() / PLAYED));
  try {
    if (shown === last()) await goTo(0, -1);
    while (recorded.playing && shown < last()) {
      const begun = performance.now();
      await goTo(Math.min(last(), shown + jump), shown);
      await new Promise((done) => { setTimeout(done, Math.max(0, UPDATE_MS - (performance.now() - begun))); });
    }
  } catch (why) {
    lost(why);
  }
  recorded.playing = false;
  show();
}

async function beginRecording() {
  const samples = await ask(`/api/recording/samples?most=${MOST_INSTANTS}`);
  recorded = { instants: samples.instants_ps, answers: new Map(), frame: null, wanted: -1, playing: false };
  byId('state').textContent = `${fabric.nodes.length} nodes, ${fabric.ports.length / 2} links; a recording of ${samples.instants_ps.length} instants` +
    (samples.each > 1 ? `, one of ${samples.each} samples each` : '');
  byId('lacks').textContent = fabric.recording.lacks.join(' ');
  if (last() < 0) { lost(new Error('the recording has no samples')); return; }
  await goTo(last(), last() - 1);
  await fillCollectives().catch(() => {}); // a run that was killed has no results
}
