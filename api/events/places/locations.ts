// Country and network (autonomous system) of addresses, from MMDB files that the operator brings (docs/events.md). A
// file that is replaced is read again; one that is gone or broken leaves in use what was read before, and says so.
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { Reader, type Response } from 'mmdb-lib';

export interface LocationFiles {
  readonly country: string | null;
  readonly network: string | null;
}
export const locationKinds = ['country', 'network'] as const;
export type LocationKind = (typeof locationKinds)[number];
export const locationStatuses = ['ok', 'old', 'missing', 'broken'] as const;

export interface LocationState {
  readonly of: LocationKind;
  readonly status: (typeof locationStatuses)[number];
  readonly built_at: Date | null;
  /** What is wrong and what to do; null: nothing. */
  readonly notice: string | null;
}
export interface Place {
  readonly country: string | null;
  readonly asn: number | null;
}
export interface Locations {
  /** Looks at the files at most every five seconds. Never rejects. */
  refresh(): Promise<void>;
  locate(address: string): Place;
  /** Of the files that are set. */
  states(): readonly LocationState[];
}

const variables = { country: 'MMDB_COUNTRY_FILE', network: 'MMDB_NETWORK_FILE' } as const;
const bytesMax = 512 * 1024 * 1024;
const oldDays = 60;
const dayMs = 86_400_000;
/** Its nodes, which a reader follows without looking how long the file is. */
const isWhole = ({ metadata }: Reader<Response>, bytes: number): boolean =>
  metadata.binaryFormatMajorVersion === 2 &&
  (metadata.ipVersion === 4 || metadata.ipVersion === 6) &&
  metadata.searchTreeSize + 16 < bytes;

class LocationFile {
  #reader: Reader<Response> | null = null;
  #stamp = '';
  #trouble: Pick<LocationState, 'status' | 'notice'> | null = null;

  constructor(
    readonly of: LocationKind,
    private readonly path: string,
    private readonly now: () => number,
  ) {}

  async refresh(): Promise<void> {
    try {
      const { ino, size, mtimeMs } = await stat(this.path);
      const stamp = `${ino} ${size} ${mtimeMs}`;
      if (stamp === this.#stamp) return;
      this.#stamp = stamp;
      if (size > bytesMax) throw new Error(`is larger than ${bytesMax / 1024 / 1024} MiB`);
      const bytes = await readFile(this.path);
      const reader = new Reader<Response>(bytes);
      if (!isWhole(reader, bytes.length)) throw new Error('is cut off, or no MMDB of version 2');
      reader.get('192.0.2.1');
      this.#reader = reader;
      this.#trouble = null;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const isMissing = code === 'ENOENT';
      // the file system refused, which a change of rights repairs without a new stamp: the next look tries again
      if (code !== undefined) this.#stamp = '';
      const why = isMissing ? 'is not there' : `cannot be read (${(error as Error).message})`;
      this.#say(isMissing ? 'missing' : 'broken', why);
    }
  }

  #say(status: 'missing' | 'broken', why: string): void {
    const meanwhile = this.#reader === null ? '' : ' What was read before stays in use.';
    const notice = `The file of ${variables[this.of]} ${why}. Put a whole MMDB file there.${meanwhile}`;
    this.#trouble = { status, notice };
  }

  get(address: string): Record<string, unknown> {
    const reader = this.#reader;
    if (reader === null || (reader.metadata.ipVersion === 4 && isIP(address) === 6)) return {};
    try {
      return (reader.get(address) ?? {}) as Record<string, unknown>;
    } catch (error) {
      this.#say('broken', `has a place that cannot be read (${(error as Error).message})`);
      return {};
    }
  }

  state(): LocationState {
    const built = this.#reader?.metadata.buildEpoch ?? null;
    const built_at = built === null || Number.isNaN(built.getTime()) ? null : built;
    if (this.#trouble !== null) return { of: this.of, built_at, ...this.#trouble };
    if (built_at === null || this.now() - built_at.getTime() <= oldDays * dayMs)
      return { of: this.of, built_at, status: 'ok', notice: null };
    const day = built_at.toISOString().slice(0, 10);
    const notice = `The file of ${variables[this.of]} was built on ${day}, over ${oldDays} days ago. Replace it.`;
    return { of: this.of, built_at, status: 'old', notice };
  }
}

const nested = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as { iso_code?: unknown }).iso_code : value;

/** `country.iso_code` of most files; some have `country_code` or a plain `country`. */
function countryIn(found: Record<string, unknown>): string | null {
  const names = ['country', 'country_code', 'registered_country'];
  const codes = names.map((name) => nested(found[name]));
  return codes.find((code): code is string => typeof code === 'string' && /^[A-Z]{2}$/.test(code)) ?? null;
}

function networkIn(found: Record<string, unknown>): number | null {
  const given = found['autonomous_system_number'] ?? found['asn'];
  const asn = typeof given === 'string' ? Number(given.replace(/^AS/, '')) : given;
  return typeof asn === 'number' && Number.isInteger(asn) && asn >= 0 && asn <= 4_294_967_295 ? asn : null;
}

/** null: that file is not set. */
export function createLocations({ country, network }: LocationFiles, now: () => number, lookEveryMs = 5000): Locations {
  const countries = country === null ? null : new LocationFile('country', country, now);
  const networks = network === null ? null : new LocationFile('network', network, now);
  const files = [countries, networks].filter((file) => file !== null);
  let looked: { readonly at: number; readonly done: Promise<unknown> } | null = null;
  return {
    async refresh() {
      if (looked === null || performance.now() - looked.at >= lookEveryMs)
        looked = { at: performance.now(), done: Promise.all(files.map((file) => file.refresh())) };
      await looked.done;
    },
    locate(address) {
      const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
      if (isIP(plain) === 0) return { country: null, asn: null };
      return { country: countryIn(countries?.get(plain) ?? {}), asn: networkIn(networks?.get(plain) ?? {}) };
    },
    states: () => files.map((file) => file.state()),
  };
}
