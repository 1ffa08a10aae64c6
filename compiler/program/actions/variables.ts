// Actions that write variables: TX, the persistent collections, ENV, and who the client is.
import { parseDecimal, quoteForMessage } from '../bound-rule.js';
import { hasMacro, lowerTemplate } from '../template.js';
import { macros, type ActionCall } from './entry.js';

/** Collections that setvar writes. */
const writableCollections: ReadonlySet<string> = new Set(['TX', 'IP', 'GLOBAL', 'RESOURCE', 'USER', 'SESSION']);
const persistentCollections: ReadonlySet<string> = new Set(['IP', 'GLOBAL', 'RESOURCE', 'USER', 'SESSION']);

/** `collection.member` or `collection:member`. */
function splitMember(value: string): { collection: string; member: string } | null {
  const match = /^([A-Za-z_]+)[.:]([^]+)$/.exec(value);
  return match === null
    ? null
    : { collection: (match[1] as string).toUpperCase(), member: (match[2] as string).trim() };
}

export function setvar(call: ActionCall): string | null {
  const unset = call.value.startsWith('!');
  const body = unset ? call.value.slice(1) : call.value;
  // The first "=" ends the name, except inside a macro.
  const equals = /^(?:%\{[^}]*\}|[^=])*/.exec(body)?.[0].length ?? body.length;
  const member = splitMember(body.slice(0, equals).trim());
  if (member === null) return `${quoteForMessage(call.value)} is not collection.name=value`;
  if (!writableCollections.has(member.collection)) {
    call.context.report(
      'GH-C4007',
      `${quoteForMessage(member.collection)} cannot be written`,
      call.node.value ?? call.node,
    );
    return null;
  }
  const key = lowerTemplate(macros(call, member.member));
  const { collection } = member;
  let value = equals < body.length ? body.slice(equals + 1) : null;
  if (unset) {
    call.set.actions.push({ kind: 'setvar', collection, key, operation: 'unset', value: [] });
    return null;
  }
  // Without "=" the variable becomes 1, as in ModSecurity.
  value ??= '1';
  const operation = value.startsWith('+') ? 'add' : value.startsWith('-') ? 'subtract' : 'set';
  call.set.actions.push({
    kind: 'setvar',
    collection,
    key,
    operation,
    value: macros(call, operation === 'set' ? value : value.slice(1)),
  });
  return null;
}

function splitAssignment(
  call: ActionCall,
  allowed: ReadonlySet<string>,
): { collection: string; member: string; value: string } | string {
  const equals = /^(?:%\{[^}]*\}|[^=])*/.exec(call.value)?.[0].length ?? call.value.length;
  if (equals >= call.value.length) return `${quoteForMessage(call.value)} has no "="`;
  const member = splitMember(call.value.slice(0, equals).trim());
  if (member === null || !allowed.has(member.collection))
    return `${quoteForMessage(call.value)} does not begin with a member of ${[...allowed].join(', ')}`;
  return { ...member, value: call.value.slice(equals + 1).trim() };
}

export function expirevar(call: ActionCall): string | null {
  const parts = splitAssignment(call, writableCollections);
  if (typeof parts === 'string') return parts;
  const seconds = macros(call, parts.value);
  if (!hasMacro(seconds) && parseDecimal(parts.value, 0, 2 ** 31) === null)
    return `${quoteForMessage(parts.value)} is not a number of seconds`;
  call.set.actions.push({
    kind: 'expirevar',
    collection: parts.collection,
    key: lowerTemplate(macros(call, parts.member)),
    seconds,
  });
  return null;
}

export function deprecatevar(call: ActionCall): string | null {
  const parts = splitAssignment(call, writableCollections);
  if (typeof parts === 'string') return parts;
  const match = /^(\d{1,9})\/(\d{1,9})$/.exec(parts.value);
  if (match === null || Number(match[2]) === 0)
    return `${quoteForMessage(parts.value)} is not amount/seconds such as 60/300`;
  call.set.actions.push({
    kind: 'deprecatevar',
    collection: parts.collection,
    key: lowerTemplate(macros(call, parts.member)),
    amount: Number(match[1]),
    everySeconds: Number(match[2]),
  });
  return null;
}

export function initcol(call: ActionCall): string | null {
  const match = /^([A-Za-z_]+)\s*=\s*([^]+)$/.exec(call.value);
  const collection = (match?.[1] ?? '').toUpperCase();
  if (match === null || !persistentCollections.has(collection))
    return `${quoteForMessage(call.value)} is not IP, GLOBAL, RESOURCE, USER or SESSION = key`;
  call.set.actions.push({ kind: 'initcol', collection, key: macros(call, match[2]) });
  return null;
}

export function setenv(call: ActionCall): string | null {
  const equals = call.value.indexOf('=');
  const name = (equals === -1 ? call.value : call.value.slice(0, equals)).trim();
  if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)) return `${quoteForMessage(name)} is not a name`;
  call.set.actions.push({
    kind: 'setenv',
    name,
    value: macros(call, equals === -1 ? '1' : call.value.slice(equals + 1)),
  });
  return null;
}

/** `setsid`, `setuid`, `setrsc`: a text that names the session, the user, the resource. */
export function identity(kind: 'setsid' | 'setuid' | 'setrsc'): (call: ActionCall) => null {
  return (call) => {
    call.set.actions.push({ kind, value: macros(call) });
    return null;
  };
}
