// The details of a server, and why it is on its host.
import { clock, h, number, state, stateOf } from './dom.js';
import { entitle, facts, link, table } from './dialog.js';
import { steps } from './steps.js';
import { acts } from './acting.js';

const button = (text, click) => h('button', { class: 'link', text, click });

/** Return the elements of a server. go: functions that open other details */
export function serverView(server, go) {
  entitle(server.name);
  const [text, shape] = stateOf(server);
  const size = `${server.vcpus} vCPU, ${number(server.memory_mb)} MiB`;
  return [
    facts([
      ['State', h('span', {}, state(shape), ` ${text}`)],
      server.fault ? ['Fault', `${server.fault.message} (${clock(server.fault.at)})`] : null,
      ['Host', server.host ? h('span', {}, button(server.host, () => go.host(server.host)), ', ', button('why?', () => go.why(server))) : button('none, why?', () => go.why(server))],
      ['Cell, zone', `${server.cell}, ${server.zone ?? 'any zone'}`],
      ['Addresses', server.addresses.map((each) => `${each.address} (${each.network}${each.type === 'fixed' ? '' : `, ${each.type}`})`).join(', ') || null],
      ['Flavor', `${server.flavor ?? 'unknown'}: ${size}`], ['Image', server.image ?? 'none: it boots from a volume'],
      ['Project, user', `${server.project}, ${server.user}`],
      ['Created', clock(server.created_at)],
      ['UUID', server.uuid],
      ['JSON', link(`/page/servers/${server.uuid}`)],
      ['API, with a token', link(`/compute/v2.1/servers/${server.uuid}`)],
    ]),
    ...acts(server),
    h('h3', { text: 'Sagas' }),
    server.sagas.length
      ? h('ul', { class: 'rows' }, ...server.sagas.map((saga) => h('li', {}, button(`${saga.kind}: ${saga.state}`, () => go.saga(saga.uuid)))))
      : h('p', { class: 'faint', text: 'None' }),
    ...(server.saga ? [h('h3', { text: `Steps of the newest saga, ${server.sagas[0].kind}` }), ...steps(server.saga)] : []),
    h('h3', { text: 'Actions' }),
    actions(server.actions),
  ];
}

function actions(found) {
  if (!found.length) return h('p', { class: 'faint', text: 'None' });
  const rows = found.flatMap((action) => [
    h('tr', { class: 'action' }, h('th', { scope: 'row', text: action.action }), h('td', { class: 'number', text: clock(action.at) }), h('td', { text: action.user ?? '–' }),
      h('td', {}, h('code', { text: action.request_id }), action.message ? h('span', { class: 'bad-text', text: ` ${action.message}` }) : null)),
    ...action.events.map((event) => h('tr', {}, h('td', { class: 'event', text: event.event }), h('td', { class: 'number', text: clock(event.at) }), h('td', { text: event.host ?? '–' }),
      h('td', { class: event.result === 'Error' ? 'bad-text' : null, text: `${event.result ?? 'runs'}${event.details ? `: ${event.details}` : ''}` }))),
  ]);
  return table('Actions', [['action and its events'], ['at', true], ['user, host'], ['request, result']], rows);
}

/** Return the elements of a scheduling decision. server: uuid and name of its server */
export function whyView(decision, server, go) {
  const rows = decision.hosts.map((host) => h('tr', {}, h('th', { scope: 'row', text: host.host }), h('td', { text: host.stage }),
    h('td', { class: 'number', text: host.weight === null ? '' : host.weight.toFixed(3) }),
    h('td', { text: [host.reason, ...Object.entries(host.weights).map(([name, weight]) => `${name} ${weight.toFixed(3)}`)].filter(Boolean).join('; ') })));
  return [
    facts([
      ['Server', button(server.name, () => go.server(server.uuid))], ['Chosen', decision.chosen ?? 'none'],
      decision.error ? ['Error', decision.error] : null, ['Decided', decision.at], ['Request', decision.request_id],
      ...decision.request_filters.map(([name, effect]) => [name, effect]), ...decision.queries.map((query) => ['Placement', query]),
      ['JSON', link(`/page/why/${server.uuid}`)],
    ]),
    table('Hosts', [['host'], ['stage'], ['weight', true], ['reason']], rows),
    decision.more ? h('p', { class: 'faint', text: `And ${number(decision.more)} more hosts. nova-lite why shows each.` }) : null,
  ];
}
