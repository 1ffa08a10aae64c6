// Country and network (autonomous system) of addresses, from MMDB files that the operator brings (docs/events.md). A
// file that is replaced is read again; one that is gone or broken leaves in use what was read before, and says so.
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { Reader, type Response } from 'mmdb-lib';
import { networksBy } from './networks-by.js';

export interface LocationFiles {
  readonly country: string | null;
  readonly network: string | null;
  /** How often they are looked at; 5000 unless it is given. */
  readonly lookEveryMs?: number;
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
  /** Tells what was read of a file from what is read after it was replaced; null: nothing was read. */
  stampOf(kind: LocationKind): string | null;
  /**
   * Of each country (`DE`) or autonomous system (`64500`) its networks, canonical and joined where they touch; null:
   * nothing was read. Throws RangeError where they are more than `locatedNetworksMax`.
   */
  networksOf(kind: LocationKind, places: readonly string[]): Promise<ReadonlyMap<string, readonly string[]> | null>;
}
/** A large country has some 200,000; a list of client measures has room for a few million. */
export const locatedNetworksMax = 1_000_000;

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
  /** What the reader reads. */
  #bytes = Buffer.alloc(0);
  #stamp = '';
  #read = '';
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
      this.#bytes = bytes;
      // the same on each server that has the same file
      this.#read = `${size} ${reader.metadata.buildEpoch.getTime()}`;
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

  get stamp(): string | null {
    return this.#reader === null ? null : this.#read;
  }

  async networksOf(places: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly string[]> | null> {
    const reader = this.#reader;
    if (reader === null) return null;
    const placeAt = (found: Response | null): string | null => {
      const place = placeIn[this.of]((found ?? {}) as Record<string, unknown>);
      return place !== null && places.has(String(place)) ? String(place) : null;
    };
    return networksBy({ reader, bytes: this.#bytes, placeAt, most: locatedNetworksMax });
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

const placeIn = { country: countryIn, network: networkIn } as const;

/** null: that file is not set. */
export function createLocations(
  { country, network, lookEveryMs: given }: LocationFiles,
  now: () => number,
  lookEveryMs = given ?? 5000,
): Locations {
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
    stampOf: (kind) => (kind === 'country' ? countries : networks)?.stamp ?? null,
    networksOf: async (kind, places) =>
      (await (kind === 'country' ? countries : networks)?.networksOf(new Set(places))) ?? null,
  };
}
