// Self-test requests that travel with an artifact: the data plane sends them through a new rule set before it goes
// live.
// A rule set that cannot see a known attack, or stops a plain page view, must not replace one that works.
import { createMemoryStore, type ProbeIR } from '#engine';
import { createInterpreter, type Program } from '#engine/compile';
import type { FoldedProgram } from '../passes/fold-constants.js';

const browser = [
  'Host',
  'probe.invalid',
  'User-Agent',
  'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  'Accept',
  'text/html',
  'Accept-Language',
  'en',
  'Accept-Encoding',
  'gzip',
];

interface ProbeSeed {
  readonly name: string;
  readonly uri: string;
}
const attacks: readonly ProbeSeed[] = [
  {
    name: 'SQL injection in a parameter',
    uri: '/?id=1%27%20OR%20%271%27%3D%271%27%20UNION%20SELECT%20password%20FROM%20users--%20-',
  },
  { name: 'script in a parameter', uri: '/?q=%3Cscript%3Ealert(document.cookie)%3C%2Fscript%3E' },
  { name: 'path traversal', uri: '/?file=..%2F..%2F..%2F..%2Fetc%2Fpasswd' },
  { name: 'shell command in a parameter', uri: '/?host=127.0.0.1%3Bcat%20%2Fetc%2Fshadow' },
];

function probe(seed: ProbeSeed, expectAnyOf: readonly number[]): ProbeIR {
  return { name: seed.name, method: 'GET', uri: seed.uri, headers: browser, body: null, expectAnyOf };
}

/**
 * What a probe can meet: no response, and no rule that folding found without effect. Building the patterns and phrase
 * lists of the others takes half of the time of this stage. Each leaves a marker of its id, where a skipAfter may lead;
 * `skip:N` counts rules, so with one of those all stay.
 */
function withinReach(program: Program, { folded }: Pick<FoldedProgram, 'folded'>): Program {
  const counts = program.items.some((item) => item.kind === 'rule' && item.skip > 0);
  const isIdle = (index: number): boolean => !counts && folded.has(index) && folded.get(index) !== 'constant setvar';
  const items = program.items.map((item) =>
    item.kind === 'rule' && (item.phase === 3 || item.phase === 4 || isIdle(item.index))
      ? { kind: 'marker' as const, index: item.index, name: String(item.id) }
      : item,
  );
  return { ...program, items };
}

/**
 * Runs the seeds through the oracle and keeps each attack that the rules see, with the ids that saw it. Rule sets
 * without attack detection (a few custom rules) keep none: there is nothing that they promise to see.
 */
export function selectProbes(program: Program, folded: Pick<FoldedProgram, 'folded'>): ProbeIR[] {
  const inspector = createInterpreter(withinReach(program, folded));
  const run = (uri: string): number[] => {
    const store = createMemoryStore();
    const transaction = inspector.begin(
      {
        method: 'GET',
        uri,
        protocol: 'HTTP/1.1',
        headers: browser,
        clientIp: '192.0.2.1',
        clientPort: 40000,
        serverIp: '192.0.2.2',
        serverPort: 80,
      },
      { uniqueId: 'probe', nowMs: 0, store },
    );
    inspector.requestHeaders(transaction);
    inspector.requestBody(transaction, null);
    return inspector.finish(transaction).matched.map(({ rule }) => rule.id);
  };
  const benign: ProbeSeed = { name: 'plain page view', uri: '/' };
  const usual = new Set(run(benign.uri));
  const found: ProbeIR[] = [];
  for (const attack of attacks) {
    const ids = [...new Set(run(attack.uri))].filter((id) => !usual.has(id));
    if (ids.length > 0) found.push(probe(attack, ids));
  }
  return [...found, probe(benign, [])];
}
