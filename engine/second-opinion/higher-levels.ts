// Rules of paranoia levels 2 to 4. They look for less than an attack: four marks of punctuation in a cookie, a link to
// another host, a word of a shell. Most honest visits have such things. Chosen as in weak-rules.ts: rules that honest
// requests of half A match, and whose pattern ordinary data is understood to meet. Rules about characters and names are
// weighed by the signs of every kind in what they matched. All others of these levels are believed as they are.
import { isTextLike } from '../body/besides/text-like.js';
import type { Transaction } from '../transaction/transaction.js';
import type { ProtocolRule } from './protocol-rules.js';
import type { AttackKind } from './sign.js';
import { findSigns } from './support.js';
import type { WeakRule } from './weak-rules.js';

/** Bytes of all arguments that are read as one; of longer ones the rule is believed. */
const argumentBytesMax = 65_536;
const kinds: readonly AttackKind[] = ['sql', 'code', 'script', 'file', 'header'];

type Row = readonly [ids: readonly number[], kind: AttackKind, prior: number, why: string];

const marks = 'punctuation of a value, or how often it stands there: identifiers, addresses and documents have it';
const words = 'words and marks of prose, documents and addresses, in an order that SQL has, too';
const shell = 'marks and short words of a shell, which addresses, tokens and documents are full of';

const rows: readonly Row[] = [
  [[942_420, 942_421, 942_430, 942_431, 942_432, 942_460], 'sql', 0, marks],
  [[942_120, 942_131, 942_200, 942_310, 942_330, 942_340, 942_370, 942_440, 942_490], 'sql', 0, words],
  [[942_180, 942_260, 942_300, 942_511, 942_520, 942_530], 'sql', 2, words],
  [[932_190, 932_200, 932_232, 932_236, 932_237, 932_238, 932_239, 932_240], 'code', 0, shell],
  [[932_271, 932_331, 932_350, 932_371], 'code', 0, shell],
  [[931_130, 931_131], 'file', 0, 'an address of another host: links, pictures and ways back are such values'],
  [[933_190, 933_211], 'code', 0, 'marks of PHP are those of XML, and of packed data that somebody reads as text'],
  [[944_152], 'code', 0, 'placeholders of advertising addresses are written ${NAME}'],
  [[934_120], 'code', 0, 'an address with a number for its host, or a part that looks like one'],
  [
    [941_150, 941_330, 941_340],
    'script',
    0,
    'names of attributes, quotes and equal signs are in addresses and documents',
  ],
  [[941_380], 'script', 0, 'placeholders of advertising addresses are written {{NAME}}'],
];

/** Rules of levels 2 to 4 whose match says little, as `weakRules` of level 1. */
export const weakRulesOfLevels: ReadonlyMap<number, WeakRule> = new Map(
  rows.flatMap(([ids, kind, prior, why]) => ids.map((id) => [id, { kind, prior, why }] as const)),
);

/** One or more pieces of a resource, as players of media and readers of documents ask for them (RFC 9110, 14.2). */
const ranges = /^bytes=(?:\d+-\d*|-\d+)(?:,\s*(?:\d+-\d*|-\d+)){0,5}$/i;

const signsOfAll = (raw: string, value = raw): readonly string[] => [
  ...new Set(kinds.flatMap((kind) => findSigns(kind, { raw, value }).map(({ name }) => name))),
];

/**
 * Arguments of one name, or members of one list (`a[]`, `a[1]b`), reach an application as one text, so they are
 * searched for signs as one, too, without what stands between them. All of them are searched in their order besides.
 */
function searchArguments({ argsGet, body }: Transaction): readonly string[] {
  const names = [...argsGet.names, ...body.argsPost.names];
  const values = [...argsGet.values, ...body.argsPost.values];
  if (values.reduce((sum, { length }) => sum + length + 1, 0) > argumentBytesMax) return ['too-long'];
  const together = new Map<string, string[]>();
  for (const [index, value] of values.entries()) {
    const name = (names[index] as string).replace(/\[.*/s, '').toLowerCase();
    const known = together.get(name);
    if (known === undefined) together.set(name, [value]);
    else known.push(value);
  }
  const lists = [...together.values()].filter(({ length }) => length > 1).map((list) => list.join(','));
  return [...new Set([values.join(','), ...lists].flatMap((text) => signsOfAll(text)))];
}

/** By transaction: each of some hundred names matches these rules. */
const searched = new WeakMap<Transaction, { readonly count: number; readonly doubts: readonly string[] }>();

function doubtsOfArguments(transaction: Transaction): readonly string[] {
  const count = transaction.argsGet.size + transaction.body.argsPost.size;
  const known = searched.get(transaction);
  if (known?.count === count) return known.doubts;
  const doubts = searchArguments(transaction);
  searched.set(transaction, { count, doubts });
  return doubts;
}

const characters: ProtocolRule = {
  why: 'characters that few requests have; the value they stand in has no sign of an attack',
  doubts: (_, { raw, value }, isTooMuch) => (isTooMuch ? ['too-long'] : signsOfAll(raw, value)),
};
/** What is written in a language is looked at by the rules of attacks; here it counts how it is written. */
const letters: ProtocolRule = {
  why: 'letters and marks beyond a strict set; the value is text in UTF-8, or has no sign of an attack',
  doubts: (transaction, found, isTooMuch) =>
    isTextLike(Buffer.from(found.value, 'latin1')) ? [] : characters.doubts(transaction, found, isTooMuch),
};

/** Every field of that name: a server may read the last one, or each. */
const doubtsOfRange = ({ requestHeaders: { names, values } }: Transaction): readonly string[] =>
  values.every((value, index) => (names[index] as string).toLowerCase() !== 'range' || ranges.test(value))
    ? []
    : ['ranges'];
const names: ProtocolRule = {
  why: 'a name that comes twice, or with brackets, as forms of PHP and Rails have them; no sign in their values',
  doubts: doubtsOfArguments,
};

/** Of levels 2 to 4. Fields, methods and media types that a level forbids are obeyed: no data has them by chance. */
export const protocolRulesOfLevels: readonly (readonly [number, ProtocolRule])[] = [
  [920_230, { ...characters, why: 'text that was encoded twice, as addresses within addresses are; no sign in it' }],
  [920_271, characters],
  [920_272, letters],
  [920_273, letters],
  [920_274, letters],
  [921_180, names],
  [921_210, names],
  [921_220, names],
  [
    921_230,
    {
      why: 'a piece of a resource; up to six are what players and readers of documents ask for',
      doubts: doubtsOfRange,
    },
  ],
];
