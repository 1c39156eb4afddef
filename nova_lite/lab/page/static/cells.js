// Cells with their hosts, and the servers on them. Of many hosts, zones with their sums.
import { CLASSES, amount, clock, h, keyed, number, percent, portion, share, show, state, stateOf } from './dom.js';
import { openHost, openServer, openZone } from './details.js';

const STATES = { up: 'good', down: 'bad', disabled: 'warn', off: 'off', unknown: 'rest' };
const MOVE_MS = 700;
const body = document.querySelector('#cells .body');
const still = matchMedia('(prefers-reduced-motion: reduce)');

export function drawCells(found) {
  const before = rects();
  const focused = document.activeElement?.dataset?.server;
  keyed(body, found.cells, (cell) => cell.name, makeCell, (element, cell) => fillCell(element, cell, found));
  drawUnplaced(found);
  if (focused) find(focused)?.focus();
  animate(before);
}

function makeCell() {
  return h('div', { class: 'cell' }, h('div', { class: 'title' }), h('div', { class: 'hosts' }), h('div', { class: 'zones' }));
}

function fillCell(element, cell, found) {
  const [title, hosts, zones] = element.children;
  element.classList.toggle('stale', !cell.answers);
  show(title, cellTitle, cell);
  if (found.hosts) {
    zones.replaceChildren();
    zones.shown = null;
    const here = found.hosts.filter((host) => host.cell === cell.name);
    keyed(hosts, here, (host) => host.name, makeHost, (tile, host) => fillHost(tile, host, found));
  } else {
    hosts.replaceChildren();
    show(zones, zoneTable, cell.name, found.zones.filter((zone) => zone.cell === cell.name));
  }
}

function cellTitle(cell) {
  const troubles = [
    cell.answers ? null : cell.known_at ? `does not answer, last known state of ${clock(cell.known_at)}` : 'does not answer',
    cell.database_down ? 'database down' : null,
    cell.bus_cut ? 'bus cut' : null,
    cell.bus_frozen ? 'bus frozen' : null,
    cell.disabled ? 'disabled' : null,
  ].filter(Boolean);
  const kind = troubles.length ? 'bad' : cell.up < cell.hosts ? 'warn' : 'good';
  return [
    state(kind),
    h('h3', { text: cell.name }),
    cell.answers ? h('span', { class: 'faint number', text: `${number(cell.up)} of ${number(cell.hosts)} hosts up, ${count(cell.servers, 'server')}` }) : null,
    troubles.length ? h('span', { class: 'bad-text', text: troubles.join(', ') }) : null,
  ].filter(Boolean);
}

const count = (number_, word) => `${number(number_)} ${word}${number_ === 1 ? '' : 's'}`;

function makeHost() {
  return h('div', { class: 'host' }, h('div'), h('div', { class: 'loads' }), h('ul', { class: 'chips' }));
}

function fillHost(tile, host, found) {
  const [name, loads, chips] = tile.children;
  const coming = found.moves.filter((move) => move.dest === host.name);
  tile.classList.toggle('dest', coming.length > 0);
  show(name, hostName, host.name, host.state, host.zone);
  show(loads, loadBars, host.load);
  const servers = found.servers.filter((server) => server.host === host.name);
  const moving = new Map(found.moves.map((move) => [move.server, move]));
  const here = new Set(servers.map((server) => server.uuid));
  const ghosts = coming.filter((move) => !here.has(move.server));
  const items = [...servers, ...ghosts.map((move) => ({ ghost: true, uuid: move.server, name: move.name, copied: move.copied }))];
  keyed(chips, items, (item) => `${item.uuid}${item.ghost ? '+' : ''}`, () => h('li'), (chip, item) =>
    show(chip, item.ghost ? ghostChip : serverChip, item, moving.has(item.uuid)));
}

function hostName(name, kind, zone) {
  return h('button', { class: 'name', click: () => openHost(name) }, state(STATES[kind]), h('span', { text: name }), h('small', { text: kind === 'up' ? zone : kind }));
}

function loadBars(load) {
  return Object.entries(CLASSES).flatMap(([name, label]) => [
    h('span', { text: label }),
    h('span', { class: 'bar' }, h('i', { vars: { part: Math.min(1, share(load, name)) } })),
    h('span', { class: 'value', text: amount(load, name) }),
  ]);
}

function serverChip(server, moving) {
  const [text, shape] = stateOf(server);
  return h(
    'button',
    { class: `chip${moving ? ' moving' : ''}`, 'data-server': server.uuid, 'data-host': server.host, title: `${server.name}: ${text}`, click: () => openServer(server.uuid) },
    state(shape), h('span', { class: 'text', text: server.name }),
  );
}

function ghostChip(move) {
  const text = move.copied === null ? move.name : `${move.name} ${percent(move.copied)}`;
  return h('span', { class: 'chip ghost', title: `${move.name} moves here` }, state('busy'), h('span', { class: 'text', text }));
}

function zoneTable(cell, zones) {
  const head = ['zone', 'hosts up', 'servers', ...Object.values(CLASSES)];
  return h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': `Zones of ${cell}` }, h('table', {},
    h('thead', {}, h('tr', {}, ...head.map((text, index) => h('th', { scope: 'col', class: index ? 'number' : null, text })))),
    h('tbody', {}, ...zones.map((zone) => h('tr', {},
      h('th', { scope: 'row' }, h('button', { class: 'link', text: zone.zone, 'aria-label': `${zone.zone}: hosts of ${cell}`, click: () => openZone(cell, zone.zone) })),
      h('td', { class: 'number', text: `${number(zone.up)} / ${number(zone.hosts)}` }),
      h('td', { class: 'number', text: number(zone.servers) }),
      ...Object.keys(CLASSES).map((name) => h('td', { class: 'number', text: portion(zone.load, name) })),
    )))));
}

function drawUnplaced(found) {
  const unplaced = found.servers.filter((server) => !server.host);
  let list = document.querySelector('#cells > .unplaced');
  if (!unplaced.length) {
    list?.remove();
    return;
  }
  if (!list) {
    list = h('div', { class: 'unplaced' }, h('h3', { text: 'On no host' }), h('ul', { class: 'chips' }));
    body.after(list);
  }
  keyed(list.lastElementChild, unplaced, (server) => server.uuid, () => h('li'), (chip, server) => show(chip, serverChip, server, false));
}

// ---- motion: a server that is on another host slides there ----

const find = (uuid) => body.querySelector(`[data-server="${CSS.escape(uuid)}"]`);

function rects() {
  const found = new Map();
  for (const chip of body.querySelectorAll('[data-server]')) {
    found.set(chip.dataset.server, [chip.dataset.host, chip.getBoundingClientRect()]);
  }
  return found;
}

function animate(before) {
  for (const chip of body.querySelectorAll('[data-server]')) {
    const [host, from] = before.get(chip.dataset.server) ?? [null];
    if (!host || host === chip.dataset.host) continue;
    chip.dataset.from = host;
    if (still.matches) continue;
    const to = chip.getBoundingClientRect();
    chip.animate(
      [{ transform: `translate(${from.left - to.left}px, ${from.top - to.top}px)` }, { transform: 'none' }],
      { duration: MOVE_MS, easing: 'cubic-bezier(.3, 0, .2, 1)' },
    );
  }
}
