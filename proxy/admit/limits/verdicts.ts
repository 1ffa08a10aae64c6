// Clients of which somebody decided that they may go on slowly: 15 requests in 10 seconds on all paths, whoever decided
// (an operator over the API, or what scores clients). The list is main's (main/gates/measure-list.ts); that of clients
// who have to answer a challenge is asked by the challenge itself.
import type { Gate } from '../gate.js';
import { isThrottled } from '../../shared-state/measure-tables.js';
import { ask, compileLimit, limitBound, type Limit } from './limit.js';

export const verdictEvents = 15;
export const verdictWindowSeconds = 10;

export const verdictThrottle: Gate<Limit> = {
  name: 'verdicts',
  appliesTo: 'protected',
  bound: limitBound,
  compile: () =>
    compileLimit({
      kind: 'verdict',
      name: 'verdict',
      events: verdictEvents,
      windowSeconds: verdictWindowSeconds,
      isDryRun: false,
    }),
  decide: (request, site, worker) => {
    const { measures } = worker.tables;
    if (!measures.hasThrottles || (measures.on(request.head.clientIp) & isThrottled) === 0) return null;
    worker.client.read(request.head.clientIp);
    return ask(worker.compiled, worker.client, request, site, worker, null);
  },
};
