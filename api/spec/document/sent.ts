// The document within what was sent: itself, or in an envelope.
import { isObject, textOf } from './problem.js';

interface Sent {
  readonly text: string;
  readonly site: string | undefined;
  readonly name: string | undefined;
}

/** The document itself, or `{"spec": text or object, "site", "name"}` around it. */
export function sentDocument(body: unknown): Sent {
  const none = { site: undefined, name: undefined };
  const text = typeof body === 'string' ? body : '';
  if (!/^\s*\{/.test(text)) return { text, ...none };
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || value['openapi'] !== undefined || value['swagger'] !== undefined) return { text, ...none };
    const { spec, site, name } = value;
    if (spec === undefined) return { text, ...none };
    const inner = typeof spec === 'string' ? spec : JSON.stringify(spec, null, 2);
    return { text: inner, site: textOf(site) || undefined, name: textOf(name) || undefined };
  } catch {
    return { text, ...none }; // the reader tells what is wrong, with the line
  }
}
