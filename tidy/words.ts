// Words of a dialect that this project once had, each with what the field says. In texts of the console only strings
// are read: keys are names. Sources and documents still have most of them: a word goes to `everywhere` once it is gone.
import { isTest, lineOf, source, type Check, type NamedCheck } from './source.js';

interface Banned {
  readonly words: RegExp;
  readonly say: string;
  /** Where; elsewhere the word is either meant or not yet replaced. */
  readonly where: (path: string) => boolean;
}

/** Documents that users read; those of conformance quote titles of tests, decisions are as they were taken. */
const isDocument = (path: string): boolean =>
  /^(?:docs\/[^/]+|README|SECURITY)\.md$/.test(path) && !/conformance-vm|second-opinion/.test(path);
const isUiText = (path: string): boolean => path.startsWith('console/web/texts/');

/** Those that name a product of that name, what was once released, and this list. */
const isMeant = (path: string): boolean =>
  path.startsWith('tidy/') ||
  path === 'CHANGELOG.md' ||
  path.includes('/migrations/') ||
  /^vm-manager\/imports\/kinds\/(rule-names|scanners)\.ts$/.test(path);

const isRead = (path: string): boolean => isUiText(path) || isDocument(path);

const everywhere = (path: string): boolean => !isMeant(path);

const banned: readonly Banned[] = [
  { words: /\bmend(?:s|ed|ing)?\b/i, say: 'fix', where: everywhere },
  { words: /\broads?\b/i, say: 'request lifecycle, path', where: isUiText },
  { words: /\b(?:told|tells)\b/i, say: 'reported, notified, logged, sent: whichever it is', where: isRead },
  { words: /\bholes?\b/i, say: 'vulnerability, bypass', where: isRead },
  { words: /\b(?:somebody|nobody|whoever|people)\b/i, say: 'user, client, operator, attacker', where: isRead },
  { words: /\bstands still\b/i, say: 'stalls, is unresponsive', where: isRead },
  { words: /\bgives way\b/i, say: 'yields, is evicted', where: isRead },
  { words: /\bkept connections?\b/i, say: 'keep-alive connection', where: isRead },
  { words: /\bsecond opinions?\b/i, say: 'match scoring', where: isUiText },
  { words: /\bheavy keys?\b/i, say: 'heavy hitters', where: isUiText },
  { words: /\bforeign texts?\b/i, say: 'untrusted text', where: isRead },
];

const strings = /'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"/g;

/** What of a file is read, with where it begins: the strings of texts of the console, else all of it. */
function partsOf(path: string, text: string): (readonly [from: number, part: string])[] {
  if (!isUiText(path)) return [[0, text]];
  const withoutComments = text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, (line) => ' '.repeat(line.length));
  return [...withoutComments.matchAll(strings)].map((match) => [match.index, match[0]] as const);
}

const bannedWords: Check = (sources) =>
  sources
    .filter(({ path }) => !isTest(path) || !isUiText(path))
    .flatMap(({ path, text }) =>
      banned
        .filter(({ where }) => where(path))
        .flatMap(({ words, say }) =>
          partsOf(path, text).flatMap(([from, part]) => {
            const found = words.exec(part);
            return found === null ? [] : [`${path}:${lineOf(text, from + found.index)}: "${found[0]}"; say ${say}`];
          }),
        ),
    );

const uiText = (text: string): [ReturnType<typeof source>] => [source('console/web/texts/x.ts', text)];

export const wordChecks: readonly NamedCheck[] = [
  {
    name: 'words of the dialect are replaced by those of the field',
    check: bannedWords,
    canaries: [
      [source('api/x.ts', `// how to ${['me', 'nd'].join('')} it\n`)],
      uiText("export const x = { a: 'Somebody else saved.' };\n"),
      uiText('export const x = { a: (b) => `${b} is told to the channel` };\n'),
      uiText("export const x = { a: 'The second opinion' };\n"),
      [source('docs/x.md', 'The receiver is told.\n')],
    ],
  },
];
