// Statements meet findings by any of their names, those that advisories know counted in, and by package; then findings
// follow: not affected → false positive, fixed → resolved, affected → triaged. What a person or a proof says otherwise
// is a conflict, and stays.
import { ApiError, type Actor } from '#http-kit';
import type { Tx } from '../database.js';
import { packageName } from '../imports/same-weakness.js';
import { transition, type Wanted } from '../findings/transition.js';
import { isOpen } from '../findings/words.js';
import { Breath } from '../kit/values/breath.js';
import type { Found, Meeting } from './meeting.js';
import type { Stated } from './read.js';

/** Statements times findings of the same vulnerability. */
const comparedMax = 1_000_000;
/** Findings that follow one document: each is a handful of statements in one transaction, which others wait for. */
const changesMax = 5000;

const plainPurl = (purl: string): string => purl.replace(/[?#].*$/, '').toLowerCase();
const versionOf = (purl: string): string => /[^/]@([^/@]+)$/.exec(plainPurl(purl))?.[1] ?? '';

/** Whether the product of a statement is where the finding is. */
export function isOfProduct({ product, within }: Pick<Stated, 'product' | 'within'>, found: Found): boolean {
  const names = [found.application, found.external_id ?? '', String(found.application_id)].map((one) =>
    one.toLowerCase(),
  );
  const isApplication = (name: string): boolean =>
    name === '' || names.includes(name.toLowerCase()) || name === `urn:gatehouse:application:${found.application_id}`;
  if (!product.startsWith('pkg:')) {
    if (isApplication(product)) return true;
    return found.place?.kind === 'package' && found.place.name.toLowerCase() === product.toLowerCase();
  }
  // ours names itself where it holds the package; what others name there is not known here
  if (within.startsWith('urn:gatehouse:application:') && !isApplication(within)) return false;
  if (found.place?.kind !== 'package') return false;
  const { name, purl = '', version = '' } = found.place;
  const said = { kind: 'package' as const, name: product, purl: product };
  const here = { kind: 'package' as const, name, ...(purl === '' ? {} : { purl }) };
  if (packageName(said) !== packageName(here)) return false;
  const isTyped = purl === '' || plainPurl(purl).split('/')[0] === plainPurl(product).split('/')[0];
  const wanted = versionOf(product);
  const given = versionOf(purl) || version.toLowerCase();
  return isTyped && (wanted === '' || given === '' || wanted === given);
}

export interface Conflict {
  readonly finding_id: string;
  readonly status: string;
  readonly reason: string;
}
export interface Outcome {
  readonly stated: Stated;
  readonly application: number | null;
  readonly findings: readonly number[];
  readonly changed: number;
  readonly conflicts: readonly Conflict[];
}

/** What has to be done; null: it stands as stated; a text: why it is not done. */
export function moveOf(stated: Stated, found: Found): Wanted | string | null {
  const { status, justification, statement, ids } = stated;
  const reason = `VEX: ${ids[0]} ${status.replaceAll('_', ' ')}${statement === '' ? '' : `: ${statement}`}`;
  const by = 'person' as const;
  switch (status) {
    case 'under_investigation':
      return null;
    case 'affected':
      if (found.status === 'new' || found.status === 'reopened') return { to: 'triaged', by, reason };
      return isOpen(found.status) || found.status === 'risk_accepted' ? null : `it is ${found.status} here`;
    case 'fixed':
      if (found.status === 'resolved') return null;
      return isOpen(found.status) ? { to: 'resolved', by, reason } : `it is ${found.status} here`;
    case 'not_affected':
      if (found.status === 'false_positive') return null;
      if (found.exploit_confirmed || found.runtime_confirmed) return 'it was proven to be exploitable';
      if (justification === null && statement === '') return 'the statement gives no justification';
      if (!isOpen(found.status)) return `it is ${found.status} here`;
      return {
        to: 'false_positive',
        by,
        reason,
        justification: justification ?? 'vulnerable_code_cannot_be_controlled_by_adversary',
      };
  }
}

/** A statement on one version says more of it than one on all of them. */
const isOfVersion = ({ product }: Pick<Stated, 'product'>): boolean =>
  product.startsWith('pkg:') && versionOf(product) !== '';

type Timed = Pick<Stated, 'status' | 'product' | 'at'>;

/** The later one first; at the same time, the one that names the version. 0: neither stands above the other. */
const precedence = (one: Timed, other: Timed): number =>
  (other.at?.getTime() ?? 0) - (one.at?.getTime() ?? 0) || Number(isOfVersion(other)) - Number(isOfVersion(one));

/**
 * Of the statements of one document on one finding the one that counts: the latest (OpenVEX). null where two that
 * stand alike say different things, as CSAF forbids (6.1.6): then neither counts.
 */
export function decisiveOf<T extends Timed>(statements: readonly T[]): T | null {
  const [first, ...others] = [...statements].sort(precedence);
  if (first === undefined) return null;
  return others.some((one) => one.status !== first.status && precedence(first, one) === 0) ? null : first;
}

/** What a document says of one finding. */
interface Said {
  readonly decisive: Stated | null;
  readonly statuses: readonly string[];
}
const saidBy = (statements: readonly Stated[]): Said => ({
  decisive: decisiveOf(statements),
  statuses: [...new Set(statements.map(({ status }) => status.replaceAll('_', ' ')))],
});

/** Why a statement of several on one finding does nothing there; null: it counts, or says what counts. */
function whyPassedOver(stated: Stated, said: Said | undefined): string | null {
  if (said === undefined || said.decisive?.status === stated.status) return null;
  const { decisive, statuses } = said;
  if (decisive === null)
    return `the document says ${statuses.join(' and ')} of it at the same time: send it again with one of them`;
  const isLater = (decisive.at?.getTime() ?? 0) > (stated.at?.getTime() ?? 0);
  const why = isLater ? 'at a later time' : 'of this very version';
  return `the document says ${decisive.status.replaceAll('_', ' ')} of it as well, ${why}: that counts`;
}

async function settle(
  tx: Tx,
  stated: Stated,
  found: readonly Found[],
  said: ReadonlyMap<number, Said>,
  { isTrial, actor, now }: Applying,
) {
  const conflicts: Conflict[] = [];
  let changed = 0;
  for (const seen of found) {
    const passedOver = whyPassedOver(stated, said.get(seen.id));
    if (passedOver !== null) {
      conflicts.push({ finding_id: String(seen.id), status: seen.status, reason: passedOver });
      continue;
    }
    const [row] = isTrial ? [seen] : await tx<Found[]>`select * from vm_findings where id = ${seen.id} for update`;
    const move = moveOf(stated, { ...seen, ...row });
    if (move === null) continue;
    if (typeof move === 'string')
      conflicts.push({ finding_id: String(seen.id), status: row?.status ?? seen.status, reason: move });
    else {
      if (!isTrial) await transition(tx, { ...seen, ...row }, move, actor, now);
      changed++;
    }
  }
  return { changed, conflicts };
}

export interface Applying {
  readonly meeting: Meeting;
  readonly isTrial: boolean;
  readonly actor: Actor;
  readonly now: Date;
}

/**
 * One outcome for each statement and application that it meets, and one for a statement that meets none. Throws 422
 * where more would follow than one transaction takes.
 */
export async function apply(tx: Tx, statements: readonly Stated[], applying: Applying): Promise<Outcome[]> {
  const { names, byName } = applying.meeting;
  const outcomes: Outcome[] = [];
  const breath = new Breath();
  const met: (readonly [Stated, readonly Found[]])[] = [];
  const byFinding = new Map<number, Stated[]>();
  let compared = 0;
  for (const stated of statements) {
    await breath.take();
    const own = new Set(stated.ids.flatMap((id) => [...(names.get(id) ?? [])]));
    const near = new Map([...own].flatMap((name) => byName.get(name) ?? []).map((row) => [row.id, row]));
    compared += near.size;
    if (compared > comparedMax)
      throw new ApiError('unfit', 'The statements meet too many findings at once: name an application, or split them.');
    const found = [...near.values()].filter((row) => isOfProduct(stated, row)).sort((one, other) => one.id - other.id);
    met.push([stated, found]);
    for (const { id } of found) {
      const of = byFinding.get(id);
      if (of === undefined) byFinding.set(id, [stated]);
      else of.push(stated);
    }
  }
  const said = new Map([...byFinding].map(([id, all]) => [id, saidBy(all)]));
  let changes = 0;
  for (const [stated, found] of met) {
    await breath.take();
    if (found.length === 0) outcomes.push({ stated, application: null, findings: [], changed: 0, conflicts: [] });
    for (const id of new Set(found.map((row) => row.application_id))) {
      const here = found.filter((row) => row.application_id === id);
      const done = await settle(tx, stated, here, said, applying);
      changes += done.changed;
      if (changes > changesMax)
        throw new ApiError('unfit', `More than ${changesMax} findings would follow: name an application, or split it.`);
      outcomes.push({ stated, application: id, findings: here.map((row) => row.id), ...done });
    }
  }
  return outcomes;
}
