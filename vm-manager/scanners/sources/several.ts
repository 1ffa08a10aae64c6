// Several sources as one, each below a name of its own.
import { isPassed, type Source, type SourceItem } from './source.js';

export interface Part {
  /** What its paths begin with: `src/`; empty: nothing. */
  readonly at: string;
  readonly source: Source;
}

const named = (at: string, item: SourceItem): SourceItem =>
  isPassed(item)
    ? { ...item, path: `${at}${item.path}` }
    : {
        ...{ path: `${at}${item.path}`, bytes: item.bytes, read: async (most?: number) => item.read(most) },
        ...(item.isNamed === true ? { isNamed: true as const } : {}),
        ...(item.stamp === undefined ? {} : { stamp: item.stamp }),
      };

export const together = (parts: readonly Part[]): Source => ({
  total: parts.every(({ source }) => source.total !== null)
    ? parts.reduce((sum, { source }) => sum + (source.total ?? 0), 0)
    : null,
  isOneFile: parts.length === 1 && parts[0]?.source.isOneFile === true,
  async *items(signal) {
    for (const { at, source } of parts) for await (const item of source.items(signal)) yield named(at, item);
  },
});
