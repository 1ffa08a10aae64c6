// What each process of an installation is given of the environment: its own variables, and what any program of the
// system needs. A part that is broken into then holds no key of another part.
import { toolVariables } from './tool-variables.js';
import type { EnvironmentVariable, ProcessName } from './variable.js';

/** Of the system, of Node.js and of the C library: where things lie, which language, which certificates. */
const systemNames: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TERM',
  'LD_LIBRARY_PATH',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'UV_THREADPOOL_SIZE',
]);
const systemForm = /^(?:LC_|NODE_|MALLOC_)/;
/** libpq's own variables, which the client of PostgreSQL reads as well: `PGPASSWORD` and its kind. */
const postgresForm = /^PG[A-Z]/;

/**
 * The part of `given` that `process` may see; `process` null: a helper that needs the system's variables only. What
 * neither the table nor the system names is left out: it may be a secret of somebody else.
 */
export function environmentOf(
  process: ProcessName | null,
  given: Readonly<Record<string, string | undefined>>,
  rows: readonly EnvironmentVariable[],
): Record<string, string> {
  const own = new Set(
    rows.filter(({ readBy }) => process !== null && readBy.includes(process)).map(({ name }) => name),
  );
  const mayHave = (name: string): boolean =>
    own.has(name) ||
    systemNames.has(name) ||
    systemForm.test(name) ||
    (process !== null && Object.hasOwn(toolVariables, name)) ||
    (process === 'control plane' && postgresForm.test(name));
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined && mayHave(entry[0])),
  );
}
