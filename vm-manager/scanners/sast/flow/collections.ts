// Lists and maps whose parts are known: what is put in and taken out, by constant places and names.
import { constant, empty, joined, mergedTaints, stepped, taintsOf, type Val } from './value.js';

export interface Collected {
  /** null: as any other call. */
  readonly value: Val | null;
  readonly after: Val | null;
}

const adds: ReadonlySet<string> = new Set([
  'add',
  'push',
  'append',
  'addLast',
  'addElement',
  'offer',
  'enqueue',
  'Add',
]);
const puts: ReadonlySet<string> = new Set([
  'put',
  'set',
  'setProperty',
  'setdefault',
  'Set',
  'setAttribute',
  'putIfAbsent',
]);
const gets: ReadonlySet<string> = new Set(['get', 'getProperty', 'getOrDefault', 'elementAt', 'Get', 'at']);
const grows: ReadonlySet<string> = new Set(['append', 'insert', 'concat', 'replace', 'WriteString', 'write']);

const listOf = ({ parts }: Val): Val[] | null => {
  if (parts === null) return [];
  if (parts.has('*')) return null;
  return [...parts.values()];
};
const asList = (of: Val, items: readonly Val[]): Val => ({
  ...of,
  parts: new Map(items.map((one, index) => [String(index), one])),
  isList: true,
});

/** null: it is no collection whose parts are known. */
export function collected(receiver: Val, name: string, args: readonly Val[], line: number): Collected | null {
  const [first, second] = args;
  const isBuilder = /(?:Builder|Buffer|StringWriter)(?:\(\))?$/.test(receiver.kind) || receiver.isText;
  if (grows.has(name) && isBuilder && first !== undefined) return built(receiver, args, line);
  if (receiver.parts?.has('^request') === true) return null;
  if (adds.has(name) && first !== undefined) return added(receiver, args);
  if (puts.has(name) && second !== undefined) {
    const parts = new Map(receiver.parts ?? []);
    parts.set(first?.constant === undefined ? '*' : String(first.constant), second);
    return parts.size > 500 ? null : { value: null, after: { ...receiver, parts } };
  }
  if (receiver.parts === null) return null;
  if (name === 'remove' && typeof first?.constant === 'number') {
    const items = listOf(receiver);
    if (items === null) return null;
    const [gone] = items.splice(first.constant, 1);
    return { value: gone ?? empty, after: asList(receiver, items) };
  }
  if ((name === 'pop' || name === 'shift') && receiver.isList) {
    const items = listOf(receiver);
    if (items === null) return null;
    const gone = name === 'pop' ? items.pop() : items.shift();
    return { value: gone ?? empty, after: asList(receiver, items) };
  }
  if (gets.has(name) && first?.constant !== undefined) {
    const part = receiver.parts.get(String(first.constant));
    const rest = receiver.parts.get('*');
    if (part === undefined && rest === undefined && receiver.taints.length > 0) return null;
    return { value: rest === undefined ? (part ?? second ?? empty) : joined(part ?? empty, rest), after: null };
  }
  if (name === 'join' && receiver.isList) {
    const [head] = receiver.parts.values();
    const prefix = head === undefined ? '' : head.constant === undefined ? head.prefix : String(head.constant);
    return { value: { ...empty, taints: taintsOf(receiver), prefix, isText: true }, after: null };
  }
  return null;
}

function added(receiver: Val, args: readonly Val[]): Collected | null {
  const items = listOf(receiver);
  if (items === null || items.length + args.length > 500) {
    const rest = args.reduce((left, right) => joined(left, right), receiver.parts?.get('*') ?? empty);
    return { value: null, after: { ...receiver, parts: new Map([...(receiver.parts ?? []), ['*', rest]]) } };
  }
  if (receiver.taints.length > 0 && receiver.parts === null) return null;
  return { value: empty, after: asList(receiver, [...items, ...args]) };
}

function built(receiver: Val, args: readonly Val[], line: number): Collected {
  let taints = taintsOf(receiver);
  for (const one of args) taints = mergedTaints(taints, taintsOf(one));
  const before = receiver.constant === undefined ? receiver.prefix : String(receiver.constant);
  const [first] = args;
  const isOpen = taintsOf(receiver).length === 0;
  const after: Val = {
    ...receiver,
    taints: stepped(taints, line, 'put into a text'),
    parts: null,
    prefix: isOpen && first !== undefined ? `${before}${first.constant ?? first.prefix}`.slice(0, 2000) : before,
  };
  return { value: after, after };
}

export { constant };
