// `gatehouse harden`: limits of the host in front of the protected ports (nftables) and the kernel's answer to floods
// of SYN (sysctl). Off until somebody runs it. Run again it says the same again; --remove takes back what it did.
import { readFlags } from '../environment/flags.js';
import { readEnvironment } from '../environment/read-environment.js';
import { parseOptions } from '../command-line.js';
import { thisHost, type Host } from './host.js';
import {
  isNetwork,
  kernelSettings,
  nftRemoval,
  nftRules,
  sysctlFile,
  wantedSettings,
  type HardenOptions,
} from './rules.js';
import { Refusal, wrongUsage } from '../refusal.js';

/**
 * A directory of root's own: root loads what lies there at each start of the host, and /etc/gatehouse belongs to the
 * user of the service, who could put other rules there, or a link that root writes through.
 */
export const folder = '/etc/gatehouse-harden';
export const paths = {
  rules: `${folder}/rules.nft`,
  sysctl: '/etc/sysctl.d/60-gatehouse.conf',
  /** Values of the kernel before the first run. */
  before: `${folder}/before.json`,
  unit: '/etc/systemd/system/gatehouse-harden.service',
} as const;

const unitName = 'gatehouse-harden.service';
/** nftables.service begins by emptying all rules. */
const unitText = `[Unit]
Description=Limits of connections in front of the protected ports (gatehouse harden)
Documentation=man:gatehouse(8)
After=nftables.service
ConditionPathExists=${paths.rules}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/sbin/nft -f ${paths.rules}

[Install]
WantedBy=multi-user.target
`;

interface Asked extends HardenOptions {
  readonly isDryRun: boolean;
  readonly removes: boolean;
}

function countOf(flag: string, text: string | undefined, most: number, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,6}$/.test(text) || Number(text) > most)
    throw wrongUsage(`${flag} takes a whole number from 1 to ${most}; "${text}" is none.`);
  return Number(text);
}

function listOf(text: string | undefined): string[] {
  return (text ?? '').split(',').filter((part) => part !== '');
}

function portsOf(text: string | undefined, otherwise: readonly number[]): readonly number[] {
  const named = listOf(text);
  return named.length === 0 ? otherwise : named.map((part) => countOf('--ports', part, 65_535, 1));
}

export function readHarden(args: readonly string[], defaults: readonly number[]): Asked {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean' },
      remove: { type: 'boolean' },
      ports: { type: 'string' },
      rate: { type: 'string' },
      connections: { type: 'string' },
      trusted: { type: 'string' },
    },
  });
  if (positionals.length > 0) throw wrongUsage(`harden does not know ${positionals.join(' ')}.`);
  const trusted = listOf(values.trusted);
  const wrong = trusted.find((network) => !isNetwork(network));
  if (wrong !== undefined)
    throw wrongUsage(`--trusted takes addresses and networks, such as 10.0.0.0/8; "${wrong}" is none.`);
  return {
    isDryRun: values['dry-run'] === true,
    removes: values.remove === true,
    ports: portsOf(values.ports, defaults),
    perSecond: countOf('--rate', values.rate, 100_000, 100),
    open: countOf('--connections', values.connections, 1_000_000, 1000),
    trusted,
  };
}

const procPath = (key: string): string => `/proc/sys/${key.replaceAll('.', '/')}`;

function currentOf(host: Host): Map<string, number | null> {
  return new Map(
    kernelSettings.map(({ key }) => {
      const text = host.read(procPath(key));
      return [key, text === null ? null : Number(text)];
    }),
  );
}

/** What the kernel had before the first run; that of now where there was none. */
function before(host: Host): ReadonlyMap<string, number> {
  const text = host.read(paths.before);
  return new Map(text === null ? [] : Object.entries(JSON.parse(text) as Record<string, number>));
}

function apply(asked: Asked, host: Host): void {
  const rules = nftRules(asked);
  const current = currentOf(host);
  const known = before(host);
  // What a run before has changed is still to be written down, or a restart would lose it.
  const settings = wantedSettings(new Map([...current].map(([key, now]) => [key, known.get(key) ?? now])));
  const file = sysctlFile(settings);
  if (asked.isDryRun) {
    host.say(`# ${paths.rules}, loaded with nft -f\n${rules}\n# ${paths.sysctl}, loaded with sysctl -p\n${file}`);
    for (const { key, why } of settings) host.say(`# ${key}: ${why}; now ${current.get(key)}`);
    return;
  }
  host.run('nft', ['-c', '-f', '-'], rules);
  host.write(paths.rules, rules);
  host.run('nft', ['-f', paths.rules]);
  if (settings.length > 0) {
    const old = settings.map(({ key }) => [key, known.get(key) ?? current.get(key)] as const);
    host.write(paths.before, `${JSON.stringify(Object.fromEntries(old), null, 2)}\n`);
    host.write(paths.sysctl, file);
    host.run('sysctl', ['-q', '-p', paths.sysctl]);
  }
  if (host.hasSystemd) {
    host.write(paths.unit, unitText);
    host.run('systemctl', ['daemon-reload']);
    host.run('systemctl', ['enable', '--quiet', unitName]);
  }
  const again = host.hasSystemd
    ? `They are loaded at each start of the host (${unitName}).`
    : `To have them after a restart, add  include "${paths.rules}"  to /etc/nftables.conf.`;
  host.say(
    `ports ${asked.ports.join(', ')}: at most ${asked.perSecond} new connections a second and ${asked.open} open ` +
      `ones by client; ${settings.length} kernel settings. The rules are in ${paths.rules}. ${again} ` +
      'Back: gatehouse harden --remove',
  );
}

function remove({ isDryRun }: Asked, host: Host): void {
  const old = [...before(host)].map(([key, value]) => ({ key, value }));
  if (isDryRun) {
    host.say(`# loaded with nft -f\n${nftRemoval()}`);
    for (const { key, value } of old) host.say(`sysctl -q -w ${key}=${value}`);
    host.say(`rm -rf ${folder} ${paths.sysctl} ${paths.unit}`);
    return;
  }
  if (host.hasSystemd && host.read(paths.unit) !== null) host.run('systemctl', ['disable', '--quiet', unitName]);
  host.run('nft', ['-f', '-'], nftRemoval());
  for (const { key, value } of old) host.run('sysctl', ['-q', '-w', `${key}=${value}`]);
  for (const path of [folder, paths.sysctl, paths.unit]) host.remove(path);
  if (host.hasSystemd) host.run('systemctl', ['daemon-reload']);
  host.say(`taken back: the table of nftables, and ${old.length} kernel settings`);
}

export async function runHarden(args: readonly string[], host: Host = thisHost): Promise<number> {
  const { flags, others } = readFlags(args);
  const values = readEnvironment(flags);
  const ports = [values.WAF_PORT, ...(values.TLS_EDGE === 'off' ? [] : [values.JA3_PORT])].map(Number);
  const asked = readHarden(others, ports);
  if (!asked.isDryRun && !host.isRoot)
    throw new Refusal('only root may change the host. Look at it first: gatehouse harden --dry-run; then use sudo.');
  if (asked.removes) remove(asked, host);
  else apply(asked, host);
  return 0;
}
