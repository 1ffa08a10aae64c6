// What the host does before a connection costs this program anything: rates of new connections and open ones by client,
// in nftables, and the kernel's own answer to floods of SYN. Pure: texts only.
import { isIP } from 'node:net';

export interface HardenOptions {
  readonly ports: readonly number[];
  /** New connections a second of an IPv4 address, or a /64 of IPv6. */
  readonly perSecond: number;
  /** Open ones of the same. */
  readonly open: number;
  /** Addresses and networks that are never limited: proxies in front, monitors. */
  readonly trusted: readonly string[];
}

export const table = 'inet gatehouse_harden';

/** Clients that are counted at a time; the least recent leave. */
const clientsMax = 65_536;

/** Whether it is an address or a network as nftables takes it. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...others] = text.split('/');
  const family = isIP(address);
  if (family === 0 || others.length > 0 || address.includes('%')) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function trustedSet(family: 4 | 6, trusted: readonly string[]): string {
  const members = trusted.filter((network) => isIP(network.split('/', 1)[0] as string) === family);
  const elements = members.length === 0 ? '' : ` elements = { ${members.join(', ')} };`;
  return `  set trusted${family} { type ipv${family}_addr; flags interval; auto-merge;${elements} }`;
}

function limitsOf(family: 4 | 6, { perSecond, open }: HardenOptions): string[] {
  const client = family === 4 ? 'ip saddr' : 'ip6 saddr and ffff:ffff:ffff:ffff::';
  const rate = `limit rate over ${perSecond}/second burst ${perSecond * 2} packets`;
  return [
    `    ct state new add @open${family} { ${client} ct count over ${open} } counter reject with tcp reset`,
    `    ct state new update @rate${family} { ${client} ${rate} } counter drop`,
  ];
}

/** Replaces what a run before made, in one step: between the two there is no moment without it. */
export function nftRules(options: HardenOptions): string {
  const sets = ([4, 6] as const).flatMap((family) => [
    trustedSet(family, options.trusted),
    `  set open${family} { type ipv${family}_addr; size ${clientsMax}; flags dynamic; }`,
    `  set rate${family} { type ipv${family}_addr; size ${clientsMax}; flags dynamic, timeout; timeout 60s; }`,
  ]);
  return [
    nftRemoval().trimEnd(),
    `table ${table} {`,
    ...sets,
    '  chain input {',
    '    type filter hook input priority -5; policy accept;',
    '    iifname "lo" accept',
    `    tcp dport != { ${options.ports.join(', ')} } accept`,
    '    meta l4proto != tcp accept',
    '    ct state established, related accept',
    '    ct state invalid counter drop',
    '    ip saddr @trusted4 accept',
    '    ip6 saddr @trusted6 accept',
    ...limitsOf(4, options),
    ...limitsOf(6, options),
    '  }',
    '}',
    '',
  ].join('\n');
}

/** Nothing happens where there is none: the first line makes one. */
export const nftRemoval = (): string => `table ${table}\ndelete table ${table}\n`;

export interface KernelSetting {
  readonly key: string;
  readonly value: number;
  /** A larger value that is there already stays. */
  readonly isLeast: boolean;
  readonly why: string;
}

export const kernelSettings: readonly KernelSetting[] = [
  { key: 'net.ipv4.tcp_syncookies', value: 1, isLeast: true, why: 'answers floods of SYN without memory' },
  { key: 'net.ipv4.tcp_max_syn_backlog', value: 8192, isLeast: true, why: 'half-open connections' },
  { key: 'net.core.somaxconn', value: 4096, isLeast: true, why: 'connections that wait to be taken' },
  { key: 'net.ipv4.tcp_synack_retries', value: 3, isLeast: false, why: 'half-open connections end after 15 s' },
  { key: 'net.ipv4.tcp_rfc1337', value: 1, isLeast: true, why: 'strangers cannot end connections that wait' },
];

/** Those that differ from what is in force. `current`: by key; null: this kernel does not have it. */
export function wantedSettings(current: ReadonlyMap<string, number | null>): KernelSetting[] {
  return kernelSettings.filter(({ key, value, isLeast }) => {
    const now = current.get(key) ?? null;
    return now !== null && (isLeast ? now < value : now !== value);
  });
}

export function sysctlFile(settings: readonly Pick<KernelSetting, 'key' | 'value'>[]): string {
  const lines = settings.map(({ key, value }) => `${key} = ${value}`);
  return `# Written by gatehouse harden; gatehouse harden --remove takes it away.\n${lines.join('\n')}\n`;
}
