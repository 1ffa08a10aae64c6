// Whether a client is kept out at this moment, whatever it asks for: for what began before it was.
import { isDenied } from '../../shared-state/measure-tables.js';
import type { GateWorker } from '../gate.js';

export function isKeptOut({ tables, client }: GateWorker, address: string, nowMs: number): boolean {
  if ((tables.measures.on(address) & isDenied) !== 0) return true;
  client.read(address);
  return tables.bans.bannedUntil(client.low, client.high, nowMs) !== 0;
}
