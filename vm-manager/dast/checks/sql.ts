// SQL injection: by the message of the database, by a pair of conditions, by the time that an answer takes.
import { randomInt } from 'node:crypto';
import type { Exchange, Proof } from '../model.js';
import { everyTurn, everywhere, likeness, proveBy, readable, turnsOfSign, word } from './check.js';
import type { Attack, Check, Probe } from './check.js';
import { byTime } from './timing.js';

/** Messages of databases about text that they could not read as a statement. */
const messages: readonly RegExp[] = [
  /you have an error in your sql syntax/i,
  /\bsqlite(?:3)?[ _.](?:error|exception|operationalerror)|near "[^"]{0,80}": syntax error|unrecognized token: "/i,
  /syntax error at or near "|unterminated quoted string at or near/i,
  /unclosed quotation mark after the character string|incorrect syntax near '/i,
  /\bORA-0(?:0933|1756|0921|1789)\b|quoted string not properly terminated/i,
  /\bER_(?:PARSE|BAD_FIELD)_ERROR\b|\bPG::SyntaxError|\bJdbcSQL\w*Exception|\bSQLite3::\w*Exception/,
  /\bWarning: (?:mysqli?|pg|sqlite|odbc|mssql|oci)_\w+\(|\bincomplete input\b.{0,40}SQL|SequelizeDatabaseError/i,
  /\bDB2 SQL error\b|SQLSTATE\[\d|\bPSQLException\b|\bSQLServerException\b|java\.sql\.SQL\w*Exception/i,
];
const hasMessage = ({ body }: Exchange): boolean => messages.some((form) => form.test(readable(body)));

async function byError(probe: Probe): Promise<Proof | null> {
  const base = await probe.baseline();
  if (base === null || hasMessage(base)) return null;
  const { value } = probe.param;
  const makers = ["'", '"', "')"].map((quote) => (): Attack => {
    const text = `${value}${word(4)}`;
    return {
      attack: `${text}${quote}`,
      neutral: `${text}${quote.replaceAll(/['"]/g, (one) => one + one)}`,
      shows: hasMessage,
    };
  });
  // a closed parenthesis is no statement even with its quote doubled: the plain text is its twin
  return proveBy(
    probe,
    makers.map((make) => () => {
      const made = make();
      return made.attack.endsWith(')') ? { ...made, neutral: made.attack.slice(0, -2) } : made;
    }),
    `In ${turnsOfSign} turns an unpaired quote made the database complain about its statement; a paired one did not.`,
    turnsOfSign,
  );
}

interface Pair {
  readonly isTrue: (value: string, seed: number) => string;
  readonly isFalse: (value: string, seed: number) => string;
}

const pairs: readonly Pair[] = [
  { isTrue: (v, n) => `${v}' AND '${n}'='${n}`, isFalse: (v, n) => `${v}' AND '${n}'='${n + 1}` },
  { isTrue: (v, n) => `${v} AND ${n}=${n}`, isFalse: (v, n) => `${v} AND ${n}=${n + 1}` },
  { isTrue: (v, n) => `${v}" AND "${n}"="${n}`, isFalse: (v, n) => `${v}" AND "${n}"="${n + 1}` },
  {
    isTrue: (v, n) => `${v}%' AND '${n}'='${n}' AND '%'='`,
    isFalse: (v, n) => `${v}%' AND '${n}'='${n + 1}' AND '%'='`,
  },
  { isTrue: (v, n) => `${v}') AND ('${n}'='${n}`, isFalse: (v, n) => `${v}') AND ('${n}'='${n + 1}` },
];

/**
 * For values that find nothing: what is true finds something. A condition that holds for every row may change them all
 * where the statement writes, so that these are tried only where it reads, or compares for a login.
 */
const alternatives: readonly Pair[] = [
  { isTrue: (v, n) => `${v}' OR '${n}'='${n}`, isFalse: (v, n) => `${v}' OR '${n}'='${n + 1}` },
  { isTrue: (v, n) => `${v}' OR '${n}'='${n}' -- `, isFalse: (v, n) => `${v}' OR '${n}'='${n + 1}' -- ` },
  { isTrue: (v, n) => `${v}" OR "${n}"="${n}`, isFalse: (v, n) => `${v}" OR "${n}"="${n + 1}` },
  { isTrue: (v, n) => `${v}%' OR '${n}'='${n}' OR '%'='x`, isFalse: (v, n) => `${v}%' OR '${n}'='${n + 1}' OR '%'='x` },
  { isTrue: (v, n) => `${v}') OR ('${n}'='${n}`, isFalse: (v, n) => `${v}') OR ('${n}'='${n + 1}` },
  { isTrue: (v, n) => `${v} OR ${n}=${n}`, isFalse: (v, n) => `${v} OR ${n}=${n + 1}` },
];

export const reads = ({ form }: Pick<Probe, 'form'>): boolean => {
  if (form.method === 'GET') return true;
  if (form.method !== 'POST') return false;
  const words = new URL(form.url).pathname.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll(/[-_.]+/g, ' ');
  return readingWords.test(words) && !writingWords.test(words);
};
const readingWords = new RegExp(
  '\\b(?:search\\w*|find\\w*|query|queries|filter\\w*|look ?up|list|log ?in|sign ?in|auth\\w*|sessions?|graphql|' +
    'check|verify|suche|track)\\b',
  'i',
);
const writingWords =
  /\b(?:add|update|edit|save|create|set|change|reset|register|sign ?up|insert|import|upload|move|buy|order|pay)\b/i;

/** A statement that is not asked for by the parameter would answer alike to both; text that is no SQL, too. */
async function byPair(probe: Probe): Promise<Proof | null> {
  const { value } = probe.param;
  const base = await probe.baseline();
  if (base === null) return null;
  const again = await probe.with(value);
  const third = await probe.with(value);
  if (again === null || third === null) return null;
  const isSame = (keepsNumbers: boolean): boolean =>
    [again, third].every((one) => likeness(one, [value], keepsNumbers) === likeness(base, [value], keepsNumbers));
  const keepsNumbers = isSame(true);
  if (!keepsNumbers && !isSame(false)) return null; // answers differ by themselves
  const wanted: IsAsBefore = (one, sent) => likeness(one, sent, keepsNumbers) === likeness(base, [value], keepsNumbers);
  for (const { isTrue, isFalse } of pairs) {
    if (isTrue(value, 1).includes(' AND 1=1') && !/^\d+$/.test(value)) continue;
    const proof = await tryPair(probe, { isTrue, isFalse }, wanted);
    if (proof !== null) return proof;
  }
  if (!reads(probe)) return null;
  for (const { isTrue, isFalse } of alternatives) {
    if (isTrue(value, 1).includes(' OR 1=1') && !/^\d+$/.test(value)) continue;
    // here the false one is what changes nothing
    const proof = await tryPair(probe, { isTrue: isFalse, isFalse: isTrue }, wanted);
    if (proof !== null)
      return {
        ...proof,
        why: `In ${turnsOfSign} turns a condition that is false changed nothing, a true one the answer.`,
      };
  }
  return null;
}

/** Whether an answer is what the value itself is answered with; without what was sent. */
type IsAsBefore = (exchange: Exchange, sent: readonly string[]) => boolean;

async function tryPair(probe: Probe, { isTrue, isFalse }: Pair, isAsBefore: IsAsBefore): Promise<Proof | null> {
  const { value } = probe.param;
  const why = `In ${turnsOfSign} turns a condition that is true changed nothing, and one that is false the answer.`;
  return everyTurn(turnsOfSign, async () => {
    const seed = randomInt(1000, 9000);
    const attack = isFalse(value, seed);
    const same = isTrue(value, seed);
    const neutral = await probe.with(same);
    if (neutral === null || !isAsBefore(neutral, [same, value])) return null;
    const exchange = await probe.with(attack);
    if (exchange === null || isAsBefore(exchange, [attack, value])) return null;
    return { attack, exchange, neutral, why };
  });
}

export const sqlChecks: readonly Check[] = [
  {
    id: 'sql-injection-error',
    title: 'SQL injection (message of the database)',
    severity: 'critical',
    cwe: 89,
    on: 'param',
    profiles: everywhere,
    description: 'A value from the request becomes part of an SQL statement: an unpaired quote breaks it.',
    remediation: 'Pass values as bound parameters of the statement; never join them into its text.',
    prove: byError,
  },
  {
    id: 'sql-injection-boolean',
    title: 'SQL injection (conditions)',
    severity: 'critical',
    cwe: 89,
    on: 'param',
    profiles: everywhere,
    description: 'A condition in the value is evaluated by the database: the answer depends on whether it is true.',
    remediation: 'Pass values as bound parameters of the statement; never join them into its text.',
    prove: byPair,
  },
  {
    id: 'sql-injection-time',
    title: 'SQL injection (time)',
    severity: 'critical',
    cwe: 89,
    on: 'param',
    profiles: ['standard', 'full', 'api', 'authenticated'],
    description: 'A function in the value makes the database wait: the answer takes as long as the value says.',
    remediation: 'Pass values as bound parameters of the statement; never join them into its text.',
    prove: async (probe) =>
      byTime(probe, [
        (v, s) => `${v}' AND SLEEP(${s}) AND '1'='1`,
        (v, s) => `${v} AND SLEEP(${s})`,
        (v, s) => `${v}' OR (SELECT 0 FROM (SELECT SLEEP(${s})) gh) OR '1'='2`,
        (v, s) => `${v}'||(SELECT pg_sleep(${s}))||'`,
        (v, s) => `${v}' OR 1=(SELECT 2 FROM pg_sleep(${s})) OR '1'='2`,
        (v, s) => `${v} AND 1=(SELECT 1 FROM pg_sleep(${s}))`,
        (v, s) => `${v};SELECT pg_sleep(${s})--`,
        (v, s) => `${v}'; WAITFOR DELAY '0:0:${s}'--`,
      ]),
  },
];
