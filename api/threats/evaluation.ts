// The evaluation of this process with what it remembers beside the database. Ties are rows, so that a restart does not
// forget who owns what; windows stay for two minutes after they were taken up, so that what was about to be judged is
// looked at again. A process that finds that another one has gone on begins from what is stored.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { observationKeyOf, segmentsOf, type Relation, type Sighting } from '#proxy/contract';
import type { Database, Tx } from '../db/client.js';
import { inventoryOf, matchTemplate } from '../inventory/index.js';
import type { Parts } from '../parts.js';
import { ThreatEngine, type NewTie } from './engine/engine.js';
import { objectsMax } from './engine/memory.js';

export type EvaluationParts = Pick<Parts, 'database' | 'now' | 'nodeToken' | 'currentSettings'>;

/** Windows of ingestion have a megabyte each, and some thousand sightings. */
const windowsAtOnce = 10;
/** Some milliseconds; then others that use this thread have their turn. */
const sightingsAtOnce = 200;
const keptMs = 120_000;
const tiesAtOnce = 5000;

export interface Evaluation {
  readonly engine: ThreatEngine;
  /** False: another process has taken windows up meanwhile. */
  isCurrent(): Promise<boolean>;
  /** Takes up what waits; returns how many windows there were. */
  takeUp(nowMs: number, signal: AbortSignal): Promise<number>;
  /** Stores what judging found to be a client's. */
  keepGranted(): Promise<void>;
}

interface WindowRow {
  readonly id: number;
  readonly body: string;
}
interface TieRow {
  readonly site: string;
  readonly noun: string;
  readonly label: string;
  readonly object: string;
  readonly principal: string;
  readonly how: 'created' | 'shown';
  readonly request_id: string;
  readonly credential: NewTie['credential'];
  readonly client_ip: string;
  readonly at: Date;
}

/** Reads what is stored; begins with the windows that are kept. */
export async function startEvaluation(parts: EvaluationParts): Promise<Evaluation> {
  const { database } = parts;
  const inventory = inventoryOf(parts);
  const engine = new ThreatEngine({
    key: observationKeyOf(parts.nodeToken),
    templateOf: (site, path) => {
      const tree = inventory.treeOf(site);
      return tree === null ? null : (matchTemplate(tree, segmentsOf(path))?.template ?? null);
    },
  });
  const ties = await database.sql<TieRow[]>`
    select * from (select * from api_ties order by at desc limit ${objectsMax}) newest order by at`;
  for (const { at, request_id: requestId, client_ip: clientIp, ...tie } of ties) {
    engine.memory.see(tie.site, tie.principal, tie.credential, clientIp, at.getTime());
    engine.restore({ ...tie, requestId, clientIp, atMs: at.getTime() });
  }
  const readRevision = async (): Promise<number> =>
    (await database.sql<{ revision: number }[]>`select revision from api_threat_state`)[0]?.revision ?? 0;
  let cursor = 0;
  let revision = await readRevision();
  return {
    engine,
    isCurrent: async () => (await readRevision()) === revision,
    async keepGranted() {
      const granted = engine.takeGranted();
      if (granted.length > 0) await database.sql.begin((tx) => saveTies(tx, granted));
    },
    async takeUp(nowMs, signal) {
      let taken = 0;
      while (!signal.aborted) {
        const rows = await database.sql<WindowRow[]>`
          select id, body from api_sightings where id > ${cursor} order by id limit ${windowsAtOnce}`;
        if (rows.length === 0) break;
        const fresh: NewTie[] = [];
        for (const { body } of rows) fresh.push(...(await feedSlowly(engine, JSON.parse(body) as Windows)));
        await database.sql.begin(async (tx) => {
          await saveTies(tx, fresh);
          await tx`update api_threat_state set revision = revision + 1`;
        });
        revision += 1;
        cursor = rows.at(-1)?.id ?? cursor;
        taken += rows.length;
      }
      await database.sql`
        delete from api_sightings where id <= ${cursor} and at < ${new Date(nowMs - keptMs)}`;
      return taken;
    },
  };
}

/** Feeds a window in parts, in its order, so that the API answers meanwhile. */
async function feedSlowly(engine: ThreatEngine, { sightings, relations }: Windows): Promise<NewTie[]> {
  const ties: NewTie[] = [];
  for (let from = 0; from < relations.length; from += sightingsAtOnce) {
    ties.push(...engine.feed({ sightings: [], relations: relations.slice(from, from + sightingsAtOnce) }));
    await nextTurn();
  }
  for (let from = 0; from < sightings.length; from += sightingsAtOnce) {
    engine.feed({ sightings: sightings.slice(from, from + sightingsAtOnce), relations: [] });
    await nextTurn();
  }
  return ties;
}

interface Windows {
  readonly sightings: readonly Sighting[];
  readonly relations: readonly Relation[];
}

async function saveTies(tx: Tx, ties: readonly NewTie[]): Promise<void> {
  // the last of one key: a statement may not touch a row twice
  const unique = new Map(ties.map((tie) => [`${tie.site}\0${tie.noun}\0${tie.object}\0${tie.principal}`, tie]));
  const rows = [...unique.values()].map(({ requestId, clientIp, atMs, ...tie }) => ({
    ...tie,
    request_id: requestId,
    client_ip: clientIp,
    at: new Date(atMs).toISOString(),
  }));
  for (let from = 0; from < rows.length; from += tiesAtOnce)
    await tx`
      insert into api_ties (site, noun, label, object, principal, how, request_id, credential, client_ip, at)
      select site, noun, label, object, principal, how, request_id, credential, client_ip, at
      from json_to_recordset(${JSON.stringify(rows.slice(from, from + tiesAtOnce))}::text::json) as r (site text,
        noun text, label text, object text, principal text, how text, request_id text, credential text,
        client_ip text, at timestamptz)
      on conflict (site, noun, object, principal) do update set how = excluded.how,
        request_id = excluded.request_id, at = excluded.at, client_ip = excluded.client_ip`;
}

/** One of a database in this process. */
const evaluations = new WeakMap<Database, Promise<Evaluation>>();

export async function evaluationOf(parts: EvaluationParts): Promise<Evaluation> {
  const known = await evaluations.get(parts.database);
  if (known !== undefined && (await known.isCurrent())) return known;
  const made = startEvaluation(parts);
  evaluations.set(parts.database, made);
  made.catch(() => evaluations.delete(parts.database));
  return made;
}
