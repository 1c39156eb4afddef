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
  const list = items.length ? h('ul', { class: 'rows' }, ...items) : h('p', { class: 'faint', text: 'None' });
  return [list, ...more(answer), ...nodesOf(answer), ...devicesOf(answer), source()];
}

function nodesOf(answer) {
  if (!answer.nodes?.length) return [];
  const heads = [['node'], ['memory', true], ['shared CPUs', true], ['pinned CPUs', true], ['pages in use', true]];
  const large = (node) => node.pages.filter((pages) => pages.held).map((pages) => `${number(pages.held)} of ${number(pages.size_kb)} KiB`);
  const row = (node) => h('tr', {},
    h('th', { scope: 'row', text: `${node.id}` }), h('td', { class: 'number', text: `${number(node.memory_mb)} MiB` }),
    h('td', { class: 'number', text: number(node.shared) }),
    h('td', { class: 'number', text: node.dedicated ? `${number(node.dedicated_held)} of ${number(node.dedicated)}` : '–' }),
    h('td', { class: 'number', text: large(node).join(', ') || '–' }));
  return [h('h3', { text: 'NUMA nodes' }), table('NUMA nodes', heads, answer.nodes.map(row))];
}

function devicesOf(answer) {
  if (!answer.devices?.length) return [];
  const names = new Map(answer.servers.map((server) => [server.uuid, server.name]));
  const owner = (uuid) => h('button', { class: 'link', text: names.get(uuid) ?? uuid, click: () => openServer(uuid) });
  const row = (device) => h('tr', {},
    h('th', { scope: 'row' }, h('code', { text: device.address })), h('td', { text: device.type }), h('td', { text: device.ids }),
    h('td', { class: 'number', text: `${device.node ?? '–'}` }),
    h('td', {}, ...(device.servers.length ? device.servers.map(owner) : ['free'])));
  const heads = [['device'], ['type'], ['vendor and product'], ['NUMA node', true], ['server']];
  const others = answer.more_devices ? [h('p', { class: 'faint', text: 'There are other devices.' })] : [];
  return [h('h3', { text: 'Devices' }), table('Devices', heads, answer.devices.map(row)), ...others];
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
