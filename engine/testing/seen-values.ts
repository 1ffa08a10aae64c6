// What rules see of a request, by the names of variables.
import { createInterpreter } from '../evaluate/interpreter.js';
import type { ControlIR, EngineSettings } from '../program/ir.js';
import { action, exchange, type Exchange, link, operator, program, rule, target } from './program.js';

/** Values that every phase-2 (or `phase`) rule over the variables sees, by full name. */
export function valuesSeen(
  names: readonly string[],
  request: Exchange,
  controls: readonly ControlIR[] = [],
  settings: Partial<EngineSettings> = {},
  phase: 2 | 4 | 5 = 2,
): { seen: string[]; result: ReturnType<typeof exchange> } {
  const rules = names.map((name, index) =>
    rule(10 + index, phase, [
      link([target(name)], operator('unconditionalMatch'), {
        actions: [
          {
            kind: 'setvar',
            collection: 'TX',
            key: [`${index} `, { variable: 'MATCHED_VAR_NAME', key: null }],
            operation: 'set',
            value: [{ variable: 'MATCHED_VAR', key: null }],
          },
        ],
      }),
    ]),
  );
  const first = action(
    1,
    1,
    controls.map((control) => ({ kind: 'ctl', control })),
  );
  const result = exchange(createInterpreter(program([first, ...rules], settings)), request);
  return { seen: [...result.transaction.tx].map(([name, value]) => `${name.replace(/^\d+ /, '')}=${value}`), result };
}
