// A throw-away certificate authority: pebble, which refuses some good nonces and reuses some authorizations on purpose,
// and its name server, which answers every name with this machine.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import type { Test } from 'tap';
import { freePort } from '../free-port.js';
import { makeDirectory } from '../temporary.js';
import { until } from '../waiting.js';
import { findPrograms, required, skipWithout, type Wanted } from './programs.js';

const wanted: Wanted = {
  server: 'pebble',
  untested: 'ordering, renewing and revoking certificates',
  install: 'apt-get install pebble',
  variable: 'GATEHOUSE_TEST_WITHOUT_PEBBLE',
};
const directoryFound = findPrograms(['pebble', 'pebble-challtestsrv'], ['/usr/bin', '/usr/local/bin']);

/** Why tests with an authority are skipped. */
export const withoutPebble = skipWithout(directoryFound, wanted);

/** What the directories of a test process are believed by: one certificate for all of them. */
export async function makePebbleTrust(t: Test): Promise<{ readonly caFile: string; readonly keyFile: string }> {
  const folder = await makeDirectory(t, 'pebble-trust');
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  const files = { caFile: join(folder, 'directory.pem'), keyFile: join(folder, 'directory.key') };
  await writeFile(files.caFile, made.cert);
  await writeFile(files.keyFile, made.private, { mode: 0o600 });
  return files;
}

export interface PebbleOptions {
  /** Where it looks for proofs. */
  readonly ports: { readonly http: number; readonly tls: number };
  readonly trust: { readonly caFile: string; readonly keyFile: string };
  /** Key id → HMAC key; empty: it asks for no external account. */
  readonly eab?: Readonly<Record<string, string>>;
}

export interface Pebble {
  readonly url: string;
  /** Management of the name server. */
  readonly dns: string;
  /** `Valid` or `Revoked`. */
  statusOf(serial: string): Promise<string>;
  stop(): Promise<void>;
}

/** `freePort` keeps the number of a port by a datagram socket, which is what a name server needs itself. */
async function freeDatagramPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind({ port: 0, address: '127.0.0.1', exclusive: true });
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

function run(t: Test, program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(join(required(directoryFound, wanted), program), args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const said = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said.text = `${said.text}${chunk.toString()}`.slice(-20_000)));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  t.teardown(stop);
  return { said, stop, hasEnded: () => child.exitCode !== null || child.signalCode !== null };
}

/** The directory's own certificate is the test's; what it says is looked at by nobody else. */
function fetchJson(url: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { rejectUnauthorized: false, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        try {
          resolve(JSON.parse(text) as Record<string, unknown>);
        } catch {
          reject(new Error(`${url} answered ${text}`));
        }
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Goes with the test. Throws when the machine has none; see `withoutPebble`. */
export async function startPebble(t: Test, { ports, trust, eab = {} }: PebbleOptions): Promise<Pebble> {
  const folder = await makeDirectory(t, 'pebble');
  const [directory, management, dnsManagement] = [await freePort(), await freePort(), await freePort()];
  const dns = await freeDatagramPort();
  const none = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-defaultIPv6', ''];
  const names = ['-defaultIPv4', '127.0.0.1', '-dns01', `127.0.0.1:${dns}`];
  run(t, 'pebble-challtestsrv', [...none, ...names, '-management', `127.0.0.1:${dnsManagement}`], {});
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${directory}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: trust.caFile,
      privateKey: trust.keyFile,
      httpPort: ports.http,
      tlsPort: ports.tls,
      ocspResponderURL: '',
      externalAccountBindingRequired: Object.keys(eab).length > 0,
      externalAccountMACKeys: eab,
    },
  };
  const file = join(folder, 'config.json');
  await writeFile(file, JSON.stringify(config));
  const args = ['-config', file, '-dnsserver', `127.0.0.1:${dns}`];
  const pebble = run(t, 'pebble', args, { PEBBLE_VA_NOSLEEP: '1' });
  const url = `https://localhost:${directory}/dir`;
  await until('pebble starts', async () => {
    if (pebble.hasEnded()) throw new Error(`pebble ended: ${pebble.said.text}`);
    return fetchJson(url).then(
      () => true,
      () => false,
    );
  });
  return {
    url,
    dns: `http://127.0.0.1:${dnsManagement}`,
    async statusOf(serial) {
      const answer = await fetchJson(`https://localhost:${management}/cert-status-by-serial/${serial.toLowerCase()}`);
      return String(answer['Status']);
    },
    stop: pebble.stop,
  };
}
