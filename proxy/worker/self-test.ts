// Before rules go live they are shown attacks that they must see and ordinary requests that they must let through.
import type { CollectionStore, Inspector, RequestHead, Steps, Verdict } from '#engine';
import type { LoadedInspection } from '../inspection/inspection.js';

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

/**
 * Why these rules must not go live: they cannot see an attack, or would block everybody. null = they may. A step is one
 * probe.
 */
export function* selfTest(
  { inspector, probes: ofArtifact }: LoadedInspection,
  store: CollectionStore,
): Steps<string | null> {
  for (const { name, head, body, isAttack } of probes) {
    const verdict = run(inspector, head, body, store);
    yield;
    const isSeen = verdict.kind !== 'pass';
    if (isAttack && !isSeen)
      return (
        `self-test: ${name} was not seen; the ruleset does not protect ` +
        '(is a detection rule file missing, or the engine off?)'
      );
    if (!isAttack && isSeen)
      return (
        `self-test: ${name} was blocked by rule ${verdict.interruption?.ruleId ?? 0}; ` +
        'the ruleset would block ordinary visitors'
      );
  }
  for (const { name, method, uri, headers, body, expectAnyOf } of ofArtifact) {
    const head = { ...probe(uri, method), headers };
    const verdict = run(inspector, head, body === null ? null : Buffer.from(body, 'latin1'), store);
    yield;
    const ids = verdict.matched.map(({ rule }) => rule.id);
    const wantsNone = expectAnyOf.length === 0;
    if (wantsNone ? verdict.kind === 'pass' : ids.some((id) => expectAnyOf.includes(id))) continue;
    const wanted = wantsNone ? 'no block' : `a match of one of ${expectAnyOf.join(', ')}`;
    return `self-test "${name}" of the artifact: expected ${wanted}, got ${verdict.kind} with [${ids.join(', ')}]`;
  }
  return null;
}

function run(inspector: Inspector, head: RequestHead, body: Buffer | null, store: CollectionStore): Verdict {
  const transaction = inspector.begin(head, { uniqueId: 'selftest', nowMs: 0, store });
  if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body, body?.length ?? 0);
  return inspector.finish(transaction);
}
