// Orders that are due, one after the other, each under the lock of its names in the database; what comes of them goes
// into the tables and to the nodes.
import { randomUUID } from 'node:crypto';
import type { AcmeDirectory } from '../env.js';
import { systemActor } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { fixOf } from './acme/fix.js';
import { order, type Issued, type OrderParts } from './order.js';
import { keyPlace, pushCertificates } from './push.js';
import { pauseMs, renewAtMs } from './schedule.js';
import {
  addIssue,
  findCertificate,
  listDue,
  lockCertificate,
  noteFailure,
  noteRehearsal,
  noteSuccess,
  unlockCertificate,
  type CertificateRow,
} from './store.js';
import { factsOf } from './upload.js';

export type WorkParts = OrderParts & Pick<Parts, 'audit' | 'currentSettings'>;

/** Longer than the slowest order; a server that died holds the names for no longer. */
const lockMs = 20 * 60_000;
/** Failures in a row after which the next directory is asked. */
const triesEach = 3;
const errorMax = 1000;

/** The one it names, or those of the environment in turn; throws where there is none. */
export function directoryOf(
  { acme: { directories } }: Pick<Parts, 'acme'>,
  { directory, attempts }: Pick<CertificateRow, 'directory' | 'attempts'>,
): AcmeDirectory {
  const named = directories.filter(({ name }) => directory === null || name === directory);
  const chosen = named[Math.floor(attempts / triesEach) % Math.max(1, named.length)];
  if (chosen !== undefined) return chosen;
  throw new Error(
    directory === null
      ? 'ACME_DIRECTORIES names no directory'
      : `ACME_DIRECTORIES has no directory ${directory} any more`,
  );
}

/** Returns a line for each order that was made. */
export async function orderDue(parts: WorkParts, signal?: AbortSignal): Promise<string[]> {
  const lines: string[] = [];
  for (const row of await listDue(parts.database.sql, new Date(parts.now()))) {
    if (signal?.aborted === true) break;
    const line = await orderOne(parts, row, signal);
    if (line !== null) lines.push(line);
  }
  return lines;
}

/** null: another server is at it. */
async function orderOne(parts: WorkParts, { id }: CertificateRow, signal?: AbortSignal): Promise<string | null> {
  const { database, now } = parts;
  const holder = randomUUID();
  const nowMs = now();
  if (!(await lockCertificate(database.sql, id, holder, new Date(nowMs), new Date(nowMs + lockMs)))) return null;
  try {
    const row = await findCertificate(database.sql, id);
    if (row === undefined || row.next_attempt_at === null || row.next_attempt_at.getTime() > nowMs) return null;
    return await orderLocked(parts, row, signal);
  } finally {
    await unlockCertificate(database.sql, id, holder);
  }
}

async function orderLocked(parts: WorkParts, row: CertificateRow, signal?: AbortSignal): Promise<string> {
  const { database, now, acme } = parts;
  try {
    const directory = directoryOf(parts, row);
    const { acme_staging_first: isRehearsed } = await parts.currentSettings();
    if (isRehearsed && acme.staging !== null && row.rehearsed_at === null) {
      await order(parts, row, acme.staging, signal);
      await noteRehearsal(database.sql, row.id, new Date(now()));
    }
    const issued = await order(parts, row, directory, signal);
    await keep(parts, row, issued, directory.name);
    await pushCertificates(parts);
    return `${row.names}: issued by ${directory.name}`;
  } catch (error) {
    const text = (error instanceof Error ? error.message || String(error) : String(error)).slice(0, errorMax);
    const nowMs = now();
    const next = new Date(nowMs + pauseMs(row.attempts + 1, Math.random()));
    await noteFailure(database.sql, row.id, { error: text, fix: fixOf(text) }, new Date(nowMs), next);
    return `${row.names} failed: ${text}`;
  }
}

async function keep(parts: WorkParts, row: CertificateRow, issued: Issued, directory: string): Promise<void> {
  const { database, sealing, now, audit } = parts;
  const facts = factsOf(issued.chain);
  const id = randomUUID();
  const [from, to] = [facts.notBefore.getTime(), facts.notAfter.getTime()];
  const next = new Date(renewAtMs(from, to, Math.random(), now()));
  await database.sql.begin(async (tx) => {
    await addIssue(tx, {
      id,
      certificate_id: row.id,
      chain: facts.chain,
      key_sealed: sealing.seal(issued.key, keyPlace(id)),
      directory,
      issuer: facts.issuer,
      serial: facts.serial,
      not_before: facts.notBefore,
      not_after: facts.notAfter,
      issued_at: new Date(now()),
      state: 'new',
    });
    await noteSuccess(tx, row.id, new Date(now()), next);
    await audit.record(tx, {
      actor: systemActor,
      action: 'certificate.issue',
      summary: `a certificate for ${row.names.split(' ').join(', ')} was issued, until ${facts.notAfter.toISOString()}`,
      details: { certificate: row.id, directory, serial: facts.serial },
    });
  });
}
