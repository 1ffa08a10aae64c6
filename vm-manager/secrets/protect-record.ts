// The one place that every record of every importer passes on its way into the tables: what is stored and shown has no
// secret in it. Its identity is made before, of the whole text, and is keyed.
import type { FindingRecord, Item, Location } from '../imports/record.js';
import { isDropped } from '../imports/record.js';
import type { Source } from '../findings/words.js';
import { secretsBeside } from './beside.js';
import { TextsOfCredential } from './credential-texts.js';
import { isOfCredential } from './credentials.js';
import { maskSecrets, maskValues, namedSecrets } from './mask.js';
import { RuleCode } from './rule-code.js';

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

/** Members that are written after the loop, or are no texts. */
const kept: ReadonlySet<string> = new Set(['location', 'fix', 'cvss', 'cwes'] satisfies (keyof FindingRecord)[]);

const withoutSecrets = ({ secrets: _, ...record }: FindingRecord): FindingRecord => record;

/** Masks records of one report; texts that rules repeat are masked once. */
export class RecordMask {
  private readonly remembered = new Map<string, string>();
  private readonly codes = new Map<string, RuleCode>();
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
    const isCredential = isOfCredential(record);
    const code = this.codeOf(record.ruleId);
    const texts = isCredential ? new TextsOfCredential(record, (text) => this.text(text), code) : null;
    const beside = secretsBeside([record.evidence, record.extra], paramOf(location), isCredential);
    const mask = this.maskFor(source, location, record.evidence, [...secrets, ...beside, ...(texts?.sure ?? [])], code);
    const generous = texts?.maskAfter(mask) ?? mask;
    // the members of a record are ours, and none of them is named after a secret: values only
    const masked = { ...record } as Record<string, unknown>;
    for (const name of Object.keys(masked)) {
      const value = masked[name];
      const own = isToldText(name) ? generous : mask;
      if (typeof value === 'string') masked[name] = own(value);
      else if (!kept.has(name)) masked[name] = maskValues(value, own);
    }
    masked['location'] = this.location(location, mask, generous);
    masked['fix'] = { ...maskValues(fix, generous), state: fix.state };
    if (record.knownAs !== undefined) masked['knownAs'] = record.knownAs;
    masked['severity'] = severity;
    masked['source'] = source;
    masked['cvss'] = cvss;
    return masked as unknown as FindingRecord;
  }

  /** As `record` masks it, and mostly without the other texts. */
  ruleId(given: FindingRecord): string {
    const isPlain = given.source !== 'secret' && given.secrets === undefined && !isOfCredential(given);
    return isPlain ? this.text(given.ruleId) : this.record(given).ruleId;
  }

  /** A row of a table, with its columns as they are called there; digests in it are the caller's. */
  stored<Row extends Stored>(row: Row): Row {
    const { title = '', description = '', evidence = [], extra = {}, fix = {}, location } = row;
    const isCredential = isOfCredential({ source: row.source, cwes: row.cwes ?? [], ruleId: row.rule_id ?? '' });
    const told = { title, description, evidence, extra, fix, location };
    const code = this.codeOf(row.rule_id ?? '');
    const texts = isCredential ? new TextsOfCredential(told, (text) => this.text(text), code) : null;
    const beside = secretsBeside([evidence, extra], paramOf(location), isCredential);
    const mask = this.maskFor(row.source, location, evidence, [...beside, ...(texts?.sure ?? [])], code);
    const generous = texts?.maskAfter(mask) ?? mask;
    const masked = Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, maskValues(value, isToldText(name) ? generous : mask)]),
    ) as Row;
    return { ...masked, location: this.location(location, mask, generous), source: row.source };
  }

  private maskFor(
    source: Source,
    location: Location,
    evidence: readonly unknown[],
    secrets: readonly string[],
    code: RuleCode,
  ): (text: string) => string {
    const snippets = source !== 'secret' ? [] : [location, ...evidence].map(snippetOf);
    const named = namedSecrets([
      ...secrets,
      ...snippets.flatMap((one) => (typeof one === 'string' ? secretsOfSnippet(one) : [])),
    ]);
    const plain = (text: string): string => (named.length === 0 ? this.text(text) : maskSecrets(text, named));
    return (text) => code.around(text, plain);
  }

  /** A report has few rules and many results. */
  private codeOf(ruleId: string): RuleCode {
    const known = this.codes.get(ruleId);
    if (known !== undefined) return known;
    const code = new RuleCode(ruleId);
    if (this.codes.size >= rememberedMax) this.codes.clear();
    this.codes.set(ruleId, code);
    return code;
  }

  private location(location: Location, mask: (text: string) => string, generous: (text: string) => string): Location {
    const masked = maskValues(location, mask);
    if (location.kind === 'secret') return { ...masked, hash: this.keyed(location.hash) } as Location;
    return location.kind === 'code' && location.snippet !== undefined
      ? ({ ...masked, snippet: generous(location.snippet) } as Location)
      : masked;
  }
}

/** What people read of a finding; the other members say where and what it is. */
const isToldText = (name: string): boolean =>
  name === 'title' || name === 'description' || name === 'evidence' || name === 'extra' || name === 'fix';

const paramOf = (location: Location): unknown => (location.kind === 'web' ? location.param : undefined);

const snippetOf = (place: unknown): unknown =>
  typeof place === 'object' && place !== null && 'snippet' in place ? place.snippet : undefined;

interface Stored {
  readonly source: Source;
  readonly cwes?: readonly number[];
  readonly rule_id?: string;
  readonly title?: string;
  readonly description?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly fix?: Readonly<Record<string, unknown>>;
  readonly location: Location;
  readonly evidence?: readonly unknown[];
}

const namedSecretMin = 4;
