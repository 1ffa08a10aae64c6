// The part of a change that may fail, done beside the traffic: load the ruleset, compile the sites, prove that it sees.
import type { CollectionStore, Inspector, RequestHead, Verdict } from '#engine';
import type { Admission } from '../admit/index.js';
import type { ProxyConfig } from '../contract.js';
import { createGeneration, type Generation } from './generation.js';
import type { InspectionModule, LoadedInspection } from '../inspection/inspection.js';
import type { GenerationPayload } from './messages.js';

export class GenerationRefused extends Error {
  override readonly name = 'GenerationRefused';
}

/**
 * Throws GenerationRefused with a reason for people; nothing is left behind then. Main has held the artifact's bytes
 * against their name (reload.ts); once more here would keep this thread's requests waiting another 15 ms.
 */
export function prepareGeneration(
  payload: GenerationPayload,
  module: InspectionModule,
  prepareGates: (config: ProxyConfig) => Admission,
): Generation {
  let inspection: LoadedInspection | null = null;
  if (payload.artifact !== null) {
    const bytes = new Uint8Array(payload.artifact);
    try {
      inspection = module.loadInspection(bytes, payload.sha256);
    } catch (error) {
      throw new GenerationRefused(
        `the engine refused the artifact: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
    }
  }
  try {
    if (inspection !== null && payload.selfTest === 'inspect') selfTest(inspection, module.createStore());
    return createGeneration(payload, inspection, prepareGates(payload.config));
  } catch (error) {
    inspection?.release();
    if (error instanceof GenerationRefused) throw error;
    throw new GenerationRefused(
      `the configuration cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

function probe(uri: string, method = 'GET', extra: readonly string[] = []): RequestHead {
  return {
    method,
    uri,
    protocol: 'HTTP/1.1',
    headers: [
      'Host',
      'selftest.example',
      'User-Agent',
      'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
      'Accept',
      'text/html',
      ...extra,
    ],
    clientIp: '192.0.2.1',
    clientPort: 40000,
    serverIp: '192.0.2.2',
    serverPort: 80,
  };
}

interface Probe {
  readonly name: string;
  readonly head: RequestHead;
  readonly body: Buffer | null;
  readonly isAttack: boolean;
}

const form = Buffer.from('user=admin%27+OR+%271%27%3D%271%27+--+&go=1', 'latin1');
const kindForm = Buffer.from('user=maria&go=1', 'latin1');
const formFields = (body: Buffer): string[] => [
  'Content-Type',
  'application/x-www-form-urlencoded',
  'Content-Length',
  String(body.length),
];

const probes: readonly Probe[] = [
  {
    name: 'an SQL injection in the query',
    head: probe('/products?id=1%27%20OR%20%271%27%3D%271%27%20UNION%20SELECT%20password%20FROM%20users--'),
    body: null,
    isAttack: true,
  },
  { name: 'an SQL injection in a form', head: probe('/login', 'POST', formFields(form)), body: form, isAttack: true },
  { name: 'an ordinary page view', head: probe('/products?category=shoes&page=2'), body: null, isAttack: false },
  {
    name: 'an ordinary login form',
    head: probe('/login', 'POST', formFields(kindForm)),
    body: kindForm,
    isAttack: false,
  },
];

/** A ruleset that cannot see an attack, or blocks everybody, never goes live. */
function selfTest(inspection: LoadedInspection, store: CollectionStore): void {
  const { inspector } = inspection;
  for (const { name, head, body, isAttack } of probes) {
    const verdict = run(inspector, head, body, store);
    const isSeen = verdict.kind !== 'pass';
    if (isAttack && !isSeen)
      throw new GenerationRefused(
        `self-test: ${name} was not seen; the ruleset does not protect (is a detection rule file missing, or the engine off?)`,
      );
    if (!isAttack && isSeen)
      throw new GenerationRefused(
        `self-test: ${name} was blocked by rule ${verdict.interruption?.ruleId ?? 0}; the ruleset would block ordinary visitors`,
      );
  }
  for (const { name, method, uri, headers, body, expectAnyOf } of inspection.probes) {
    const verdict = run(
      inspector,
      { ...probe(uri, method), headers },
      body === null ? null : Buffer.from(body, 'latin1'),
      store,
    );
    const isMet =
      expectAnyOf.length === 0
        ? verdict.kind === 'pass'
        : verdict.matched.some(({ rule }) => expectAnyOf.includes(rule.id));
    if (!isMet)
      throw new GenerationRefused(
        `self-test "${name}" of the artifact: expected ${expectAnyOf.length === 0 ? 'no block' : `a match of one of ${expectAnyOf.join(', ')}`}, got ${verdict.kind} with [${verdict.matched.map(({ rule }) => rule.id).join(', ')}]`,
      );
  }
}

function run(inspector: Inspector, head: RequestHead, body: Buffer | null, store: CollectionStore): Verdict {
  const transaction = inspector.begin(head, { uniqueId: 'selftest', nowMs: 0, store });
  if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body, body?.length ?? 0);
  return inspector.finish(transaction);
}
