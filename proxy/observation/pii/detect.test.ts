// U5: detectors of personal data: vectors, and precision and recall on labelled corpora made here.
import t from 'tap';
import { isLuhnValid } from '../../masking/personal-data.js';
import { detectPii, lookForPii, piiKinds, type PiiKind } from './detect.js';
import { nationalIdOf, nationalIds } from './national-ids.js';

function seeded(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) >>> 0;
    return (state ^ (state >>> 13)) >>> 0 > 0 ? ((state ^ (state >>> 13)) >>> 0) % most : 0;
  };
}
const next = seeded(7);
const digits = (count: number): string => Array.from({ length: count }, () => next(10)).join('');
const letters = (count: number, alphabet = 'abcdefghijklmnopqrstuvwxyz'): string =>
  Array.from({ length: count }, () => alphabet[next(alphabet.length)]).join('');
const withLuhn = (head: string): string => {
  for (let last = 0; last < 10; last += 1) if (isLuhnValid(`${head}${last}`)) return `${head}${last}`;
  return head;
};
const card = (): string =>
  withLuhn([`4${digits(14)}`, `5${1 + next(5)}${digits(13)}`, `37${digits(12)}`][next(3)] as string);
const four = (text: string): string => text.replace(/(\d{4})(?=\d)/g, '$1 ');
const iban = (): string => {
  const body = `37040044${digits(10)}`;
  const rest = [...`${body}131400`].reduce((sum, one) => (sum * 10 + Number(one)) % 97, 0);
  return `DE${String(98 - rest).padStart(2, '0')}${body}`;
};
const nationalId = (country: string, make: () => string): string => {
  for (;;) {
    const value = make();
    if (nationalIdOf(value, 'national id') === country) return value;
  }
};

type Sample = readonly [name: string, value: string];
const many = (make: () => Sample, count = 60): Sample[] => Array.from({ length: count }, make);

const positives: Readonly<Record<PiiKind, readonly Sample[]>> = {
  card: [
    ...many(() => ['number', card()]),
    ...many(() => ['pan', four(withLuhn(`4${digits(14)}`))]),
    ...many(() => ['note', `paid with ${withLuhn(`5${1 + next(5)}${digits(13)}`)} today`]),
  ],
  iban: [
    ...many(() => ['account', iban()]),
    ...many(() => [
      'text',
      `please send it to ${iban()
        .replace(/(.{4})/g, '$1 ')
        .trim()}, thanks`,
    ]),
  ],
  email: [
    ...many(() => ['email', `${letters(6)}.${letters(4)}@${letters(5)}.example.org`]),
    ...many(() => ['from', `"A B" <${letters(5)}+tag@${letters(7)}.com>`]),
  ],
  phone: [
    ...many(() => ['contact', `+49 ${digits(3)} ${digits(7)}`]),
    ...many(() => ['phoneNumber', `(${2 + next(7)}${digits(2)}) ${digits(3)}-${digits(4)}`]),
    ...many(() => ['text', `call +1-${2 + next(7)}${digits(2)}-${digits(3)}-${digits(4)} now`]),
  ],
  national_id: [
    ...many(() => ['ssn', `${100 + next(500)}-${10 + next(80)}-${1000 + next(8000)}`]),
    ...many(() => ['x', withLuhn(`7841985${digits(7)}`)]),
    ...many(() => ['cpf', nationalId('BR', () => `${digits(3)}.${digits(3)}.${digits(3)}-${digits(2)}`)], 20),
    ...many(() => ['dni', nationalId('ES', () => `${digits(8)}${letters(1, 'ABCDEFGHJKLMNPQRSTVWXYZ')}`)], 20),
    ...many(() => ['pesel', nationalId('PL', () => `8${digits(10)}`)], 20),
    ...many(() => ['aadhaar_number', nationalId('IN', () => `${2 + next(8)}${digits(11)}`)], 20),
  ],
  secret: [
    ...many(() => ['token', `ghp_${letters(36, 'ABCDEFabcdef0123456789')}`]),
    ...many(() => ['key', `AKIA${letters(16, 'ABCDEFGHIJKLMNOP234567')}`]),
    ...many(() => ['jwt', `eyJhbGciOiJIUzI1NiJ9.${letters(30)}.${letters(43)}`]),
    ...many(() => ['client_secret', letters(32, 'abcdefABCDEF0123456789')]),
    ...many(() => ['password', `${letters(5)}${digits(3)}!${letters(3, 'XYZ')}`]),
  ],
};

/** Near misses: what systems have in their answers, and is nothing of the above. */
const negatives: readonly Sample[] = [
  ...many(() => ['orderId', digits(16)]),
  ...many(() => ['id', `4${digits(15)}`]),
  ...many(() => ['created', String(1_600_000_000_000 + next(90_000_000) * 1000)]),
  ...many(() => ['traceId', `1${digits(17)}`]),
  ...many(() => ['uuid', `${letters(8, '0123456789')}-${digits(4)}-4${digits(3)}-a${digits(3)}-${digits(12)}`]),
  ...many(() => ['hash', letters(40, '0123456789abcdef')]),
  ...many(() => ['price', `${digits(4)}.${digits(2)}`]),
  ...many(() => ['image', `logo@${next(3) + 1}x.png`]),
  ...many(() => ['user', `${letters(5)}@${letters(6)}`]),
  ...many(() => ['quantity', digits(9)]),
  ...many(() => ['version', `${next(9)}.${next(99)}.${next(99)}-${digits(4)}`]),
  ...many(() => ['tracking', `DE${digits(20)}`]),
  ...many(() => ['date', `2026-0${1 + next(9)}-1${next(9)}T1${next(9)}:00:00+02:00`]),
  ...many(() => ['sku', `${letters(3, 'ABC')}-${digits(6)}`]),
  ...many(() => ['text', `there are ${digits(3)} of ${digits(6)} in ${digits(4)}-${digits(4)}`]),
  ...many(() => ['password_hint', 'the name of my first cat']),
  ...many(() => ['password', '********']),
  ...many(() => ['isbn', `978${digits(10)}`]),
  ...many(() => ['coordinates', `${digits(2)}.${digits(12)}, -${digits(2)}.${digits(12)}`]),
  ...many(() => ['balance', digits(11)]),
];

t.test('U5: precision and recall of each detector', async (t) => {
  for (const kind of piiKinds) {
    const found = (samples: readonly Sample[]): number =>
      samples.filter(([name, value]) => detectPii(value, name).includes(kind)).length;
    const right = found(positives[kind]);
    const others = piiKinds.filter((other) => other !== kind).flatMap((other) => positives[other]);
    const misses = [...negatives, ...others];
    const wrong = found(misses);
    const recall = right / positives[kind].length;
    const precision = right / (right + wrong);
    t.comment(`${kind}: precision ${precision.toFixed(4)}, recall ${recall.toFixed(4)} of ${positives[kind].length}`);
    const first = misses.find(([name, value]) => detectPii(value, name).includes(kind));
    t.ok(precision >= 0.99, `${kind}: precision ${precision}; such as ${String(first)}`);
    const missed = positives[kind].find(([name, value]) => !detectPii(value, name).includes(kind));
    t.ok(recall >= 0.99, `${kind}: recall ${recall}; such as ${String(missed)}`);
  }
});

t.test('U5: vectors', async (t) => {
  const cases: [string, string, PiiKind[]][] = [
    ['', '4111111111111111', ['card']],
    ['', '5555555555554444', ['card']],
    ['', '378282246310005', ['card']],
    ['', '2223000048400011', ['card']],
    ['', '4111111111111112', []],
    ['', '4111 1111 1111 1111', ['card']],
    ['', 'x4111111111111111', []],
    ['', '94111111111111111111', []],
    ['', '4444444444444444', []],
    ['', 'GB82WEST12345698765432', ['iban']],
    ['', 'AZ21NABZ00000000137010001944', ['iban']],
    ['', 'GB82WEST12345698765431', []],
    ['', '784198012345678', ['national_id']],
    ['', '078-05-1120', []],
    ['', '219-09-9999', []],
    ['', '666-12-3456', []],
    ['', 'S1234567D', ['national_id']],
    ['', '12345678Z', ['national_id']],
    ['', 'RSSMRA85T10A562S', ['national_id']],
    ['', '11010519491231002X', ['national_id']],
    ['', 'user@host', []],
    ['', 'icon@2x.png', []],
    ['', '-----BEGIN RSA PRIVATE KEY-----', ['secret']],
    ['', 'eyJhbGciOiJub3RoaW5n.abc', []],
  ];
  for (const [name, value, expected] of cases) t.same(detectPii(value, name), expected, value);
  t.ok(nationalIds.length >= 15);
});

t.test('U5: places are pointers, and no value leaves', async (t) => {
  const places: string[] = [];
  const body = { items: [{ mail: 'a@b.example', card: { number: '4111111111111111' } }], 7001: 'x' };
  lookForPii('response', 'application/json', Buffer.from(JSON.stringify(body)), (place, kind) =>
    places.push(`${place} ${kind}`),
  );
  t.same(places, ['response:/items/*/mail email', 'response:/items/*/card/number card']);
  const prose: string[] = [];
  lookForPii('response', 'text/html', Buffer.from('<p>write to a@b.example'), (place, kind) =>
    prose.push(`${place} ${kind}`),
  );
  t.same(prose, ['response: email']);
});

t.test('U5: hostile values take no time', async (t) => {
  for (const piece of ['a@', '1', '1 ', '+1', 'DE12', 'eyJ', 'a.', '-', ' ', '1-', 'a@a.', 'AKIA']) {
    const began = process.cpuUsage().user;
    for (let round = 0; round < 20; round += 1) detectPii(piece.repeat(600), piece.repeat(40));
    const us = (process.cpuUsage().user - began) / 20;
    t.ok(us < 20_000, `${piece}: ${us} us`);
  }
});
