// The guarded client for tests of other rooms: it reaches what a test names, and nothing else.
import { createOutbound, type Outbound } from '../../outbound/outbound.js';

export const createGuardedClient = (allow: readonly string[]): Outbound => createOutbound({ allow });
