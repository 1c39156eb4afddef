// The stream of documents, and what is drawn of each.
import { h, number, show } from './dom.js';
import { drawCells } from './cells.js';
import { drawHeat } from './heat.js';
import { drawMap } from './map.js';
import { drawMoves, drawFaults, drawAudit } from './lists.js';
import { drawLab, startLab } from './lab.js';
import { drawSagas } from './sagas.js';
import { refresh } from './dialog.js';
import { startSearch } from './search.js';

const AGAIN_MS = 3000;
// Of the documents that these scripts understand.
const FORMAT = 2;
const stream = document.getElementById('stream');
const problem = document.getElementById('problem');
let source = null;
let latest = null;
let waiting = false;

function say(text, kind) {
  stream.className = `stream ${kind}`;
  stream.lastElementChild.textContent = text;
}

function open() {
  if (source || document.hidden) return;
  source = new EventSource('/page/events');
  source.addEventListener('document', (event) => draw(JSON.parse(event.data)));
  source.addEventListener('error', () => {
    say('Reconnecting', 'lost');
    if (source && source.readyState === EventSource.CLOSED) {
      close();
      setTimeout(open, AGAIN_MS);
    }
  });
}

function close() {
  source?.close();
  source = null;
}

function draw(found) {
  say('Live', 'live');
  const other = found.format === FORMAT ? null : 'The cloud is of another release. Reload the page.';
  const text = found.problem ?? other;
  problem.hidden = !text;
  problem.textContent = text ?? '';
  if (text) return;
  latest = found;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawAll();
  });
}

function drawAll() {
  const unfinished = latest.sagas.filter((saga) => !saga.finished_at);
  // Of a cell that has not answered yet, nothing is known.
  const silent = latest.cells.filter((cell) => !cell.answers);
  const isPart = silent.some((cell) => !cell.known_at);
  const unknown = silent.length ? [['unknown', silent.map((cell) => cell.name).join(', ')]] : [];
  const sum = (name) => latest.cells.reduce((total, cell) => total + cell[name], 0);
  const servers = Object.values(latest.states).reduce((total, count) => total + count, 0);
  show(document.getElementById('numbers'), numbers, [
    ['hosts up', `${number(sum('up'))} of ${bounded(sum('hosts'), isPart)}`],
    [servers === 1 ? 'server' : 'servers', bounded(servers, isPart)],
    [latest.moves.length === 1 ? 'move' : 'moves', bounded(latest.moves.length, isPart || latest.more_moves)],
    [unfinished.length === 1 ? 'open saga' : 'open sagas', bounded(unfinished.length, latest.more_sagas)],
    ...unknown,
  ]);
  drawCells(latest);
  drawHeat(latest);
  drawMap(latest);
  drawMoves(latest);
  drawSagas(latest);
  drawFaults(latest);
  drawLab(latest);
  drawAudit(latest);
  refresh(latest);
}

const bounded = (count, more) => (more ? `${number(count)} or more` : number(count));

function numbers(values) {
  return values.map(([name, value]) => h('div', {}, h('dt', { text: name }), h('dd', { text: value })));
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    close();
    say('Paused', '');
  } else open();
});
startSearch(() => latest);
document.querySelector('#heat fieldset').addEventListener('change', () => latest && drawHeat(latest));
startLab().catch(() => null).then(open);
