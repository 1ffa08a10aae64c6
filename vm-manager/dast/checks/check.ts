// A check is a row: what it is called, where it runs, and `prove`, which returns a proof or null. A proof is an effect
// that was seen twice, with different random values, and not seen with a neutral value in the same place. An effect
// that holds no random value (a status, a known text, a time) can come by chance: it has to show in each of ten turns.
import { randomBytes, randomInt } from 'node:crypto';
import type { Eyes } from '../browser/eyes.js';
import type { Values } from '../http/forms.js';
import type { SendOptions, Talk } from '../http/talk.js';
import type { CheckText, Exchange, Form, Param, Profile, Proof } from '../model.js';

/** param: for each value of a form. form: once for each form. site: once. */
export type CheckPlace = 'param' | 'form' | 'site';

export interface Check extends CheckText {
  readonly on: CheckPlace;
  readonly profiles: readonly Profile[];
  readonly prove: (probe: Probe) => Promise<Proof | null>;
}

export interface Callbacks {
  /** An address of this server that the target can reach, with a token that is used once. */
  readonly issue: () => { readonly url: string; readonly answer: string; readonly wasAsked: () => boolean };
}

export interface ProbeParts {
  readonly talk: Talk;
  readonly form: Form;
  readonly param: Param | null;
  readonly origin: string;
  readonly profile: Profile;
  readonly callbacks: Callbacks | null;
  /** Paths of pages that the crawl has seen. */
  readonly seenPaths: readonly string[];
  /** Of a browser, where the scan has one. */
  readonly eyes: Eyes | null;
}

/** What a check is given. */
export class Probe {
  readonly parts: ProbeParts;
  /** The check does not apply here, or tried less than it knows. */
  wasLeftOut = false;
  constructor(parts: ProbeParts) {
    this.parts = parts;
  }

  get form(): Form {
    return this.parts.form;
  }

  get param(): Param {
    if (this.parts.param === null) throw new Error('a check of a form asked for its parameter');
    return this.parts.param;
  }

  get talk(): Talk {
    return this.parts.talk;
  }

  /** In the place of a proof: that there is none says nothing. */
  leaveOut(): null {
    this.wasLeftOut = true;
    return null;
  }

  async baseline(): Promise<Exchange | null> {
    return this.talk.baseline(this.form);
  }

  /** The form with this value in its parameter. */
  async with(value: string, options: SendOptions = {}): Promise<Exchange | null> {
    return this.talk.send(this.form, { [this.param.name]: value }, options);
  }

  async send(values: Values = {}, options: SendOptions = {}): Promise<Exchange | null> {
    return this.talk.send(this.form, values, options);
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyz';
/** Small letters alone: no application changes them. */
export const word = (length = 10): string =>
  [...randomBytes(length)].map((byte) => letters[byte % letters.length]).join('');

/** Two numbers whose product stands in no page by chance. */
export function product(): { readonly left: number; readonly right: number; readonly result: string } {
  const [left, right] = [randomInt(20_000, 90_000), randomInt(20_000, 90_000)];
  return { left, right, result: String(left * right) };
}

export interface Attack {
  readonly attack: string;
  /** The same place, without the effect. */
  readonly neutral: string;
  readonly shows: (exchange: Exchange) => boolean;
}

/** For effects that hold a random value of the request. */
export const turnsOfWord = 2;
/** For effects that a page could have by chance: one time in two each way, it passes once in a million checks. */
export const turnsOfSign = 10;

/** The last proof, where each turn has one; null as soon as a turn has none. */
export async function everyTurn(turns: number, turn: () => Promise<Proof | null>): Promise<Proof | null> {
  let proof: Proof | null = null;
  for (let count = 0; count < turns; count++) {
    proof = await turn();
    if (proof === null) return null;
  }
  return proof;
}

/**
 * Tries each attack; in each turn its effect has to show and that of its neutral twin must not. `make` is called for
 * each turn, so that nothing random is used twice.
 */
export async function proveBy(
  probe: Probe,
  makers: readonly (() => Attack)[],
  why: string,
  turns = turnsOfWord,
): Promise<Proof | null> {
  for (const make of makers) {
    const proof = await everyTurn(turns, async () => {
      const { attack, neutral: twin, shows } = make();
      const exchange = await probe.with(attack);
      if (exchange === null || !shows(exchange)) return null;
      const neutral = await probe.with(twin);
      return neutral === null || shows(neutral) ? null : { attack, exchange, neutral, why };
    });
    if (proof !== null) return proof;
  }
  return null;
}

export const isHtml = ({ headers }: Exchange): boolean => {
  const type = headers['content-type'];
  return type === undefined ? headers['x-content-type-options'] !== 'nosniff' : /html/i.test(type);
};

/**
 * Texts that stand alike, without what was sent, and without numbers, which may differ from one request to the next;
 * `keepsNumbers` where they do not: a count can be all that an answer tells.
 */
export function likeness({ status, body }: Exchange, sent: readonly string[], keepsNumbers = false): string {
  let text = body.slice(0, 100_000);
  for (const one of sent) {
    if (one.length < 2) continue;
    const escaped = one.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const forms = [
      one,
      escaped,
      escaped.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
      escaped.replaceAll('"', '&#34;').replaceAll("'", '&#x27;'),
      encodeURIComponent(one),
      JSON.stringify(one).slice(1, -1),
    ];
    for (const form of forms) text = text.replaceAll(form, '');
  }
  const plain = keepsNumbers ? text : text.replaceAll(/\d+/g, '0');
  return `${status} ${plain.replaceAll(/\s+/g, ' ')}`;
}

/** A text as people read it: without escapes of JSON and of HTML, with line ends for what breaks lines. */
export const readable = (body: string): string =>
  body
    .slice(0, 200_000)
    .replaceAll(/<br\s*\/?>|\\n/gi, '\n')
    .replaceAll(/\\(["'/])/g, '$1')
    .replaceAll(/&(?:quot|#0?34|#x22);/gi, '"')
    .replaceAll(/&(?:apos|#0?39|#x27);/gi, "'")
    .replaceAll(/&(?:lt|#0?60);/gi, '<')
    .replaceAll(/&(?:gt|#0?62);/gi, '>')
    .replaceAll(/&(?:nbsp|#160);|\u00a0/gi, ' ')
    .replaceAll(/&amp;/gi, '&');

export const everywhere: readonly Profile[] = ['standard', 'full', 'api', 'authenticated'];
export const always: readonly Profile[] = ['quick', ...everywhere];
