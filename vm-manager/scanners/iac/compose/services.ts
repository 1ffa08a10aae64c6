// Services of a Compose file, with lines.
import { LineCounter, parseDocument, type Node, type Scalar } from 'yaml';
import { objectOf } from '../../sca/listing.js';
import type { Service } from './rules.js';

/** Throws an Error for what is no YAML or has no services. */
export function servicesOf(text: string): readonly Service[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`is no YAML in line ${lines.linePos(error.pos[0]).line}`);
  const services = objectOf(objectOf(document.toJS({ maxAliasCount: 100 }))['services']);
  const lineAt = (path: readonly unknown[]): number => {
    for (let size = path.length; size > 0; size--) {
      const node = document.getIn(path.slice(0, size), true) as Node | Scalar | undefined;
      if (node?.range != null) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  return Object.entries(services).map(([name, spec]) => ({
    name,
    spec: objectOf(spec),
    lineOf: (path) => lineAt(['services', name, ...path]),
  }));
}
