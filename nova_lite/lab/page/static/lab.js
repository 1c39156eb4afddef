// Switches that change the cloud, if it was started with --lab and the URL has the secret.
import { h, show } from './dom.js';

const box = document.getElementById('lab');
const KEY = 'lab';
let secret = null;

export const isOpen = () => secret !== null;

/** Take the secret from the URL, and hide it there; without one the page stays read-only. */
export async function startLab() {
  addEventListener('hashchange', () => location.reload());
  if (location.hash) {
    sessionStorage.setItem(KEY, location.hash.slice(1));
    history.replaceState(null, '', '/');
  }
  const response = await fetch('/page/lab');
  if (!response.ok || !(await response.json()).is_open) return;
  secret = sessionStorage.getItem(KEY);
  box.hidden = !isOpen();
  document.getElementById('lab-closed').hidden = isOpen();
  if (!isOpen()) return;
  for (const form of box.querySelectorAll('form')) form.addEventListener('submit', submit);
  const choices = await ask('servers/choices');
  if (choices) {
    offer('lab-flavors', choices.flavors);
    offer('lab-images', choices.images);
  }
  // A cloud with --bus has no clock of its own and no saved states.
  document.getElementById('lab-embedded').hidden = !(await ask('states', {}, true));
  await look();
}

/** Use the switch of a form with the values of its fields, and of the button that was pressed. */
function submit(event) {
  event.preventDefault();
  const { target: form, submitter } = event;
  const fields = [...form.elements].filter((field) => field.name && field.type !== 'submit' && field.value !== '');
  const values = Object.fromEntries(fields.map((field) => [field.name, field.type === 'number' ? Number(field.value) : field.value]));
  if (submitter?.name) values[submitter.name] = submitter.value;
  if (submitter?.dataset.sure && !isSure(submitter)) return;
  act(form.dataset.switch, values);
}

/** Return whether a button was pressed twice; the first time, it asks. */
function isSure(button) {
  if (button.dataset.asked) {
    button.textContent = button.dataset.asked;
    delete button.dataset.asked;
    return true;
  }
  button.dataset.asked = button.textContent;
  button.textContent = `${button.textContent}: sure?`;
  button.addEventListener('blur', () => {
    if (button.dataset.asked) isSure(button);
  }, { once: true });
  return false;
}

function say(text, isBad) {
  for (const said of document.querySelectorAll('.said')) {
    said.textContent = text;
    said.classList.toggle('bad-text', isBad);
  }
}

/** Use a switch. Say what came of it. */
export async function act(name, values) {
  say('Requested', false);
  const answer = await ask(name, values);
  if (!answer) return;
  say(done(answer), false);
  await look();
}

function done(answer) {
  if (answer.request_id) return `Accepted: ${answer.request_id}`;
  if (answer.now) return `Clock: ${answer.now.replace('T', ' ')}${answer.frozen ? ', frozen' : ''}, rate ${answer.rate}`;
  if (answer.lost_by) return `${answer.lost_by} has lost the saga. Another one takes it over within ${answer.lease_s} s.`;
  return 'Done';
}

/** Return the answer of a switch; null after an error, which is said unless `quiet`. */
async function ask(name, values = {}, quiet = false) {
  const headers = { 'Content-Type': 'application/json', 'X-Page-Secret': secret };
  try {
    const response = await fetch(`/page/lab/${name}`, { method: 'POST', headers, body: JSON.stringify(values) });
    const answer = await response.json();
    if (response.ok) return answer;
    if (!quiet) say(answer.error, true);
  } catch {
    say('The cloud does not answer.', true);
  }
  return null;
}

/** Show the saved states and the breakpoints. */
async function look() {
  if (!document.getElementById('lab-embedded').hidden) {
    const [states, points] = [await ask('states'), await ask('breakpoints')];
    if (states) offer('lab-states', states.states);
    if (points) show(document.getElementById('lab-points'), breakpoints, points.breakpoints);
  }
}

function breakpoints(points) {
  return points.map((point) => h('li', {}, h('div', { class: 'row' }, h('span', { class: 'top' },
    h('span', { text: `${point.id}: before ${point.step} of ${point.kind ?? 'any saga'}${point.server ? ` of ${point.server}` : ''}` }),
    switchFor('Remove', 'breakpoints/remove', { id: point.id })))));
}

/** Offer the hosts and cells of a document. */
export function drawLab(found) {
  if (!isOpen()) return;
  offer('lab-hosts', (found.hosts ?? []).map((host) => host.name));
  offer('lab-cells', found.cells.map((cell) => cell.name));
}

function offer(id, names) {
  show(document.getElementById(id), (offered) => offered.map((name) => h('option', { value: name, text: name })), names);
}

/** Return a button that uses a switch; sure: it must be pressed twice. null in a read-only page */
export function switchFor(text, name, values, { label = null, sure = false } = {}) {
  if (!isOpen()) return null;
  const made = h('button', { class: 'switch', type: 'button', text, 'aria-label': label });
  made.addEventListener('click', () => {
    if (!sure || isSure(made)) act(name, typeof values === 'function' ? values() : values);
  });
  return made;
}

/** Return a button that removes a fault, or null in a read-only page. */
export const undo = (what, name, values) => switchFor('Undo', name, values, { label: `Undo: ${what}` });
