// A search for request bodies that cost much CPU for few bytes on the wire (CWE-400, CWE-409): bodies are made of
// pieces that some reader or transformation has to work for, changed step by step, and the dearest are kept. What is
// dear is what the road does with a coded body: undo the coding, read the body, run the rules over it.
import { performance } from 'node:perf_hooks';
import { brotliCompressSync, constants, deflateRawSync, gzipSync } from 'node:zlib';
import { decodeRequest, type DecodeLimits } from '../../http/decode-request.js';
import type { Coding } from '../../http/decode-body.js';
import type { LoadedInspection } from '../inspection.js';
import { createStore } from '../engine-inspection.js';
import { anywhere, kinds } from './costly-pieces.js';

/**
 * What a body is made of: `head`, `units` in turn, `tail`. `#` is a running number: no two tries have values in common,
 * or the memo of the engine would know them, which it does not of an attacker who counts on.
 */
export interface BodyPlan {
  readonly type: string;
  readonly head: string;
  readonly units: readonly string[];
  readonly tail: string;
  readonly codings: readonly Coding[];
  /** What the units open is closed behind the last of them: readers repeat names and text of what is around. */
  readonly isNested: boolean;
}

export interface CostlyBody {
  readonly plan: BodyPlan;
  readonly wire: Buffer;
  readonly decodedBytes: number;
  /** User and system time of the process, least of some tries. */
  readonly cpuMs: number;
  readonly status: number | null;
}

const codingsTried: readonly (readonly Coding[])[] = [
  ['br'],
  ['br'],
  ['gzip', 'br'],
  ['gzip'],
  ['deflate', 'br'],
  ['gzip', 'gzip'],
  ['br', 'br'],
];

const tooLarge = 413;
/** Runs until code is compiled: the first ones cost five times what an attacker can go on spending. */
const steadyAfter = 25;

/** More than any body has. */
const numbersOfBody = 5000;

type Random = () => number;

/** Park and Miller's generator: the same search for the same seed. */
export function randomOf(seed: number): Random {
  let state = (Math.abs(Math.trunc(seed)) % 2_147_483_646) + 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

function fresh(random: Random, type: string | null): BodyPlan {
  const kind = type === null ? pick(random, kinds) : (kinds.find((one) => one.type === type) ?? pick(random, kinds));
  const [head, tail] = pick(random, kind.frames);
  const units = Array.from({ length: 1 + Math.floor(random() * 3) }, () => unitOf(random, kind.type));
  return { type: kind.type, head, tail, units, codings: pick(random, codingsTried), isNested: random() < 0.3 };
}

function unitOf(random: Random, type: string): string {
  const own = kinds.find((kind) => kind.type === type)?.units ?? anywhere;
  const unit = pick(random, random() < 0.6 ? own : anywhere);
  return random() < 0.15 ? unit.repeat(1 + Math.floor(random() * 40)) : unit;
}

function changed(random: Random, plan: BodyPlan): BodyPlan {
  const at = Math.floor(random() * plan.units.length);
  const step = random();
  const units = [...plan.units];
  if (step < 0.35) units[at] = unitOf(random, plan.type);
  else if (step < 0.55) units.splice(at, 0, unitOf(random, plan.type));
  else if (step < 0.7 && units.length > 1) units.splice(at, 1);
  else if (step < 0.8) return { ...plan, type: pick(random, kinds).type };
  else if (step < 0.87) return { ...plan, codings: pick(random, codingsTried) };
  else if (step < 0.93) return { ...plan, isNested: !plan.isNested };
  else {
    const [head, tail] = pick(random, kinds.find((kind) => kind.type === plan.type)?.frames ?? [['', '']]);
    return { ...plan, head, tail };
  }
  return { ...plan, units };
}

/** What closes the brackets and elements that `round` leaves open, the innermost first. */
function closerOf(round: string): string {
  const open: string[] = [];
  for (const [, bracket, end, name] of round.matchAll(/([[\]{}])|<(\/?)([a-z][\w:-]*)(?:\s[^<>]*)?(?<!\/)>/g)) {
    if (bracket === '[' || bracket === '{') open.push(bracket === '[' ? ']' : '}');
    else if (bracket !== undefined || end === '/') open.pop();
    else open.push(`</${name}>`);
  }
  return open.reverse().join('');
}

function nestedOf({ head, units, tail }: BodyPlan, bytes: number): Buffer | null {
  const round = units.join('');
  const closer = closerOf(round);
  if (closer === '' || round.includes('#')) return null;
  const rounds = Math.floor((bytes - head.length - tail.length - 1) / (round.length + closer.length));
  const within = closer.startsWith('<') ? 'x' : '1';
  return Buffer.from(`${head}${round.repeat(rounds)}${within}${closer.repeat(rounds)}${tail}`, 'latin1');
}

/** `first`: the number to begin with. */
function plainOf(given: BodyPlan, bytes: number, first: number): Buffer {
  const numbered = (text: string, count: number): string => text.replaceAll('#', count.toString(36));
  const plan = { ...given, head: numbered(given.head, first), tail: numbered(given.tail, first) };
  const { head, units, tail } = plan;
  const nested = plan.isNested ? nestedOf(plan, bytes) : null;
  if (nested !== null) return nested;
  const round = units.join('');
  const room = Math.max(0, bytes - head.length - tail.length);
  if (!round.includes('#')) {
    const body = round === '' ? Buffer.alloc(0) : Buffer.alloc(room - (room % round.length), round, 'latin1');
    return Buffer.concat([Buffer.from(head, 'latin1'), body, Buffer.from(tail, 'latin1')]);
  }
  const rounds: string[] = [];
  for (let length = 0, count = first; length < room; count += 1) {
    const text = numbered(round, count);
    rounds.push(text);
    length += text.length;
  }
  return Buffer.from(`${head}${rounds.slice(0, -1).join('')}${tail}`, 'latin1');
}

const coders: Readonly<Record<Coding, (bytes: Buffer) => Buffer>> = {
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => gzipSync(bytes, { level: 9 }),
  deflate: (bytes) => deflateRawSync(bytes, { level: 9 }),
};
const codedBy = (plain: Buffer, codings: readonly Coding[]): Buffer =>
  codings.reduce((bytes, coding) => coders[coding](bytes), plain);

/** What repeats the most for rules in the 4 KiB of cookies that a byte of HTTP/2 can name; found by a search. */
export const dearCookies: readonly string[] = [
  ';=[',
  ';=[1,2',
  '\\";=[',
  '=[<../;',
  '%27*//"=";',
  'like ;=[',
  '${; a="*#{\\047`this[x=%25between /*1.1.1.1 %u0041-exists(',
];

export interface SearchLimits extends DecodeLimits {
  /** Decoded bytes to try in turn, until a body is small enough on the wire and not refused for its size. */
  readonly decodedBytes: readonly number[];
  readonly wireBytesMax: number;
}

export class CostSearch {
  private count = 0;
  /** Of four digits from the beginning on, so that bodies of one plan are as long as each other. */
  private number = 50_000;
  private readonly store = createStore();

  constructor(
    private readonly inspection: LoadedInspection,
    private readonly limits: SearchLimits,
    private readonly random: Random,
  ) {}

  /** The dearest of each kind, the dearest first, of about `tries` bodies. */
  async run(tries: number): Promise<CostlyBody[]> {
    const best = new Map<string, CostlyBody>();
    for (const { type } of kinds) {
      let dearest: CostlyBody | null = null;
      for (let index = 0; index < tries / kinds.length; index += 1) {
        const isFresh = dearest === null || this.random() < 0.3;
        const plan = isFresh ? fresh(this.random, type) : changed(this.random, (dearest as CostlyBody).plan);
        const known = best.get(plan.type)?.cpuMs ?? 0;
        const body = await this.measure(plan, known);
        if (body === null) continue;
        if (dearest === null || body.cpuMs > dearest.cpuMs) dearest = body;
        if (body.cpuMs > known) best.set(plan.type, body);
      }
    }
    return [...best.values()].sort((a, b) => b.cpuMs - a.cpuMs);
  }

  /** The same for a head with `text` in cookies, over and over: least CPU of some tries. */
  spendOnCookies(text: string): number {
    const cookies = text.repeat(4096 / text.length);
    let cpuMs = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < steadyAfter; tries += 1) {
      const before = process.cpuUsage();
      this.inspect(['Cookie', cookies], null);
      const { user, system } = process.cpuUsage(before);
      cpuMs = Math.min(cpuMs, (user + system) / 1000);
    }
    return cpuMs;
  }

  /** null: no body of this plan is small enough on the wire. What is dearer than `known` is measured again. */
  async measure(plan: BodyPlan, known = 0): Promise<CostlyBody | null> {
    for (const bytes of this.limits.decodedBytes) {
      let plain = this.nextOf(plan, bytes);
      let wire = codedBy(plain, plan.codings);
      if (wire.length > this.limits.wireBytesMax) continue;
      let cpuMs = Number.POSITIVE_INFINITY;
      let status: number | null = null;
      for (let tries = 0; tries < steadyAfter && cpuMs > known; tries += 1) {
        const before = process.cpuUsage();
        status = await this.spend(plan, wire);
        const { user, system } = process.cpuUsage(before);
        cpuMs = Math.min(cpuMs, (user + system) / 1000);
        if (status === tooLarge) break;
        const next = this.nextOf(plan, bytes);
        const nextWire = codedBy(next, plan.codings);
        if (nextWire.length <= this.limits.wireBytesMax) [plain, wire] = [next, nextWire];
      }
      if (status === tooLarge) continue;
      return { plan, wire, decodedBytes: plain.length, cpuMs, status };
    }
    return null;
  }

  private nextOf(plan: BodyPlan, bytes: number): Buffer {
    this.number += numbersOfBody;
    return plainOf(plan, bytes, this.number);
  }

  /** What the road does with it; the status of a refusal, or null. */
  private async spend({ type, codings }: BodyPlan, wire: Buffer): Promise<number | null> {
    const outcome = await decodeRequest(wire, codings, this.limits);
    if (outcome.kind !== 'decoded') return outcome.kind === 'wrong' ? 400 : tooLarge;
    return this.inspect(['Content-Type', type, 'Content-Length', String(wire.length)], outcome.bytes);
  }

  /** The rules over a request with these fields; the status of a refusal, or null. */
  private inspect(fields: readonly string[], body: Buffer | null): number | null {
    const { inspector } = this.inspection;
    this.count += 1;
    const transaction = inspector.begin(
      {
        method: body === null ? 'GET' : 'POST',
        uri: '/in',
        protocol: 'HTTP/1.1',
        clientIp: '127.0.0.1',
        clientPort: 40_000,
        serverIp: '127.0.0.1',
        serverPort: 80,
        headers: ['Host', 'shop.example', 'User-Agent', 'Mozilla/5.0', 'Accept', '*/*', ...fields],
      },
      {
        uniqueId: `search-${this.count}`,
        nowMs: performance.timeOrigin,
        store: this.store,
        policy: null,
        secondOpinion: null,
      },
    );
    const bytes = body ?? Buffer.alloc(0);
    const stop = inspector.requestHeaders(transaction) ?? inspector.requestBody(transaction, bytes, bytes.length);
    inspector.finish(transaction);
    return stop?.status ?? null;
  }
}
