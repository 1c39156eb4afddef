// Switches for faults, of a cloud that was started with --lab.
import { h, show } from './dom.js';

const box = document.getElementById('lab');
const said = box.querySelector('.said');
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
  for (const form of box.querySelectorAll('form')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const name = form.elements.name.value;
      if (form.id === 'lab-host') act('host', { name, power: 'off' });
      else act('cell', { name, state: 'down' });
    });
  }
}

/** Use a switch. */
export async function act(name, values) {
  const headers = { 'Content-Type': 'application/json', 'X-Page-Secret': secret };
  try {
    const response = await fetch(`/page/lab/${name}`, { method: 'POST', headers, body: JSON.stringify(values) });
    said.textContent = response.ok ? '' : (await response.json()).error;
  } catch {
    said.textContent = 'The cloud does not answer.';
  }
}

/** Offer the hosts and cells of a document. */
export function drawLab(found) {
  if (!isOpen()) return;
  offer('lab-hosts', (found.hosts ?? []).filter((host) => host.state !== 'off').map((host) => host.name));
  offer('lab-cells', found.cells.map((cell) => cell.name));
}

function offer(id, names) {
  show(document.getElementById(id), (offered) => offered.map((name) => h('option', { value: name })), names);
}

/** Return a button that removes a fault, or null in a read-only page. */
export function undo(what, name, values) {
  if (!isOpen()) return null;
  return h('button', { class: 'switch', text: 'Undo', 'aria-label': `Undo: ${what}`, click: () => act(name, values) });
}
