// Hosts and open ports of a report of Nmap (XML), which somebody else has made: nothing is scanned from here.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { childrenOf, readXml, type Element } from '../../imports/reading/xml.js';
import { unfit } from '../../kit/endpoint.js';
import { hostOf, isPublicAddress, type Sighting } from '../asset.js';

export interface NmapReading {
  /** Ports beyond what is taken of a host. */
  readonly leftOut: number;
  readonly sightings: readonly Sighting[];
  readonly hosts: number;
  /** Whether the report says that the scan came to its end. */
  readonly isFinished: boolean;
}

/** Of one host; beyond them it answers on every port, which says nothing. */
const portsMax = 500;

const webNames = /^(?:https?|http-alt|https-alt|http-proxy|ssl\/http)$/;

function* sightingsOf(host: Element, leave: (ports: number) => void): Generator<Sighting> {
  const addresses = childrenOf(host, 'address')
    .filter(({ attributes }) => attributes['addrtype'] !== 'mac')
    .map(({ attributes }) => attributes['addr'] ?? '');
  const names = childrenOf(childrenOf(host, 'hostnames')[0], 'hostname').map(
    ({ attributes }) => attributes['name'] ?? '',
  );
  const address = addresses[0] ?? '';
  const own = [...names, ...addresses].map(hostOf).find((one) => one !== null);
  if (own === undefined || own === null) return;
  const isPublic = isPublicAddress(address);
  const from = { host: own, source: 'nmap', site: null } as const;
  const open = childrenOf(childrenOf(host, 'ports')[0], 'port').filter(
    (port) => childrenOf(port, 'state')[0]?.attributes['state'] === 'open',
  );
  leave(Math.max(0, open.length - portsMax));
  const isUp = childrenOf(host, 'status')[0]?.attributes['state'] !== 'down';
  if (!isUp && open.length === 0) return;
  yield { ...from, kind: 'host', port: null, url: null, detail: address, isExposed: open.length > 0 ? isPublic : null };
  for (const port of open.slice(0, portsMax)) {
    const number = Number(port.attributes['portid']);
    if (!Number.isInteger(number) || number < 1 || number > 65_535) continue;
    const { name = '', product = '', tunnel = '' } = childrenOf(port, 'service')[0]?.attributes ?? {};
    const isTls = tunnel === 'ssl' || /https/.test(name);
    const shown = own.includes(':') ? `[${own}]` : own;
    const isWeb = webNames.test(name);
    const detail = [`${number}/${port.attributes['protocol'] ?? 'tcp'}`, name, product].filter(Boolean).join(' ');
    yield {
      ...{ ...from, kind: 'service', port: number, isExposed: isPublic, detail: detail.slice(0, 300) },
      url: isWeb ? `${isTls ? 'https' : 'http'}://${shown}:${number}/` : null,
    };
  }
}

/** Throws ApiError for what is no such report, or no XML. */
export async function readNmap(text: string, signal: AbortSignal): Promise<NmapReading> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-discovery-'));
  try {
    const path = join(directory, 'report');
    await writeFile(path, text, { mode: 0o600 });
    const found: Sighting[] = [];
    let hosts = 0;
    let leftOut = 0;
    let isReport = false;
    let isFinished = false;
    const wanted = (name: string): boolean => name === 'host' || name === 'finished' || name === 'nmaprun';
    for await (const [element, [run]] of readXml({ path, bytes: Buffer.byteLength(text) }, wanted, ['nmaprun'])) {
      isReport ||= element.name === 'nmaprun' || run?.name === 'nmaprun';
      if (element.name === 'finished') isFinished = element.attributes['exit'] === 'success';
      if (element.name !== 'host') continue;
      for (const one of sightingsOf(element, (ports) => void (leftOut += ports))) found.push(one);
      if (++hosts % 50 === 0) await setImmediate();
      if (signal.aborted) break;
    }
    if (!isReport && !signal.aborted) throw unfit('/nmap', 'is no report of Nmap', 'send what `nmap -oX` writes');
    return { sightings: found, hosts, leftOut, isFinished };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
