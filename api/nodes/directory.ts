// The addresses of all nodes: those of the operator's environment (DATA_ADMIN_URLS), and `node:NAME` of each node that
// enrolled. Who was given `urls` keeps it: it is one array for good, and its contents follow the database.
import type { Queryable } from '../db/client.js';

export interface NodeDirectory {
  readonly urls: readonly string[];
  /** Reads again who enrolled. */
  refresh(): Promise<void>;
  /** Reads again from time to time: another control plane may have enrolled or revoked a node. */
  begin(): void;
  close(): void;
}

const scheme = 'node:';
const refreshMs = 5_000;

export const addressOf = (name: string): string => `${scheme}${name}`;
/** null: the address is one of DATA_ADMIN_URLS. */
export const nameOf = (url: string): string | null => (url.startsWith(scheme) ? url.slice(scheme.length) : null);

/** `onChange`: who belongs to the fleet now, by name, after each look. */
export function createNodeDirectory(
  sql: Queryable,
  fixed: readonly string[],
  onChange: (names: ReadonlySet<string>) => void = () => {},
): NodeDirectory {
  const urls: string[] = [...fixed];
  let timer: NodeJS.Timeout | null = null;
  const refresh = async (): Promise<void> => {
    const rows = await sql<{ name: string }[]>`
      select name from enrolled_nodes where revoked_at is null and forgotten_at is null order by name`;
    const names = rows.map(({ name }) => name);
    urls.splice(fixed.length, Infinity, ...names.map(addressOf));
    onChange(new Set(names));
  };
  return {
    urls,
    refresh,
    begin() {
      timer = setInterval(() => void refresh().catch(() => {}), refreshMs); // a database that is away: as it was
      timer.unref();
    },
    close() {
      if (timer !== null) clearInterval(timer);
    },
  };
}
