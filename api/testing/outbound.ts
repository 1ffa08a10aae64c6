// The guarded way out, for tests of rooms that are given one.
export { createOutbound } from '../outbound/outbound.js';
