// The dialog with a server, a host, the hosts of a zone or a saga.
import { CLASSES, amount, h, number, portion, replace, state, stateOf } from './dom.js';

const dialog = document.getElementById('details');
const title = document.getElementById('details-title');
const body = dialog.querySelector('.body');
// What is open: how to ask for it, and how to draw what was answered.
let current = null;
let known = '';

async function open(path, draw, words) {
  current = { path, draw };
  known = '';
  title.textContent = words;
  body.replaceChildren(h('p', { class: 'faint', text: 'Reading' }));
  if (!dialog.open) dialog.showModal();
  await load();
}

async function load() {
  const asked = current;
  if (!asked) return;
  let answer;
  try {
    const response = await fetch(asked.path);
    answer = await response.json();
  } catch {
    answer = { error: 'The cloud does not answer.' };
  }
  const text = JSON.stringify(answer);
  if (asked !== current || text === known) return;
  known = text;
  replace(body, answer.error ? [h('p', { class: 'bad-text', text: answer.error })] : asked.draw(answer));
}

/** Read again what is open while something of it may change. */
let stamp = '';
export function refresh(found) {
  const now = JSON.stringify([found.servers, found.sagas, found.moves]);
  if (dialog.open && now !== stamp) load();
  stamp = now;
}

dialog.addEventListener('close', () => {
  current = null;
});
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close();
});

const facts = (values) => h('dl', { class: 'facts' }, ...values.flatMap(([name, value]) => [
  h('dt', { text: name }), h('dd', { class: 'number' }, value instanceof Node ? value : `${value ?? '–'}`),
]));
const link = (path) => h('a', { href: path }, h('code', { text: path }));
/** Return where what is open comes from. */
const source = () => h('p', {}, 'JSON: ', link(current.path));
/** Return items of a list that tell whose servers are missing in an answer. */
export const missing = (answer) => (answer.silent?.length
  ? [h('li', { class: 'bad-text', text: `Without the servers of cells that do not answer: ${answer.silent.join(', ')}` })]
  : []);
const more = (answer) => (answer.more ? [h('p', { class: 'faint', text: 'There are others. Search for them by name.' })] : []);

export function openServer(uuid) {
  return open(`/page/servers/${encodeURIComponent(uuid)}`, drawServer, 'Server');
}

function drawServer(server) {
  title.textContent = server.name;
  const [text, shape] = stateOf(server);
  return [
    facts([
      ['State', h('span', {}, state(shape), ` ${text}`)],
      ['Host', server.host], ['Cell', server.cell], ['UUID', server.uuid], ['Project', server.project_id],
      ['Size', `${server.vcpus} vCPU, ${number(server.memory_mb)} MiB`],
      ['JSON', link(`/page/servers/${server.uuid}`)],
      ['API, with a token', link(`/compute/v2.1/servers/${server.uuid}`)],
    ]),
    h('h3', { text: 'Sagas' }),
    server.sagas.length
      ? h('ul', { class: 'rows' }, ...server.sagas.map((saga) => h('li', {}, h('button', { class: 'link', text: `${saga.kind}: ${saga.state}`, click: () => openSaga(saga.uuid) }))))
      : h('p', { class: 'faint', text: 'None' }),
  ];
}

export function openHost(name) {
  return open(`/page/servers?host=${encodeURIComponent(name)}`, drawServers, `Servers on ${name}`);
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
  const head = ['host', 'state', 'servers', ...Object.values(CLASSES)];
  return [
    h('table', {},
      h('thead', {}, h('tr', {}, ...head.map((text, index) => h('th', { scope: 'col', class: index > 1 ? 'number' : null, text })))),
      h('tbody', {}, ...answer.hosts.map((host) => h('tr', {},
        h('th', { scope: 'row' }, h('button', { class: 'link', text: host.name, click: () => openHost(host.name) })),
        h('td', { text: host.state }), h('td', { class: 'number', text: number(host.servers) }),
        ...Object.keys(CLASSES).map((name) => h('td', { class: 'number', title: amount(host.load, name), text: portion(host.load, name) })))))),
    ...more(answer),
    source(),
  ];
}

export function openSaga(uuid) {
  return open(`/page/sagas/${encodeURIComponent(uuid)}`, drawSaga, 'Saga');
}

function drawSaga(saga) {
  title.textContent = saga.title;
  const server = h('button', { class: 'link', text: saga.name, click: () => openServer(saga.server) });
  const lanes = new Map();
  for (const bar of saga.bars) lanes.set(bar.place, [...(lanes.get(bar.place) ?? []), bar]);
  const whole = saga.lasted || 1;
  const mark = (bar) => h('i', { class: `${bar.outcome}${bar.is_pivot ? ' pivot' : ''}`, title: `${bar.step}: ${bar.outcome}`, vars: { at: bar.begin / whole, part: (bar.end - bar.begin) / whole } });
  return [
    facts([['Server', server], ['State', saga.state], ['Lasted', `${saga.lasted.toFixed(2)} s`], ['JSON', link(`/page/sagas/${saga.uuid}`)]]),
    h('div', { class: 'lanes', role: 'img', 'aria-label': 'Steps by daemon, as in the table below' },
      ...[...lanes].flatMap(([place, bars]) => [h('span', { text: place }), h('span', { class: 'lane' }, ...bars.map(mark))])),
    h('table', {},
      h('thead', {}, h('tr', {}, ...['step', 'daemon', 'outcome'].map((text) => h('th', { scope: 'col', text })), h('th', { scope: 'col', class: 'number', text: 'at, s' }), h('th', { scope: 'col', class: 'number', text: 'took, ms' }))),
      h('tbody', {}, ...saga.bars.map((bar) => h('tr', {},
        h('th', { scope: 'row', text: `${bar.step}${bar.is_pivot ? ' (pivot)' : ''}` }), h('td', { text: bar.place }), h('td', { text: bar.outcome }),
        h('td', { class: 'number', text: bar.begin.toFixed(2) }), h('td', { class: 'number', text: ((bar.end - bar.begin) * 1000).toFixed(0) }))))),
  ];
}
