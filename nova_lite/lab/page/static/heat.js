// What placement has allocated: a square for each host, or how many hosts are how full.
import { CLASSES, amount, h, number, percent, share, show } from './dom.js';
import { openHost, openZone } from './details.js';

const body = document.querySelector('#heat .body');
const shade = (part) => Math.sqrt(Math.min(1, part)).toFixed(3);

export function drawHeat(found) {
  const name = document.querySelector('#heat input:checked').value;
  if (!found.placement_answers) {
    show(body, () => h('p', { class: 'bad-text', text: 'The database of placement cannot be read.' }));
  } else if (found.hosts) {
    const hosts = found.hosts.map((host) => [host.name, host.cell, host.state, host.load[name] ?? [0, 0]]);
    show(body, squares, name, found.cells.map((cell) => cell.name), hosts);
  } else {
    show(body, levels, name, found.zones.map((zone) => [zone.cell, zone.zone, zone.hosts, zone.levels[name]]));
  }
}

function squares(name, cells, hosts) {
  const rows = cells.flatMap((cell) => [
    h('h3', { text: cell }),
    h('div', { class: 'squares' }, ...hosts.filter((host) => host[1] === cell).map((host) => square(name, host))),
  ]);
  return [h('div', { class: 'heat' }, ...rows), scale()];
}

function square(name, [host, , state, load]) {
  const part = share({ [name]: load }, name);
  const text = `${host}: ${percent(part)} of ${CLASSES[name]}, ${amount({ [name]: load }, name)}${state === 'up' ? '' : `, ${state}`}`;
  const bad = state === 'down' || state === 'off' ? ' bad' : '';
  return h('button', { class: `square${bad}`, title: text, 'aria-label': text, click: () => openHost(host) }, h('i', { vars: { heat: shade(part) } }));
}

function scale() {
  const marks = [0, 0.01, 0.1, 0.25, 0.5, 1];
  return h('div', { class: 'scale' }, ...marks.flatMap((part) => [
    h('span', { class: 'square', 'aria-hidden': 'true' }, h('i', { vars: { heat: shade(part) } })), h('span', { text: percent(part) }),
  ]));
}

function levels(name, zones) {
  const tenths = zones.length ? zones[0][3].map((_count, index) => `${index * 10} %`) : [];
  const row = ([cell, zone, hosts, counts]) => h('tr', {},
    h('th', { scope: 'row' }, h('button', { class: 'link', text: `${cell}, ${zone}`, click: () => openZone(cell, zone) })),
    ...counts.map((count) => h('td', {}, h('i', { vars: { heat: shade(hosts ? count / hosts : 0) } }), h('span', { text: count ? number(count) : '' }))));
  return h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Hosts by load' }, h('table', { class: 'levels' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col', text: 'hosts at' }), ...tenths.map((text) => h('th', { scope: 'col', class: 'number', text })))),
    h('tbody', {}, ...zones.map(row))));
}
