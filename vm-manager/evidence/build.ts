// Building a pack: sections are collected one after another, nothing inside a transaction, each file with its own
// moment. The row, the content and the audit entry with the root of the pack are stored together.
import { catalogueWith, type Framework } from '../compliance/catalogue.js';
import { json, type Sql } from '../database.js';
import { storeBytes } from '../kit/upload/stored-bytes.js';
import type { Host } from '../host.js';
import type { Actor } from '#http-kit';
import { buildPack, contentBytesMax, type Item } from './pack/pack.js';
import { signingKey } from './pack/signing.js';
import { sections, type SectionName } from './sections/index.js';
import type { Collecting, Section } from './sections/section.js';
import { pathInPack, type FileRow, type PackRow } from './store.js';

/** Controls of the framework that a section is evidence for. */
export const controlsOf = (frameworks: readonly Framework[], { topics }: Pick<Section, 'topics'>): string[] =>
  frameworks.flatMap(({ id, controls }) =>
    controls.filter((one) => one.topics.some((topic) => topics.includes(topic))).map((one) => `${id}:${one.id}`),
  );

/** How the audit log says that a pack was built. */
export const packDetails = (id: number, root: string) => ({ pack: String(id), root });

interface Building {
  readonly host: Host;
  readonly actor: Actor;
  readonly brand: string;
  readonly signal: AbortSignal;
  readonly pack: Pick<
    PackRow,
    'id' | 'title' | 'framework' | 'application_id' | 'sections' | 'period_from' | 'period_to' | 'created_by'
  >;
}

async function contextOf({ host, pack }: Building): Promise<Collecting> {
  const answers = (await host.firewallAnswers?.()) ?? null;
  const all = catalogueWith(answers);
  return {
    host,
    sql: host.sql,
    now: new Date(host.now()),
    period: { from: pack.period_from, to: pack.period_to },
    application: pack.application_id === null ? null : String(pack.application_id),
    frameworks: pack.framework === null ? all : all.filter(({ id }) => id === pack.framework),
    answers,
  };
}

async function collectItems(building: Building, of: Collecting): Promise<Item[]> {
  const { pack, host, signal } = building;
  const items: Item[] = [];
  for (const name of pack.sections as readonly SectionName[]) {
    signal.throwIfAborted();
    const section = sections[name];
    const collectedAt = new Date(host.now());
    const controls = pack.framework === null ? [] : controlsOf(of.frameworks, section);
    for (const file of await section.collect(of))
      items.push({
        ...{ path: `items/${file.name}`, content: file.content, rows: file.rows, isCut: file.isCut },
        ...{ source: section.source, about: section.about, collectedAt, controls },
      });
  }
  return [...items, ...(await addedFiles(of, pack))];
}

/** Files of people: all, or those of the framework. */
async function addedFiles({ sql, frameworks, now }: Collecting, pack: Building['pack']): Promise<Item[]> {
  const ids = new Set(frameworks.map(({ id }) => id));
  const all = await sql<FileRow[]>`select * from vm_evidence_files order by id limit 1000`;
  const rows = all.filter(
    ({ controls }) => pack.framework === null || controls.some((control) => ids.has(control.split(':')[0] ?? '')),
  );
  const bytes = rows.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > contentBytesMax)
    throw new Error(
      `The ${rows.length} files that people added have ${bytes} bytes; ${contentBytesMax} at most. ` +
        'Name a framework: then only files for its controls are taken.',
    );
  const items: Item[] = [];
  for (const file of rows) {
    items.push({
      path: pathInPack(file),
      content: await contentOf(sql, file.id),
      source: `file of ${file.created_by}, ${file.created_at.toISOString()}`,
      about: file.description,
      collectedAt: now,
      rows: null,
      isCut: false,
      controls: file.controls,
    });
  }
  return items;
}

export async function contentOf(sql: Sql, fileId: number): Promise<Buffer> {
  const [row] = await sql<{ content: Buffer }[]>`
    select content from vm_evidence_file_contents where file_id = ${fileId}`;
  return Buffer.from(row?.content ?? []);
}

/** Rejects with words for people where the pack would be too large, or the work was canceled. */
export async function buildEvidence(building: Building): Promise<{ readonly pack: string; readonly root: string }> {
  const { host, pack, actor, brand } = building;
  const items = await collectItems(building, await contextOf(building));
  const bytes = items.reduce((sum, { content }) => sum + content.length, 0);
  if (bytes > contentBytesMax)
    throw new Error(`Its files would have ${bytes} bytes; ${contentBytesMax} at most. Take a shorter period.`);
  const key = await signingKey(host);
  const [before] = await host.sql<{ root: string }[]>`
    select root from vm_evidence_packs where root is not null order by id desc limit 1`;
  const now = new Date(host.now());
  const previous = before?.root ?? null;
  const facts = {
    id: String(pack.id),
    title: pack.title,
    brand,
    framework: pack.framework,
    scope: pack.application_id === null ? 'organisation' : `application ${pack.application_id}`,
    period: { from: pack.period_from.toISOString(), to: pack.period_to.toISOString() },
    created_at: now.toISOString(),
    created_by: pack.created_by,
    audit_log: await host.audit.verify(),
    previous,
  };
  const built = await buildPack(facts, items, key);
  const { sha256 } = built;
  await host.sql.begin(async (tx) => {
    await storeBytes(
      tx,
      built.content,
      (whole) => tx`insert into vm_evidence_contents (pack_id, content) values (${pack.id}, ${whole})`,
    );
    await tx`
      update vm_evidence_packs set items = ${json(tx, built.items)}, root = ${built.root}, sha256 = ${sha256},
        bytes = ${built.content.length}, key_id = ${key.id}, previous = ${previous}, updated_at = ${now}
      where id = ${pack.id}`;
    const summary = `${actor.name} built the pack of evidence ${pack.id}`;
    await host.audit.record(tx, { actor, action: 'vm.create', summary, details: packDetails(pack.id, built.root) });
  });
  return { pack: String(pack.id), root: built.root };
}
