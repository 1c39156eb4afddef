// Elements. Text of users is set as text, never as HTML.

/** Return an element. props: attributes, `text`, `vars` ({custom property: value}), `click`. */
export function h(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'text') made.textContent = value;
    else if (name === 'vars') setVars(made, value);
    else if (name === 'click') made.addEventListener('click', value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Set custom properties; a style attribute would break the policy of the page. */
export function setVars(element, vars) {
  for (const [name, value] of Object.entries(vars)) element.style.setProperty(`--${name}`, value);
}

const FOCUSABLE = 'a, button, input, summary, select';

/** Replace the children of an element. The focus, by its position, and the texts of fields stay. */
export function replace(parent, children) {
  const position = [...parent.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  const typed = [...parent.querySelectorAll('input')].map((field) => [field.name, field.value]);
  parent.replaceChildren(...children);
  for (const [name, value] of typed) {
    const field = parent.querySelector(`input[name="${CSS.escape(name)}"]`);
    if (field) field.value = value;
  }
  if (position >= 0) parent.querySelectorAll(FOCUSABLE)[position]?.focus({ preventScroll: true });
}

/** Replace the children only where what they are made of has changed. */
export function show(parent, made, ...values) {
  const text = JSON.stringify(values);
  if (parent.shown === text) return false;
  parent.shown = text;
  replace(parent, [made(...values)].flat());
  return true;
}

/** Let `parent` have a child for each item, in order. make(item) and fill(element, item). */
export function keyed(parent, items, keyOf, make, fill) {
  const former = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  // First: the others stay where they are then. One that is moved loses the focus.
  const keys = new Set(items.map(keyOf));
  for (const [key, child] of former) if (!keys.has(key)) child.remove();
  items.forEach((item, index) => {
    const key = keyOf(item);
    let child = former.get(key);
    if (!child) {
      child = make(item);
      child.dataset.key = key;
    }
    fill(child, item);
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
}

/** Draw an item of a list for each of `items`, or what is there instead of them. */
export function rows(parent, items, keyOf, make, empty) {
  if (!items.length) {
    show(parent, () => h('li', { class: 'faint' }, ...[empty].flat()), 'empty');
    return;
  }
  if (parent.shown) {
    parent.shown = null;
    parent.replaceChildren();
  }
  keyed(parent, items, keyOf, () => h('li'), (row, item) => show(row, make, item));
}

const SHARE = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });
const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
export const percent = (part) => SHARE.format(part);
export const number = (value) => NUMBER.format(value);
export const state = (kind) => h('span', { class: `state ${kind}`, 'aria-hidden': 'true' });

// Why the state of a server on a host in a state is only its last known one.
const LOST = { off: ['its host has no power', 'off'], down: ['its host is down', 'bad'], unknown: ['its cell does not answer', 'rest'] };

/** Return [text, shape] of a server's state. */
export function stateOf(server) {
  const lost = LOST[server.host_state];
  if (lost) return [`${recorded(server)[0]}, but ${lost[0]}`, lost[1]];
  return recorded(server);
}

function recorded(server) {
  if (server.task_state) return [server.task_state, 'busy'];
  if (server.vm_state === 'error') return ['error', 'bad'];
  if (server.vm_state === 'resized') return ['waits for confirm or revert', 'warn'];
  return [server.vm_state, server.vm_state === 'active' ? 'good' : 'rest'];
}

const TIME = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZone: 'UTC' });
export const clock = (text) => `${TIME.format(Date.parse(text))} UTC`;

export const CLASSES = { VCPU: 'vCPU', MEMORY_MB: 'memory', DISK_GB: 'disk' };
const UNITS = { VCPU: [1, ''], MEMORY_MB: [1024, ' GiB'], DISK_GB: [1, ' GiB'] };

export const share = (load, name) => (load[name] && load[name][1] ? load[name][0] / load[name][1] : 0);

/** Return the share as a percentage, of what is known. */
export const portion = (load, name) => (load[name]?.[1] ? percent(share(load, name)) : '–');

/** Return "3 of 256" with the unit of the class. */
export function amount(load, name) {
  if (!load[name]) return '–';
  const [used, most] = load[name];
  const [factor, unit] = UNITS[name];
  return `${number(used / factor)} of ${number(most / factor)}${unit}`;
}
