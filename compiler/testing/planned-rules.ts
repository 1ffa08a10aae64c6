// Rules that show every way in which the planner answers an atom, their plans, and values made of what they look for.
import fc from 'fast-check';
import { hyperscanLibrary } from '#engine';
import type { PatternFit, PlanIR, Program, RuleIR } from '#engine/compile';
import { foldConstants } from '../passes/fold-constants.js';
import { DatabaseCompiler } from '../plan/database-compiler.js';
import { buildPlan } from '../plan/plan.js';
import { programOf } from './rule-text.js';

// The last two: Hyperscan has no anchor inside and only approximates (or refuses) what is huge; they go to an RE2 set.
const huge = `(?:${Array.from({ length: 60 }, (_, index) => `(?:a${index}|b)[^x]{1,40}c`).join('|')})`;
export const rules = `
SecRuleEngine On
SecRule ARGS "@rx evil" "id:1,phase:2,log,pass"
SecRule ARGS "@rx ^e.il$" "id:2,phase:2,log,pass,t:lowercase"
SecRule ARGS "@rx e\\s*vil" "id:3,phase:2,log,pass,t:urlDecodeUni,t:lowercase"
SecRule ARGS "@pm Union seLECT" "id:4,phase:2,log,pass,t:urlDecodeUni,t:removeNulls"
SecRule ARGS "@streq abc" "id:5,phase:2,log,pass,t:lowercase,t:trim"
SecRule ARGS "@beginsWith AB" "id:6,phase:2,log,pass,t:htmlEntityDecode"
SecRule ARGS "@endsWith .bak" "id:7,phase:2,log,pass,t:normalizePath"
SecRule ARGS "@contains ../" "id:8,phase:2,log,pass,t:urlDecodeUni,t:jsDecode,t:cssDecode"
SecRule ARGS "@rx ^$" "id:9,phase:2,log,pass,t:removeWhitespace"
SecRule ARGS "@rx [^a-z0-9]" "id:10,phase:2,log,pass"
SecRule ARGS "@within evil abc 1" "id:11,phase:2,log,pass,t:lowercase"
SecRule ARGS "@validateByteRange 32-126" "id:12,phase:2,log,pass,t:urlDecodeUni"
SecRule ARGS "@validateUrlEncoding" "id:13,phase:2,log,pass"
SecRule ARGS "@validateUtf8Encoding" "id:14,phase:2,log,pass"
SecRule ARGS "@detectSQLi" "id:15,phase:2,log,pass,t:urlDecodeUni"
SecRule ARGS "@rx 3" "id:16,phase:2,log,pass,t:length"
SecRule ARGS "@rx a[\\x80-\\xff]" "id:17,phase:2,log,pass,multiMatch,t:urlDecodeUni,t:lowercase,t:replaceComments"
SecRule ARGS "@eq 12" "id:18,phase:2,log,pass"
SecRule ARGS "@rx ${huge}" "id:19,phase:2,log,pass,t:lowercase"
SecRule ARGS "@rx (?:a|b$)\\d" "id:20,phase:2,log,pass,t:urlDecodeUni"
SecRule REQUEST_HEADERS:User-Agent "@rx evil|bot" "id:30,phase:1,log,pass"
SecRule REQUEST_HEADERS:User-Agent "@pm curl" "id:31,phase:1,log,pass"
SecRule REQUEST_FILENAME "@rx evil" "id:32,phase:1,log,pass,t:normalizePath"
SecRule REQUEST_FILENAME "@endsWith .bak" "id:33,phase:1,log,pass"
`;
export const long = `(?:${Array.from({ length: 90 }, (_, index) => `a${index};?b`).join('|')})`;
/**
 * So many that the patterns are cut down to the alphabets; most need a byte that some alphabet lacks, on some of their
 * paths.
 */
export const manyRules = [
  rules.replace(huge, long),
  ...Array.from({ length: 60 }, (_, index) => {
    const end = ['vil', '[^a]?1', '\\b', '(?:\\(|b)', '[.-]', '[;\x27a]*c'][index % 6];
    const pattern = `(?i)(?:e|[;<]v)${end}(?:x|[^\\w]|${index}|)`;
    const transformation = ['none', 'lowercase', 'urlDecodeUni'][index % 3];
    return `SecRule ARGS "@rx ${pattern}" "id:${100 + index},phase:2,log,pass,t:${transformation}"\n`;
  }),
  `
SecRule ARGS "@rx ${long}|^(?:evil|abc)" "id:200,phase:2,log,pass"
`,
].join('');

/** A compiler whose verdict about patterns is decided here, so that sets are used whatever this Hyperscan can do. */
class ChoosingCompiler extends DatabaseCompiler {
  override async classify(patterns: Parameters<DatabaseCompiler['classify']>[0]): Promise<readonly PatternFit[]> {
    const fits = await super.classify(patterns);
    return fits.map((fit, index) => ((patterns[index] as { source: string }).source.length > 400 ? 'prefilter' : fit));
  }
}

export interface Planned {
  readonly program: Program;
  readonly plan: PlanIR;
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

export async function planned(text: string): Promise<Planned> {
  const program = programOf(text);
  const compiler = new ChoosingCompiler({ find: () => null, keep: () => undefined }, hyperscanLibrary().version, 1);
  try {
    return { program, ...(await buildPlan(program, foldConstants(program), compiler)) };
  } finally {
    await compiler.close();
  }
}

/** The id of the rule that asks an atom. */
export function ruleOf({ program, plan }: Pick<Planned, 'program' | 'plan'>, atom: number): number {
  return (program.items[(plan.atoms[atom] as { readonly item: number }).item] as RuleIR).id;
}

const pieces = [
  'evil',
  'EVIL',
  'e vil',
  'union',
  'SELECT',
  'abc',
  'ABC',
  'AB',
  '.bak',
  '../',
  '..%2f',
  '%65',
  '%',
  '&#65;',
  '\\x2e',
  '/*x*/',
  ' ',
  '\t',
  '\n',
  '\0',
  'a\xff',
  '\xe9',
  "1' or '1'='1",
  '1',
  'b',
  'a0',
  'a12',
  'zzzz',
  'c',
  '-',
  'curl',
  'bot',
  '12',
  'a',
  '3',
];
export const value = fc.oneof(
  { weight: 4, arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join('')) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 255 }), { maxLength: 90 })
      .map((codes) => String.fromCharCode(...codes)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...pieces), fc.integer({ min: 0, max: 3000 }))
      .map(([text, count]) => `${'word '.repeat(count / 5)}${text}`),
  },
);
