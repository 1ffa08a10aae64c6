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
  /** The same thing sent in several ways; those behind the first count where a list of the policy refuses that. */
  readonly ways: readonly { readonly head: RequestHead; readonly body: Buffer | null }[];
  readonly isAttack: boolean;
}

const sent = (text: string, type: string): Probe['ways'][number] => {
  const body = Buffer.from(text, 'latin1');
  return { head: probe('/login', 'POST', ['Content-Type', type, 'Content-Length', String(body.length)]), body };
};
const formType = 'application/x-www-form-urlencoded';

const probes: readonly Probe[] = [
  {
    name: 'an SQL injection in the query',
    ways: [
      {
        head: probe('/products?id=1%27%20OR%20%271%27%3D%271%27%20UNION%20SELECT%20password%20FROM%20users--'),
        body: null,
      },
    ],
    isAttack: true,
  },
  {
    name: 'an SQL injection in a form',
    ways: [
      sent('user=admin%27+OR+%271%27%3D%271%27+--+&go=1', formType),
      sent('{"user":"admin\' OR \'1\'=\'1\' -- ","go":"1"}', 'application/json'),
    ],
    isAttack: true,
  },
  {
    name: 'an ordinary page view',
    ways: [{ head: probe('/products?category=shoes&page=2'), body: null }],
    isAttack: false,
  },
  {
    name: 'an ordinary login form',
    ways: [sent('user=maria&go=1', formType), sent('{"user":"maria","go":"1"}', 'application/json')],
    isAttack: false,
  },
];

/**
 * CRS: a method (911100) or a content type (920420) that the lists of the settings leave out. An API may take JSON and
 * nothing else: what it refuses by such a list says nothing about the other rules.
 */
const rulesOfLists: ReadonlySet<number> = new Set([911_100, 920_420]);
const isRefusedByList = ({ matched }: Verdict): boolean => matched.some(({ rule }) => rulesOfLists.has(rule.id));

/** CRS: rules that add up what others gave. */
const isSum = (id: number): boolean => (id >= 949_000 && id < 950_000) || (id >= 980_000 && id < 981_000);

/** `rule 949110` says nothing to a person; what it added up does. */
function describeBlock({ interruption, matched }: Verdict): string {
  const ids = [...new Set(matched.map(({ rule }) => rule.id))].filter((id) => id > 0 && !isSum(id));
  const own = interruption?.ruleId ?? 0;
  if (!isSum(own) || ids.length === 0) return `rule ${own}`;
  const told = ids.slice(-rulesToldMax);
  return `rule ${own} for what ${told.length === 1 ? 'rule' : 'rules'} ${told.join(', ')} found`;
}
const rulesToldMax = 5;

/**
 * Why these rules must not go live: they cannot see an attack, or would block everybody. null = they may. A step is one
 * probe.
 */
export function* selfTest(
  { inspector, probes: ofArtifact }: LoadedInspection,
  store: CollectionStore,
): Steps<string | null> {
  for (const { name, ways, isAttack } of probes) {
    const verdict = yield* firstTaken(inspector, ways, store);
    if (verdict === null) continue;
    const isSeen = verdict.kind !== 'pass';
    if (isAttack && !isSeen)
      return (
        `self-test: ${name} was not seen; the ruleset does not protect ` +
        '(is a detection rule file missing, or the engine off?)'
      );
    if (!isAttack && isSeen)
      return `self-test: ${name} was blocked by ${describeBlock(verdict)}; the ruleset would block ordinary visitors`;
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

/**
 * Ordinary requests alone, of rules that another worker has proven: what is built when it is first needed is then not
 * built while somebody waits. A step is one of them.
 */
export function* warmUp({ inspector }: LoadedInspection, store: CollectionStore): Steps<void> {
  for (const { ways, isAttack } of probes) if (!isAttack) yield* firstTaken(inspector, ways, store);
}

/** What becomes of the first way that no list refuses; null: all are. */
function* firstTaken(inspector: Inspector, ways: Probe['ways'], store: CollectionStore): Steps<Verdict | null> {
  for (const { head, body } of ways) {
    const verdict = run(inspector, head, body, store);
    yield;
    if (!isRefusedByList(verdict)) return verdict;
  }
  return null;
}

function run(inspector: Inspector, head: RequestHead, body: Buffer | null, store: CollectionStore): Verdict {
  const transaction = inspector.begin(head, { uniqueId: 'selftest', nowMs: 0, store });
  if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body, body?.length ?? 0);
  return inspector.finish(transaction);
}
