// What programs have to know to talk to this API: its words.
import { Type } from '@sinclair/typebox';
import { attackVersion, classifierVersion } from './chains/classification/cwe-table.js';
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
    path: '/meta/version',
    permission: 'public',
    kind: 'A',
    summary: 'Release of this installation, and versions of what classifies weaknesses',
    answer: Type.Object({
      release: Type.String(),
      api: Type.String(),
      classifier: Type.Integer({ description: 'rises where a weakness may get another stage or capability' }),
      attack: Type.String({ description: 'of MITRE ATT&CK, whose techniques chains name' }),
    }),
    handle: async ({ host }) => ({
      release: host.release,
      api: 'v1',
      classifier: classifierVersion,
      attack: attackVersion,
    }),
  }),
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
