// What thieves do, each kind once at each business: with the requests by which a finding proves it.
import type { Person } from '../shop.js';
import { Market, thiefFrom, type Thing } from './market.js';

export interface Theft {
  readonly kind: string;
  /** Requests of the thief, any of which proves it. */
  readonly requests: readonly string[];
  readonly thief: number;
}

type Act = (market: Market, thief: Person, loot: Thing) => string[];

const viewOf = (market: Market, id: string | number): object => ({ [market.shape.idName]: id, state: 'open' });
const partOf = (market: Market): string => Object.keys(market.shape.parts)[0] ?? 'part';
const readPart: Act = (market, thief, { id }) => {
  const part = partOf(market);
  return [market.shop.ask(thief, { uri: market.pathOf(id, part), reply: market.shape.parts[part]?.(id) })];
};
const readWhole: Act = (market, thief, { id }) => [
  market.shop.ask(thief, { uri: market.pathOf(id), reply: viewOf(market, id) }),
];

export const acts: Readonly<Record<string, Act>> = {
  reads: readWhole,
  'reads a part that names its owner': readPart,
  'reads a part, then all of it': (market, thief, loot) => [
    ...readPart(market, thief, loot),
    ...readWhole(market, thief, loot),
  ],
  'changes silently': (market, thief, { id }) => [
    market.shop.ask(thief, { method: 'PUT', uri: market.pathOf(id), status: 204, body: { a: 2 } }),
  ],
  'gets an answer without text first': (market, thief, loot) => {
    market.shop.ask(thief, { uri: '/me/seen', status: 204 });
    return readWhole(market, thief, loot);
  },
  'gets a long answer about something else first': (market, thief, loot) => {
    market.shop.ask(thief, { uri: '/help/articles', isBig: true });
    return readWhole(market, thief, loot);
  },
  'takes many after a long list of its own': (market, thief) => {
    market.shop.ask(thief, { uri: market.listPath(thief), isBig: true });
    return market.things.slice(-90, -20).flatMap((loot) => readWhole(market, thief, loot));
  },
  deletes: (market, thief, { id }) => [
    market.shop.ask(thief, { method: 'DELETE', uri: market.pathOf(id), status: 200 }),
  ],
};

/** Things of honest people that no client was sent a link to. */
export function steal(market: Market, kind: string, number: number): Theft | null {
  const act = acts[kind];
  const loot = market.any(market.things.slice(-60).filter(({ link }) => link === null));
  if (act === undefined || loot === undefined) return null;
  const thief = market.make(thiefFrom + number);
  // a thief is a customer as others are
  market.create(thief);
  market.shop.ask(thief, { uri: '/me', reply: { name: 'n' } });
  return { kind, requests: act(market, thief, loot), thief: thief.number };
}

/** A customer like others whom a function of staff lets in. */
export function climb(market: Market, number: number): Theft {
  const climber = market.make(thiefFrom + number);
  for (let at = 0; at < 4; at += 1) {
    const { id } = market.create(climber);
    for (let more = 0; more < 3; more += 1) market.read(climber, id);
  }
  const [method, path] = market.any(market.shape.functions);
  const request = market.shop.ask(climber, { method, uri: path.replace('{n}', '7'), reply: { ok: true } });
  return { kind: 'climbs', requests: [request], thief: climber.number };
}
