// fs and path: files that lie outside of the directory that the program put before what came with the request.
import fs from 'node:fs';
import path, { isAbsolute, posix, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linesAround } from '../report/known.js';
import { report } from '../report/report.js';
import { placeNow, type Place } from '../report/stack.js';
import type { Value } from '../requests/values.js';
import { currentVisit, type Joined, type Visit } from '../requests/visit.js';
import { guarded, sensorState } from '../state.js';
import { watchMember } from './wrap.js';

const onePath = [
  ...[
    'readFile',
    'writeFile',
    'appendFile',
    'open',
    'readdir',
    'unlink',
    'rm',
    'rmdir',
    'mkdir',
    'truncate',
    'opendir',
  ],
  ...[
    'readFileSync',
    'writeFileSync',
    'appendFileSync',
    'openSync',
    'readdirSync',
    'unlinkSync',
    'rmSync',
    'rmdirSync',
  ],
  ...['mkdirSync', 'truncateSync', 'opendirSync', 'createReadStream', 'createWriteStream'],
];
const twoPaths = [
  'rename',
  'copyFile',
  'link',
  'symlink',
  'renameSync',
  'copyFileSync',
  'linkSync',
  'symlinkSync',
  'cp',
];
const pathMax = 4096;
/** As they were before they were put behind a note. */
const { normalize: plainNormalize, resolve: plainResolve } = posix;
/** What a program compares a path with before it uses it. */
const check = /\.startsWith\s*\(|\brelative\s*\(|\.indexOf\s*\(|\bisWithin|\bisInside|\bisPathInside|\bcontains?Path/;
const checkedLines = 20;

/** A value that climbs: with as many `..` that it leaves the directory that it is put in, or with a root of its own. */
const climbs = (text: string): boolean => {
  if (text.length > pathMax) return false;
  if (text.startsWith('/') && text.length > 2 && !text.startsWith('//')) return true;
  return text.includes('..') && plainNormalize(text.replaceAll('\\', '/')).startsWith('..');
};

const none: readonly Value[] = [];
const climbing = new WeakMap<readonly Value[], readonly Value[]>();
function climbingOf(visit: Visit): readonly Value[] {
  if (!visit.mayClimb()) return none;
  const values = visit.values();
  const known = climbing.get(values);
  if (known !== undefined) return known;
  const found = values.filter(({ name, text }) => !name.startsWith('header ') && climbs(text));
  climbing.set(values, found);
  return found;
}

const isWithin = (base: string, file: string): boolean =>
  file === base || file.startsWith(base.endsWith(sep) ? base : base + sep);

interface Left {
  readonly isWhole: boolean;
  readonly joined?: Joined;
}

/** How the value leaves the directory that stands before it in the path; null where it does not. */
function left(visit: Visit, file: string, value: Value): Left | null {
  const target = resolve(file);
  if (file === value.text) return isAbsolute(file) || !isWithin(resolve('.'), target) ? { isWhole: true } : null;
  const at = file.indexOf(value.text);
  if (at > 0 && value.text.includes('..')) {
    const base = resolve(file.slice(0, at).replace(/[^/\\]*$/, '') || '.');
    if (!isWithin(base, target)) return { isWhole: false };
  }
  for (const joined of (value.of ?? visit).joined) {
    const { result, base, part } = joined;
    const isOf = file === result || file.startsWith(result + sep) || target === resolve(result);
    if (isOf && part === value.text && !isWithin(resolve(base), target)) return { isWhole: false, joined };
  }
  return null;
}

/** A program that compares the path where it makes or uses it may allow to climb: it is judged by a person. */
const doubtOf = (...places: readonly (Pick<Place, 'path' | 'line'> | undefined)[]): string | null =>
  places.some(
    (place) =>
      place !== undefined &&
      place.path !== '' &&
      place.line !== null &&
      check.test(linesAround(place.path, place.line, checkedLines)),
  )
    ? 'the program compares the path beside: it may allow this one'
    : null;

function textOf(given: unknown): string | null {
  if (typeof given === 'string') return given;
  if (given instanceof URL && given.protocol === 'file:') return fileURLToPath(given);
  return Buffer.isBuffer(given) ? given.toString() : null;
}

function look(visit: Visit, sink: string, given: unknown): void {
  const file = textOf(given);
  if (file === null || file.length > pathMax) return;
  for (const value of climbingOf(visit)) {
    const found = left(visit, file, value);
    if (found === null) continue;
    report(visit, {
      ...{ attack: 'path_traversal', sink, value, text: file, at: file.indexOf(value.text) },
      doubt: (place) => doubtOf(place, found.joined?.place),
      effect: found.isWhole ? 'is the whole path' : 'leaves the directory that the program put before it',
    });
    return;
  }
}

/** Notes what is put together of a directory and of a part that climbs: the result does not show it any more. */
function noteJoins(name: 'join' | 'resolve' | 'normalize'): void {
  const owner = path as unknown as Record<string, (...parts: string[]) => string>;
  const original = owner[name];
  if (original === undefined) return;
  owner[name] = function joined(...parts) {
    const result = Reflect.apply(original, this, parts);
    if (!sensorState.isOn) return result;
    // `resolve` does not look at what stands before a root: it may be no text
    const texts = parts.map((part: unknown) => (typeof part === 'string' ? part : ''));
    const at = texts.findIndex((part, index) => index > 0 && (part.includes('..') || part.startsWith('/')));
    const visit = at > 0 || (name === 'normalize' && texts[0]?.includes('..')) ? currentVisit() : undefined;
    if (visit !== undefined) guarded(() => noteOne(visit, name, texts, at, result));
    return result;
  };
}

function noteOne(visit: Visit, name: string, parts: readonly string[], at: number, result: string): void {
  const note = ({ text: part, of }: Value, base: string): void =>
    (of ?? visit).noteJoined({ result, base, part, place: placeNow() });
  for (const value of climbingOf(visit)) {
    const whole = parts.findIndex((part, index) => index > 0 && part === value.text);
    if (whole > 0) return note(value, plainResolve(...parts.slice(0, whole)));
    // of a template: `${root}/${name}`, normalized later
    const index = name === 'normalize' ? 0 : at;
    const part = parts[index] ?? '';
    const place = part.indexOf(value.text);
    if (place <= 0) continue;
    const before = part.slice(0, place).replace(/[^/\\]*$/, '');
    return note(value, plainResolve(...parts.slice(0, index), before));
  }
}

export function watchFiles(): void {
  for (const [owner, prefix] of [
    [fs, 'fs'],
    [fs.promises, 'fs.promises'],
  ] as const) {
    for (const name of onePath) watchMember(owner, name, (visit, [file]) => look(visit, `${prefix}.${name}`, file));
    for (const name of twoPaths)
      watchMember(owner, name, (visit, given) => {
        for (const file of given.slice(0, 2)) look(visit, `${prefix}.${name}`, file);
      });
  }
  for (const name of ['join', 'resolve', 'normalize'] as const) noteJoins(name);
}
