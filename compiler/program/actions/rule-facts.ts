// Actions that say what a rule is: when it runs, how it transforms, and what a person reads about it.
import { canonicalTransformationName, type Phase } from '#engine/compile';
import { parseDecimal, quoteForMessage } from '../bound-rule.js';
import { macros, type ActionCall } from './entry.js';

/** By number: 0 EMERGENCY to 7 DEBUG. */
export const severityNames = ['EMERGENCY', 'ALERT', 'CRITICAL', 'ERROR', 'WARNING', 'NOTICE', 'INFO', 'DEBUG'];
const phaseNames: ReadonlyMap<string, Phase> = new Map<string, Phase>([
  ['1', 1],
  ['2', 2],
  ['3', 3],
  ['4', 4],
  ['5', 5],
  ['request', 2],
  ['response', 4],
  ['logging', 5],
]);

export function xmlns(call: ActionCall): string | null {
  const match = /^([^=]*)=([^]*)$/.exec(call.value);
  if (match === null) return 'the "=" between prefix and address is missing';
  const prefix = (match[1] as string).trim();
  const address = (match[2] as string).trim().replace(/^'([^]*)'$|^"([^]*)"$/, '$1$2');
  if (prefix === '' || address === '') return 'use xmlns:prefix=http://address';
  if (!/^https?:\/\//i.test(address))
    return `${quoteForMessage(address)} is not an address that begins with http:// or https://`;
  call.set.xmlns.push([prefix, address]);
  return null;
}

export function severity(call: ActionCall): string | null {
  const named = severityNames.indexOf(call.value.toUpperCase());
  const value = named === -1 ? parseDecimal(call.value, 0, 255) : named;
  if (value === null) return `${quoteForMessage(call.value)} is not one of ${severityNames.join(', ')} or 0 to 7`;
  call.set.severity = value;
  return null;
}

export function transformation(call: ActionCall): string | null {
  const name = canonicalTransformationName(call.value);
  if (name === null) {
    call.context.report('GH-C4003', `there is no transformation ${quoteForMessage(`t:${call.value}`)}`, call.node);
    return null;
  }
  call.set.transformations.push(name);
  return null;
}

export function phase(call: ActionCall): string | null {
  const value = phaseNames.get(call.value.toLowerCase());
  if (value === undefined)
    return `${quoteForMessage(call.value)} is not a phase; use 1 to 5, request, response or logging`;
  call.set.phase = value;
  return null;
}

export function setMsg(call: ActionCall): null {
  call.set.msg = { text: call.value, template: macros(call) };
  return null;
}
