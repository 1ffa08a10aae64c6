// Secrets that are made of letters only, behind a name of a secret: what tells them from words of prose and of code.

/** What descriptions, types and code write behind such a name; none of it is a secret. */
const ordinary = new Set(
  (
    'string number boolean integer object array bytes char varchar text nullable unknown undefined symbol ' +
    'required optional missing invalid valid expired revoked rotated unset empty blank absent present stored ' +
    'hidden redacted masked removed deleted changed default enabled disabled unused random generated encrypted ' +
    'hashed hardcoded exposed leaked found detected verified unverified weak strong prompt environment vault ' +
    'value values input output params request response result config settings options payload headers headers ' +
    'context session cookies username email address account person people login logout method function process ' +
    'global window document module exports return await async import client server handler service manager'
  ).split(' '),
);
/** Sentences have some of these, phrases of a dice do not. */
const joints = new Set(
  (
    'the and for not are was were has have had can may must should will would shall could with without from into ' +
    'your you this that these those its than then when where which who what why how all any each only also but ' +
    'use used using set sets via per does did been being before after least most more between characters'
  ).split(' '),
);

/** A run of letters that nobody names a variable: of one case, or of cases that change all the time. */
export function isOpaque(value: string): boolean {
  if (!/^[A-Za-z]{16,}$/.test(value)) return false;
  if (/^(?:[a-z]+|[A-Z]+)$/.test(value)) return true;
  const changes = value.match(/[a-z](?=[A-Z])/g)?.length ?? 0;
  return changes / value.length >= 0.25;
}

/** One word of a file of settings: `password: swordfish`. */
export const isSecretOfLine = (value: string): boolean =>
  /^(?:[a-z]{6,}|[A-Z]{6,})$/.test(value) && !ordinary.has(value.toLowerCase());

/** `correct horse battery staple`: small words, and no sentence. */
export function isPhrase(value: string): boolean {
  const words = value.split(/[ _.-]/);
  return (
    words.length >= 3 &&
    words.length <= 12 &&
    words.every((word) => /^[a-z]{3,20}$/.test(word) && !joints.has(word)) &&
    words.filter((word) => ordinary.has(word)).length * 2 < words.length
  );
}

/** A whole line of settings with a phrase; the phrase is the second group. */
export const phraseLine = new RegExp(
  [
    /((?:passw(?:or)?d|passphrase|passwd|pwd|secret)\w{0,20}["']?\s{0,5}[:=]\s{0,5})/,
    /([a-z]{3,20}(?: [a-z]{3,20}){3,11})(?=[ \t]{0,20}$)/,
  ]
    .map(({ source }) => source)
    .join(''),
  'gim',
);
