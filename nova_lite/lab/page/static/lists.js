// Moves in progress, injected faults and the last audit.
import { clock, h, percent, rows, show, state } from './dom.js';
import { openServer } from './details.js';
import { undo } from './lab.js';

const RESULTS = { consistent: ['good', 'No invariant is violated'], inconsistent: ['bad', 'Invariants are violated'], unsettled: ['warn', 'The cloud changed too much to be certain'] };
const list = (name) => document.querySelector(`#${name} .rows`);

export function drawMoves(found) {
  rows(list('moves'), found.moves, (move) => move.uuid, moveRow, 'No server moves.');
}

function moveRow(move) {
  const stands = move.waits_for_user ? `waits for confirm or revert since ${clock(move.since)}` : move.status;
  const way = `${move.source ?? '?'} → ${move.dest ?? 'to be chosen'}`;
  return h('button', { class: `row${move.is_stale ? ' stale' : ''}`, click: () => openServer(move.server) },
    h('span', { class: 'top' }, state(move.is_stale ? 'rest' : move.waits_for_user ? 'warn' : 'busy'), h('b', { text: move.name }), h('span', { class: 'faint', text: move.type })),
    h('span', { class: 'under', text: `${way}, ${stands}${move.is_stale ? ', last known state' : ''}${move.cross_cell ? ', between cells' : ''}${move.copied === null ? '' : `, ${percent(move.copied)} of memory copied`}` }),
    move.copied === null ? null : h('span', { class: 'bar', 'aria-hidden': 'true' }, h('i', { vars: { part: move.copied } })));
}

export function drawFaults(found) {
  const { failures, hosts_off: off, databases_down: databases, buses_cut: cut, buses_frozen: frozen } = found.faults;
  const items = [
    ...failures.map((each) => [`Fault ${each.id}`, words(each), 'faults/clear', { id: each.id }]),
    ...off.map((name) => [`Host ${name}`, 'power is off', 'host', { name, power: 'on' }]),
    ...databases.map((name) => [`Database of ${name}`, 'down', 'cell', { name, state: 'up', parts: ['database'] }]),
    ...cut.map((name) => [`Bus of ${name}`, 'cut', 'bus', { name, state: 'healed' }]),
    ...frozen.map((name) => [`Bus of ${name}`, 'frozen', 'bus', { name, state: 'healed' }]),
  ];
  rows(list('faults'), items, ([name]) => name, faultRow, ['None. Inject one with ', h('code', { text: 'nova-lite fault add' }), '.']);
}

function words(failure) {
  return Object.entries(failure).filter(([name]) => name !== 'id')
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`).join(', ');
}

function faultRow([name, text, ...change]) {
  return h('div', { class: 'row' }, h('span', { class: 'top' }, state('bad'), h('b', { text: name }), undo(name, ...change)), h('span', { class: 'under', text }));
}

export function drawAudit(found) {
  show(document.querySelector('#audit .body'), audit, found.audit);
}

function audit(last) {
  if (!last) {
    return h('p', { class: 'faint' }, 'Not checked yet. Check them with ', h('code', { text: 'nova-lite verify' }), '.');
  }
  const [kind, text] = RESULTS[last.result];
  const has = (found, name) => name.split(', ').some((each) => found.includes(each));
  const mark = ([name, title]) => {
    if (has(last.broken, name)) return ['bad', `${title}: violated`];
    return has(last.uncertain, name) ? ['warn', `${title}: uncertain`] : ['good', title];
  };
  const invariant = (each) => {
    const [kind, words] = mark(each);
    return h('li', {}, state(kind), h('b', { text: each[0] }), h('span', { class: kind === 'bad' ? 'bad-text' : null, text: words }));
  };
  return [
    h('p', { class: `verdict ${kind}-text` }, state(kind), h('span', { text })),
    h('ul', { class: 'invariants' }, ...last.invariants.map(invariant)),
    last.findings.length ? h('ul', { class: 'rows' }, ...last.findings.map((each) => h('li', { class: 'bad-text', text: `${each.invariant}: ${each.what} ${each.detail}` }))) : null,
    h('p', { class: 'faint number', text: `Last nova-lite verify: ${last.at.replace('T', ' ').replace('+00:00', ' UTC')}` }),
  ].filter(Boolean);
}
