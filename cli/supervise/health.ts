// `gatehouse health [data-plane|control-plane|console|traffic]`: whether a part of this installation answers, for
// container engines, service managers and scripts. Exit code 0: it does; 1: it does not, and why.
import type { Values } from '#settings/environment';
import { consoleUrl, controlUrl } from '../environment/control-url.js';
import { readFlags } from '../environment/flags.js';
import { inContainer } from '../environment/in-container.js';
import { readEnvironment } from '../environment/read-environment.js';
import { networkRefusal, Refusal, wrongUsage } from '../refusal.js';

const answerMsMax = 4_000;

/**
 * Where each part says that it serves; none of them needs a login. `traffic`: the data plane welcomes it, which it does
 * not while it is drained or has no rules.
 */
const places: Readonly<Record<string, (values: Values) => string>> = {
  'data-plane': ({ GATEHOUSE_ADMIN_PORT: port }) => `http://127.0.0.1:${port}/healthz`,
  'control-plane': (values) => `${controlUrl(values)}/api/health`,
  traffic: ({ GATEHOUSE_ADMIN_PORT: port }) => `http://127.0.0.1:${port}/readyz`,
  console: (values) => `${consoleUrl(values)}/`,
};

async function ask(name: string, values: Values): Promise<void> {
  const url = places[name]?.(values) ?? '';
  const answer = await fetch(url, { signal: AbortSignal.timeout(answerMsMax), headers: { connection: 'close' } }).catch(
    (error: unknown) => {
      throw networkRefusal(`${name} (${url})`, error) ?? error;
    },
  );
  await answer.arrayBuffer();
  if (!answer.ok) throw new Refusal(`${name} (${url}) answers ${answer.status}; its log says why.`);
  console.log(`${name}: healthy`);
}

/** Without a name: the parts that run. A node that is drained runs. */
export async function runHealth(args: readonly string[]): Promise<number> {
  const { flags, others } = readFlags(args);
  const unknown = others.filter((name) => !Object.hasOwn(places, name));
  if (unknown.length > 0)
    throw wrongUsage(`health does not know ${unknown.join(' ')}; the parts are ${Object.keys(places).join(', ')}.`);
  const values = inContainer(readEnvironment(flags));
  for (const name of others.length > 0 ? others : Object.keys(places).filter((one) => one !== 'traffic'))
    await ask(name, values);
  return 0;
}
