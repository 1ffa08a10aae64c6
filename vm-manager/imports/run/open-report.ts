// A report that is being read: begun, so that its own facts tell its scope; then, with the scope known, to its end.
import { toMoment, unfit, type Acting } from '../../kit/endpoint.js';
import type { Queryable } from '../../database.js';
import { maskDirectory, maskSecrets, maskValues } from '../../secrets/mask.js';
import type { Format } from '../formats/format.js';
import type { ReportFile } from '../reading/report-file.js';
import { cut, severalAtOnce, type Former, type Items, type ReportFacts } from '../record.js';
import { liftStored } from '../roots/lift-stored.js';
import type { Lift, Supposed } from '../roots/lifts.js';
import { inRepository } from '../roots/resolve.js';
import type { Fields } from './fields.js';
import type { Looked } from './looked-at.js';
import type { ImportScope, Within } from './scope.js';

/** What the report says of itself is text of the report, too. */
class MaskedFacts implements ReportFacts {
  complete = true;
  isPartial = false;
  isNoScan = false;
  inventory: Set<string> | null = null;
  scannedAt: Date | null = null;
  roots: readonly string[] = [];
  tools: readonly string[] = [];
  isDirectory = false;
  looked: Looked | null = null;
  former: Former | null = null;
  supposed: readonly Supposed[] = [];
  #subject = '';
  #formerSubject = '';
  #root: string | null = null;
  #tool = '';
  #version = '';
  #components: ReportFacts['components'] = null;
  get tool(): string {
    return this.#tool;
  }
  set tool(text: string) {
    this.#tool = maskSecrets(cut(text, 200));
  }
  get subject(): string {
    return this.#subject;
  }
  set subject(text: string) {
    this.#subject = maskSecrets(cut(text, 400));
  }
  get formerSubject(): string {
    return this.#formerSubject;
  }
  set formerSubject(text: string) {
    this.#formerSubject = maskSecrets(cut(text, 400));
  }
  get root(): string | null {
    return this.#root;
  }
  set root(path: string | null) {
    this.#root = path === null ? null : maskDirectory(cut(path, 1000));
  }
  get version(): string {
    return this.#version;
  }
  set version(text: string) {
    this.#version = maskSecrets(cut(text, 200));
  }
  get components(): ReportFacts['components'] {
    return this.#components;
  }
  set components(listed: ReportFacts['components']) {
    this.#components = maskValues(listed, (text) => maskSecrets(text));
  }
}

interface Given {
  readonly fields: Fields;
  readonly file: ReportFile;
  readonly format: Format;
}

/** A report, read as far as its first records: what its tool says of it as a whole is known. */
export interface BegunReport {
  readonly facts: ReportFacts;
  readonly items: AsyncGenerator<Items>;
}

/** Begins to read, and ends it whatever becomes of `use`. Throws what the importer throws. */
export async function withReport<T>(
  { file, format }: Pick<Given, 'file' | 'format'>,
  use: (begun: BegunReport) => Promise<T>,
): Promise<T> {
  const facts = new MaskedFacts();
  const read = severalAtOnce(format.read(file, facts));
  try {
    const first = await read.next();
    const items = async function* (): AsyncGenerator<Items> {
      if (first.done === true) return;
      yield first.value;
      yield* read;
    };
    return await use({ facts, items: items() });
  } finally {
    await read.return(undefined);
  }
}

/** When it was seen: what the request says, else what the report says, else now; never later than now. */
function seenAt(fields: Fields, facts: ReportFacts, now: Date): Date {
  if (fields.scan_date !== undefined) {
    const at = toMoment(fields.scan_date, 'scan_date');
    if (at > now) throw unfit('scan_date', 'lies ahead');
    return at;
  }
  return facts.scannedAt !== null && facts.scannedAt <= now ? facts.scannedAt : now;
}

/** The records of a begun report, in paths of the repository; `within`: of an import, not of a preview. */
export async function openReport(
  call: Acting,
  { fields, file, format }: Given,
  { facts, items: read }: BegunReport,
  sql: Queryable,
  to: Pick<ImportScope, 'applicationId' | 'scopeKey'>,
  within?: Within,
) {
  if (fields.root !== undefined && fields.strip_prefix !== undefined && fields.root !== fields.strip_prefix)
    throw unfit('strip_prefix', 'contradicts root', 'send one of them');
  const source = {
    ...to,
    sql,
    root: fields.root ?? fields.strip_prefix,
    again: () => severalAtOnce(format.read(file, new MaskedFacts())),
    lift: async (lift: Lift) => {
      if (within !== undefined) return within.run((tx) => liftStored(tx, to, lift, call.now));
      const supposed = { ...lift, mark: `^+${lift.prefix}` };
      facts.supposed = [...(facts.supposed ?? []), supposed];
      return supposed;
    },
  };
  const items = inRepository(read, facts, source);
  const first = await items.next();
  const rest = async function* () {
    if (first.done !== true) yield first.value;
    yield* items;
  };
  return { facts, items: rest(), seenAt: seenAt(fields, facts, call.now) };
}
