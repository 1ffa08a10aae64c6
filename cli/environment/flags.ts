// Every variable of the environment table is also a flag: `--waf-port 9000` sets WAF_PORT.
import { isSecretFileName, isVariableName } from '#settings/environment';
import { parseOptions } from '../command-line.js';
import { wrongUsage } from '../refusal.js';

export interface Flags {
  readonly flags: Readonly<Record<string, string>>;
  /** What is no flag of a variable, as it was written; the command decides what it means. */
  readonly others: readonly string[];
}

const variableOfFlag = (flag: string): string => flag.replaceAll('-', '_').toUpperCase();
export const flagOf = (variable: string): string => `--${variable.toLowerCase().replaceAll('_', '-')}`;

/** `--waf-port 9000` or `--waf-port=9000` → { WAF_PORT: '9000' }; the rest stays in `others`. */
export function readFlags(args: readonly string[]): Flags {
  const spelled = args
    .filter((arg) => arg.startsWith('--'))
    .map((arg) => arg.slice(2).split('=', 1)[0] ?? '')
    .filter((name) => isVariableName(variableOfFlag(name)) || isSecretFileName(variableOfFlag(name)));
  const { tokens } = parseOptions({
    args: [...args],
    options: Object.fromEntries(spelled.map((name) => [name, { type: 'string' as const }])),
    strict: false,
    tokens: true,
  });
  const flags: Record<string, string> = {};
  const others = new Set<number>(); // places in args: `-ab` is one word of two tokens
  for (const token of tokens) {
    if (token.kind !== 'option' || !spelled.includes(token.name)) others.add(token.index);
    else if (token.value === undefined) throw wrongUsage(`${token.rawName} needs a value: ${token.rawName} …`);
    else flags[variableOfFlag(token.name)] = token.value;
  }
  return { flags, others: [...others].map((index) => args[index] ?? '') };
}
