// Members and parameters whose names say that they hold personal data or secrets, as far as schemas declare them.
import type { JsonSchema, PlannedContent } from '#proxy/contract';
import type { ApiModel, ApiOperation } from '../../spec/document/model.js';

/** Whole words of a name: `cardNumber`, `card_number` and `card-number` are the same. */
const sensitive: readonly (readonly [RegExp, string])[] = [
  [/(^| )(password|passwd|passphrase|secret|private key|api key|apikey|pin)( |$)/, 'a secret'],
  [/(^| )(access|refresh|session|auth|bearer) token( |$)/, 'a secret'],
  [/(^| )(card|pan|credit card|cvv|cvc|card number)( |$)/, 'card data'],
  [/(^| )(iban|bank account|account number|routing number)( |$)/, 'bank data'],
  [/(^| )(ssn|social security|national id|passport|tax id|driver licen[cs]e|nino)( |$)/, 'a national id'],
  [/(^| )(email|e mail|phone|telephone|mobile|date of birth|birth date|birthday|dob)( |$)/, 'personal data'],
  [/(^| )(salary|diagnosis|medical|health insurance)( |$)/, 'personal data'],
];

const nodesMax = 5000;

const wordsOf = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase();

/** What a name stands for, or null. */
export function sensitiveKindOf(name: string): string | null {
  const before = known.get(name);
  if (before !== undefined) return before;
  const words = wordsOf(name);
  const kind = sensitive.find(([pattern]) => pattern.test(words))?.[1] ?? null;
  if (known.size >= knownMax) known.clear();
  if (name.length <= 200) known.set(name, kind);
  return kind;
}

/** Members of one schema are asked for with each operation that refers to it. */
const known = new Map<string, string | null>();
const knownMax = 10_000;

/** The first member with such a name, as `kind (name)`; null: none is declared. Looks at `nodesMax` parts at most. */
export function sensitiveMemberOf(
  operation: Pick<ApiOperation, 'parameters' | 'body' | 'responses'>,
  { definitions }: Pick<ApiModel, 'definitions'>,
): string | null {
  for (const { name } of operation.parameters) {
    const kind = sensitiveKindOf(name);
    if (kind !== null) return `${kind} (${name})`;
  }
  const contents: PlannedContent[] = [
    ...(operation.body === null ? [] : [operation.body.content]),
    ...Object.entries(operation.responses).flatMap(([code, content]) => (/^[23d]/.test(code) ? [content] : [])),
  ];
  const open: unknown[] = contents.flatMap((content) => Object.values(content).map(({ schema }) => schema));
  const seen = new Set<unknown>();
  for (const node of open) {
    if (typeof node !== 'object' || node === null || seen.has(node) || seen.size > nodesMax) continue;
    seen.add(node);
    if (Array.isArray(node)) {
      open.push(...(node as unknown[]));
      continue;
    }
    const schema = node as Exclude<JsonSchema, boolean>;
    const { properties, $ref: reference } = schema;
    if (typeof reference === 'string') open.push(definitions[reference]);
    if (typeof properties === 'object' && properties !== null)
      for (const [name, part] of Object.entries(properties)) {
        const kind = sensitiveKindOf(name);
        if (kind !== null) return `${kind} (${name})`;
        open.push(part);
      }
    for (const word of ['items', 'additionalProperties', 'allOf', 'anyOf', 'oneOf', 'prefixItems'])
      open.push(schema[word]);
  }
  return null;
}
