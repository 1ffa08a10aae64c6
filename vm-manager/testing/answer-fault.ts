// Whether an answer has exactly the members that its row declares.
import { Ajv, type ValidateFunction } from 'ajv';
import type { Reply } from '#api/testing/app';
import type { Endpoint } from '../kit/endpoint.js';

type Json = Record<string, unknown>;
const ajv = new Ajv({ strict: false, validateFormats: false });
const compiled = new Map<Endpoint, ValidateFunction>();

/** The schema with every object closed that lists its members; parts of an intersection stay open. */
function close(value: unknown, isPart = false): unknown {
  if (Array.isArray(value)) return value.map((one) => close(one, isPart));
  if (typeof value !== 'object' || value === null) return value;
  const made: Json = Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, close(one, name === 'allOf')]),
  );
  const listsMembers = typeof made['properties'] === 'object' && made['type'] === 'object' && !isPart;
  return listsMembers && made['additionalProperties'] === undefined ? { ...made, additionalProperties: false } : made;
}

/** Null where it fits, or where the row declares no JSON. */
export function answerFault({ status, headers, body }: Reply, row: Endpoint): string | null {
  if (status >= 300 || status === 204 || row.answer === undefined) return null;
  if (!String(headers['content-type']).includes('json')) return null;
  let fits = compiled.get(row);
  if (fits === undefined) {
    fits = ajv.compile(close(JSON.parse(JSON.stringify(row.answer))) as object);
    compiled.set(row, fits);
  }
  if (fits(body)) return null;
  const [error] = fits.errors ?? [];
  const where = `${error?.instancePath} ${error?.message} ${JSON.stringify(error?.params)}`;
  return `the answer is not the declared one (${where})`;
}
