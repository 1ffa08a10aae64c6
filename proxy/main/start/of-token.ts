// Secrets and names that all nodes of an installation have alike, made of the admin token that they share.
import { hkdfSync } from 'node:crypto';
import type { DataPlaneOptions } from '../options.js';

/** What only nodes of one installation know: the keys of limits that they share are the same on all of them. */
export const ofToken = (adminToken: string, what: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', adminToken, '', `gatehouse ${what}`, bytes));

export function seedsFor(adminToken: string): readonly [number, number] {
  const bytes = ofToken(adminToken, 'rate keys', 8);
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
}

/** Nodes of one installation find each other's limits under it. */
export const sharingPrefix = (redis: DataPlaneOptions['redis'], adminToken: string): string =>
  redis?.prefix ?? `gatehouse:${ofToken(adminToken, 'rate prefix', 8).toString('hex')}`;
