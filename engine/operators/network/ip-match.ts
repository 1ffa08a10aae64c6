import type { OperatorIR } from '../../program/ir.js';
import { compileNetworks } from './network-set.js';
import type { Matcher, Operator } from '../operator.js';

/** Entries without blanks, empty lines and comments; lists from files carry them. */
function entriesOf(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/#.*$/s, '').trim()).filter((line) => line !== '');
}

function networkMatcher(lines: readonly string[]): Matcher {
  const networks = compileNetworks(entriesOf(lines));
  const matches = (value: string): boolean => networks.contains(value);
  if (networks.neverMatching.length === 0) return { matches };
  return {
    matches,
    warning:
      `${networks.neverMatching.join(', ')}: no address matches, for the prefix is longer than an address ` +
      '(32 bits in IPv4, 128 in IPv6)',
  };
}

/** The value is an address in one of the comma-separated addresses and networks. */
export const ipMatch: Operator = {
  name: 'ipMatch',
  create: (operator: OperatorIR, argument) => networkMatcher(operator.phrases ?? argument.split(',')),
};

/** As ipMatch; the compiler read the file: one entry a line. */
export const ipMatchFromFile: Operator = {
  name: 'ipMatchFromFile',
  create: (operator: OperatorIR) => networkMatcher(operator.phrases ?? []),
};
