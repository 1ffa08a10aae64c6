// One thing about a value that is otherwise than it was: a member left out or added, another type, another bound, other
// text. Whether the value still fits is for the oracle to say.
import type { Dice } from './dice.js';

type Value = Record<string, unknown> | unknown[];

const isNested = (value: unknown): value is Value => typeof value === 'object' && value !== null;

/** Every place of a value: the keys that lead to it. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (!isNested(value)) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...path, name]))];
}

const anything: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  7.5,
  1e12,
  '',
  'zz',
  '2026-13-45',
  '…',
  [],
  ['x'],
  {},
  { x: 1 },
];

function otherText(dice: Dice, text: string): string {
  const at = dice.below(text.length + 1);
  const kinds = [
    () => text.slice(0, at) + dice.pick(['_', '!', ' ', 'A', 'z', '9', '@', '\n', 'é', '😀']) + text.slice(at),
    () => text.slice(0, at) + text.slice(at + 1),
    () => text.toUpperCase(),
    () => text.repeat(9),
    () => '',
  ];
  return dice.pick(kinds)();
}

function other(dice: Dice, value: unknown): unknown {
  if (dice.once(3)) return dice.pick(anything);
  if (typeof value === 'string') return otherText(dice, value);
  if (typeof value === 'number')
    return dice.pick([-value, value + 0.5, value * 1000, value + 1, String(value), 2 ** 31]);
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    const items = value as unknown[];
    return dice.pick([[], [...items, ...items, ...items, 1, 2, 3, 4, 5], items.slice(1), Object.assign({}, items)]);
  }
  if (!isNested(value)) return dice.pick(anything);
  const names = Object.keys(value);
  if (names.length === 0 || dice.once(2)) return { ...value, [dice.pick(['zz', 'role', 'created', '__proto'])]: 'new' };
  const gone = dice.pick(names);
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== gone));
}

/** A copy of `value` with one place changed. */
export function mutated(dice: Dice, value: unknown): unknown {
  const change = (inner: unknown, [name, ...rest]: readonly string[]): unknown => {
    if (name === undefined || !isNested(inner)) return other(dice, inner);
    if (Array.isArray(inner)) return inner.map((one: unknown, at) => (String(at) === name ? change(one, rest) : one));
    return { ...inner, [name]: change(inner[name], rest) };
  };
  return change(value, dice.pick(placesIn(value)));
}

const texts = [
  'zz',
  '0',
  '-3',
  '7',
  '12x',
  'true',
  'A',
  'draft',
  '1e9',
  '2026-02-30',
  'abcdefghijklmnopq',
  '99999999999',
];

/** One text of a parameter otherwise; null: the value has nothing that could be. Its leaf is a text from then on. */
export function mutatedText(dice: Dice, value: unknown): unknown {
  const leaf = dice.once(2) && !isNested(value) ? `${String(value)}z` : dice.pick(texts);
  if (!isNested(value)) return leaf;
  const names = Object.keys(value);
  const chosen = dice.pick(names);
  if (Array.isArray(value)) return value.map((one: unknown, at) => (String(at) === chosen ? leaf : one));
  if (dice.once(4)) return { ...value, zz: leaf };
  return { ...value, [chosen]: leaf };
}
