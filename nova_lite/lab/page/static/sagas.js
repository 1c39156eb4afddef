// Sagas: open ones and the last that ended, with a mark for each step.
import { h, rows, state } from './dom.js';
import { openSaga } from './details.js';

const SHAPES = { running: 'busy', parked: 'busy', stopped: 'warn', cleaning: 'warn', done: 'good', failed: 'bad', undone: 'warn' };
// In the words of people.
const STATES = { parked: 'waits' };
const list = document.querySelector('#sagas .rows');

export function drawSagas(found) {
  rows(list, found.sagas, (saga) => saga.uuid, sagaRow, 'No saga has run.');
}

const lasted = (saga) => ((Date.parse(saga.finished_at) - Date.parse(saga.created_at)) / 1000).toFixed(2);

/** Return which step a saga is at, in words. */
export function progress(saga) {
  if (saga.finished_at) return saga.error ?? `ended after ${lasted(saga)} s`;
  if (saga.stopped) return `stopped ${saga.stopped}`;
  const back = saga.direction === 'undo' ? 'undoing ' : '';
  const step = saga.steps[saga.position] ?? saga.step ?? 'waits for a super-conductor';
  return `${back}${step}${saga.waits_for ? `, waits for ${saga.waits_for}` : ''}`;
}

function sagaRow(saga) {
  return h('button', { class: 'row', click: () => openSaga(saga.uuid) },
    h('span', { class: 'top' }, state(SHAPES[saga.state] ?? 'rest'), h('b', { text: `${saga.kind} ${saga.name ?? saga.server}` }), h('span', { class: 'faint', text: STATES[saga.state] ?? saga.state })),
    h('span', { class: 'under', text: progress(saga) }),
    saga.finished_at ? null : steps(saga));
}

function steps(saga) {
  const kind = (index) => (index < saga.position ? 'done' : index === saga.position ? 'now' : null);
  return h('span', { class: `steps${saga.direction === 'undo' ? ' undo' : ''}`, 'aria-hidden': 'true' }, ...saga.steps.map((_step, index) => h('i', { class: kind(index) })));
}
