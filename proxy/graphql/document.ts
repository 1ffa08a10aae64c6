// One GraphQL document (specification of September 2025, section 2): its texts and its operations. Parsed by the
// reference library within bounds: 64 KiB, 5,000 tokens, 100 brackets inside each other. Beyond them, and for what
// is no executable document, it is not read.
//
// Safety: outside of strings and comments an executable document consists of names, numbers and ! $ & ( ) ... : = @ [ ]
// { | } alone (section 2.1.8), in an order that the grammar allows. No quotation mark, operator, separator or path of
// another language can stand there, so that rules lose nothing when they look at the texts and not at the whole.
import { SeenOnce } from '#engine';
import { Lexer } from 'graphql/language/lexer.js';
import { parse } from 'graphql/language/parser.js';
import { Source } from 'graphql/language/source.js';
import { TokenKind } from 'graphql/language/tokenKind.js';
import type { DocumentNode, FragmentDefinitionNode, OperationDefinitionNode, Token } from 'graphql/language/ast.js';

export const documentBounds = { charsMax: 65_536, tokensMax: 5000, bracketsMax: 100 } as const;

export interface GraphqlDocument {
  /** Values of strings and comments as an application reads them, each once. */
  readonly texts: readonly string[];
  readonly operations: readonly OperationDefinitionNode[];
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Without comments. */
  readonly tokens: number;
}

/** too-large: beyond a bound. unreadable: no executable document by the grammar. */
export type DocumentRead =
  | { readonly kind: 'read'; readonly document: GraphqlDocument }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'unreadable' };

const tooLarge: DocumentRead = { kind: 'too-large' };
const unreadable: DocumentRead = { kind: 'unreadable' };

/** Whether a text could be one, by its first letters: a cheap question ahead of parsing. */
export function mayBeDocument(text: string): boolean {
  let at = 0;
  while (at < text.length && (text.charCodeAt(at) <= 0x20 || text[at] === ',' || text[at] === '\ufeff')) at += 1;
  if (text[at] === '{' || text[at] === '#' || text[at] === '"') return true;
  return beginnings.some((word) => text.startsWith(word, at));
}

const executable: ReadonlySet<string> = new Set(['query', 'mutation', 'subscription', 'fragment']);
/** Definitions of a schema are nothing that clients send; servers that do not validate run what stands behind them. */
const beginnings: readonly string[] = [
  ...executable,
  ...['schema', 'extend', 'type', 'scalar', 'interface', 'union', 'enum', 'input', 'directive'],
];

/** Never throws. */
export function readDocument(text: string): DocumentRead {
  return text.length > documentBounds.charsMax ? tooLarge : known.read(text);
}

/** Of all documents that are known; what is kept of one takes some ten times its text. */
const knownCharsMax = 131_072;
/** Longer ones are read anew each time. */
const knownOneCharsMax = 8192;

/**
 * Documents that were read before, by their text: an application sends the same few and changes the variables only.
 * What came once only (values written into it) is not kept: it would outlive the nursery for nothing. Bounded, dropped
 * whole when full; what a text means depends on nothing else.
 */
class KnownDocuments {
  private documents = new Map<string, DocumentRead>();
  private chars = 0;
  private readonly once = new SeenOnce();

  read(text: string): DocumentRead {
    const before = this.documents.get(text);
    if (before !== undefined) return before;
    const document = parseDocument(text);
    if (text.length > knownOneCharsMax) return document;
    if (!this.once.wasSeen(text)) return document;
    this.chars += text.length;
    if (this.chars > knownCharsMax) {
      this.documents = new Map();
      this.chars = text.length;
    }
    this.documents.set(text, document);
    return document;
  }
}

const known = new KnownDocuments();

function parseDocument(text: string): DocumentRead {
  try {
    // Parsing descends with the brackets, so that a text is counted first where it could be too much.
    if (!isSurelySmall(text) && isTooLarge(text)) return tooLarge;
    const source = new Source(text);
    const lexer = new Lexer(source);
    const first = lexer.token;
    // No node is given its place: a document that is kept would keep all of its tokens.
    const document = parse(source, { lexer, maxTokens: documentBounds.tokensMax, noLocation: true });
    return split(document, textsOf(first), tokensFrom(first));
  } catch {
    return parseDescribed(text);
  }
}

/**
 * A document that the parser in use refuses, once more without the descriptions that newer ones take: before an
 * operation, a fragment and a variable (sections 2.3, 2.10 and 2.8). What is no document then either is told by the
 * application itself.
 */
function parseDescribed(text: string): DocumentRead {
  try {
    const { bare, texts, tokens } = withoutDescriptions(text);
    if (bare === text) return unreadable;
    const source = new Source(bare);
    const lexer = new Lexer(source);
    const first = lexer.token;
    const document = parse(source, { lexer, maxTokens: documentBounds.tokensMax, noLocation: true });
    return split(document, [...new Set([...texts, ...textsOf(first)])], tokens);
  } catch {
    return unreadable;
  }
}

const isString = ({ kind }: Token): boolean => kind === TokenKind.STRING || kind === TokenKind.BLOCK_STRING;

/** The text without descriptions; what they say; and how many tokens there were with them. Throws GraphQLError. */
function withoutDescriptions(text: string): { bare: string; texts: string[]; tokens: number } {
  const lexer = new Lexer(new Source(text));
  const texts: string[] = [];
  let bare = '';
  let from = 0;
  let tokens = 0;
  let braces = 0;
  let before: Token = lexer.token;
  let last: Token = lexer.token;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens += 1;
    if (token.kind === TokenKind.BRACE_L) braces += 1;
    else if (token.kind === TokenKind.BRACE_R) braces -= 1;
    // `= "a" $b` is the value of what stands before it
    const describes =
      token.kind === TokenKind.DOLLAR
        ? before.kind !== TokenKind.EQUALS
        : token.kind === TokenKind.NAME && executable.has(token.value);
    if (braces === 0 && describes && isString(last)) {
      if (last.value !== '') texts.push(last.value);
      bare += `${text.slice(from, last.start)} `;
      from = last.end;
    }
    before = last;
    last = token;
  }
  return { bare: bare + text.slice(from), texts, tokens };
}

export interface LooseMeasures {
  readonly tokens: number;
  /** Selections inside each other; what is counted of a document is one less where it has an operation. */
  readonly depth: number;
  readonly aliases: number;
}

/**
 * What can be counted of a text that is no document for the parser in use, and may be one for another: by its tokens,
 * as far as they are some. Never throws.
 */
export function countLoosely(text: string): LooseMeasures {
  let tokens = 0;
  let depth = 0;
  let braces = 0;
  let parentheses = 0;
  let aliases = 0;
  try {
    const lexer = new Lexer(new Source(text.slice(0, documentBounds.charsMax)));
    let last: Token = lexer.token;
    for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
      tokens += 1;
      if (tokens > documentBounds.tokensMax) break;
      const { kind } = token;
      if (kind === TokenKind.BRACE_L && parentheses === 0) depth = Math.max(depth, (braces += 1));
      else if (kind === TokenKind.BRACE_R && parentheses === 0) braces -= 1;
      else if (kind === TokenKind.PAREN_L) parentheses += 1;
      else if (kind === TokenKind.PAREN_R) parentheses -= 1;
      else if (kind === TokenKind.COLON && parentheses === 0 && braces > 0 && last.kind === TokenKind.NAME)
        aliases += 1;
      last = token;
    }
  } catch {
    // up to here, then
  }
  return { tokens, depth, aliases };
}

/** Each token has a letter, and each level a bracket of its own. */
function isSurelySmall(text: string): boolean {
  const { tokensMax, bracketsMax } = documentBounds;
  if (text.length > tokensMax) return false;
  let brackets = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x7b || unit === 0x5b || unit === 0x28) brackets += 1;
  }
  return brackets <= bracketsMax;
}

/** More tokens or brackets than are read. Throws GraphQLError. */
function isTooLarge(text: string): boolean {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let brackets = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens += 1;
    const { kind } = token;
    if (kind === TokenKind.BRACE_L || kind === TokenKind.BRACKET_L || kind === TokenKind.PAREN_L) brackets += 1;
    else if (kind === TokenKind.BRACE_R || kind === TokenKind.BRACKET_R || kind === TokenKind.PAREN_R) brackets -= 1;
    if (tokens > documentBounds.tokensMax || brackets > documentBounds.bracketsMax) return true;
  }
  return false;
}

/** Of all tokens from `first` on: comments are among them, although no node has them. */
function textsOf(first: Token): string[] {
  const texts = new Set<string>();
  for (let token: Token | null = first; token !== null; token = token.next)
    if (
      (token.kind === TokenKind.STRING || token.kind === TokenKind.BLOCK_STRING || token.kind === TokenKind.COMMENT) &&
      token.value !== ''
    )
      texts.add(token.value);
  return [...texts];
}

function tokensFrom(first: Token): number {
  let count = 0;
  for (let token: Token | null = first; token !== null; token = token.next)
    if (token.kind !== TokenKind.COMMENT && token.kind !== TokenKind.SOF && token.kind !== TokenKind.EOF) count += 1;
  return count;
}

/** `query GetUser(` and what else only a document with one operation begins like. */
const named = /^[\s,\ufeff]*(query|mutation|subscription)\s+([_A-Za-z]\w{0,99})\s*[({@]/;

/**
 * As `operationName`, told by the first words, where they say it: for those who need nothing else of a document. null:
 * they do not.
 */
export function operationNameByWords(text: string, wanted: string | null): string | null {
  const [, kind, name] = named.exec(text) ?? [];
  if (kind === undefined || name === undefined || !text.trimEnd().endsWith('}')) return null;
  return wanted === null || wanted === name ? `${kind}:${name}` : null;
}

function split({ definitions }: DocumentNode, texts: readonly string[], tokens: number): DocumentRead {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const one of definitions)
    if (one.kind === 'OperationDefinition') operations.push(one);
    else if (one.kind === 'FragmentDefinition') fragments.set(one.name.value, one);
  if (operations.length === 0 && fragments.size === 0) return unreadable;
  return { kind: 'read', document: { texts, operations, fragments, tokens } };
}

/** As the inventory names it: `query:GetUser`. `wanted`: the `operationName` that came along. */
export function operationName({ operations }: GraphqlDocument, wanted: string | null): string | null {
  const found = operations.find(({ name }) => wanted !== null && name?.value === wanted) ?? operations[0];
  return found === undefined ? null : `${found.operation}:${(found.name?.value ?? 'anonymous').slice(0, 100)}`;
}
