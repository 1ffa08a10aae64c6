// Who uses the functions of administrators: groups, by the roles that tokens claim and by what clients do otherwise.
// The first success of a client outside the group is a finding, with members of the group as evidence.
import { addName, type Memory, type PrincipalUse } from './memory.js';
import { timeOf, type Evidence, type Finding, type JudgeOptions } from './finding.js';
import type { Seen } from './seen.js';

interface First {
  readonly seen: Seen;
  readonly atMs: number;
  /** Ordinary requests before the first that reached any function of administrators. */
  readonly ordinary: number;
}

/** Requests for functions that make an administrator, if hardly an ordinary one came before them. */
const privilegedMin = 3;
const ordinaryOfStaff = 10;
/** Ordinary requests that make a customer: of one who made things, of others, and where no administrator is known. */
const ordinaryOfOwner = 5;
const ordinaryOfCustomer = 10;
const ordinaryOfStranger = 20;
const customersMin = 5;
/** A function that this share of customers uses is none of administrators. */
const commonShare = 0.25;
const firstsMax = 10_000;
const namesMax = 2000;

interface Site {
  /** Who was let in to some function of administrators, each with its last request. */
  readonly privileged: Map<string, string>;
  readonly customers: Set<string>;
}

export class Groups {
  private firsts: First[] = [];
  private readonly sites = new Map<string, Site>();

  constructor(private readonly memory: Memory) {}

  private siteOf(name: string): Site {
    const known = this.sites.get(name);
    if (known !== undefined) return known;
    const made: Site = { privileged: new Map(), customers: new Set() };
    this.sites.set(name, made);
    return made;
  }

  /** A client used a function that is none of administrators'. */
  feedOrdinary({ site, principal, credential }: Seen, use: PrincipalUse): void {
    if (credential !== 'none' && use.ordinary >= ordinaryOfCustomer)
      addName(this.siteOf(site).customers, principal, namesMax);
  }

  /** A client was let in to a function. */
  feed(seen: Seen, use: PrincipalUse): void {
    const { site, principal, operation, credential } = seen;
    if (credential === 'none') return;
    const { privileged } = this.siteOf(site);
    if (privileged.size < namesMax || privileged.has(principal)) privileged.set(principal, seen.requestId);
    if (use.functions.has(operation) || use.functions.size >= 64) return;
    use.functions.set(operation, seen.firstMs);
    if (this.firsts.length < firstsMax) this.firsts.push({ seen, atMs: seen.lastMs, ordinary: use.ordinaryBefore });
  }

  judge({ nowMs, settleMs }: JudgeOptions): Finding[] {
    const isDue = ({ atMs }: First): boolean => atMs <= nowMs - settleMs;
    const due = this.firsts.filter(isDue);
    this.firsts = this.firsts.filter((first) => !isDue(first));
    return due.flatMap((first) => this.judgeFirst(first) ?? []);
  }

  private useOf(site: string, principal: string): PrincipalUse | undefined {
    return this.memory.principals.get(`${site}\0${principal}`);
  }

  private isAdministrator(use: PrincipalUse | undefined): boolean {
    if (use === undefined || use.privileged < privilegedMin) return false;
    return use.ordinaryBefore < ordinaryOfStaff || overseesAny(use);
  }

  private judgeFirst({ seen, atMs, ordinary }: First): Finding | null {
    const { site, principal, operation, template } = seen;
    const use = this.useOf(site, principal);
    if (use === undefined || overseesAny(use)) return null;
    const { privileged, customers } = this.siteOf(site);
    const group = [...privileged.keys()].filter(
      (name) => name !== principal && this.isAdministrator(this.useOf(site, name)),
    );
    const roles = new Set(group.map((name) => this.useOf(site, name)?.role ?? '').filter((role) => role !== ''));
    if (use.role !== '' && roles.has(use.role)) return null;
    const here = this.memory.operations.get(operation)?.admitted ?? new Set();
    if (here.size >= 3 && here.size >= commonShare * customers.size) return null;
    const isOtherRole = use.role !== '' && roles.size > 0 && ordinary > 0;
    const isCustomer = ordinary >= (use.made > 0 ? ordinaryOfOwner : ordinaryOfCustomer);
    const members = isAdministration(template) ? group : group.filter((name) => here.has(name));
    const needed = isAdministration(template) ? 1 : 2;
    if (members.length >= needed && (isOtherRole || isCustomer))
      return toFinding(seen, atMs, this.evidenceOf(seen, atMs, members, privileged), {
        severity: 'high',
        reason: isOtherRole
          ? `was let in with other roles than the ${members.length} who use functions of administrators`
          : `an ordinary user was let in to a function that ${members.length} others use as administrators`,
      });
    if (group.length > 0 || !isAdministration(template) || ordinary < ordinaryOfStranger) return null;
    if (customers.size < customersMin) return null;
    return toFinding(seen, atMs, this.evidenceOf(seen, atMs, [], privileged), {
      severity: 'medium',
      reason: `an ordinary user was let in to a function of administrators, as none of ${customers.size} others was`,
    });
  }

  private evidenceOf(
    { requestId }: Seen,
    atMs: number,
    members: readonly string[],
    requests: ReadonlyMap<string, string>,
  ): Evidence[] {
    const own = { request_id: requestId, at: timeOf(atMs), because: null, noun: '' };
    if (members.length === 0) return [{ ...own, other_request_id: null, other_principal: null }];
    return members.slice(0, 10).map((name) => ({
      ...own,
      ...{ other_request_id: requests.get(name) ?? null, other_principal: name },
    }));
  }
}

const overseesAny = (use: PrincipalUse): boolean => [...use.overseen.values()].some((makers) => makers.size >= 8);

function toFinding(
  { site, method, template, principal, credential, clientIp }: Seen,
  atMs: number,
  evidence: readonly Evidence[],
  { severity, reason }: Pick<Finding, 'severity' | 'reason'>,
): Finding {
  return {
    kind: 'bfla',
    ...{ site, method, template, principal, credential, clientIps: clientIp === '' ? [] : [clientIp] },
    ...{ severity, confidence: severity === 'high' ? 'high' : 'medium', reason, count: 1, evidence },
    ...{ firstMs: atMs, lastMs: atMs },
  };
}

const administration: ReadonlySet<string> = new Set([
  'superuser',
  'superadmin',
  'sysadmin',
  'impersonate',
  'backoffice',
]);

/** Whether a segment of the path names administrators: `/admin`, `/wp-admin/users`, `/api/administration`. */
export function isAdministration(template: string): boolean {
  for (const segment of template.toLowerCase().split('/'))
    for (const word of segment.split(/[-_.~]/))
      if (administration.has(word) || /^admin(?:s|istrat(?:or|ors|ion|ive))?(?:panel|area|console|api|cp)?$/.test(word))
        return true;
  return false;
}
