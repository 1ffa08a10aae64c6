// Data flow as hops of a picture: from a kind of data to the endpoint that carries it, from there to its site. What
// anybody may have comes first, and only so much is drawn as can be looked at.
import type { HopFacts } from './hop-layout.js';

export interface FlowFacts {
  readonly site: string;
  readonly method: string;
  readonly template: string;
  readonly categories: readonly string[];
  readonly unprotected: boolean;
}

/** Endpoints in the picture; the table has them all. */
export const drawnMax = 25;

export interface FlowHops {
  readonly hops: readonly HopFacts[];
  readonly drawn: number;
  readonly all: number;
}

/** `kindOf`: the words for a kind of data. */
export function flowHops(flows: readonly FlowFacts[], kindOf: (category: string) => string): FlowHops {
  const sites = new Set(flows.map(({ site }) => site));
  const chosen = [...flows].sort((one, other) => Number(other.unprotected) - Number(one.unprotected));
  const drawn = chosen.slice(0, drawnMax);
  const hops = drawn.flatMap(({ site, method, template, categories, unprotected: unauthenticated }): HopFacts[] => {
    const endpoint = `${method} ${template}${sites.size > 1 ? ` (${site})` : ''}`;
    const kinds = categories.map((one) => ({ caller: kindOf(one), callee: endpoint, unauthenticated }));
    return [...kinds, { caller: endpoint, callee: `${site} `, unauthenticated: false }];
  });
  return { hops, drawn: drawn.length, all: flows.length };
}
