// YAML of a template. The short forms become the long ones, so that nothing else has to know both.
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import { depthMax, nodesMax, Unreadable, type Field, type Node } from './node.js';

const functions = new RegExp(
  '^!(And|Base64|Cidr|Equals|FindInMap|ForEach|GetAZs|GetAtt|If|ImportValue|Join|Length|Not|Or|Select|Split|Sub|' +
    'ToJsonString|Transform)$',
);

/** Words that CloudFormation, which reads YAML 1.1, takes for booleans; unquoted. */
const oldBooleans: Readonly<Record<string, boolean>> = { yes: true, on: true, no: false, off: false };

/** `!Ref a` is `{Ref: a}`, `!GetAtt a.b` is `{Fn::GetAtt: [a, b]}`. */
function longForm(tag: string | undefined, node: Node): Node {
  if (tag === undefined) return node;
  const wrap = (name: string, inner: Node): Node => {
    const field: Field = { line: node.line, node: inner };
    return { kind: 'map', line: node.line, fields: new Map([[name, field]]) };
  };
  if (tag === '!Ref') return wrap('Ref', node);
  if (tag === '!Condition') return wrap('Condition', node);
  const [, name] = functions.exec(tag) ?? [];
  if (name === undefined) return node;
  if (name !== 'GetAtt' || node.kind !== 'scalar') return wrap(`Fn::${name}`, node);
  const [resource = '', ...rest] = String(node.value).split('.');
  const items: Node[] = [resource, rest.join('.')].map((value) => ({ kind: 'scalar', line: node.line, value }));
  return wrap('Fn::GetAtt', { kind: 'list', line: node.line, items });
}

class Converter {
  readonly #lines: LineCounter;
  /** Name → the last node of that name so far: an alias means the one that stands before it. */
  readonly #anchors = new Map<string, unknown>();
  #aliases = 0;
  #nodes = 0;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  #note(given: unknown): void {
    const anchor = (given as { anchor?: string } | null)?.anchor;
    if (anchor !== undefined && this.#aliases === 0) this.#anchors.set(anchor, given);
  }

  #lineOf(node: unknown, fallback: number): number {
    const start = (node as { range?: readonly number[] | null } | null)?.range?.[0];
    return start === undefined ? fallback : this.#lines.linePos(start).line;
  }

  node(given: unknown, around: number, depth: number): Node {
    const line = this.#lineOf(given, around);
    if (depth > depthMax || ++this.#nodes > nodesMax)
      throw new Unreadable(`is too deep or too large in line ${line}`, line);
    if (isAlias(given)) {
      const meant = this.#anchors.get(given.source);
      if (meant === undefined) return { kind: 'scalar', line, value: null };
      this.#aliases++;
      const node = this.node(meant, line, depth + 1);
      this.#aliases--;
      return node;
    }
    this.#note(given);
    const tag = (given as { tag?: string } | null)?.tag;
    if (isMap(given)) return longForm(tag, { kind: 'map', line, fields: this.#fields(given.items, line, depth) });
    if (isSeq(given)) {
      const items = given.items.map((one) => this.node(one, line, depth + 1));
      return longForm(tag, { kind: 'list', line, items });
    }
    if (!isScalar(given)) return { kind: 'scalar', line, value: null };
    const { value, type } = given;
    const isPlain = type === 'PLAIN' && tag === undefined;
    const old = isPlain && typeof value === 'string' ? oldBooleans[value.toLowerCase()] : undefined;
    const plain = typeof value === 'object' || typeof value === 'undefined' ? null : (value as string);
    return longForm(tag, { kind: 'scalar', line, value: old ?? plain });
  }

  #fields(
    pairs: readonly { readonly key: unknown; readonly value: unknown }[],
    line: number,
    depth: number,
  ): Map<string, Field> {
    const fields = new Map<string, Field>();
    const merged: Node[] = [];
    for (const { key, value } of pairs) {
      this.#note(key);
      const name = isScalar(key) ? String(key.value) : '';
      const at = this.#lineOf(key, line);
      const node = this.node(value, at, depth + 1);
      if (name === '<<') merged.push(...(node.kind === 'list' ? node.items : [node]));
      else fields.set(name, { line: at, node });
    }
    for (const one of merged)
      if (one.kind === 'map') for (const [name, field] of one.fields) if (!fields.has(name)) fields.set(name, field);
    return fields;
  }
}

/** The first document of it. Throws `Unreadable`. */
export function readYaml(text: string): Node {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'silent',
  });
  const document = Array.isArray(documents) ? documents[0] : undefined;
  if (document === undefined) return { kind: 'scalar', line: 1, value: null };
  const [error] = document.errors;
  if (error !== undefined) {
    const { line } = lines.linePos(error.pos[0]);
    throw new Unreadable(`is no YAML in line ${line}`, line);
  }
  return new Converter(lines).node(document.contents, 1, 0);
}
