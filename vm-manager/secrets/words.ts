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
  const changes = (value.match(/[a-z](?=[A-Z])/g)?.length ?? 0) / value.length;
  return changes >= 0.25 || (changes >= 0.1 && rarityOf(value) >= rareFrom);
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

/** Words of prose and code that stand behind a name of a secret and are none. */
export const isOrdinary = (value: string): boolean => {
  const word = value.toLowerCase();
  return ordinary.has(word) || joints.has(word) || verbs.has(word);
};
const verbs = new Set(
  (
    'does gets shall appears seems contains appear contained stays remains hashing storage comparison policy field ' +
    'fields variable constant parameter argument assignment literal check checks checking handling generation ' +
    'strength ' +
    'length rotation reset recovery management protection disclosure exposure leakage leak usage reuse guessing ' +
    'cracking brute force spraying type name names file files list entry entries code used embedded committed ' +
    'transmitted sent logged printed written read passed assigned appearing inside database application admin root ' +
    'test localhost example sample dummy demo none here there within across onto over under every some more than ' +
    'plain plaintext cleartext clear secure insecure sensitive unsafe safe hard soft long short same different new ' +
    'old first last current previous next other another such'
  ).split(' '),
);

/**
 * How rare a letter is behind another in words of prose and code: 26 rows of the first letter with 26 digits of the
 * second, 0 (every second time) to 9 (one of five hundred, or never); counted in documentation and names of code.
 */
const rarity = (
  '94348649485242949231456757 26662898257167279335289859 29582992393379179352488969 36640657179466379437467759 ' +
  '36325557688342746224756469 28872299198379299454399849 37681643289353379236379967 19871998298655279363498948 ' +
  '45344449997341248432849695 29991997479697259917255999 36640658298574459525486959 27741689196277269844468929 ' +
  '14771879277547329747489969 38332517375675469722558968 55447558575331439234344679 28762875397268239143499969 ' +
  '99999999599399969596099999 26541659295645269433567949 48371683295566337731376859 28571773199578379234496949 ' +
  '43443549498332639222999897 28790979199879379757579979 27862673297483279337987989 37282795299649519771798559 ' +
  '34463559386333319524684996 27990966297569399759599644'
).split(' ');
const rareFrom = 4.6;

/** A run of letters of one case that cannot be pronounced: `qzkvplmr`. Finds four of five that are made by chance. */
export function isUnpronounceable(value: string): boolean {
  if (!/^(?:[A-Z]?[a-z]{5,}|[A-Z]{6,})$/.test(value)) return false;
  return rarityOf(value) >= rareFrom;
}

/** The middle of how rare its pairs of letters are. */
function rarityOf(value: string): number {
  const word = value.toLowerCase();
  let sum = 0;
  for (let at = 1; at < word.length; at++)
    sum += (rarity[word.charCodeAt(at - 1) - 97] ?? '').charCodeAt(word.charCodeAt(at) - 97) - 48;
  return sum / (word.length - 1);
}
