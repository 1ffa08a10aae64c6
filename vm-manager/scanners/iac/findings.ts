// A rule that is broken somewhere as findings: with the line itself, and what people have set aside.
import { createHash } from 'node:crypto';
import type { Finding } from '../contract.js';
import type { Lines } from '../lines.js';
import type { Checked, Place } from './rule.js';

const snippetMax = 300;

/** `fileOf`: the file of a place. */
export function findingsOf<Subject>(
  rule: Checked<Subject>,
  subject: Subject,
  fileOf: (place: Place) => { readonly path: string; readonly lines: Lines },
): Finding[] {
  const seen = new Map<string, number>();
  return rule.check(subject).map((place) => {
    const { line, endLine, message, address } = place;
    const { path, lines } = fileOf(place);
    const suppressed = lines.ignored(line, rule.id);
    const snippet = lines.line(line).trim().slice(0, snippetMax);
    // two of one rule in one resource are two findings, wherever their lines move
    const name = [rule.id, path, address, message, snippet].join('\n');
    const ordinal = seen.get(name) ?? 0;
    seen.set(name, ordinal + 1);
    return {
      rule: rule.id,
      path,
      line,
      fingerprint: createHash('sha256').update(`${name}\n${ordinal}`).digest('hex').slice(0, 32),
      ...(endLine === undefined ? {} : { endLine }),
      message: message ?? rule.title,
      ...(address === undefined ? {} : { address }),
      snippet,
      ...(suppressed === null ? {} : { suppressed }),
    };
  });
}
