// GraphQL as records and metrics name it, on the road.
import type { Decision } from '../admit/decision.js';
import type { PreparedGate } from '../admit/gate.js';

export const graphqlGate = (decide: () => Decision | null): PreparedGate => ({
  name: 'graphql',
  appliesTo: 'protected',
  counter: undefined,
  wait: null,
  decide,
});
