// The dialog with details: it is read again while something of it may change.
import { h, replace } from './dom.js';

const dialog = document.getElementById('details');
const title = document.getElementById('details-title');
const body = dialog.querySelector('.body');
// What is open: how to ask for it, and how to draw what was answered.
let current = null;
let known = '';

export const entitle = (text) => {
  title.textContent = text;
};

/** Open the dialog. path: of the JSON; draw: returns the elements of an answer; words: the title */
export async function open(path, draw, words) {
  current = { path, draw };
  known = '';
  entitle(words);
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
  replace(body, answer.error ? [h('p', { class: 'bad-text', text: answer.error })] : asked.draw(answer).filter(Boolean));
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

export const facts = (values) => h('dl', { class: 'facts' }, ...values.filter(Boolean).flatMap(([name, value]) => [
  h('dt', { text: name }), h('dd', { class: 'number' }, value instanceof Node ? value : `${value ?? '–'}`),
]));
export const link = (path) => h('a', { href: path }, h('code', { text: path }));
/** Return where what is open comes from. */
export const source = () => h('p', {}, 'JSON: ', link(current.path));
/** Return a table that scrolls by itself on a narrow screen. heads: [[text, whether numbers], ...] */
export const table = (name, heads, rows) => h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': name }, h('table', {},
  h('thead', {}, h('tr', {}, ...heads.map(([text, isNumber]) => h('th', { scope: 'col', class: isNumber ? 'number' : null, text })))),
  h('tbody', {}, ...rows)));
