// Buttons that act on a server, on its stopped saga, and on a host.
import { h } from './dom.js';
import { isOpen, switchFor } from './lab.js';

const FIELD = 'to-host';

/** Return the elements that act on a server; none in a read-only page. */
export function acts(server) {
  if (!isOpen()) return [];
  const field = () => document.querySelector(`#details input[name="${FIELD}"]`)?.value ?? '';
  const one = (text, action, options) => switchFor(text, 'servers/act', () => ({ action, server: server.uuid }), options);
  const to = (text, action) => switchFor(text, 'servers/act', () => ({ action, server: server.uuid, host: field() }));
  const host = h('label', {}, 'to ', h('input', { name: FIELD, list: 'lab-hosts', maxlength: '255', autocomplete: 'off', placeholder: 'any host' }));
  return [
    h('h3', { text: 'Act' }),
    h('div', { class: 'acts' }, ...possible(server, one, to, host), one('Delete', 'delete', { sure: true })),
    h('div', { class: 'acts' }, ...debugging(server)),
  ];
}

function possible(server, one, to, host) {
  if (server.vm_state === 'resized' && !server.task_state) return [one('Confirm', 'confirm'), one('Revert', 'revert')];
  if (server.task_state === 'migrating') return [one('Abort', 'abort'), one('Force complete', 'force-complete')];
  if (['off', 'down'].includes(server.host_state)) return [to('Evacuate', 'evacuate'), host];
  return [one('Reboot', 'reboot'), one('Reboot hard', 'hard-reboot'), to('Migrate', 'migrate'), to('Live migrate', 'live-migrate'), host];
}

function debugging(server) {
  const name = { server: server.uuid };
  if (server.saga?.state.startsWith('stopped')) {
    return [
      switchFor('Go', 'saga/go', name), switchFor('One step', 'saga/step', name),
      switchFor('Lose the super-conductor', 'saga/kill-here', name, { sure: true }),
    ];
  }
  const steps = [...new Set((server.saga?.bars ?? []).map((bar) => bar.step))];
  const step = () => document.querySelector('#details input[name="step"]').value;
  return [
    h('label', {}, 'step ', h('input', { name: 'step', list: 'steps', maxlength: '255', autocomplete: 'off' }), h('datalist', { id: 'steps' }, ...steps.map((text) => h('option', { value: text })))),
    switchFor('Stop before it', 'breakpoints/add', () => ({ ...name, step: step() })),
  ];
}

/** Return the switches of a host; none in a read-only page. */
export function power(name) {
  if (!isOpen()) return [];
  return [h('div', { class: 'acts' },
    switchFor('Cut the power', 'host', { name, power: 'off' }), switchFor('Switch the power on', 'host', { name, power: 'on' }))];
}
