import { spawnSync } from 'node:child_process';
import t from 'tap';
import type { Host } from './host.js';
import { isNetwork, nftRules } from './rules.js';
import { Refusal } from '../refusal.js';
import { paths, runHarden } from './command.js';

interface TestHost extends Host {
  readonly files: Map<string, string>;
  readonly ran: string[];
  readonly said: string[];
}

/** A machine whose kernel does what sysctl says. */
function hostOf(kernel: Readonly<Record<string, number>> = {}, isRoot = true, hasSystemd = false): TestHost {
  const proc = (key: string): string => `/proc/sys/${key.replaceAll('.', '/')}`;
  const defaults = {
    'net.ipv4.tcp_syncookies': 0,
    'net.ipv4.tcp_max_syn_backlog': 512,
    'net.core.somaxconn': 4096,
    'net.ipv4.tcp_synack_retries': 5,
  };
  const files = new Map(Object.entries({ ...defaults, ...kernel }).map(([key, value]) => [proc(key), `${value}\n`]));
  const ran: string[] = [];
  const said: string[] = [];
  const set = (line: string): void => {
    const [key = '', value = ''] = line.split('=').map((part) => part.trim());
    if (!line.startsWith('#') && line.trim() !== '') files.set(proc(key), `${value}\n`);
  };
  return {
    isRoot,
    hasSystemd,
    files,
    ran,
    said,
    read: (path) => files.get(path) ?? null,
    write: (path, text) => void files.set(path, text),
    remove: (path) => {
      for (const name of files.keys()) if (name === path || name.startsWith(`${path}/`)) files.delete(name);
    },
    run: (program, args, input) => {
      ran.push(`${program} ${args.join(' ')}${input === undefined ? '' : ' < input'}`);
      if (program === 'sysctl' && args[1] === '-p')
        for (const line of (files.get(args[2] ?? '') ?? '').split('\n')) set(line);
      if (program === 'sysctl' && args[1] === '-w') set(args[2] ?? '');
    },
    say: (text) => void said.push(text),
  };
}

const snapshot = ({ files }: TestHost): Record<string, string> => Object.fromEntries([...files].sort());

t.test('harden: a dry run changes nothing, and shows everything, to anybody', async (t) => {
  const host = hostOf({}, false);
  const before = snapshot(host);
  t.equal(
    await runHarden(['--dry-run', '--waf-port', '81', '--ja3-port=444', '--trusted', '10.0.0.0/8,2001:db8::/32'], host),
    0,
  );
  t.strictSame(snapshot(host), before);
  t.strictSame(host.ran, []);
  const text = host.said.join('\n');
  t.match(text, /tcp dport != \{ 81, 444 \} accept/);
  t.match(text, /trusted4 \{[^}]*elements = \{ 10\.0\.0\.0\/8 \}/);
  t.match(text, /trusted6 \{[^}]*elements = \{ 2001:db8::\/32 \}/);
  t.match(text, /net\.ipv4\.tcp_syncookies = 1/);
  t.notMatch(text, /tcp_rfc1337/, 'what this kernel does not have');
  await t.rejects(runHarden([], hostOf({}, false)), Refusal, 'only root may');
});

t.test('harden: a second run says the same, and removal leaves what was there before', async (t) => {
  const host = hostOf({ 'net.ipv4.tcp_max_syn_backlog': 16_384 });
  const before = snapshot(host);
  await runHarden(['--rate', '50', '--connections=200'], host);
  const once = snapshot(host);
  t.match(once[paths.rules], /limit rate over 50\/second burst 100 packets/);
  t.match(once[paths.rules], /ct count over 200/);
  t.equal(once['/proc/sys/net/ipv4/tcp_syncookies'], '1\n');
  t.equal(once['/proc/sys/net/ipv4/tcp_max_syn_backlog'], '16384\n', 'more than is wanted stays');
  t.match(host.ran, ['nft -c -f - < input', `nft -f ${paths.rules}`, `sysctl -q -p ${paths.sysctl}`]);
  await runHarden(['--rate', '50', '--connections=200'], host);
  t.strictSame(snapshot(host), once, 'idempotent');
  await runHarden(['--remove', '--dry-run'], host);
  t.strictSame(snapshot(host), once);
  await runHarden(['--remove'], host);
  t.strictSame(snapshot(host), before, 'as it was');
  await runHarden(['--remove'], host);
  t.strictSame(snapshot(host), before, 'nothing to take back');
});

t.test(
  'harden: with systemd the limits come back at each start, and root reads nothing that the service may write',
  async (t) => {
    const host = hostOf({}, true, true);
    const before = snapshot(host);
    await runHarden([], host);
    t.match(
      host.files.get(paths.unit),
      /After=nftables\.service[^]*ExecStart=\/usr\/sbin\/nft -f \/etc\/gatehouse-harden\//,
    );
    t.strictSame(host.ran.slice(-2), ['systemctl daemon-reload', 'systemctl enable --quiet gatehouse-harden.service']);
    const written = Object.keys(snapshot(host)).filter((path) => before[path] === undefined);
    t.notOk(
      written.some((path) => path.startsWith('/etc/gatehouse/')),
      'that directory is of the user gatehouse',
    );
    await runHarden(['--remove'], host);
    t.strictSame(snapshot(host), before);
    t.ok(host.ran.includes('systemctl disable --quiet gatehouse-harden.service'));
  },
);

t.test('harden: what cannot be meant is refused before anything is done', async (t) => {
  for (const args of [
    ['--rate', '0'],
    ['--rate', '1.5'],
    ['--connections', 'many'],
    ['--ports', '80,x'],
    ['--ports', '70000'],
    ['--trusted', '10.0.0.0/33'],
    ['--trusted', '10.0.0.1; flush ruleset'],
    ['now'],
  ]) {
    const host = hostOf();
    await t.rejects(runHarden(args, host), Refusal, args.join(' '));
    t.strictSame(host.ran, []);
  }
  t.ok(['1.2.3.4', '::1', 'fd00::/8'].every(isNetwork));
  t.notOk(['', '1.2.3', '1.2.3.4/', 'fe80::1%eth0', '1.2.3.4/8/8'].some(isNetwork));
});

const hasNft = spawnSync('nft', ['--version']).status === 0 && process.getuid?.() === 0;
t.test('harden: nft takes the rules', { skip: hasNft ? false : 'needs nft and root' }, async (t) => {
  const rules = nftRules({ ports: [80, 443], perSecond: 10, open: 20, trusted: ['10.0.0.0/8', 'fd00::/8'] });
  const { status, stderr } = spawnSync('nft', ['-c', '-f', '-'], { input: rules, encoding: 'utf8' });
  t.equal(status, 0, stderr);
});
