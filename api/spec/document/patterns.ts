// Patterns of schemas that nodes do not enforce: RE2 has no look-ahead and no back-references, and nothing else reads
// what clients send. Told at the upload, with the line, so that nobody takes such a pattern for protection.
import { isEnforceable } from './dialect.js';
import { isObject, pointerOf, type Path, type SpecProblem } from './problem.js';

/** Members whose content is data, or maps of free names in which `pattern` would be a name. */
const data = new Set(['example', 'examples', 'default', 'enum', 'const', 'value']);
const maps = new Set(['properties', '$defs', 'definitions', 'schemas', 'responses', 'parameters', 'headers']);

const warningsMax = 50;

export function checkPatterns(root: unknown, lineOf: (path: Path) => number): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const report = (at: Path, pattern: string): void => {
    if (problems.length >= warningsMax || isEnforceable(pattern)) return;
    const reason = `"${pattern.slice(0, 100)}" is no pattern of RE2 (look-ahead, back-reference), and is not enforced`;
    const fix = 'write it without look-around and back-references, or leave its check to the application';
    problems.push({ severity: 'warning', path: pointerOf(at), line: lineOf(at), reason, fix });
  };
  const visit = (node: unknown, path: Path, isMap: boolean): void => {
    if (Array.isArray(node)) {
      for (const [index, item] of (node as unknown[]).entries()) visit(item, [...path, index], false);
      return;
    }
    if (!isObject(node)) return;
    for (const [name, value] of Object.entries(node)) {
      const at = [...path, name];
      if (!isMap && (data.has(name) || name.startsWith('x-'))) continue;
      if (!isMap && name === 'pattern' && typeof value === 'string') report(at, value);
      if (!isMap && name === 'patternProperties' && isObject(value)) {
        for (const [pattern, inner] of Object.entries(value)) {
          report([...at, pattern], pattern);
          visit(inner, [...at, pattern], false);
        }
      } else visit(value, at, !isMap && maps.has(name));
    }
  };
  visit(root, [], false);
  return problems;
}
