// 24: precision and recall of the detectors on labelled values, the check digits, and formats of answers.
import fc from 'fast-check';
import t from 'tap';
import { detectPii, lookForPii, piiKinds } from './detect.js';
import { isReadableType } from './formats.js';
import { hasMrz, nationalIdOf } from './national-ids.js';
import { corpus, seeded, validCard, validIban } from './testing/corpus.js';

t.test('24: precision of 0.99 and recall of 0.98 on labelled values', async (t) => {
  for (const seed of [1, 2, 3]) {
    const samples = corpus(seed);
    let right = 0;
    let wrong = 0;
    let missed = 0;
    const examples: string[] = [];
    for (const { name, value, kind, what } of samples) {
      const found = detectPii(value, name).filter((one) => one !== 'phone' && one !== 'email');
      if (kind !== null && found.some((one) => one === kind)) right += 1;
      else if (kind !== null) {
        missed += 1;
        examples.push(`missed ${what}: ${name} ${value}`);
      }
      const others = found.filter((one) => one !== kind).length;
      wrong += others;
      if (others > 0) examples.push(`wrong ${what} as ${found.join()}: ${name} ${value}`);
    }
    const [precision, recall] = [right / (right + wrong), right / (right + missed)];
    t.comment(`seed ${seed}: precision ${precision.toFixed(4)}, recall ${recall.toFixed(4)} of ${samples.length}`);
    t.ok(
      precision >= 0.99,
      `precision ${precision}: ${examples
        .filter((one) => one.startsWith('wrong'))
        .slice(0, 5)
        .join('; ')}`,
    );
    t.ok(
      recall >= 0.98,
      `recall ${recall}: ${examples
        .filter((one) => one.startsWith('missed'))
        .slice(0, 5)
        .join('; ')}`,
    );
  }
  t.equal(piiKinds.length, 6);
});

t.test('24: ids that their issuers publish as examples, and those with another check digit', async (t) => {
  const cases: readonly [country: string, name: string, value: string, wrong: string][] = [
    ['DE', 'steuer_id', '86095742719', '86095742718'],
    ['DE', 'steuer_id', '47036892816', '47036892817'],
    ['FR', 'nir', '255081416802538', '255081416802539'],
    ['ES', '', 'X-1234567-L', 'X-1234567-M'],
    ['NL', 'bsn', '111222333', '111222334'],
    ['BE', '', '85.07.30-033.28', '85.07.30-033.29'],
    ['SE', '', '811218-9876', '811218-9875'],
    ['PL', 'pesel', '44051401359', '44051401358'],
    ['PL', 'pesel', '44051401359', '44991401352'],
    ['BR', '', '529.982.247-25', '529.982.247-26'],
    ['BR', '', '11.222.333/0001-81', '11.222.333/0001-82'],
    ['CN', '', '11010519491231002X', '110105194912310021'],
    ['GB', 'nhs', '943 476 5919', '943 476 5918'],
    ['IT', '', 'RSSMRA85T10A562S', 'RSSMRA85T10A562T'],
    ['IT', '', 'rssmra85t10a562s', 'rssmra85t10a562t'],
    ['CH', '', '756.9217.0769.85', '756.9217.0769.84'],
    ['FI', '', '131052-308T', '131052-308U'],
    ['CL', '', '12.345.678-5', '12.345.678-6'],
    ['IE', 'pps', '1234567T', '1234567U'],
    ['CA', 'sin', '046 454 286', '046 454 287'],
    ['AU', 'tfn', '123 456 782', '123 456 783'],
    ['PT', 'nif', '123456789', '123456788'],
    ['MX', '', 'HEGG560427MVZRRL04', 'HEGG560427MVZRRL05'],
  ];
  for (const [country, name, value, wrong] of cases) {
    t.equal(nationalIdOf(value, name), country, value);
    t.equal(nationalIdOf(wrong, name), null, wrong);
  }
  t.ok(hasMrz('P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10'));
  t.ok(hasMrz('I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA'));
  t.notOk(hasMrz('P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C46UTO7408122F1204159ZE184226B<<<<<10'));
});

const seeds = fc.integer({ min: 1, max: 1_000_000 });

t.test('24: another digit anywhere is no card and no IBAN', async (t) => {
  const held = (run: () => void, what: string): unknown => t.doesNotThrow(run, what);
  held(
    () =>
      fc.assert(
        fc.property(seeds, fc.nat(18), fc.integer({ min: 1, max: 9 }), (seed, place, by) => {
          const card = validCard(seeded(seed));
          const at = place % card.length;
          const other = `${card.slice(0, at)}${(Number(card[at]) + by) % 10}${card.slice(at + 1)}`;
          return detectPii(card).includes('card') && !detectPii(other).includes('card');
        }),
        { numRuns: 500, seed: 24 },
      ),
    'cards',
  );
  held(
    () =>
      fc.assert(
        fc.property(seeds, fc.nat(40), fc.integer({ min: 1, max: 9 }), (seed, place, by) => {
          const iban = validIban(seeded(seed), 'SE');
          const at = 2 + (place % (iban.length - 2));
          const other = `${iban.slice(0, at)}${(Number(iban[at]) + by) % 10}${iban.slice(at + 1)}`;
          return detectPii(iban).includes('iban') && !detectPii(other).includes('iban');
        }),
        { numRuns: 500, seed: 24 },
      ),
    'IBANs',
  );
});

t.test('24: lines of JSON, tables and XML are read as JSON is', async (t) => {
  const cases: readonly [type: string, body: string, places: string[]][] = [
    [
      'application/x-ndjson',
      '{"a":{"mail":"a@b.example"}}\n{"card":"4111111111111111"}\n',
      ['/*/a/mail email', '/*/card card'],
    ],
    ['application/json-seq', '\u001e{"mail":"a@b.example"}\n', ['/*/mail email']],
    ['text/csv', 'id,"ssn, or so",mail\n1,078 05 1121,"a@b.example"\n', ['/*/ssn, or so national_id', '/*/mail email']],
    ['text/csv', 'id;bsn\n1;111222333\n', ['/*/bsn national_id']],
    ['text/csv', '7,a@b.example\n', ['/*/1 email']],
    ['text/tab-separated-values', 'name\tsteuer_id\nA\t86095742719', ['/*/steuer_id national_id']],
    [
      'application/xml',
      '<a><x:bsn>111222333</x:bsn><b mail="a@b.example"/></a>',
      ['/a/bsn national_id', '/a/b/mail email'],
    ],
    ['application/atom+xml', '<a><![CDATA[a@b.example]]></a>', ['/a email']],
    ['text/plain', 'write to a@b.example', [' email']],
    [
      'application/json',
      '{"rows":[{"password":"/etc/passwd1"},{"password":"Tr0ub4dor&3"}]}',
      ['/rows/*/password secret'],
    ],
  ];
  for (const [type, body, places] of cases) {
    const found: string[] = [];
    lookForPii('response', type, Buffer.from(body), (place, kind) => found.push(`${place} ${kind}`));
    t.same(
      found,
      places.map((place) => `response:${place}`),
      `${type} ${body}`,
    );
    if (type !== 'application/json') t.ok(isReadableType(type), type);
  }
});

t.test('24: hostile tables, lines and documents take no time', async (t) => {
  const types = ['text/csv', 'application/x-ndjson', 'application/xml', 'text/plain'];
  const pieces = ['"', '""', ',', '<', '<a ', '<a b="', '&lt;', '{"a":', '12 ', '1-', 'AB 12 ', '<<', '1234.'];
  for (const type of types)
    for (const piece of pieces) {
      const body = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)));
      const began = process.cpuUsage().user;
      lookForPii('response', type, body, () => undefined);
      t.ok(process.cpuUsage().user - began < 200_000, `${type} ${piece}`);
    }
});
