// The first entry of a backup: what it holds and how to prove that all of it is there.
import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** Raised when an older release could misread a backup. */
export const backupFormat = 2;
/** Of the name of an entry that is sealed by itself. */
export const sealedEnding = '.sealed.age';

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Name = Type.String({ pattern: '^[a-z_][a-z0-9_]{0,62}$' });
const Count = Type.Integer({ minimum: 0 });

const Entry = Type.Object({ path: Type.String({ maxLength: 1000 }), bytes: Count, sha256: Sha256 });

export const Manifest = Type.Object({
  format: Type.Union([Type.Literal(1), Type.Literal(backupFormat)]),
  release: Type.String({ maxLength: 100 }),
  created_at: Type.String({ maxLength: 40 }),
  database: Type.Union([Type.Literal('postgres'), Type.Literal('embedded')]),
  /** The state of the schema: the highest number of each module. */
  migrations: Type.Array(Type.Object({ module: Type.String({ maxLength: 100 }), number: Count })),
  tables: Type.Array(Type.Object({ name: Name, columns: Type.Array(Type.String()), rows: Count, sha256_sum: Sha256 })),
  partitions: Type.Array(Type.Object({ name: Name, parent: Name, bound: Type.String({ maxLength: 500 }) })),
  sequences: Type.Array(Type.Object({ name: Name, last: Type.Union([Type.String(), Type.Null()]) })),
  /** The environment file with its secrets. `absent`: there was none, or nothing to seal it with. */
  environment: Type.Union([Type.Literal('sealed'), Type.Literal('absent')]),
  /** Entries that are sealed by themselves: private keys. Their names end with `sealedEnding`. Since format 2. */
  sealed: Type.Optional(Type.Array(Type.String({ maxLength: 1000 }))),
  /** Every other entry of the archive. */
  entries: Type.Array(Entry),
});
export type Manifest = Static<typeof Manifest>;

/** A backup that cannot be used: what is wrong with it, and what to do. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** Throws BackupError where the text is no manifest that this release reads. */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BackupError(
      'manifest.json of the backup is not JSON. The file is damaged, or no backup of this product.',
    );
  }
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > backupFormat)
    throw new BackupError(
      `The backup has format ${format}; this release reads format ${backupFormat}. ` +
        'Restore it with the release that made it.',
    );
  if (Value.Check(Manifest, value)) return value;
  const [first] = Value.Errors(Manifest, value);
  throw new BackupError(`manifest.json of the backup is wrong at ${first?.path || '/'}: ${first?.message ?? ''}.`);
}
