// Rate limits, floods, the attack mode and the challenge.
import { Type } from '@sinclair/typebox';
import { Choice, closed, Flag, member, Method, Network, Path, setting, Shaped, Whole, Window } from '../row.js';

const DryRun = () => member(Flag(false), 'counted and recorded (`would_block` in events), not enforced');

const Told = () =>
  member(Flag(false), 'answers tell what is left (`RateLimit-Policy`, `RateLimit`), and not those of 429 alone');

const Zone = Type.Object(
  {
    name: Shaped('^[a-z0-9][a-z0-9_-]{0,63}$', 'write small letters, digits, _ and -'),
    match_path: Path(),
    key: Shaped("^(ip|global|header:[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128})$", 'write ip, global or header:<Name>', {
      default: 'ip',
      description: 'ip, global or header:<Name>',
    }),
    events: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
    window: Window('1m'),
    dry_run: DryRun(),
    headers: Told(),
  },
  closed,
);

const EndpointLimit = Type.Object(
  {
    path: member(Path(), 'a template: `{id}` is one segment, `*` at the end any rest'),
    method: Method(),
    events: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
    window: Window('1m'),
    dry_run: DryRun(),
    headers: Told(),
  },
  closed,
);

const limits = 'proxy/admit/limits/rate-zones.ts';
const endpoints = 'proxy/admit/limits/endpoint-limits.ts';
const flood = 'proxy/admit/limits/flood.ts';
const challenge = 'proxy/admit/challenge/challenge.ts';
const attack = 'proxy/admit/limits/attack.ts';
const attackWatch = 'proxy/main/attack/detector.ts';
const connections = 'proxy/worker/connection-cap.ts';
const autoBan = 'proxy/admit/bans/auto-ban.ts';

export const trafficRows = {
  rl_enabled: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: limits,
    description: 'rate limiting on',
  }),
  rl_events: setting(Whole(1, 10_000_000, 600), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: limits,
    description:
      'default zone: so many requests of a client may come at once; each gets its place back after window / events ' +
      '(GCRA), not at the end of a window, so that up to twice as many pass within the first window',
    unit: 'requests',
  }),
  rl_window: setting(Window('1m'), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: limits,
    description: 'default zone: time in which all places of rl_events come back, one by one (GCRA)',
    unit: 'count and s, m, h or d',
  }),
  rl_distributed: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: 'proxy/admit/limits/leases/leases.ts',
    description: 'limits of rl_… and endpoint_limits count over all nodes, through the key-value store (REDIS_URL)',
  }),
  rl_headers: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: limits,
    description:
      'default zone: answers tell what is left (`RateLimit-Policy`, `RateLimit`), and not those of 429 alone; with ' +
      'rl_distributed they tell the policy alone',
  }),
  rl_zones: setting(Type.Array(Zone, { maxItems: 100, default: [] }), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: limits,
    description: 'further zones; events and window of each mean what they do in rl_events and rl_window (GCRA)',
  }),
  endpoint_limits: setting(Type.Array(EndpointLimit, { maxItems: 500, default: [] }), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: endpoints,
    description: 'tight caps per client on expensive endpoints (GCRA, as rl_events), while rl_enabled is on',
  }),
  rl_dry_run: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: limits,
    description: 'default zone: count and record (`would_block` in events), refuse no request',
  }),

  flood_global_enabled: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: flood,
    description: 'cap on all requests together',
  }),
  flood_global_events: setting(Whole(1, 100_000_000, 100_000), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: flood,
    description: 'requests per window, all clients together; they come back one by one (GCRA, as rl_events)',
    unit: 'requests',
  }),
  flood_global_window: setting(Window('10s'), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: flood,
    description: 'window of the global cap',
    unit: 'count and s, m, h or d',
  }),
  flood_burst_enabled: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: flood,
    description: 'burst cap per client',
  }),
  flood_burst_events: setting(Whole(1, 10_000_000, 100), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: flood,
    description: 'requests per window and client; they come back one by one (GCRA, as rl_events)',
    unit: 'requests',
  }),
  flood_burst_window: setting(Window('1s'), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: flood,
    description: 'window of the burst cap',
    unit: 'count and s, m, h or d',
  }),
  flood_dry_run: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: flood,
    description: 'global and burst cap: count and record (`would_block` in events), refuse no request',
  }),
  flood_connections_enabled: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: connections,
    description: 'cap on the connections of one client; trusted proxies have none',
  }),
  flood_connections_max: setting(Whole(1, 1_000_000, 200), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: connections,
    description:
      'connections that one client (address, or /64 of IPv6) may have to a node at a time; beyond it they are cut',
    unit: 'connections',
  }),
  flood_timeouts_enabled: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: 'proxy/contract/proxy-config.ts',
    description: 'timeouts against slow requests',
  }),
  flood_read_header: setting(Window('10s'), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: 'proxy/contract/proxy-config.ts',
    description: 'time a client has to send the request head',
    unit: 'count and s, m, h or d',
  }),
  flood_read_body: setting(Window('30s'), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: 'proxy/contract/proxy-config.ts',
    description: 'time between two pieces of a body',
    unit: 'count and s, m, h or d',
  }),
  flood_write: setting(Window('60s'), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: 'proxy/contract/proxy-config.ts',
    description: 'time a client may take nothing of the answer',
    unit: 'count and s, m, h or d',
  }),
  flood_idle: setting(Window('65s'), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: 'proxy/contract/proxy-config.ts',
    description: 'time a connection may idle',
    unit: 'count and s, m, h or d',
  }),
  flood_autoban_enabled: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: autoBan,
    description: 'ban clients that keep being limited',
  }),
  flood_autoban_threshold: setting(Whole(1, 1_000_000, 20), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: autoBan,
    description:
      'limited requests within the window that lead to a ban; below 16, an unnamed proxy with many clients behind it ' +
      'is banned before it is recognised as one',
    unit: 'requests',
  }),
  flood_autoban_window_sec: setting(Whole(1, 86_400, 60), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: autoBan,
    description: 'window of the automatic ban',
    unit: 'seconds',
  }),
  flood_autoban_duration_sec: setting(Whole(1, 31_536_000, 600), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: autoBan,
    description: 'length of the first ban; repeat offenders get longer ones',
    unit: 'seconds',
  }),
  flood_autoban_exempt: setting(Type.Array(Network(), { maxItems: 500, default: [], uniqueItems: true }), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: autoBan,
    description:
      'addresses and networks that are never banned automatically, such as health checks; trusted proxies and users ' +
      'who are logged in at the control plane are not either',
  }),
  attack_mode: setting(Choice(['off', 'auto', 'on'], 'off'), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: attackWatch,
    description:
      'under-attack mode: a tight cap per client (attack_burst_…) besides all other limits; auto: while requests per ' +
      'minute are above what was learned to be usual',
  }),
  attack_spike_factor: setting(Type.Number({ minimum: 1.1, maximum: 1000, default: 3 }), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: attackWatch,
    description: 'auto: requests per minute above the baseline by this factor',
    unit: 'times',
  }),
  attack_min_rpm: setting(Whole(1, 100_000_000, 600), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: attackWatch,
    description: 'auto: never below this rate',
    unit: 'requests per minute',
  }),
  attack_burst_events: setting(Whole(1, 10_000_000, 20), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: attack,
    description: 'cap per client while under attack; it counts as flood_burst_events does (GCRA)',
    unit: 'requests',
  }),
  attack_burst_window: setting(Window('1s'), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: attack,
    description: 'window of that cap',
    unit: 'count and s, m, h or d',
  }),
  challenge_enabled: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: challenge,
    description: 'browser challenge on the listed paths',
  }),
  challenge_paths: setting(Type.Array(Path(), { maxItems: 500, default: [], uniqueItems: true }), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: challenge,
    description: 'path prefixes that are challenged',
  }),
  challenge_difficulty: setting(Whole(8, 24, 16), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: challenge,
    description:
      'work of a browser: 2 to the power of so many attempts; 16 is a fraction of a second, each more doubles it',
    unit: 'bits',
  }),
  challenge_pass_sec: setting(Whole(60, 604_800, 43_200), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: challenge,
    description: 'how long a browser is not asked again',
    unit: 'seconds',
  }),
};
