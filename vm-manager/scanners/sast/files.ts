// Which files are source code, by their names.
import type { Grammar } from './syntax/tree.js';

const byEnding: Readonly<Record<string, Grammar>> = {
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  ts: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  tsx: 'tsx',
  py: 'python',
  pyw: 'python',
  java: 'java',
  php: 'php',
  phtml: 'php',
  inc: 'php',
  go: 'go',
};

const endingOf = (path: string): string => /\.([a-zA-Z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';

export const grammarOf = (path: string): Grammar | null => byEnding[endingOf(path)] ?? null;

/** Languages that are known by name alone: counted, so that no one takes them for looked at. */
const others: Readonly<Record<string, string>> = {
  c: 'C',
  h: 'C',
  cc: 'C++',
  cpp: 'C++',
  cxx: 'C++',
  hpp: 'C++',
  cs: 'C#',
  vb: 'Visual Basic',
  rb: 'Ruby',
  erb: 'Ruby',
  rs: 'Rust',
  kt: 'Kotlin',
  kts: 'Kotlin',
  scala: 'Scala',
  groovy: 'Groovy',
  swift: 'Swift',
  m: 'Objective-C',
  mm: 'Objective-C',
  dart: 'Dart',
  lua: 'Lua',
  pl: 'Perl',
  pm: 'Perl',
  ex: 'Elixir',
  exs: 'Elixir',
  clj: 'Clojure',
  fs: 'F#',
  sol: 'Solidity',
  vue: 'Vue',
  svelte: 'Svelte',
  jsp: 'JSP',
  cshtml: 'Razor',
  aspx: 'ASP.NET',
};

export const unknownLanguage = (path: string): string | null => {
  const ending = endingOf(path);
  return Object.hasOwn(others, ending) ? (others[ending] ?? null) : null;
};

const isMade = (path: string): boolean =>
  /(?:^|\/)[^/]*[.-]min\.[cm]?js$|\.bundle\.[cm]?js$|\.d\.[cm]?ts$/.test(path) ||
  /\.(?:pb|gen|generated)\.go$|_pb2(?:_grpc)?\.py$/.test(path);

/** By its path alone; a text: why it is left out. */
export function wantsSource(path: string): boolean | string {
  if (grammarOf(path) === null) {
    const language = unknownLanguage(path);
    return language === null ? false : `source files in ${language}, which is not looked at`;
  }
  return isMade(path) ? 'source files that a tool has made' : true;
}
