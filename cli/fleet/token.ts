// `gatehouse node token`: asks the control plane on this host for a token by which nodes join.
import { localTokenOf } from '#api/main';
import type { Values } from '#settings/environment';
import { readControlEnv } from '../commands/control-plane.js';
import { controlUrl } from '../environment/control-url.js';
import { inContainer } from '../environment/in-container.js';
import { controlPlaneEnvironment } from '../environment/read-environment.js';
import { networkRefusal, Refusal, wrongUsage } from '../refusal.js';
import { readLabels, type Asked } from './words.js';

function wholeOf(asked: Asked, name: 'minutes' | 'nodes-max' | 'forget-after'): number | undefined {
  const given = asked[name];
  if (given !== undefined && !/^\d{1,9}$/.test(given)) throw wrongUsage(`--${name} takes a whole number.`);
  return given === undefined ? undefined : Number(given);
}

interface Made {
  readonly token: string;
  readonly command: string;
  readonly expires_at: string;
  readonly addresses: readonly string[];
}

export async function makeToken(values: Values, asked: Asked): Promise<number> {
  const env = readControlEnv(controlPlaneEnvironment(values));
  const place = controlUrl(inContainer(values));
  const url = `${place}/api/nodes/tokens/local`;
  const limits = {
    expires_in_minutes: wholeOf(asked, 'minutes'),
    nodes_max: wholeOf(asked, 'nodes-max'),
    forget_after_minutes: wholeOf(asked, 'forget-after'),
  };
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${localTokenOf(env.authSessionSecret)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ labels: readLabels(asked.label ?? []), ...limits }), // what was not asked for is left out
    signal: AbortSignal.timeout(20_000),
  }).catch((error: unknown) => {
    throw networkRefusal(`the control plane at ${place}`, error) ?? error;
  });
  const body = (await answer.json().catch(() => null)) as (Made & { readonly detail?: string }) | null;
  if (!answer.ok || body === null)
    throw new Refusal(`the control plane answered ${answer.status}: ${body?.detail ?? 'no reason'}`);
  if (asked.json === true) console.log(JSON.stringify(body));
  else {
    const where = asked['nodes-max'] === undefined ? 'the new node' : 'each new node';
    console.log(`On ${where}, before ${body.expires_at}:\n\n  ${body.command}\n`);
    if (body.addresses.length === 0)
      console.log('ADDRESS:PORT is where the node reaches NODES_PORT of this control plane; NODES_URLS names it.');
  }
  return 0;
}
