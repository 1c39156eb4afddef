// Search for servers, hosts and sagas. "/" goes to the field, Escape empties it.
import { h, state } from './dom.js';
import { missing, openHost, openSaga, serverRow } from './details.js';

const PAUSE_MS = 200;
const form = document.getElementById('search');
const field = document.getElementById('query');
const section = document.getElementById('found');
const list = section.querySelector('ul');

/** latest: function that returns the last document, or null */
export function startSearch(latest) {
  let timer = null;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(field.value.trim(), latest()), PAUSE_MS);
  };
  field.addEventListener('input', later);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    search(field.value.trim(), latest());
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !event.target.closest('input, dialog')) {
      event.preventDefault();
      field.focus();
    } else if (event.key === 'Escape' && event.target === field) {
      field.value = '';
      later();
    }
  });
}

async function search(text, latest) {
  if (!text) {
    section.hidden = true;
    return;
  }
  const ask = async (path) => {
    try {
      return await (await fetch(`${path}?q=${encodeURIComponent(text)}`)).json();
    } catch {
      return { error: 'The cloud does not answer.' };
    }
  };
  const [servers, hosts] = await Promise.all([ask('/page/servers'), ask('/page/hosts')]);
  if (text !== field.value.trim()) return;
  const sagas = (latest?.sagas ?? []).filter((saga) => saga.uuid.startsWith(text) || saga.kind.includes(text));
  const rows = [
    ...(servers.servers ?? []).map(serverRow),
    ...(hosts.hosts ?? []).map((host) => row('Host', host.name, `${host.cell}, ${host.zone}, ${host.state}`, () => openHost(host.name))),
    ...missing(servers),
    ...[...new Set([servers.error, hosts.error])].filter(Boolean).map((error) => h('li', { class: 'bad-text', text: error })),
    ...sagas.map((saga) => row('Saga', `${saga.kind} ${saga.name ?? ''}`, saga.uuid, () => openSaga(saga.uuid))),
  ];
  list.replaceChildren(...(rows.length ? rows : [h('li', { class: 'faint', text: 'Nothing' })]));
  section.hidden = false;
}

function row(kind, name, under, click) {
  return h('li', {}, h('button', { class: 'row', click },
    h('span', { class: 'top' }, state('rest'), h('b', { text: name }), h('span', { class: 'faint', text: kind })), h('span', { class: 'under', text: under })));
}
