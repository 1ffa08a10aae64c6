// Spellings of secrets that must be masked, in every form that a report gives them, and texts that must stay.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { maskSecrets, mayHoldSecret, patternsMask } from '../mask.js';
import { ordinaryTexts } from './ordinary.js';
import * as written from './spelled.js';
import * as settings from './spelled-settings.js';

const spelled = { ...written, ...settings };

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_127) });

const made = (length: number, of: string): string =>
  [...randomBytes(length)].map((byte) => of[byte % of.length]).join('');
const small = 'abcdefghijkmnopqrstuvwxyz';
const digits = '23456789';
/** As people and generators make them; new ones in each run. */
const kinds: Readonly<Record<string, () => string>> = {
  'a word with digits within': () => `K${made(4, small)}${made(2, digits)}x${made(1, digits)}`,
  'a word with signs': () => `w${made(1, digits)}${made(4, small)}-${made(1, digits)}G${made(1, small)}!`,
  'a word with a year': () => `S${made(5, small)}20${made(2, digits)}!x`,
};
const pin = '936427';

for (const [name, list] of Object.entries(spelled))
  t.test(`22 Q5: secrets in ${name}`, (t) => {
    for (const spelling of list)
      for (const [kind, make] of Object.entries(kinds)) {
        const secret = spelling.includes('§') ? make() : pin;
        const text = spelling.replaceAll('§', secret);
        for (const [place, given] of [
          ['alone', text],
          ['between lines', `x\n${text}\ny`],
          ['indented', `    ${text}`],
          ['in a value of JSON', JSON.stringify(text).slice(1, -1)],
        ] as const) {
          // in JSON the end of a line is no end of a line
          if (place === 'in a value of JSON' && /[\n\\]|^(?:\S+ \* )/.test(text)) continue;
          const masked = maskSecrets(given);
          t.notOk(masked.includes(secret.slice(-6)), `${spelling}, ${kind}, ${place}: ${masked}`);
          t.equal(maskSecrets(masked), masked, `${spelling}: the same when it is masked again`);
        }
      }
    t.end();
  });

t.test('22 Q5: ordinary texts stay', (t) => {
  for (const text of ordinaryTexts) t.equal(maskSecrets(text), text);
  t.end();
});

t.test('22 Q5: the quick look sees every spelling that the patterns mask', (t) => {
  const all = [...Object.values(spelled).flat(), ...ordinaryTexts];
  fc.assert(
    fc.property(
      fc.constantFrom(...all),
      fc.constantFrom(...Object.values(kinds).map((make) => make())),
      fc.nat(60),
      fc.nat(60),
      (spelling, secret, from, length) => {
        const whole = spelling.replaceAll('§', secret);
        for (const text of [whole, whole.slice(from), whole.slice(0, length)])
          if (!mayHoldSecret(text) && patternsMask(text) !== text) return false;
        return true;
      },
    ),
    { numRuns: 3000 },
  );
  t.end();
});

t.test('22 Q5: time grows with the length of a text only', (t) => {
  const pieces = [
    ...Object.values(spelled).flatMap((list) => list.map((spelling) => spelling.replace(/§.*/s, ''))),
    ...Object.values(spelled).flatMap((list) => list.map((spelling) => `${spelling.split(/\s/)[0]} `)),
    ...[
      'login(',
      'login("',
      "login('a',",
      '(((((',
      'x:1234:',
      'name="password" ',
      '<password ',
      'a * ',
      '$6$',
      '{SSHA}',
      '//a:',
    ],
    ...[
      'echo a|',
      'send "',
      '密码',
      'Passwort ',
      'password ',
      'pin ',
      'community ',
      '-p ',
      ' -',
      'mysql ',
      '${password:-',
      'jdbc:',
      'a b c ',
      ' stringData:\n a: b\n',
      '"****" + ',
      '/reset/',
      'п\u0430a',
    ],
  ];
  for (const piece of new Set(pieces.filter((one) => one !== ''))) {
    const text = piece.repeat(Math.ceil(20_000 / piece.length));
    const before = process.cpuUsage();
    maskSecrets(text);
    const { user, system } = process.cpuUsage(before);
    t.ok((user + system) / 1000 < 1000, `${piece}…: ${Math.round((user + system) / 1000)} ms`);
  }
  t.end();
});
