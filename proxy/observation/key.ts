// The key of the hashes that stand for people in observations. Both planes know the token that it is made from, so that
// somebody seen by a node and somebody named by a gateway's record are the same.
import { hkdfSync } from 'node:crypto';

/** 32 bytes; `adminToken` is the one between the two planes. */
export const observationKeyOf = (adminToken: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', adminToken, '', 'gatehouse observation', 32));
