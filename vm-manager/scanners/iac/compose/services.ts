// Services of a Compose file, with lines.
import { LineCounter, parseDocument, type Node, type Scalar } from 'yaml';
import { objectOf } from '../../sca/listing.js';
import type { Service } from './rules.js';

/** Inside each other. */
const defaultsMax = 10;

/** `${NAME:-default}` and `${NAME-default}` as they are where the name is not set (Compose specification). */
const withDefaults = (text: string): string => {
  let given = text;
  // from the innermost outwards
  for (let depth = 0; depth < defaultsMax; depth++) {
    const next = given.replaceAll(/(?<!\$)\$\{\w+:?-([^{}$]*)\}/g, (_, value: string) => value);
    if (next === given) break;
    given = next;
  }
  return given;
};

function interpolated(value: unknown): unknown {
  if (typeof value === 'string') return withDefaults(value);
  if (Array.isArray(value)) return value.map(interpolated);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, interpolated(inner)]));
}

/** What rules read of a service where variables may stand. */
const settled = ['privileged', 'network_mode', 'pid', 'ipc', 'cap_add', 'security_opt', 'volumes', 'ports', 'image'];
/** Whether a rule asks for something that is known only where it runs. */
export const isUnsettled = ({ spec }: Service): boolean =>
  settled.some((name) => /\$(?:\{|\w)/.test((JSON.stringify(spec[name]) ?? '').replaceAll('$$', '')));

const begins = /(?:^|[{,])[ \t]*["']?services["']?[ \t]*:/m;
/** Whether a YAML file of any name has services of Compose: `stack.yml`, what `include` names. */
export function hasServices(text: string): boolean {
  if (!begins.test(text)) return false;
  try {
    const found = servicesOf(text);
    return found.some(({ spec }) => ['image', 'build', 'extends'].some((name) => name in spec));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return false;
  }
}

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
    // a secret that is a default stays one of the environment's variables
    spec: { ...objectOf(interpolated(spec)), environment: objectOf(spec)['environment'] },
    lineOf: (path) => lineAt(['services', name, ...path]),
  }));
}
