// What the figures of an endpoint mean: who reaches it, whether it asks for credentials, how sensitive it is, and its
// risk with the arithmetic. Pure.
import { credentialKinds, isPrivilegedPath, type CredentialKind } from '#proxy/contract';
import type { Stats } from './stats.js';

export const accessTypes = ['public', 'private', 'unknown'] as const;
export type AccessType = (typeof accessTypes)[number];

/**
 * enforced: whoever came without credentials was refused. accepted-without: some were answered. mixed: both.
 * unknown: nobody came without, so that nobody knows.
 */
export const authTruths = ['enforced', 'accepted-without', 'mixed', 'unknown'] as const;
export type AuthTruth = (typeof authTruths)[number];

export const classifications = ['Restricted', 'Confidential', 'Internal', 'Public'] as const;
export type Classification = (typeof classifications)[number];

export const bands = ['critical', 'high', 'medium', 'low'] as const;
export type Band = (typeof bands)[number];

export interface RiskPart {
  readonly factor: 'reachable without auth' | 'data sensitivity' | 'state-changing' | 'sensitive path' | 'volume';
  readonly points: number;
  readonly why: string;
}

export interface Judgement {
  readonly access: AccessType;
  readonly auth: AuthTruth;
  /** Kinds of credentials that were answered well. */
  readonly authTypes: readonly CredentialKind[];
  readonly classification: Classification;
  readonly categories: readonly string[];
  readonly regulations: readonly string[];
  readonly risk: number;
  readonly band: Band;
  readonly parts: readonly RiskPart[];
}

/** Kinds of personal data: their level, and the regulations that they fall under (spec 1 section 2). */
export const piiCategories: Readonly<
  Record<string, { readonly level: Classification; readonly regulations: readonly string[] }>
> = {
  card: { level: 'Restricted', regulations: ['PCI-DSS'] },
  national_id: { level: 'Restricted', regulations: ['GDPR', 'PII'] },
  secret: { level: 'Restricted', regulations: ['Secret'] },
  email: { level: 'Confidential', regulations: ['GDPR', 'PII'] },
  phone: { level: 'Confidential', regulations: ['GDPR', 'PII'] },
  iban: { level: 'Confidential', regulations: ['GDPR', 'PII', 'PCI-DSS'] },
};

const sensitiveWords = ['admin', 'auth', 'account', 'password', 'payment', 'token', 'secret', 'billing', 'internal'];

/** Words of a path that say that it matters: whole words, also inside camelCase and kebab-case. */
export function sensitiveWordOf(template: string): string | null {
  const words = template
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return sensitiveWords.find((one) => words.some((word) => word === one || word === `${one}s`)) ?? null;
}

/**
 * Last words of paths that take credentials, or the wish for some, and hand them out. A path with a variable is none of
 * them: whoever gets a token of somebody by naming him got it without showing anything.
 */
export const credentialsPath =
  /\/(log-?in|sign-?in|sign-?up|register|token|refresh|(forgot|reset)-?password|password-?reset)$/i;

/** What somebody sends or gets who logs in or signs up. */
const ofLogins: ReadonlySet<string> = new Set(['secret', 'email', 'phone']);

const isOpenLogin = (method: string, template: string, categories: readonly string[]): boolean =>
  method === 'POST' &&
  credentialsPath.test(template) &&
  !template.includes('{') &&
  categories.every((name) => ofLogins.has(name));

export interface Judged {
  readonly method: string;
  readonly template: string;
  readonly stats: Stats;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
}

export function judge({ method, template, stats, firstSeenMs, lastSeenMs }: Judged): Judgement {
  const auth = authTruthOf(stats);
  const categories = categoriesOf(stats);
  const word = sensitiveWordOf(template) ?? (isPrivilegedPath(template) ? 'administration' : null);
  const classification = classify(categories, word);
  const days = Math.max(1, (lastSeenMs - firstSeenMs) / 86_400_000);
  const parts = [
    ...authPart(auth, isOpenLogin(method, template, categories)),
    ...dataPart(classification, categories),
    ...(isStateChanging(method)
      ? [{ factor: 'state-changing', points: 0.5, why: `${method} changes something` } as const]
      : []),
    ...(word === null ? [] : [{ factor: 'sensitive path', points: 0.5, why: `the path speaks of ${word}` } as const]),
    ...volumePart(stats.count / days),
  ];
  const risk = Math.min(5, Math.round(parts.reduce((sum, { points }) => sum + points, 0) * 100) / 100);
  return {
    access: accessOf(stats),
    auth,
    authTypes: credentialKinds.filter((kind) => kind !== 'none' && (stats.credentials[kind]?.[0] ?? 0) > 0),
    classification,
    categories,
    regulations: [...new Set(categories.flatMap((name) => piiCategories[name]?.regulations ?? []))].sort(),
    risk,
    band: risk >= 4 ? 'critical' : risk >= 3 ? 'high' : risk >= 2 ? 'medium' : 'low',
    parts,
  };
}

function accessOf({ clients }: Stats): AccessType {
  if ((clients['external'] ?? 0) > 0) return 'public';
  return (clients['internal'] ?? 0) > 0 ? 'private' : 'unknown';
}

function authTruthOf({ credentials }: Stats): AuthTruth {
  const [ok = 0, denied = 0] = credentials.none ?? [];
  if (ok > 0) return denied > 0 ? 'mixed' : 'accepted-without';
  return denied > 0 ? 'enforced' : 'unknown';
}

function categoriesOf({ pii }: Stats): string[] {
  const seen = new Set<string>();
  for (const kinds of Object.values(pii)) for (const kind of Object.keys(kinds)) seen.add(kind);
  return Object.keys(piiCategories).filter((name) => seen.has(name));
}

function classify(categories: readonly string[], word: string | null): Classification {
  const levels = categories.map((name) => piiCategories[name]?.level);
  if (levels.includes('Restricted')) return 'Restricted';
  if (levels.includes('Confidential')) return 'Confidential';
  return word === null ? 'Public' : 'Internal';
}

const isStateChanging = (method: string): boolean => !['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method);

/**
 * A login is asked without credentials because it gives them: that is told, and is no risk, since no
 * protection is missing. What else it carries and changes counts as everywhere.
 */
function authPart(auth: AuthTruth, isLogin: boolean): RiskPart[] {
  const factor = 'reachable without auth';
  if (isLogin && (auth === 'accepted-without' || auth === 'mixed'))
    return [{ factor, points: 0, why: 'it takes credentials and hands them out, so it has to answer without' }];
  if (auth === 'accepted-without') return [{ factor, points: 2, why: 'requests without credentials were answered' }];
  if (auth === 'mixed')
    return [{ factor, points: 1.5, why: 'some requests without credentials were answered, others refused' }];
  return [];
}

function dataPart(classification: Classification, categories: readonly string[]): RiskPart[] {
  const points = { Restricted: 1.5, Confidential: 1, Internal: 0.5, Public: 0 }[classification];
  if (points === 0) return [];
  const why = categories.length === 0 ? 'its path is sensitive' : `it carries ${categories.join(', ')}`;
  return [{ factor: 'data sensitivity', points, why: `${classification}: ${why}` }];
}

function volumePart(perDay: number): RiskPart[] {
  if (perDay < 1000) return [];
  const points = perDay >= 10_000 ? 0.5 : 0.25;
  return [{ factor: 'volume', points, why: `${Math.round(perDay)} requests a day` }];
}
