// The counters of one address at one site in a worker. Made once and used again for other clients: a request of a
// client that the window knows allocates nothing here.
import type { AgentClass } from '../admit/bots/user-agents.js';
import type { PrincipalName } from './principals.js';
import { agentBits, clientCountNames, noCounts, pathBits, sessionBits, type ClientWindow } from './client-window.js';

/** Thousands of rules that are told apart. What stands in none of them is `other`. */
const firstGroup = 900;
const lastGroup = 999;
const gateGroups = 1006;
/** CRS groups, those of gates and patches (1006 to 1010), and one for rules of people. */
const groupsMax = lastGroup - firstGroup + 1 + 6;
const rulesMax = 12;
export const shapesMax = 16;
export const samplesMax = 3;

const agentClasses: readonly AgentClass[] = [
  'empty',
  'scanner',
  'health-check',
  'mobile-app',
  'headless',
  'automation',
  'crawler',
  'browser',
  'other',
];

/** Where the counter of a rule's group stands. Evaluation and reporting (949, 959, 980) are left out by the caller. */
function groupAt(ruleId: number): number {
  const thousand = Math.floor(ruleId / 1000);
  if (thousand >= firstGroup && thousand <= lastGroup) return thousand - firstGroup;
  if (thousand >= gateGroups && thousand < gateGroups + 5) return lastGroup - firstGroup + 1 + thousand - gateGroups;
  return groupsMax - 1;
}

function groupName(at: number): string {
  if (at <= lastGroup - firstGroup) return String(firstGroup + at);
  if (at === groupsMax - 1) return 'custom';
  return String(gateGroups + at - (lastGroup - firstGroup + 1));
}

export class ClientSums {
  site = '';
  address = '';
  principal: PrincipalName | null = null;
  firstMs = 0;
  lastMs = 0;
  /** One object for good, so that counting allocates nothing. */
  readonly count = noCounts();
  scoreMax = 0;
  private readonly groups = new Uint32Array(groupsMax);
  /** The request that counted in a group last: one request counts once. */
  private readonly groupSeen = new Float64Array(groupsMax);
  private readonly ruleIds = new Float64Array(rulesMax);
  private readonly ruleCounts = new Uint32Array(rulesMax);
  private readonly agents = new Uint32Array(agentClasses.length);
  private readonly paths = Buffer.alloc(pathBits / 8);
  private readonly sessions = Buffer.alloc(sessionBits / 8);
  private readonly userAgents = Buffer.alloc(agentBits / 8);
  private readonly shapes = new Uint32Array(shapesMax);
  private shapeCount = 0;
  private readonly samples: string[] = [];
  private sampleScore = -1;

  /** The next client. */
  begin(site: string, address: string, principal: PrincipalName | null, atMs: number): void {
    this.site = site;
    this.address = address;
    this.principal = principal;
    this.firstMs = atMs;
    this.lastMs = atMs;
  }

  addRule(ruleId: number): void {
    const at = groupAt(ruleId);
    if (this.groupSeen[at] !== this.count.requests) {
      this.groupSeen[at] = this.count.requests;
      this.groups[at] = (this.groups[at] as number) + 1;
    }
    for (let index = 0; index < rulesMax; index += 1) {
      const known = this.ruleIds[index] as number;
      if (known !== 0 && known !== ruleId) continue;
      this.ruleIds[index] = ruleId;
      this.ruleCounts[index] = (this.ruleCounts[index] as number) + 1;
      return;
    }
  }

  addAgent(kind: AgentClass): void {
    const at = agentClasses.indexOf(kind);
    this.agents[at] = (this.agents[at] as number) + 1;
  }

  addPath(hash: number, shape: number): void {
    setBit(this.paths, hash % pathBits);
    for (let index = 0; index < this.shapeCount; index += 1) if (this.shapes[index] === shape) return;
    if (this.shapeCount < shapesMax) this.shapes[this.shapeCount++] = shape;
  }

  addSession(hash: number): void {
    setBit(this.sessions, hash % sessionBits);
  }

  addUserAgent(hash: number): void {
    setBit(this.userAgents, hash % agentBits);
  }

  /** The requests with the highest scores are remembered; of equal ones the first. */
  addSample(requestId: string, score: number): void {
    const { samples } = this;
    if (samples.length < samplesMax) samples.push(requestId);
    else if (score > this.sampleScore) samples[samplesMax - 1] = requestId;
    else return;
    if (score > this.sampleScore) this.sampleScore = score;
  }

  window(): ClientWindow {
    return {
      site: this.site,
      address: this.address,
      ...(this.principal === null ? {} : { principal: this.principal }),
      first_ms: this.firstMs,
      last_ms: this.lastMs,
      ...this.count,
      score_max: this.scoreMax,
      groups: named(this.groups, groupName),
      rules: named(this.ruleCounts, (at) => String(this.ruleIds[at])),
      agents: named(this.agents, (at) => agentClasses[at] as string),
      paths: this.paths.toString('base64'),
      sessions: this.sessions.toString('base64'),
      user_agents: this.userAgents.toString('base64'),
      shapes: [...this.shapes.subarray(0, this.shapeCount)],
      samples: [...this.samples],
    };
  }

  clear(): void {
    for (const name of clientCountNames) this.count[name] = 0;
    this.scoreMax = 0;
    this.groups.fill(0);
    this.groupSeen.fill(0);
    this.ruleIds.fill(0);
    this.ruleCounts.fill(0);
    this.agents.fill(0);
    this.paths.fill(0);
    this.sessions.fill(0);
    this.userAgents.fill(0);
    this.shapeCount = 0;
    this.samples.length = 0;
    this.sampleScore = -1;
  }
}

function setBit(bits: Buffer, at: number): void {
  bits[at >>> 3] = (bits[at >>> 3] as number) | (1 << (at & 7));
}

function named(counts: Uint32Array, nameOf: (at: number) => string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [at, count] of counts.entries()) if (count > 0) found[nameOf(at)] = count;
  return found;
}
