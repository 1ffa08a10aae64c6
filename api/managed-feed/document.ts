// The managed feed as it travels: one JSON document, plain or signed. It can deny networks, put patches of our
// catalogue in force by id, and bring patches of its own. Those come as parts (variables, operator, transformations,
// requests that prove them), never as rule text: what is rendered from them denies, and can neither switch a rule off
// nor let anything in.
//   plain:  {"format":"gatehouse-managed-feed/1","name":…,"version":7,"issued":…,
//            "networks":[…],"catalog":[…],"patches":[…]}
//   signed: GHF1.<document in base64url>.<signature in base64url>, RSA PKCS#1 v1.5 with SHA-256 over everything before
//           the last dot, by the vendor's key that licences are signed with (the prefix keeps the two apart).
import { createPublicKey, verify } from 'node:crypto';
import { Type, type Static } from '@sinclair/typebox';
import { Ajv, type ValidateFunction } from 'ajv';
import { checkRuleText } from '#compiler';
import { definePatch, type CatalogPatch, type PatchFacts } from '../vpatch/catalog/entry.js';
import { patchCatalog } from '../vpatch/catalog/index.js';
import { admitNetworks } from '../threat-intel/inner-networks.js';
import { toDenied } from '../addresses/denied.js';

/** Ids of patches that only a feed has; the catalogue stays below. */
export const feedPatchIds = [1_007_900, 1_007_999] as const;
export const documentBytesMax = 64 * 1024 * 1024;
const networksMax = 1_000_000;

const closed = { additionalProperties: false } as const;
/** Goes into msg and tags of a rule between quotes. */
const Label = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^"\'%\\\\\\r\\n]+$' });
const Link = Type.Array(Type.String(), { minItems: 2, maxItems: 3 });
const Sample = Type.Array(Type.Unknown(), { minItems: 2, maxItems: 4 });
const Patch = Type.Object(
  {
    id: Type.Integer({ minimum: feedPatchIds[0], maximum: feedPatchIds[1] }),
    cve: Type.String({ pattern: '^CVE-\\d{4}-\\d{4,7}$' }),
    title: Label,
    product: Label,
    affected: Label,
    cwe: Type.String({ pattern: '^CWE-\\d{1,5}$' }),
    technique: Type.Optional(Type.String({ pattern: '^T\\d{4}(\\.\\d{3})?$' })),
    severity: Type.Unsafe<'critical' | 'high' | 'medium'>({ type: 'string', enum: ['critical', 'high', 'medium'] }),
    phase: Type.Unsafe<1 | 2>({ type: 'integer', enum: [1, 2] }),
    links: Type.Array(Link, { minItems: 1, maxItems: 8 }),
    attack: Type.Array(Sample, { minItems: 1, maxItems: 20 }),
    benign: Type.Array(Sample, { minItems: 2, maxItems: 20 }),
  },
  closed,
);
const Document = Type.Object(
  {
    format: Type.Literal('gatehouse-managed-feed/1'),
    name: Label,
    version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    issued: Type.String({ maxLength: 40 }),
    networks: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: networksMax })),
    catalog: Type.Optional(Type.Array(Type.Integer(), { maxItems: 1000, uniqueItems: true })),
    patches: Type.Optional(Type.Array(Patch, { maxItems: feedPatchIds[1] - feedPatchIds[0] + 1 })),
  },
  closed,
);
export type ManagedDocument = Static<typeof Document>;

/** A document that was read and found right. */
export interface ManagedFeed {
  readonly name: string;
  readonly version: number;
  readonly issued: string;
  readonly signed: boolean;
  /** Canonical. */
  readonly networks: readonly string[];
  /** Inner networks that it named and that are not denied. */
  readonly leftOut: readonly string[];
  readonly catalogIds: readonly number[];
  /** Their tests have not been run yet. */
  readonly patches: readonly CatalogPatch[];
}

const checks: ValidateFunction[] = [];
/** Compiled when the first document comes: every process of the control plane loads this file, few read one. */
const documentCheck = (): ValidateFunction =>
  checks[0] ?? (checks[0] = new Ajv({ strict: false, allErrors: false }).compile(Document));
/** No quote ends it early, no line end, no backslash before the quote that ends it. */
const operatorPattern = /^!?@[A-Za-z]+(?: [^"\r\n]{0,3999}[^"\r\n\\])?$/;
const variablesPattern = /^[&!]?[A-Za-z][A-Za-z0-9_&!|:.*/@$^()?+[\]-]{0,499}$/;
const transformationsPattern = /^[A-Za-z0-9]+(?:,[A-Za-z0-9]+)*$|^$/;

/**
 * Throws Error with the reason, whatever is wrong; nothing of a wrong document is used. `publicKeyPem` null: a build
 * without a vendor takes plain documents.
 */
export function readManagedFeed(body: Buffer, publicKeyPem: string | null): ManagedFeed {
  const { bytes, signed } = openEnvelope(body, publicKeyPem);
  let content: unknown;
  try {
    content = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Error('it is no managed feed: not JSON');
  }
  const fits = documentCheck();
  if (!fits(content)) {
    const [problem] = fits.errors ?? [];
    const surplus =
      problem?.keyword === 'additionalProperties' ? ` (${String(problem.params['additionalProperty'])})` : '';
    throw new Error(
      `it is no managed feed: ${problem?.instancePath || 'the document'} ${problem?.message ?? 'is wrong'}${surplus}`,
    );
  }
  const document = content as ManagedDocument;
  if (Number.isNaN(Date.parse(document.issued))) throw new Error('/issued is no moment');
  const { networks, leftOut } = admitNetworks(readNetworks(document.networks ?? []));
  const catalogIds = document.catalog ?? [];
  const unknown = catalogIds.find((id) => !patchCatalog.some((patch) => patch.id === id));
  if (unknown !== undefined)
    throw new Error(`/catalog names the patch ${unknown}, which this program does not have; a newer one may`);
  return {
    name: document.name,
    version: document.version,
    issued: document.issued,
    signed,
    networks,
    leftOut,
    catalogIds,
    patches: readPatches(document.patches ?? []),
  };
}

function openEnvelope(body: Buffer, publicKeyPem: string | null): { readonly bytes: Buffer; readonly signed: boolean } {
  if (body.length > documentBytesMax) throw new Error(`it has more than ${documentBytesMax} bytes`);
  if (body.subarray(0, 5).toString('latin1') !== 'GHF1.') {
    // with a key to check there is no reason to believe a document that nobody signed
    if (publicKeyPem !== null)
      throw new Error(
        'it is not signed, and this build takes signed feeds only (addresses of your own fit ti_feed_url)',
      );
    return { bytes: body, signed: false };
  }
  if (publicKeyPem === null) throw new Error('it is signed, and this build carries no vendor key to check that with');
  const text = body.toString('latin1').trim();
  const dot = text.lastIndexOf('.');
  const signature = Buffer.from(text.slice(dot + 1), 'base64url');
  if (dot < 5 || !verify('sha256', Buffer.from(text.slice(0, dot), 'latin1'), createPublicKey(publicKeyPem), signature))
    throw new Error('its signature is not the vendor’s');
  return { bytes: Buffer.from(text.slice(5, dot), 'base64url'), signed: true };
}

function readNetworks(given: readonly string[]): string[] {
  const networks = new Set<string>();
  for (const [index, text] of given.entries()) {
    const parsed = toDenied(text);
    if ('reason' in parsed) throw new Error(`/networks/${index} ${JSON.stringify(text)} ${parsed.reason}`);
    networks.add(parsed.network);
  }
  return [...networks];
}

function readPatches(given: NonNullable<ManagedDocument['patches']>): CatalogPatch[] {
  const patches = given.map((patch, index) => {
    const at = `/patches/${index}`;
    for (const [place, [variables = '', operator = '', transformations = '']] of patch.links.entries()) {
      if (!variablesPattern.test(variables)) throw new Error(`${at}/links/${place}/0 are no variables`);
      if (!operatorPattern.test(operator)) throw new Error(`${at}/links/${place}/1 is no operator with its argument`);
      if (!transformationsPattern.test(transformations))
        throw new Error(`${at}/links/${place}/2 are no transformations`);
    }
    for (const [kind, samples] of [
      ['attack', patch.attack],
      ['benign', patch.benign],
    ] as const)
      for (const [place, sample] of samples.entries())
        if (!isSample(sample))
          throw new Error(`${at}/${kind}/${place} is no request: name, "METHOD /target", headers, body`);
    const made = definePatch(patch as unknown as PatchFacts);
    const { text, ids, diagnostics } = checkRuleText(made.seclang, [made.id, made.id], made.cve);
    const [problem] = diagnostics.filter(({ severity }) => severity === 'error');
    if (text === null || problem !== undefined || ids.length !== 1 || ids[0] !== made.id)
      throw new Error(`${at} is no rule: ${problem?.message ?? 'it does not compile'}`);
    return made;
  });
  for (const key of ['id', 'cve'] as const)
    if (new Set(patches.map((patch) => patch[key])).size !== patches.length)
      throw new Error(`/patches has one ${key} twice`);
  return patches;
}

function isSample([name, line, headers = {}, body = '']: readonly unknown[]): boolean {
  const isText = (value: unknown, max: number): value is string => typeof value === 'string' && value.length <= max;
  return (
    isText(name, 200) &&
    isText(line, 8192) &&
    /^[A-Z][A-Z0-9_-]{0,31} \S/.test(line) &&
    headers !== null &&
    typeof headers === 'object' &&
    Object.entries(headers).every(([key, value]) => isText(key, 256) && isText(value, 8192)) &&
    isText(body, 65_536)
  );
}
