// Equality of JSON values (JSON Schema 2020-12 core section 4.2.2): members in any order, 1 and 1.0 the same.
import { isMap, type Check } from './check.js';

/** A text that two values share exactly when they are equal. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${(value as unknown[]).map(canonical).join(',')}]`;
  if (!isMap(value)) return JSON.stringify(value) ?? 'null';
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

const isSimple = (value: unknown): boolean => typeof value !== 'object' || value === null;

export function oneOfValues(values: readonly unknown[], keyword: 'enum' | 'const'): Check {
  const simple = new Set(values.filter(isSimple).map((value) => (value === 0 ? 0 : value)));
  const others = new Set(values.filter((value) => !isSimple(value)).map(canonical));
  return (value, trace) => {
    if (isSimple(value) ? simple.has(value) : others.size > 0 && others.has(canonical(value))) return true;
    return trace.fail(keyword);
  };
}

export const uniqueItems: Check = (value, trace) => {
  if (!Array.isArray(value)) return true;
  const items = value as readonly unknown[];
  const seen = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const key = typeof item === 'string' ? `"${item}` : canonical(item);
    if (seen.has(key)) {
      trace.fail('uniqueItems');
      return trace.within(index);
    }
    seen.add(key);
  }
  return true;
};
