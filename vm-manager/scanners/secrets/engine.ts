// Secrets in the bytes of a file: keywords first, all of them in one pass; then the rules whose keyword is there, near
// it; then what the value and what stands around it say. The secret itself leaves this engine only with a mask.
import { createHash } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { leftOut, nothing, type Engine, type Finding, type InputFile, type Outcome } from '../contract.js';
import { Lines } from '../lines.js';
import type { Severity } from '../../findings/words.js';
import { allowedBy } from './allowed.js';
import type { Detector } from './detector.js';
import { KeywordSearch } from './keyword-search.js';
import { keyStore, secretRules } from './rules.js';
import { isPlaceholder, isRepetition, masked } from './values.js';

const before = 200;
const reachDefault = 200;
const findingsMax = 1000;
const binaryHead = 8192;

const keywords = secretRules.flatMap((rule) => rule.keywords.map((word) => ({ rule, word })));
const search = new KeywordSearch(keywords.map(({ word }) => word));

interface Found {
  readonly rule: Detector;
  readonly from: number;
  readonly to: number;
  readonly value: string;
  readonly severity: Severity | null;
}

/** No real secret has such a form: it is reported as left out, without an alarm. */
const isMadeUp = (value: string): boolean => {
  const body = value.replace(/^[A-Za-z]+[-_.]/, '');
  return /example|dummy|placeholder|changeme/i.test(value) || isRepetition(body) || /(.)\1{9}/.test(body);
};

class FileSearch {
  readonly #lines: Lines;
  readonly #path: string;
  readonly #found: Found[] = [];
  /** Rule → where its next window begins at the earliest. */
  readonly #next = new Map<Detector, number>();

  constructor(path: string, text: string) {
    this.#lines = new Lines(text);
    this.#path = path;
  }

  near(rule: Detector, end: number): void {
    if (this.#found.length >= findingsMax) return;
    const { text } = this.#lines;
    const from = Math.max(this.#next.get(rule) ?? 0, end - before);
    const to = Math.min(text.length, end + (rule.reach ?? reachDefault));
    // one character more on the left, for what must not stand there
    const start = Math.max(0, from - 1);
    const window = text.slice(start, to);
    rule.pattern.lastIndex = from - start;
    for (let match = rule.pattern.exec(window); match !== null; match = rule.pattern.exec(window)) {
      this.#next.set(rule, start + match.index + match[0].length);
      this.#take(rule, start + match.index, match);
      if (match[0] === '') rule.pattern.lastIndex++;
    }
  }

  #take(rule: Detector, at: number, match: RegExpExecArray): void {
    const groups = match.groups ?? {};
    const value = groups['value'] ?? groups['quoted'] ?? groups['bare'] ?? match[0];
    const from = at + Math.max(0, match[0].lastIndexOf(value));
    const { text } = this.#lines;
    const line = this.#lines.line(this.#lines.lineAt(from)).slice(0, 2000);
    const around = text.slice(Math.max(0, at - 400), at + match[0].length + 400);
    if (rule.isExact !== true && rule.id !== 'private-key' && rule.id !== 'password-in-address' && isPlaceholder(value))
      return;
    const judged = rule.judge?.({ value, line, around, path: this.#path, groups }) ?? true;
    if (judged === false) return;
    const isInvented = rule.isExact === true && isMadeUp(value);
    // the provider's own examples are in every manual
    if (isInvented && rule.id === 'aws-access-key') return;
    const severity = isInvented ? 'info' : judged === true ? null : judged;
    this.#found.push({ rule, from, to: from + value.length, value, severity });
  }

  /** Each place once: the more special rule, which stands first, counts. */
  findings(): readonly Finding[] {
    const taken: Found[] = [];
    const inOrder = [...this.#found].sort(
      (left, right) => order(left.rule) - order(right.rule) || left.from - right.from,
    );
    for (const one of inOrder) if (!taken.some(({ from, to }) => one.from < to && from < one.to)) taken.push(one);
    const seen = new Map<string, number>();
    return taken.sort((left, right) => left.from - right.from).map((one) => this.#finding(one, seen));
  }

  #finding({ rule, from, to, value, severity }: Found, seen: Map<string, number>): Finding {
    const shown = rule.id === 'private-key' ? 'PEM' : masked(value);
    const line = this.#lines.lineAt(from);
    const name = `${rule.id}|${this.#path}|${shown}`;
    const ordinal = seen.get(name) ?? 0;
    seen.set(name, ordinal + 1);
    const allowed = allowedBy(this.#path, value);
    const suppressed = allowed === null ? this.#lines.ignored(line, rule.id) : `allowed: ${allowed}`;
    return {
      rule: rule.id,
      path: this.#path,
      line,
      endLine: this.#lines.lineAt(to - 1),
      message: `${rule.title}: ${shown}${severity === 'info' ? ' (looks made up)' : ''}`,
      ...(severity === null ? {} : { severity }),
      fingerprint: createHash('sha256').update(`${name}|${ordinal}`).digest('hex').slice(0, 32),
      ...(suppressed === null ? {} : { suppressed }),
    };
  }
}

const places = new Map(secretRules.map((rule, index) => [rule, index]));
const order = (rule: Detector): number => places.get(rule) ?? 0;

/** PKCS#12 (RFC 7292) that opens with no password, or with one that everybody knows, and has a private key in it. */
function openKeyStore({ path, bytes }: InputFile): Outcome {
  for (const passphrase of ['', 'notasecret', 'changeit', 'password'])
    try {
      createSecureContext({ pfx: bytes, passphrase });
      const shown = passphrase === '' ? 'no password' : `the password "${passphrase}"`;
      const finding = { rule: keyStore.id, path, line: 1, message: `${keyStore.title}: it opens with ${shown}` };
      return { ...nothing, findings: [finding], scanned: [path] };
    } catch {
      // another password, or no key store at all
    }
  return { ...nothing, scanned: [path] };
}

/** UTF-16 as it says at its beginning becomes UTF-8. */
function inBytes(bytes: Buffer): Buffer {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return Buffer.from(bytes.toString('utf16le', 2));
  if (bytes[0] === 0xfe && bytes[1] === 0xff && bytes.length % 2 === 0)
    return Buffer.from(Buffer.from(bytes.subarray(2)).swap16().toString('utf16le'));
  return bytes;
}

export const secretsEngine: Engine = {
  take(file) {
    if (/\.(?:p12|pfx)$/i.test(file.path)) return openKeyStore(file);
    const bytes = inBytes(file.bytes);
    if (bytes.subarray(0, binaryHead).includes(0)) return leftOut(file.path, 'binary files');
    const inFile = new FileSearch(file.path, bytes.toString('latin1'));
    search.search(bytes, (keyword, end) => {
      const found = keywords[keyword];
      if (found !== undefined) inFile.near(found.rule, end);
    });
    return { ...nothing, findings: inFile.findings(), scanned: [file.path] };
  },
  end: () => nothing,
};
