// The door `#proxy/gates`, for measuring gates without sockets (bench/cases/gates.ts).
export { createGateMemory, openGateMemory } from '../shared-state/gate-memory.js';
export { createSharedClock } from '../shared-state/shared-clock.js';
export { createRouter } from '../road/route.js';
export type { GateRequest } from './gate.js';
export { gates, openGates } from './index.js';
export { createGateWorker } from './worker.js';
