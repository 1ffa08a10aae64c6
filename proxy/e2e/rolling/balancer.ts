// haproxy in front of three nodes, as docs/fleet.md tells to set it up: each is asked for `/readyz`. Once as a proxy of
// HTTP, and once for each port as one of TCP.
import { spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { freePort, until } from '../waiting.js';

const isThere = spawnSync('haproxy', ['-v']).status === 0;

/** For `skip`: why, or false. Continuous integration has it: there a missing one fails. */
export const withoutBalancer =
  isThere || process.env['CI'] === 'true'
    ? false
    : 'haproxy is not on this machine, so rolling upgrades are not tested: apt-get install haproxy';

export interface NodePorts {
  readonly plain: number;
  readonly tls: number;
  readonly admin: number;
}

export interface Balancer {
  /** Requests are balanced one by one. */
  readonly http: number;
  /** Connections are. */
  readonly tcp: number;
  readonly tls: number;
  /** By how many of its three ports it sends new ones to the node. */
  usedBy(index: number): Promise<number>;
}

const part = (name: string, mode: 'http' | 'tcp', port: number, nodes: readonly NodePorts[], to: 'plain' | 'tls') => `
listen ${name}
  mode ${mode}
  bind 127.0.0.1:${port}
  option httpchk GET /readyz
  balance roundrobin
${nodes
  .map((node, index) => `  server n${index} 127.0.0.1:${node[to]} check port ${node.admin} inter 200ms fall 1 rise 1`)
  .join('\n')}
`;

/** Ends with the test. Throws when it does not begin. */
export async function startBalancer(t: Test, directory: string, nodes: readonly NodePorts[]): Promise<Balancer> {
  const [http, tcp, tls, stats] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const file = join(directory, 'haproxy.cfg');
  await writeFile(
    file,
    `
defaults
  timeout check 20s
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout tunnel 300s
${part('requests', 'http', http, nodes, 'plain')}
${part('connections', 'tcp', tcp, nodes, 'plain')}
${part('sealed', 'tcp', tls, nodes, 'tls')}
listen stats
  mode http
  bind 127.0.0.1:${stats}
  stats enable
  stats uri /
`,
  );
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const rows = async (): Promise<string[][]> =>
    (await (await fetch(`http://127.0.0.1:${stats}/;csv`, { headers: { connection: 'close' } })).text())
      .split('\n')
      .map((line) => line.split(','));
  const usedBy = async (index: number): Promise<number> =>
    (await rows()).filter(([, name, ...more]) => name === `n${index}` && more[15] !== 'DOWN').length;
  const isUp = await until(() =>
    rows().then(
      () => true,
      () => child.exitCode !== null,
    ),
  );
  if (!isUp || child.exitCode !== null) throw new Error(`haproxy ended: ${said}`);
  return { http, tcp, tls, usedBy };
}
