// Whose a target is: shown by a file, a header or a TXT record that only its operator can set, or by the firewall,
// where the host is one of its sites. The proof is of the origin, and holds for ninety days.
import { randomBytes } from 'node:crypto';
import { ApiError } from '#http-kit';
import type { Host } from '../../host.js';
import { requireFirewall } from '../../vpatches/prove.js';

export const verifyMethods = ['file', 'header', 'dns', 'site'] as const;
export type VerifyMethod = (typeof verifyMethods)[number];

export const verifiedDays = 90;

export interface TargetRow {
  readonly id: number;
  readonly version: number;
  readonly application_id: number;
  readonly url: string;
  readonly verify_token: string;
  readonly verified_at: Date | null;
  readonly verified_by: string | null;
  readonly scope_paths: readonly string[];
  readonly excluded_paths: readonly string[];
  readonly scan_methods: readonly string[];
  readonly requests_max: number;
  readonly requests_per_second: number;
  readonly seconds_max: number;
  readonly scan_windows: readonly { readonly days: readonly number[]; readonly from: string; readonly to: string }[];
  readonly waf_url: string | null;
  readonly waf_verified_at: Date | null;
  readonly waf_verified_by: string | null;
  readonly callback_url: string | null;
  readonly exploit_writes: boolean;
}

const holds = (at: Date | null, now: Date): boolean =>
  at !== null && now.getTime() - at.getTime() < verifiedDays * 86_400_000;

export const isVerified = ({ verified_at: at }: TargetRow, now: Date): boolean => holds(at, now);

/** Whether findings may be tried at the firewall's entry; a text says why not, null that the target names none. */
export function wafEntryOf(target: TargetRow, now: Date): { readonly url: string | null; readonly why: string } | null {
  const { id, url, waf_url: waf, waf_verified_at: at } = target;
  if (waf === null) return null;
  if (new URL(waf).origin === new URL(url).origin || holds(at, now)) return { url: waf, why: '' };
  const why =
    `Nothing is sent to the waf_url ${waf}: it is not verified, or was more than ${verifiedDays} days ago. ` +
    `POST /targets/${id}/verify with "of": "waf".`;
  return { url: null, why };
}

/** What the operator sets, for each way. */
export function waysOf({ verify_token: token }: TargetRow, url: string) {
  const { origin, hostname } = new URL(url);
  return {
    file: { url: `${origin}/.well-known/gatehouse-scan.txt`, contents: token },
    header: { url: `${origin}/`, name: 'x-gatehouse-verify', value: token },
    dns: { name: `_gatehouse-scan.${hostname}`, type: 'TXT', value: token },
    site: 'the application is linked to a site of the firewall that serves this host, and not every host',
  };
}

type Asked = Pick<Host, 'wayOut' | 'firewall' | 'textRecords'>;

async function ask({ wayOut }: Asked, url: string) {
  if (wayOut === undefined)
    throw new ApiError('not_ready', 'This server sends nothing to other systems, so that no target can be asked.');
  return wayOut.send(url, { keepsRedirects: true, bytesMax: 64 * 1024, timeoutMs: 10_000 });
}

/** The firewall sends the host to the application's site, and sends an unknown host elsewhere. */
async function bySite(host: Asked, url: string, site: string | null): Promise<string | null> {
  if (site === null) return 'the application is linked to no site of the firewall';
  const firewall = requireFirewall(host);
  const asking = (name: string) => ({ name, method: 'GET', uri: '/', headers: [['Host', name]] as const, body: '' });
  const other = `${randomBytes(8).toString('hex')}.invalid`;
  const { verdicts } = await firewall.tryNow([asking(new URL(url).host), asking(other)], null);
  if (verdicts[0]?.site !== site) return `the firewall does not send ${new URL(url).host} to the site ${site}`;
  if (verdicts[1]?.site === site)
    return `the site ${site} takes every host, which proves nothing: name its hosts, or verify by file, header or DNS`;
  return null;
}

/** null: it is proven. Otherwise what was seen, and what is to be set. Throws ApiError where nothing can be asked. */
export async function whyNotVerified(
  host: Asked,
  target: TargetRow,
  url: string,
  site: string | null,
  method: VerifyMethod,
): Promise<string | null> {
  const ways = waysOf(target, url);
  if (method === 'site') return bySite(host, url, site);
  if (method === 'dns') {
    if (host.textRecords === undefined) throw new ApiError('not_ready', 'This server has no resolver for TXT records.');
    const records = await host.textRecords(ways.dns.name).catch((): readonly string[] => []);
    return records.some((text) => text.trim() === target.verify_token)
      ? null
      : `${ways.dns.name} has no TXT record with the value ${target.verify_token}`;
  }
  if (method === 'header') {
    const { headers } = await ask(host, ways.header.url);
    return headers[ways.header.name] === target.verify_token
      ? null
      : `${ways.header.url} does not answer with the header ${ways.header.name}: ${target.verify_token}`;
  }
  const { status, body } = await ask(host, ways.file.url);
  return status === 200 && body.toString('utf8').trim() === target.verify_token
    ? null
    : `${ways.file.url} answers ${status} and not with ${target.verify_token}`;
}
