// Macro expansion: `%{tx.foo}` in msg, logdata, setvar, operators. Templates are split at compile time, so that this is
// concatenation and look-ups, done only for rules that matched.
import type { MacroRef, Template } from '../program/ir.js';
import { limits } from '../transaction/limits.js';

/** The text of a template; `resolve` answers one reference with '' when there is nothing. Cut at `expandedTextMax`. */
export function expandWith<Context>(
  template: Template,
  context: Context,
  resolve: (context: Context, reference: MacroRef) => string,
): string {
  if (template.length === 0) return '';
  const first = template[0] as string | MacroRef;
  let text = typeof first === 'string' ? first : resolve(context, first);
  for (let index = 1; index < template.length; index += 1) {
    const part = template[index] as string | MacroRef;
    text += typeof part === 'string' ? part : resolve(context, part);
    if (text.length > limits.expandedTextMax) break;
  }
  return text.length > limits.expandedTextMax ? text.slice(0, limits.expandedTextMax) : text;
}
