// The one place that every record of every importer passes on its way into the tables: what is stored and shown has no
// secret in it. Its identity is made before, of the whole text, and is keyed.
import type { FindingRecord, Item, Location } from '../imports/record.js';
import { isDropped } from '../imports/record.js';
import type { Source } from '../findings/words.js';
import { maskSecrets, maskValues, namedSecrets, secretsOfProse } from './mask.js';

export type Keyed = (hash: string) => string;

const rememberedMax = 5000;
const rememberedLengthMax = 20_000;

/** Parts of a text around a secret that are the secret itself: literals, else what stands behind a name. */
function secretsOfSnippet(snippet: string): string[] {
  const literals = [...snippet.matchAll(/(["'`])((?:(?!\1)[^\n]){6,2000}?)\1/g)].map((match) => match[2] ?? '');
  const words = [...snippet.matchAll(/[^\s"'`,;(){}[\]<>=:]{6,2000}/g)].map(([word]) => word);
  const found = [...literals, ...words.filter((word) => /\d/.test(word) && /[A-Za-z]/.test(word))];
  // a snippet that is one word is the match of the tool
  return /\s/.test(snippet.trim()) ? found : [snippet.trim(), ...found];
}

/** CWE-259, 321 and 798: the finding is that the code has a password or a key in it, and the message says which. */
const isOfCredential = ({ source, cwes }: FindingRecord): boolean =>
  source === 'secret' || cwes.some((cwe) => cwe === 259 || cwe === 321 || cwe === 798);

/** Members that are written after the loop, or are no texts. */
const kept: ReadonlySet<string> = new Set(['location', 'fix', 'cvss', 'cwes'] satisfies (keyof FindingRecord)[]);

const withoutSecrets = ({ secrets: _, ...record }: FindingRecord): FindingRecord => record;

/** Masks records of one report; texts that rules repeat are masked once. */
export class RecordMask {
  private readonly remembered = new Map<string, string>();
  private readonly keyed: Keyed;

  constructor(keyed: Keyed) {
    this.keyed = keyed;
  }

  text(text: string): string {
    if (text.length < namedSecretMin) return text;
    const known = this.remembered.get(text);
    if (known !== undefined) return known;
    const masked = maskSecrets(text);
    if (text.length <= rememberedLengthMax) {
      if (this.remembered.size >= rememberedMax) this.remembered.clear();
      this.remembered.set(text, masked);
    }
    return masked;
  }

  item(item: Item): Item {
    if (!isDropped(item)) return this.record(item);
    return { ...item, dropped: this.text(item.dropped), at: this.text(item.at) };
  }

  record(given: FindingRecord): FindingRecord {
    const { secrets = [], location, severity, source, cvss, fix } = given;
    const record = given.secrets === undefined ? given : withoutSecrets(given);
    const told = isOfCredential(record) ? secretsOfProse(`${record.title}\n${record.description}`) : [];
    const mask = this.maskFor(source, location, record.evidence, [...secrets, ...told]);
    // the members of a record are ours, and none of them is named after a secret: values only
    const masked = { ...record } as Record<string, unknown>;
    for (const name of Object.keys(masked)) {
      const value = masked[name];
      if (typeof value === 'string') masked[name] = mask(value);
      else if (!kept.has(name)) masked[name] = maskValues(value, mask);
    }
    masked['location'] = this.location(location, mask);
    masked['fix'] = { ...maskValues(fix, mask), state: fix.state };
    if (record.knownAs !== undefined) masked['knownAs'] = record.knownAs;
    masked['severity'] = severity;
    masked['source'] = source;
    masked['cvss'] = cvss;
    return masked as unknown as FindingRecord;
  }

  /** A row of a table, with its columns as they are called there; digests in it are the caller's. */
  stored<Row extends Stored>(row: Row): Row {
    const mask = this.maskFor(row.source, row.location, row.evidence ?? [], []);
    return { ...maskValues(row, mask), location: this.location(row.location, mask), source: row.source };
  }

  private maskFor(
    source: Source,
    location: Location,
    evidence: readonly unknown[],
    secrets: readonly string[],
  ): (text: string) => string {
    const snippets = source !== 'secret' ? [] : [location, ...evidence].map(snippetOf);
    const named = namedSecrets([
      ...secrets,
      ...snippets.flatMap((one) => (typeof one === 'string' ? secretsOfSnippet(one) : [])),
    ]);
    return named.length === 0 ? (text) => this.text(text) : (text) => maskSecrets(text, named);
  }

  private location(location: Location, mask: (text: string) => string): Location {
    const masked = maskValues(location, mask);
    return location.kind === 'secret' ? ({ ...masked, hash: this.keyed(location.hash) } as Location) : masked;
  }
}

const snippetOf = (place: unknown): unknown =>
  typeof place === 'object' && place !== null && 'snippet' in place ? place.snippet : undefined;

interface Stored {
  readonly source: Source;
  readonly location: Location;
  readonly evidence?: readonly unknown[];
}

const namedSecretMin = 4;
