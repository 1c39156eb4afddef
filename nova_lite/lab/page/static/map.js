// The map of a cloud with many hosts: a square for each, on a canvas for each cell.
import { CLASSES, h, keyed, number, percent, setVars, show } from './dom.js';
import { openHost } from './details.js';

// The colour of a state is a custom property of the page.
const STATES = { u: ['up', '--good'], s: ['disabled', '--warn'], d: ['down', '--bad'], o: ['without power', '--text'], n: ['unknown', '--line'] };
// Limits of the size of a square with its gap, and the height that the squares of a cell may take.
const LEAST = 4, MOST = 16, TALL = 400;
// Hues of neighbours differ most by this angle.
const ANGLE = 137.5;
const section = document.getElementById('map');
const list = section.querySelector('.body');
const legend = section.querySelector('.legend');
const chosen = () => section.querySelector('input:checked').value;
let map = null;
let asked = false;

/** Read and draw the map of a document with too many hosts for tiles. */
export async function drawMap(found) {
  section.hidden = Boolean(found.hosts);
  if (section.hidden || asked) return;
  asked = true;
  try {
    const response = await fetch('/page/map');
    if (response.ok) map = await response.json();
  } catch {
    // The stream shows that the cloud does not answer.
  } finally {
    asked = false;
  }
  if (map) drawAll();
}

function drawAll() {
  keyed(list, map.cells, (cell) => cell.cell, makeCell, drawCell);
  show(legend, words, chosen(), map.zones, counts());
  performance.mark('map');
}

function counts() {
  const found = {};
  for (const cell of map.cells) for (const letter of cell.states) found[letter] = (found[letter] ?? 0) + 1;
  return found;
}

/** Return what the colours mean, with the numbers of hosts. */
function words(by, zones, states) {
  if (by === 'zone') return zones.map((zone, index) => entry(zone, `hsl(${index * ANGLE} 55% 50%)`));
  const found = Object.entries(STATES).filter(([letter]) => states[letter]).map(([letter, [text, name]]) => entry(`${number(states[letter])} ${text}`, `var(${name})`));
  return by === 'state' ? found : [entry(`${CLASSES[by]}: the darker, the more is allocated`, 'var(--accent)'), ...found.filter((_each, index) => index || !states.u)];
}

const entry = (text, colour) => h('span', {}, h('i', { vars: { colour } }), text);

function makeCell(cell) {
  const canvas = h('canvas', { tabindex: '0', role: 'application', 'aria-label': `Hosts of ${cell.cell}. Arrow keys move, Enter opens a host.` });
  const said = h('p', { class: 'faint number', role: 'status' });
  const made = h('div', {}, h('h3', { text: cell.cell }), canvas, said);
  const point = (index) => {
    made.at = index;
    said.textContent = describe(made.cell, index);
    drawCell(made, made.cell);
  };
  canvas.addEventListener('pointermove', (event) => {
    const index = at(made, event);
    if (index !== null && index !== made.at) point(index);
  });
  canvas.addEventListener('click', (event) => {
    const index = at(made, event);
    if (index !== null) openHost(made.cell.names[index]);
  });
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && made.at !== undefined) openHost(made.cell.names[made.at]);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -made.columns, ArrowDown: made.columns }[event.key];
    if (!step) return;
    event.preventDefault();
    point(Math.min(made.cell.names.length - 1, Math.max(0, (made.at ?? -Math.max(step, 0)) + step)));
  });
  return made;
}

/** Return the index of the host under the pointer, or null. */
function at(made, event) {
  const column = Math.floor(event.offsetX / made.pitch);
  const index = Math.floor(event.offsetY / made.pitch) * made.columns + column;
  return column < made.columns && index < made.cell.names.length ? index : null;
}

function describe(cell, index) {
  const loads = Object.entries(CLASSES).map(([name, label]) => `${label} ${percent(share(cell, name, index))}`);
  return `${cell.names[index]}: ${STATES[cell.states[index]][0]}, ${map.zones[cell.zones[index]]}, ${loads.join(', ')}`;
}

const share = (cell, name, index) => parseInt(cell.loads[name][index], map.digits) / (map.digits - 1);

function drawCell(made, cell) {
  made.cell = cell;
  const canvas = made.querySelector('canvas');
  const width = canvas.clientWidth || 600;
  const count = cell.names.length;
  made.pitch = Math.max(LEAST, Math.min(MOST, Math.floor(Math.sqrt((width * TALL) / count))));
  made.columns = Math.max(1, Math.floor(width / made.pitch));
  const tall = Math.ceil(count / made.columns) * made.pitch;
  const scale = devicePixelRatio;
  canvas.width = width * scale;
  canvas.height = tall * scale;
  setVars(canvas, { tall: `${tall}px` });
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  const paint = painter(cell, chosen());
  const side = made.pitch - 1;
  for (let index = 0; index < count; index += 1) {
    paint(context, index, (index % made.columns) * made.pitch, Math.floor(index / made.columns) * made.pitch, side);
  }
  if (made.at !== undefined && made.at < count) {
    context.globalAlpha = 1;
    context.strokeStyle = colours()['--text'];
    context.lineWidth = 2;
    context.strokeRect((made.at % made.columns) * made.pitch - 0.5, Math.floor(made.at / made.columns) * made.pitch - 0.5, side + 1, side + 1);
  }
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const names = ['--accent', '--track', '--text', ...Object.values(STATES).map(([, name]) => name)];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)]));
}

/** Return a function that paints a square. Hosts that are not up have the colour of their state. */
function painter(cell, by) {
  const known = colours();
  return (context, index, x, y, side) => {
    const letter = cell.states[index];
    context.globalAlpha = 1;
    if (by === 'zone') context.fillStyle = `hsl(${cell.zones[index] * ANGLE} 55% 50%)`;
    else context.fillStyle = by === 'state' || letter !== 'u' ? known[STATES[letter][1]] : known['--track'];
    context.fillRect(x, y, side, side);
    if (by !== 'state' && by !== 'zone' && letter === 'u') {
      context.globalAlpha = Math.sqrt(share(cell, by, index));
      context.fillStyle = known['--accent'];
      context.fillRect(x, y, side, side);
    }
  };
}

section.querySelector('fieldset').addEventListener('change', () => map && drawAll());
addEventListener('resize', () => map && !section.hidden && drawAll());
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => map && drawAll());
