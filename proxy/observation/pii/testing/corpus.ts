// Labelled values for the detectors of personal data, made here: national ids of every row with valid check digits in
// the forms that people write, cards and IBANs in every grouping, secrets, and what looks like them and is none.
import { ibanLengths, isCard, isIban } from '../../../masking/personal-data.js';
import { nationalIdOf } from '../national-ids.js';
import type { PiiKind } from '../detect.js';

export interface Sample {
  readonly name: string;
  readonly value: string;
  /** null: none. */
  readonly kind: PiiKind | null;
  readonly what: string;
}

/** Numbers in [0, 1), the same ones each time (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** `#` a digit, `@` a capital, `?` a consonant's capital, everything else itself. */
export function filled(random: () => number, form: string): string {
  const pick = (of: string): string => of[Math.floor(random() * of.length)] as string;
  return form.replace(/[#@?]/g, (sign) =>
    sign === '#' ? pick('0123456789') : pick(sign === '@' ? 'ABCDEFGHIJKLMNOPQRSTUVWXYZ' : 'BCDFGHJKLMNPRSTVZ'),
  );
}

/** Country, form, name of the member, and the same in a sentence where that says enough. */
const ids: readonly (readonly [country: string, form: string, name: string, prose?: string])[] = [
  ['US', '###-##-####', 'value', 'filed under % last week'],
  ['US', '### ## ####', 'ssn', 'his SSN is % as of today'],
  ['US', '#########', 'social_security_number'],
  ['DE', '## ### ### ###', 'note', 'Steuer-ID: % (Finanzamt)'],
  ['DE', '###########', 'steuer_id', 'TIN % was given'],
  ['FR', '2 85 05 78 0## ### ##', 'numero', 'assurée % à Paris'],
  ['FR', '18505780######1', 'nir', 'NIR %'],
  ['IN', '@@@P@####@', 'pan'],
  ['IN', '@@@P@####@', 'document'],
  ['IN', '#### #### ####', 'value', 'id % was shown'],
  ['IN', '############', 'aadhaarNumber', 'Aadhaar no. % is on file'],
  ['IT', '??????85T10A###?', 'value', 'il cliente RSSMRA85T10A562S ha'],
  ['ES', 'X-#######-@', 'value', 'con NIE %,'],
  ['ES', '########@', 'dni', 'DNI %.'],
  ['NL', '#########', 'bsn', 'BSN % staat vermeld'],
  ['NL', '### ### ###', 'burgerservicenummer'],
  ['BE', '85.07.30-###.##', 'value', 'rijksregister %'],
  ['BE', '850730#####', 'niss'],
  ['SE', '811218-####', 'value', 'född %, bor i Malmö'],
  ['SE', '19811218####', 'personnummer'],
  ['PL', '440514#####', 'pesel', 'PESEL % podano'],
  ['BR', '###.###.###-##', 'value', 'o CPF % foi'],
  ['BR', '###########', 'cpf'],
  ['BR', '##.###.###/0001-##', 'value', 'empresa % ltda'],
  ['BR', '##########0001##'.slice(2), 'cnpj'],
  ['KR', '800101-1######', 'value', '(%)'],
  ['CN', '110105194912310##X', 'value', '身份证 % 号'],
  ['GB', 'AB ## ## ## C', 'nino', 'NI number % is yours'],
  ['GB', 'AB######C', 'value', 'number AB 12 34 56 C is'],
  ['GB', '### ### ####', 'nhs_number', 'NHS No. % seen'],
  ['CH', '756.####.####.##', 'value', 'AHV %'],
  ['FI', '131052-###T', 'value'],
  ['NO', '131052#####', 'fodselsnummer'],
  ['RO', '1800101######', 'cnp'],
  ['CL', '##.###.###-#', 'value', 'rut % en'],
  ['CA', '### ### ###', 'sin'],
  ['AU', '### ### ###', 'tfn', 'TFN % lodged'],
  ['PT', '2########', 'nif'],
  ['IE', '#######T', 'pps_number'],
  ['TR', '###########', 'tckn'],
  ['SG', 'S#######D', 'value'],
  ['KZ', '850730######', 'iin'],
];

function validId(random: () => number, [country, form, name]: (typeof ids)[number]): string | null {
  for (let tries = 0; tries < 20_000; tries += 1) {
    const value = filled(random, form);
    if (nationalIdOf(value, `${name.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ')}`) === country)
      return value;
  }
  return null;
}

export function validCard(random: () => number): string {
  const heads = [
    '4###############',
    '5555############',
    '37#############',
    '6011############',
    '30############',
    '4############',
  ];
  const more = [
    '6304###############',
    '5018############',
    '2221############',
    '62#################',
    '3528############',
  ];
  for (;;) {
    const value = filled(random, [...heads, ...more][Math.floor(random() * 11)] as string);
    if (isCard(value)) return value;
  }
}

const grouped = (text: string, sizes: readonly number[], sign: string): string => {
  const parts: string[] = [];
  let at = 0;
  for (let index = 0; at < text.length; index += 1) {
    const size = sizes[index % sizes.length] as number;
    parts.push(text.slice(at, at + size));
    at += size;
  }
  return parts.join(sign);
};
const groupings: readonly (readonly [sizes: readonly number[], sign: string])[] = [
  [[19], ''],
  [[4], ' '],
  [[4], '-'],
  [[4], '.'],
  [[4, 6, 5], ' '],
  [[6, 7, 6], ' '],
  [[8], ' '],
  [[4], '\u00a0'],
];

export function validIban(random: () => number, country: string): string {
  for (;;) {
    const value = `${country}${filled(random, '#'.repeat((ibanLengths.get(country) ?? 20) - 2))}`;
    const body = value.slice(4);
    for (let check = 2; check <= 98; check += 1) {
      const made = `${country}${String(check).padStart(2, '0')}${body}`;
      if (isIban(made)) return made;
    }
  }
}

const secrets: readonly (readonly [name: string, form: string])[] = [
  ['password', 'Tr0ub4dor&##'],
  ['api_key', 'k#f9@a#@c7#e@d#0b'],
  ['clientSecret', '#a@f#9c@e#b@d7#@f@1'],
  ['value', 'ghp_@#@#a@#c@#@#@#@#@#@#@#@#@#@#@#@#@#@#'],
  ['dsn', 'postgres://app:s#@cr#t@@db.example:5432/shop'],
  ['note', 'key sk_live_@#@#@#@#@#@#@#@#@# was used'],
  ['text', '-----BEGIN OPENSSH PRIVATE KEY-----'],
];
const noSecrets: readonly (readonly [name: string, form: string])[] = [
  ['password', '/etc/app/passwd#'],
  ['password', '/users/#/password/reset'],
  ['api_key', 'https://docs.example/keys/#'],
  ['api_key_url', 'a#@f#9c@e#b@d7#'],
  ['secret', 'vault:kv/data/app#'],
  ['secretName', 'db-credentials-v#'],
  ['password', 'C:\\Users\\app#\\pw.txt'],
  ['password', 'reset_required'],
  ['password_expires_at', '2026-1#-0#T10:00:00Z'],
  ['access_token', '{{TOKEN_#}}'],
  ['client_secret', 'arn:aws:secretsmanager:eu:1#:secret/x'],
  ['private_key', './keys/server#.pem'],
  ['auth_token', 'REDACTED'],
  ['api_key', 'keys.example.com/v#/list'],
];
const noIds: readonly (readonly [name: string, form: string])[] = [
  ['id', '###########'],
  ['count', '#########'],
  ['phone_ext', '##########'],
  ['reference', '############'],
  ['created', '17########'],
  ['sku', '@@@P@####@'],
  ['text', 'room ### ### ### on floor ##'],
  ['text', 'from ## ### ### to ## ### ###'],
  ['coordinates', '##.######, -#.######'],
  ['version', '1#.#.####.##'],
  ['tracking', '@@#########@@'],
  ['text', 'call ### ### #### ext #'],
  ['price', '#.###.###,##'],
  ['order', '########-####'],
  ['hash', 'a#f#c#d#e#b#9#a#f#c#'],
  ['isbn', '978-#-##-######-#'],
  ['time', '2026-#1-1# 10:##:##'],
  ['uuid', 'a#######-####-4###-a###-############'],
  ['license', '@@##-@@##-@@##'],
  ['ip', '10.#.##.#'],
];

/** The same samples for a seed. */
export function corpus(seed: number, each = 12): Sample[] {
  const random = seeded(seed);
  const samples: Sample[] = [];
  const add = (kind: PiiKind | null, what: string, name: string, value: string): number =>
    samples.push({ kind, what, name, value });
  for (const row of ids)
    for (let count = 0; count < each; count += 1) {
      const [country, , name, prose] = row;
      const value = validId(random, row);
      if (value === null) break;
      add('national_id', country, name, value);
      if (prose !== undefined) add('national_id', `${country} in prose`, 'text', prose.replace('%', value));
    }
  for (const [sizes, sign] of groupings)
    for (let count = 0; count < each; count += 1) {
      const value = grouped(validCard(random), sizes, sign);
      add('card', `card ${sizes.join('-')}`, 'number', value);
      add('card', 'card behind No.', 'text', `No.${value}, thank you`);
      add('card', 'card in prose', 'text', `charged to ${value} today`);
    }
  for (const country of ibanLengths.keys()) {
    const value = validIban(random, country);
    add('iban', country, 'value', value);
    add('iban', `${country} grouped`, 'text', `to ${grouped(value, [4], ' ')} please`);
  }
  for (const [forms, kind] of [
    [secrets, 'secret'],
    [noSecrets, null],
    [noIds, null],
  ] as const)
    for (const [name, form] of forms)
      for (let count = 0; count < each; count += 1) add(kind, name, name, filled(random, form));
  return samples;
}
