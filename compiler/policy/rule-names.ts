// What the rules of the rule set are called, for people who know them by number only.
import { defaultSettings } from '#settings';
import { Diagnostics } from '../diagnostics/diagnostics.js';
import { SourceFile, type SourceText } from '../text/source.js';
import { parseFile } from '../tree/parser.js';
import { renderEngineConfig } from './engine-config.js';

/**
 * Ids of rules → their messages, as they are written (macros included), in UTF-8; rules without one are left out. Those
 * of the engine's own configuration (200000 upwards) are among them.
 */
export function namesOfRules(sources: readonly SourceText[]): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const engine = { path: 'gatehouse/engine.conf', text: renderEngineConfig(defaultSettings()) };
  for (const [index, { path, text }] of [engine, ...sources].entries())
    for (const node of parseFile(new SourceFile(index, path, text), new Diagnostics())) {
      if (node.kind !== 'rule' && node.kind !== 'action') continue;
      const valueOf = (wanted: string): string | undefined =>
        node.actions.find(({ name }) => name.text.toLowerCase() === wanted)?.value?.text;
      const id = Number(valueOf('id') ?? 0);
      const message = valueOf('msg');
      if (id > 0 && message !== undefined) names.set(id, Buffer.from(message, 'latin1').toString('utf8'));
    }
  return names;
}
