// What programs have to know to talk to this API: its words.
import { Type } from '@sinclair/typebox';
import { endpoint, type Endpoint } from './kit/endpoint.js';
import { eventTypes } from './kit/events.js';
import { operators } from './kit/predicate.js';
import { findingFields } from './findings/fields.js';
import { lifecycle } from './findings/lifecycle.js';
import { criticalities } from './assets/resources.js';
import { closedStatuses, fixStates, justifications, openStatuses, severityNames, sources } from './findings/words.js';

export const metaEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/meta/enums',
    permission: 'self',
    kind: 'A',
    summary: 'Severities, states, sources and the other words of this API',
    answer: Type.Record(Type.String(), Type.Unknown()),
    handle: async () => ({
      severities: [...severityNames].reverse(),
      statuses: { open: openStatuses, closed: closedStatuses },
      transitions: lifecycle.moves,
      sources,
      fix_states: fixStates,
      justifications,
      criticalities,
      stages: ['entry', 'execute', 'credential', 'privesc', 'pivot', 'impact'],
      chain_kinds: ['kill-chain', 'toxic-combination', 'cross-service', 'lateral-movement'],
      predicate: {
        operators,
        fields: Object.fromEntries(Object.entries(findingFields).map(([name, { type }]) => [name, type])),
      },
      events: eventTypes,
    }),
  }),
];
