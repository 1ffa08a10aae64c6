// Rules that ordinary data matches: their match alone says little, and is held against the signs of its kind. A rule
// that is not here is believed as it is. Chosen are rules of one link that honest requests of half A of the corpus
// (bench/second-opinion) match, or that general knowledge names, and whose pattern a person understands to be met by
// data.
import { weakRulesOfLevels } from './higher-levels.js';
import type { AttackKind } from './sign.js';

export interface WeakRule {
  readonly kind: AttackKind;
  /** Points that the match itself brings towards `supportedFrom`. */
  readonly prior: number;
  /** Why honest requests match it. */
  readonly why: string;
}

const weak = (kind: AttackKind, prior: number, why: string): WeakRule => ({ kind, prior, why });

export const weakRules: ReadonlyMap<number, WeakRule> = new Map([
  [921_130, weak('header', 0, 'the name of a protocol is a value of timings and logs')],
  [921_140, weak('header', 0, 'a line break at the end of a cookie is no header')],
  [930_120, weak('file', 0, 'names of files are parts of words and of keys')],
  [932_125, weak('code', 0, 'aliases of PowerShell are two letters')],
  [932_130, weak('code', 0, 'placeholders of advertising addresses are written ${NAME}')],
  [932_230, weak('code', 0, 'short words behind separators are in lists and tables')],
  [932_235, weak('code', 0, 'short words behind separators are in lists and tables')],
  [932_250, weak('code', 0, 'names of commands begin sentences')],
  [932_260, weak('code', 0, 'names of commands are values of options')],
  [932_270, weak('code', 0, 'a tilde with a sign is in opaque tokens')],
  [932_370, weak('code', 0, 'words of Windows commands are parts of addresses and documents')],
  [932_380, weak('code', 0, 'words of Windows commands are parts of addresses and documents')],
  [933_135, weak('code', 0, 'placeholders of advertising addresses are written ${NAME}')],
  [941_100, weak('script', 0, 'anything behind a bracket or quote is taken for markup')],
  [941_130, weak('script', 0, 'names of attributes are in documents and media types')],
  [941_170, weak('script', 0, 'addresses with data are in style sheets')],
  [941_210, weak('script', 0, 'the name of a language before a colon is a title or a version')],
  [942_100, weak('sql', 2, 'signs of a comment are in identifiers of consent')],
  [942_190, weak('sql', 0, 'words of SQL are in prose and in documents')],
  [942_290, weak('sql', 0, 'a dollar sign before a word is in documents of GraphQL and in tokens')],
  [942_550, weak('sql', 0, 'every document of JSON in a parameter looks like one in SQL')],
  ...weakRulesOfLevels,
]);
