import fc from 'fast-check';
import t from 'tap';
import { unitOf, type Unit } from './units.js';

const of = (name: string): Unit => {
  const unit = unitOf({ 'x-unit': name });
  if (unit === null) throw new Error(`${name} is no unit`);
  return unit;
};
const seed = 7;
const scaledUnits = ['bytes', 'bytes per second', 'milliseconds', 'seconds', 'minutes', 'hours', 'days'];

t.test('values are written with the unit that makes them shortest', async (t) => {
  for (const [unit, value, text] of [
    ['bytes', 0, '0 B'],
    ['bytes', 240, '240 B'],
    ['bytes', 1000, '1 kB'],
    ['bytes', 1024, '1 KiB'],
    ['bytes', 8192, '8 KiB'],
    ['bytes', 13_107_200, '12.5 MiB'],
    ['bytes', 10_000_000, '10 MB'],
    ['bytes', 13_107_201, '13,107,201 B'],
    ['bytes', 1_099_511_627_776, '1 TiB'],
    ['bytes per second', 16_384, '16 KiB/s'],
    ['milliseconds', 0, '0 ms'],
    ['milliseconds', 150, '150 ms'],
    ['milliseconds', 1500, '1.5 s'],
    ['milliseconds', 15_000, '15 s'],
    ['milliseconds', 3_600_000, '1 h'],
    ['seconds', 90, '90 s'],
    ['seconds', 3600, '1 h'],
    ['minutes', 30, '30 min'],
    ['hours', 24, '1 day'],
    ['hours', 36, '36 h'],
    ['days', 1, '1 day'],
    ['days', 30, '30 days'],
    ['count and s, m, h or d', '90s', '90 s'],
    ['count and s, m, h or d', '1m', '1 min'],
    ['count and s, m, h or d', '1d', '1 day'],
    ['seconds', 'soon', 'soon'],
    ['seconds', null, ''],
    ['seconds', 1.5, '1.5'],
  ] as const)
    t.equal(of(unit).format(value), text, `${String(value)} ${unit}`);
});

t.test('what is typed is read, or not accepted', async (t) => {
  for (const [unit, typed, value] of [
    ['bytes', '10 MB', 10_000_000],
    ['bytes', '10mb', 10_000_000],
    ['bytes', '10M', 10_000_000],
    ['bytes', '64 KiB', 65_536],
    ['bytes', '0.5 GiB', 536_870_912],
    ['bytes', '13,107,200', 13_107_200],
    ['bytes', '512', 512],
    ['bytes', '512 bytes', 512],
    ['bytes', '1.5 B', null],
    ['bytes', '10 MB/s', null],
    ['bytes', '10 apples', null],
    ['bytes', '10 s', null],
    ['bytes', '-1', null],
    ['bytes', '1,00', null],
    ['bytes', '9999999999999999 TB', null],
    ['bytes per second', '1 kB per second', 1000],
    ['bytes per second', '16 KiB/s', 16_384],
    ['bytes per second', '240', 240],
    ['milliseconds', '15 s', 15_000],
    ['milliseconds', '1.5 s', 1500],
    ['milliseconds', '2h', 7_200_000],
    ['milliseconds', '250', 250],
    ['seconds', '500 ms', null],
    ['seconds', '2000 ms', 2],
    ['seconds', '1 day', 86_400],
    ['hours', '7 days', 168],
    ['hours', '90 min', null],
    ['days', '48 h', 2],
    ['seconds', '', null],
    ['seconds', 'soon', null],
    ['count and s, m, h or d', '15 s', '15s'],
    ['count and s, m, h or d', '1m', '1m'],
    ['count and s, m, h or d', '5 minutes', '5m'],
    ['count and s, m, h or d', '1 day', '1d'],
    ['count and s, m, h or d', '0 s', null],
    ['count and s, m, h or d', '1.5 h', null],
    ['count and s, m, h or d', '15', null],
    ['count and s, m, h or d', '500 ms', null],
  ] as const)
    t.equal(of(unit).parse(typed), value, `${unit}: ${JSON.stringify(typed)}`);
});

t.test('a value that is written is read again', async (t) => {
  const value = fc.oneof(fc.nat(1_000_000), fc.maxSafeNat(), fc.constantFrom(1000, 1024, 60, 3600, 86_400, 65_536));
  const factor = fc.constantFrom(1, 1000, 1024, 1_048_576, 3600);
  for (const name of scaledUnits) {
    const unit = of(name);
    fc.assert(
      fc.property(value, factor, (base, by) => {
        const given = base * by;
        return !Number.isSafeInteger(given) || unit.parse(unit.format(given)) === given;
      }),
      { seed },
    );
    t.pass(name);
  }
  const windows = of('count and s, m, h or d');
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99_999 }), fc.constantFrom('s', 'm', 'h', 'd'), (count, letter) => {
      const given = `${count}${letter}`;
      return windows.parse(windows.format(given)) === given;
    }),
    { seed },
  );
});

t.test('other text is never read as a value, and never throws', async () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...scaledUnits), (typed, name) => {
      const value = of(name).parse(typed);
      return value === null || (Number.isSafeInteger(value) && Number(value) >= 0 && /\d/.test(typed));
    }),
    { seed },
  );
});

t.test('other units have no other writing', async (t) => {
  for (const name of ['percent', 'requests', 'points', undefined])
    t.equal(unitOf(name === undefined ? {} : { 'x-unit': name }), null, String(name));
});
