// Sizes and times as people write them: `64 KiB`, `10 MB`, `15 s`, `1.5 h`. Settings store whole numbers of one unit,
// or a count and a letter (`15s`); what is typed is read into that, and what is stored is written with the unit that
// makes it shortest.
import { settingsText as text } from '../../texts/settings.js';
import type { SettingSchema } from './schema.js';

export interface Unit {
  /** What is no value of this unit is shown as it is. */
  format(value: unknown): string;
  /** null: it is not accepted. A number without a unit is in the unit of the setting. */
  parse(typed: string): number | string | null;
  /** Says what is accepted. */
  readonly accepted: string;
}

/** Name and size of a unit. */
interface Scale {
  readonly name: string;
  /** Where it is not written as one alone. */
  readonly many?: string;
  readonly size: bigint;
  /** Its spellings, in small letters. */
  readonly words: string;
}

/** Of equally short ones the first is taken: the larger, and of two alike the decimal one. */
const sizes: readonly Scale[] = [
  { name: text.units.tb, size: 10n ** 12n, words: 'tb t' },
  { name: text.units.tib, size: 2n ** 40n, words: 'tib ti' },
  { name: text.units.gb, size: 10n ** 9n, words: 'gb g' },
  { name: text.units.gib, size: 2n ** 30n, words: 'gib gi' },
  { name: text.units.mb, size: 10n ** 6n, words: 'mb m' },
  { name: text.units.mib, size: 2n ** 20n, words: 'mib mi' },
  { name: text.units.kb, size: 1000n, words: 'kb k' },
  { name: text.units.kib, size: 1024n, words: 'kib ki' },
  { name: text.units.b, size: 1n, words: 'b byte bytes' },
];
/** In milliseconds. */
const times: readonly Scale[] = [
  { name: text.units.day, many: text.units.days, size: 86_400_000n, words: 'd day days' },
  { name: text.units.h, size: 3_600_000n, words: 'h hr hrs hour hours' },
  { name: text.units.min, size: 60_000n, words: 'm min mins minute minutes' },
  { name: text.units.s, size: 1000n, words: 's sec secs second seconds' },
  { name: text.units.ms, size: 1n, words: 'ms millisecond milliseconds' },
];
const isCalled = ({ words }: Scale, name: string): boolean => words.split(' ').includes(name);

const group = (digits: string): string => digits.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');

/** `value` of `base` in each unit that is not smaller, where two decimals are enough; the shortest number wins. */
function write(value: bigint, base: bigint, scales: readonly Scale[], suffix: string): string {
  const total = value * base;
  let best: { readonly number: string; readonly unit: Scale } | null = null;
  for (const unit of scales.filter(({ size }) => size >= base)) {
    if ((total * 100n) % unit.size !== 0n || (total < unit.size && unit.size !== base)) continue;
    const hundredths = ((total * 100n) / unit.size).toString().padStart(3, '0');
    const number = `${hundredths.slice(0, -2)}.${hundredths.slice(-2)}`.replace(/\.?0+$/, '');
    if (best === null || number.length < best.number.length) best = { number, unit };
  }
  if (best === null) return String(value);
  const [whole = '', part] = best.number.split('.');
  const { name, many } = best.unit;
  const unitName = best.number === '1' ? name : (many ?? name);
  return `${group(whole)}${part === undefined ? '' : `.${part}`} ${unitName}${suffix}`;
}

const written = /^(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d{1,9}))?\s*([a-z]*)$/;
const billion = 1_000_000_000n;

/** null: not written so, or no whole number of `base`. */
function read(typed: string, base: bigint, scales: readonly Scale[]): number | null {
  const [, whole = '', part = '', name = ''] = written.exec(typed.trim().toLowerCase()) ?? [];
  if (whole === '') return null;
  const size = name === '' ? base : scales.find((one) => isCalled(one, name))?.size;
  if (size === undefined) return null;
  const billionths = (BigInt(whole.replaceAll(',', '')) * billion + BigInt(part.padEnd(9, '0'))) * size;
  if (billionths % (base * billion) !== 0n) return null;
  const value = Number(billionths / (base * billion));
  return Number.isSafeInteger(value) ? value : null;
}

const perSecond = /(?:\/\s*s|per second)\s*$/i;

/** As it is: a text that is no value yet, or nothing. */
const plain = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const scaled = (base: number, scales: readonly Scale[], accepted: string, suffix = ''): Unit => ({
  format: (value) => (isCount(value) ? write(BigInt(value), BigInt(base), scales, suffix) : plain(value)),
  parse: (typed) => read(suffix === '' ? typed : typed.replace(perSecond, ''), BigInt(base), scales),
  accepted,
});

const letters = { s: text.units.s, m: text.units.min, h: text.units.h, d: text.units.days } as const;

/** A count and a letter, as windows of limits are stored. */
const windows: Unit = {
  format(value) {
    const [, count = '', letter = ''] = /^(\d+)([smhd])$/.exec(plain(value)) ?? [];
    if (count === '') return plain(value);
    return `${count} ${letter === 'd' && count === '1' ? text.units.day : letters[letter as keyof typeof letters]}`;
  },
  parse(typed) {
    const [, count = '', name = ''] = /^0*([1-9]\d{0,4})\s*([a-z]+)$/.exec(typed.trim().toLowerCase()) ?? [];
    const at = times.findIndex((one) => isCalled(one, name));
    const letter = (['d', 'h', 'm', 's'] as const)[at];
    return count === '' || letter === undefined ? null : `${count}${letter}`;
  },
  accepted: text.acceptedWindow,
};

const units: Readonly<Record<string, Unit>> = {
  bytes: scaled(1, sizes, text.acceptedSize),
  'bytes per second': scaled(1, sizes, text.acceptedRate, text.units.perSecond),
  milliseconds: scaled(1, times, text.acceptedTime(text.units.ms)),
  seconds: scaled(1000, times, text.acceptedTime(text.units.s)),
  minutes: scaled(60_000, times, text.acceptedTime(text.units.min)),
  hours: scaled(3_600_000, times, text.acceptedTime(text.units.h)),
  days: scaled(86_400_000, times, text.acceptedTime(text.units.day)),
  'count and s, m, h or d': windows,
};

/** null: values of this setting are written as they are stored. */
export const unitOf = (schema: SettingSchema): Unit | null => units[schema['x-unit'] ?? ''] ?? null;
