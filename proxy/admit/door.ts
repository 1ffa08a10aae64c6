// The door `#proxy/gates`: gates without sockets, for measuring them (bench/) and for telling what they decide (cli/).
export { createGateMemory, openGateMemory } from '../shared-state/gate-memory.js';
export { createSharedClock } from '../shared-state/shared-clock.js';
export { findField } from '../http/header-fields.js';
export { createRouter } from '../road/route.js';
export type { Decided } from './decision.js';
export type { GateRequest } from './gate.js';
export { gateNotes } from './gate-notes.js';
export { gates, openGates } from './index.js';
export { createGateWorker } from './worker.js';
