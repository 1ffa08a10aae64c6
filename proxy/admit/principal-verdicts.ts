// Principals of whom somebody decided that they are refused, challenged on all paths, or slowed down: 15 requests in 10
// seconds. Whoever else is behind the same address goes on, and the principal is met at every address. Asked behind
// site-auth, so that a token counts as its subject only where it was verified; other credentials count as a whole
// (features/principals.ts). The list is main's (main/gates/measure-list.ts).
//
// The slow twin is the list itself, credential by credential; the table is one look-up for each of them.
import type { Decision, DecisionRule } from './decision.js';
import { challenge, challengeOn, type Challenging } from './challenge/challenge.js';
import type { Gate, GateContext, GateRequest } from './gate.js';
import { keyOf, type PrincipalName } from '../features/principals.js';
import { ask, compileLimit, type Limit } from './limits/limit.js';
import { verdictEvents, verdictWindowSeconds } from './limits/verdicts.js';
import type { Site } from '../road/route.js';
import { principalMeasuresMax } from '../shared-state/measure-tables.js';

/** The rule by which people find a request that was refused for its principal; no rule set has it. */
export const principalRuleId = 1_006_001;

interface Measures {
  readonly limit: Limit;
  readonly challenging: Challenging;
}

export const principalVerdicts: Gate<Measures> = {
  name: 'principal-verdicts',
  appliesTo: 'protected',
  bound: {
    of: 'principals that are denied, challenged or slowed down, a table for each worker (100 bytes each)',
    max: principalMeasuresMax,
    unit: 'entries',
    beyond: 'the rest waits until others end; GET :2019/status says how many',
  },
  compile: (config) => ({
    limit: compileLimit({
      kind: 'verdict',
      name: 'principal-verdict',
      events: verdictEvents,
      windowSeconds: verdictWindowSeconds,
      isDryRun: false,
    }),
    challenging: challenge.compile?.(config) as Challenging,
  }),
  decide: (request, site, context) => {
    const { principals, principalMeasures: measures } = context;
    if (measures.listed.size === 0) return null;
    const found = principals.find(request.head.headers, request.given ?? nothingGiven, measures.listed);
    if (found === undefined) return null;
    const [principal, action] = found;
    switch (action) {
      case 'deny':
        return { kind: 'deny', status: 403, shape: 'page', rule: ruleOf(principal) };
      case 'challenge':
        return challengeOn(request, site, { ...context, compiled: context.compiled.challenging });
      case 'throttle':
        return slowDown(principal, request, site, context);
    }
  },
};

const nothingGiven = [] as const;

/** Counted by the principal: it has its places at all addresses together. */
function slowDown(
  principal: PrincipalName,
  request: GateRequest,
  site: Site,
  context: GateContext<Measures>,
): Decision | null {
  const { text, compiled } = context;
  text.readText(keyOf(principal));
  const decision = ask(compiled.limit, text, request, site, context, null);
  if (decision === null || decision.rule === null) return decision;
  const { match, data } = ruleOf(principal);
  return { ...decision, rule: { ...decision.rule, match, data } };
}

function ruleOf(principal: PrincipalName): DecisionRule {
  const named = `${principal.kind} ${principal.id}`;
  return {
    id: principalRuleId,
    message: 'The principal has a verdict',
    match: `Matched the verdicts on principals against the credential (keyed hash: \`${named}')`,
    data: named,
    severity: '2',
    tags: ['gatehouse/verdict', 'gatehouse/principal'],
  };
}
