// THE GATES, in the order in which they are asked. Each stands in a file of its own; a new one is that file and a row
// here. The first that is enforced ends the request; one that only flags leaves it to the next.
//
// `appliesTo` is the decision whether unprotected sites have gates, gate by gate. A site without protection is one
// whose owner wants it left alone (a health check, a webhook that must not be lost): what judges clients or requests
// stays away from it. What guards this program itself (its memory, its connections) applies to all.
import type { ProxyConfig } from '../contract/index.js';
import { bans } from './bans/bans.js';
import { crashRequests } from './bans/crash-requests.js';
import { bots } from './bots/bots.js';
import { ja3Blocklist } from './bots/ja3-blocklist.js';
import { challenge } from './challenge/challenge.js';
import { denyList } from './deny-list.js';
import { endpointLimits } from './limits/endpoint-limits.js';
import { attackMode } from './limits/attack.js';
import { floodBurst, floodGlobal } from './limits/flood.js';
import { rateZones } from './limits/rate-zones.js';
import { verdictThrottle } from './limits/verdicts.js';
import { principalVerdicts } from './principal-verdicts.js';
import { siteAuth } from './site-auth/site-auth.js';
import { row, type GateRow, type GateWorker, type PreparedGate } from './gate.js';

export const gates: readonly GateRow[] = [
  row(crashRequests), // all: requests that ended workers again and again; guards this program
  row(denyList), // protected: bad addresses, as feeds and people name them
  row(bans), // protected: clients that this node banned by itself
  row(ja3Blocklist), // protected: TLS clients by their fingerprint
  row(verdictThrottle), // protected: clients that somebody decided to slow down
  row(floodGlobal), // all: guards this program and what is behind it
  row(floodBurst), // protected: the burst of one client
  row(attackMode), // protected: the burst of one client while the node is under attack
  row(rateZones), // protected: by client, header field or all together, under a path
  row(endpointLimits), // protected: expensive endpoints
  row(challenge), // protected: paths for browsers only
  row(siteAuth), // protected: who may come in at all
  row(principalVerdicts), // protected: principals that somebody decided to refuse, challenge or slow down
  row(bots), // protected: points of programs that are no browsers, and crawlers that are not who they say
];

/** The gates of one generation, chosen when it is prepared and not while requests wait. */
export interface Admission {
  readonly ofProtected: readonly PreparedGate[];
  readonly ofOthers: readonly PreparedGate[];
}

/** Called once a worker; the result once a generation. `rows` is for tests. */
export function openGates(worker: GateWorker, rows = gates): (config: ProxyConfig) => Admission {
  const opened = rows.map((gate) => gate.open(worker));
  return (config) => {
    const ofProtected = opened.map((prepare) => prepare(config)).filter((gate) => gate !== null);
    return { ofProtected, ofOthers: ofProtected.filter(({ appliesTo }) => appliesTo === 'all') };
  };
}
