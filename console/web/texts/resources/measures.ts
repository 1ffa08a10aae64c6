// English texts of the page of client measures.
import type { Shown } from '../shown.js';

export const measuresText = {
  title: 'Client measures',
  about:
    'Clients that are denied, challenged or slowed down on protected sites by any source; in force within ' +
    'seconds, without an apply.',
  measures: 'Client measures',
  subject: 'Client',
  beginning: 'Beginning of an address',
  action: 'Action',
  everyAction: 'every action',
  actionNames: { deny: 'denied', challenge: 'challenged', throttle: 'slowed down' },
  source: 'Source',
  everySource: 'every source',
  sources: {
    manual: 'operator',
    'auto-ban': 'automatic ban',
    ai: 'detection engine',
    'api-abuse': 'API abuse',
    tor: 'Tor exit nodes',
    feed: 'threat feed',
    managed: 'managed feed',
  },
  kind: 'Kind',
  everyKind: 'every kind',
  kinds: { address: 'address', network: 'network', principal: 'principal' },
  state: 'State',
  everyState: 'every state',
  states: { active: 'active', ended: 'ended', lifted: 'lifted' },
  why: 'Why',
  added: 'Added',
  ends: 'Ends',
  never: 'never',
  actions: 'Actions',
  lift: 'Lift',
  lifted: (a: Shown) => `The measure on ${a} is lifted on all nodes.`,
  liftedBy: (a: Shown) => `lifted by ${a}`,
  limitedWithin: (a: Shown, b: Shown, c: Shown, d: Shown) => `${a} limited in ${b} s by ${c}, on ${d}`,
  itsRequest: 'its request',
  bansBefore: (a: Shown) => (a === 1 ? 'one ban before it' : `${a} bans before it`),
  none: 'No client is denied, challenged or slowed down',
  noneAbout:
    'Decide over a client here or from one of its security events, deny addresses of your own, or switch on a ' +
    'threat feed.',
} as const;
