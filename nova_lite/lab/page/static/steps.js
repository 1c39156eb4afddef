// The steps of a saga: bars on a line for each daemon, and a table.
import { h } from './dom.js';
import { table } from './dialog.js';

/** Return the elements with the steps of a saga. */
export function steps(saga) {
  const lanes = new Map();
  for (const bar of saga.bars) lanes.set(bar.place, [...(lanes.get(bar.place) ?? []), bar]);
  const whole = saga.lasted || 1;
  const mark = (bar) => h('i', { class: `${bar.outcome}${bar.is_pivot ? ' pivot' : ''}`, title: `${bar.step}: ${bar.outcome}`, vars: { at: bar.begin / whole, part: (bar.end - bar.begin) / whole } });
  const row = (bar) => h('tr', {},
    h('th', { scope: 'row', text: `${bar.step}${bar.is_pivot ? ' (pivot)' : ''}` }), h('td', { text: bar.place }), h('td', { text: [bar.outcome, ...bar.notes].join(', ') }),
    h('td', { class: 'number', text: bar.begin.toFixed(2) }), h('td', { class: 'number', text: ((bar.end - bar.begin) * 1000).toFixed(0) }));
  return [
    h('div', { class: 'lanes', role: 'img', 'aria-label': 'Steps by daemon, as in the table below' },
      ...[...lanes].flatMap(([place, bars]) => [h('span', { text: place }), h('span', { class: 'lane' }, ...bars.map(mark))])),
    table('Steps', [['step'], ['daemon'], ['outcome'], ['at, s', true], ['took, ms', true]], saga.bars.map(row)),
  ];
}
