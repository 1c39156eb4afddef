// What the dialog shows: a server, a host, the hosts of a zone, a saga, a scheduling decision.
import { CLASSES, amount, h, number, portion, state, stateOf } from './dom.js';
import { entitle, facts, link, open, source, table } from './dialog.js';
import { serverView, whyView } from './server.js';
import { steps } from './steps.js';
import { power } from './acting.js';

/** Return items of a list that tell whose servers are missing in an answer. */
export const missing = (answer) => (answer.silent?.length
  ? [h('li', { class: 'bad-text', text: `Without the servers of cells that do not answer: ${answer.silent.join(', ')}` })]
  : []);
const more = (answer) => (answer.more ? [h('p', { class: 'faint', text: 'There are others. Search for them by name.' })] : []);

export function openServer(uuid) {
  return open(`/page/servers/${encodeURIComponent(uuid)}`, (answer) => serverView(answer, GO), 'Server');
}

function openWhy(server) {
  return open(`/page/why/${encodeURIComponent(server.uuid)}`, (answer) => whyView(answer, server, GO), `Why this host: ${server.name}`);
}

export function openHost(name) {
  return open(`/page/servers?host=${encodeURIComponent(name)}`, (answer) => [...power(name), ...drawServers(answer)], `Servers on ${name}`);
}

export const serverRow = (server) => {
  const [text, shape] = stateOf(server);
  return h('li', {}, h('button', { class: 'row', click: () => openServer(server.uuid) },
    h('span', { class: 'top' }, state(shape), h('b', { text: server.name }), h('span', { class: 'faint', text: `${text}, ${server.host ?? 'on no host'}` })),
    h('span', { class: 'under', text: server.uuid })));
};

function drawServers(answer) {
  const items = [...answer.servers.map(serverRow), ...missing(answer)];
  if (!items.length) return [h('p', { class: 'faint', text: 'None' }), source()];
  return [h('ul', { class: 'rows' }, ...items), ...more(answer), source()];
}

export function openZone(cell, zone) {
  return open(`/page/hosts?cell=${encodeURIComponent(cell)}&zone=${encodeURIComponent(zone)}`, drawHosts, `Hosts of ${cell}, ${zone}`);
}

function drawHosts(answer) {
  const heads = [['host'], ['state'], ['servers', true], ...Object.values(CLASSES).map((name) => [name, true])];
  const row = (host) => h('tr', {},
    h('th', { scope: 'row' }, h('button', { class: 'link', text: host.name, click: () => openHost(host.name) })),
    h('td', { text: host.state }), h('td', { class: 'number', text: number(host.servers) }),
    ...Object.keys(CLASSES).map((name) => h('td', { class: 'number', title: amount(host.load, name), text: portion(host.load, name) })));
  return [table('Hosts', heads, answer.hosts.map(row)), ...more(answer), source()];
}

export function openSaga(uuid) {
  return open(`/page/sagas/${encodeURIComponent(uuid)}`, drawSaga, 'Saga');
}

function drawSaga(saga) {
  entitle(saga.title);
  const server = h('button', { class: 'link', text: saga.name, click: () => openServer(saga.server) });
  return [
    facts([['Server', server], ['State', saga.state], ['Lasted', `${saga.lasted.toFixed(2)} s`], ['JSON', link(`/page/sagas/${saga.uuid}`)]]),
    ...steps(saga),
  ];
}

const GO = { server: openServer, host: openHost, saga: openSaga, why: openWhy };
