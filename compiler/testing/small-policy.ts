// A rule set of a few rules of our own, for tests of what settings mean.
import { createMemoryStore } from '#engine';
import { createInterpreter } from '#engine/compile';
import { compileProgram } from '../compile-program.js';
import type { CoreRuleSet } from '../policy/crs.js';
import { generationOf, type Generation } from '../policy/generations.js';
import { renderPolicy, type Policy } from '../policy/policy.js';
import { categoryTags } from '../policy/settings.js';

const rulesText = [
  `SecComponentSignature "${['OWASP_CRS', '4.9.0'].join('/')}"`,
  ...Object.values(categoryTags)
    .flat()
    .map(
      (tag, index) =>
        `SecRule ARGS "@rx attack${index}" "id:${950_000 + index},phase:2,block,msg:'${tag}',tag:'${tag}'"`,
    ),
].join('\n');
/** One rule per category tag. */
export const smallCrs: CoreRuleSet = {
  version: '4.9.0',
  generation: generationOf('4.9.0') as Generation,
  setupVersion: 490,
  rules: [{ path: 'crs/rules/REQUEST-901-INITIALIZATION.conf', text: `${rulesText}\n` }],
  pluginsBefore: [],
  pluginsAfter: [],
  tags: new Set(Object.values(categoryTags).flat()),
};

/** Runs the interpreter: is a request without a body blocked? */
export function createJudge(policy: Policy | null): (uri: string, headers?: readonly string[]) => boolean {
  const { program } = compileProgram(policy === null ? [] : renderPolicy(policy));
  if (program === null) throw new Error('the policy does not compile');
  const inspector = createInterpreter(program);
  return (uri, headers = []) => {
    const head = {
      method: 'GET',
      uri,
      protocol: 'HTTP/1.1',
      headers: ['Host', 'a', ...headers],
      clientIp: '192.0.2.1',
      clientPort: 1,
      serverIp: '192.0.2.2',
      serverPort: 80,
    };
    const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore() });
    const blocked =
      inspector.requestHeaders(transaction) !== null || inspector.requestBody(transaction, null, 0) !== null;
    inspector.finish(transaction);
    return blocked;
  };
}
