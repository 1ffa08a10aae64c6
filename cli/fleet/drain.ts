// `gatehouse node drain`: takes this node out of its load balancer before it is stopped. Its `/readyz` answers 503 from
// then on, and it serves who comes all the same. For the hook of a container engine that runs before SIGTERM.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Values } from '#settings/environment';
import { root } from '../environment/directories.js';
import { inContainer } from '../environment/in-container.js';
import { networkRefusal, Refusal, wrongUsage } from '../refusal.js';

const waitSecondsMax = 600;
const answerMsMax = 4_000;

function adminToken(values: Values): string {
  if (values.GATEHOUSE_ADMIN_TOKEN !== '') return values.GATEHOUSE_ADMIN_TOKEN;
  const file = join(resolve(root, values.GATEHOUSE_DATA), 'admin-token');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new Refusal(`there is no token of the admin interface: set GATEHOUSE_ADMIN_TOKEN, or let ${file} be read.`);
  }
}

/** Resolves when `seconds` are over, in which load balancers notice. */
export async function drainNode(given: Values, seconds: string | undefined, isUndone: boolean): Promise<number> {
  const waitSeconds = seconds === undefined ? 0 : Number(seconds);
  if (!Number.isInteger(waitSeconds) || waitSeconds < 0 || waitSeconds > waitSecondsMax)
    throw wrongUsage(`--wait takes whole seconds from 0 to ${waitSecondsMax}.`);
  const values = inContainer(given);
  const url = `http://127.0.0.1:${values.GATEHOUSE_ADMIN_PORT}/drain`;
  const answer = await fetch(url, {
    method: 'PUT',
    headers: { authorization: `Bearer ${adminToken(values)}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ drain: !isUndone }),
    signal: AbortSignal.timeout(answerMsMax),
  }).catch((error: unknown) => {
    throw networkRefusal(`the data plane (${url})`, error) ?? error;
  });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Refusal(`the data plane (${url}) answered ${answer.status}.`);
  console.log(isUndone ? 'This node is ready for traffic again.' : 'Load balancers are asked to go elsewhere.');
  if (!isUndone) await wait(waitSeconds * 1000);
  return 0;
}
