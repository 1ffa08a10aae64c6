// How rules about Terraform are written: a family, which says why it matters; the types; a check of one resource.
import ipaddr from 'ipaddr.js';
import type { Severity } from '../../../findings/words.js';
import { fixesOfTemplates } from '../cloudformation/fixes.js';
import { rowOf, type Checked, type Place } from '../rule.js';
import { idsOfOthers } from './others.js';
import type { Module, Part, Resource } from './resources.js';
import { isUnknown, type Value } from './values.js';

interface Family {
  readonly severity: Severity;
  readonly cwe: number;
  readonly why: string;
}

export const families = {
  encryption: {
    severity: 'high',
    cwe: 311,
    why: 'Data is stored in clear: a copy of the disk, a snapshot or a backup is enough to read it.',
  },
  ownKey: {
    severity: 'low',
    cwe: 320,
    why:
      'A key of the provider cannot be limited, watched or withdrawn by you; for regulated data that ' +
      'may be asked for.',
  },
  transit: {
    severity: 'high',
    cwe: 319,
    why: 'What goes over the network in clear, or by old protocols, is read and changed on the way.',
  },
  exposure: {
    severity: 'high',
    cwe: 284,
    why: 'It is reached from everywhere: every weakness of it is one of the internet’s.',
  },
  publicData: {
    severity: 'critical',
    cwe: 732,
    why: 'Public bucket or data: everyone who finds the address reads it.',
  },
  logs: { severity: 'medium', cwe: 778, why: 'Without a log an incident stays unseen and cannot be investigated.' },
  backup: { severity: 'medium', cwe: 693, why: 'What is deleted or encrypted by an attacker cannot be brought back.' },
  identity: {
    severity: 'high',
    cwe: 269,
    why: 'Rights beyond the need (iam wildcard, shared accounts) turn one break-in into all of them.',
  },
  password: { severity: 'medium', cwe: 521, why: 'Weak and old passwords are guessed.' },
  metadata: {
    severity: 'high',
    cwe: 918,
    why: 'A request that the server is talked into (SSRF) reads the credentials of the machine.',
  },
  secret: { severity: 'critical', cwe: 798, why: 'The secret stands in the configuration, its state and its history.' },
  supply: {
    severity: 'medium',
    cwe: 1357,
    why: 'What runs may be replaced by something else without anybody noticing.',
  },
  hygiene: { severity: 'low', cwe: 1188, why: 'A default that was made for trying things out is left as it is.' },
} as const satisfies Readonly<Record<string, Family>>;

/** Where a resource breaks the rule: lines, with a message where the title is not enough; empty: it does not. */
export type Check = (resource: Resource) => readonly (number | Place)[];

export type TerraformRule = Checked<Module>;

/** What to do in each of the languages that the rule reads. */
function fixOf(id: string, fix: string): string {
  const other = fixesOfTemplates[id];
  return other === undefined ? fix : `Terraform: ${fix} CloudFormation: ${other}`;
}

/** `types` of resources, or `data.TYPE`; the severity may differ from the family’s. */
export function rule(
  family: keyof typeof families,
  [id, ...known]: readonly [id: string, ...known: string[]],
  title: string,
  types: readonly string[],
  check: Check,
  fix: string,
  severity?: Severity,
): TerraformRule {
  const { severity: usual, cwe, why } = families[family];
  return rowOf<Module>({
    id,
    knownAs: [...known, ...(idsOfOthers[id] ?? [])],
    title,
    severity: severity ?? usual,
    cwes: [cwe],
    why,
    fix: fixOf(id, fix),
    check: (module) =>
      [...module.resources, ...module.data]
        .filter((one) => types.includes(one.block.type === 'data' ? `data.${one.type}` : one.type))
        .flatMap((resource) =>
          check(resource).map((found) => {
            const place: Place = typeof found === 'number' ? { line: found } : found;
            const { shown, path } = resource;
            return { address: shown, message: `${title}: ${shown}`, path, ...place };
          }),
        ),
  });
}

const is = (test: boolean, part: Part, path: string): readonly number[] => (test ? [part.lineOf(path)] : []);

/** Broken where it is missing or anything but true; what is unknown is not. */
export const isTrue =
  (...paths: readonly string[]): Check =>
  (one) =>
    paths.flatMap((path) => {
      const value = one.value(path);
      return is(!isUnknown(value) && value !== true && value !== 'true', one, path);
    });

/** Broken where it is true: missing is fine. */
export const notTrue =
  (path: string): Check =>
  (one) =>
    is(one.value(path) === true || one.value(path) === 'true', one, path);
/** Broken where it says false: missing is fine. */
export const notFalse =
  (path: string): Check =>
  (one) =>
    is(one.value(path) === false || one.value(path) === 'false', one, path);

const isEmpty = (value: Value | undefined): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Broken where nothing, or an empty text or list, stands there. */
export const isGiven =
  (path: string): Check =>
  (one) =>
    is(isEmpty(one.value(path)) && !one.parts(path).length, one, path);
/** Broken where there is no such block. */
export const hasBlock =
  (path: string): Check =>
  (one) =>
    one.parts(path).length === 0 && !one.has(path) ? [one.line] : [];
/** Broken where a known value fails; `missing` says what no value is. */
export const holds =
  (path: string, test: (value: Value) => boolean, missing: 'bad' | 'fine' = 'fine'): Check =>
  (one) => {
    const value = one.value(path);
    if (value === undefined) return is(missing === 'bad', one, path);
    return is(!isUnknown(value) && !test(value), one, path);
  };
export const isOneOf = (path: string, allowed: readonly Value[], missing: 'bad' | 'fine' = 'bad'): Check =>
  holds(path, (value) => allowed.includes(value), missing);
export const isAtLeast = (path: string, least: number, missing: 'bad' | 'fine' = 'bad'): Check =>
  holds(path, (value) => Number(value) >= least, missing);

/** Each block of a path is asked by itself; none is `missing`. */
export const each =
  (path: string, check: (part: Part) => readonly (number | Place)[], missing: 'bad' | 'fine' = 'fine'): Check =>
  (one) => {
    const parts = one.parts(path);
    return parts.length === 0 && missing === 'bad' ? [one.line] : parts.flatMap(check);
  };
/** A check of a resource, asked of a part. */
export const inPart =
  (check: Check) =>
  (part: Part): readonly (number | Place)[] =>
    check(part as Resource);
/** Broken where each of them is. */
export const allOf =
  (...checks: readonly Check[]): Check =>
  (one) => {
    const found = checks.map((check) => check(one));
    return found.every((places) => places.length > 0) ? (found[0] ?? []) : [];
  };
/** Broken where one of them is. */
export const anyOf =
  (...checks: readonly Check[]): Check =>
  (one) =>
    checks.map((check) => check(one)).find((places) => places.length > 0) ?? [];

const open = /^(?:\*|internet|any)$/i;

/** The share of all addresses that a network is; 0: no network. `0:0:0:0:0:0:0:0/0` and `1.2.3.4/0` are all of them. */
function shareOf(value: Value): number {
  if (typeof value !== 'string') return 0;
  if (open.test(value)) return 1;
  const network = value.trim();
  return ipaddr.isValidCIDR(network) ? 2 ** -ipaddr.parseCIDR(network)[1] : 0;
}

/** From where on networks together are the internet: two halves are, and so is half of it. */
const openShare = 1 / 16;

/** Whether a value lets in everybody. */
export function isOpen(value: Value | undefined): boolean {
  if (value === undefined) return false;
  const all: readonly Value[] = Array.isArray(value) ? (value as readonly Value[]).flat(5) : [value];
  return all.reduce<number>((sum, one) => sum + shareOf(one), 0) >= openShare;
}

/** Whether a range of ports has one of these in it; what is unknown has none. */
export function includesPort(from: Value | undefined, to: Value | undefined, ports: readonly number[]): boolean {
  const [low, high] = [Number(from), Number(to ?? from)];
  if (isUnknown(from) || isUnknown(to) || Number.isNaN(low) || Number.isNaN(high)) return false;
  return ports.some((port) => low <= port && port <= high);
}
