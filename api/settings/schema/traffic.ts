import { Type } from '@sinclair/typebox';
import { Choice, closed, field, Flag, Method, Path, Whole, Window } from './field.js';

const Zone = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }),
    match_path: Path(),
    key: Type.String({
      pattern: "^(ip|global|header:[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128})$",
      default: 'ip',
      description: 'ip, global or header:<Name>',
    }),
    events: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
    window: Window('1m'),
  },
  closed,
);

const EndpointLimit = Type.Object(
  { path: Path(), method: Method(), events: Type.Integer({ minimum: 1, maximum: 10_000_000 }), window: Window('1m') },
  closed,
);

const cidr = '^([0-9]{1,3}(\\.[0-9]{1,3}){3}(/[0-9]{1,2})?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/[0-9]{1,3})?)$';

export const trafficFields = {
  rl_enabled: field(Flag(false), 'operator', 'rate limiting on'),
  rl_events: field(
    Whole(1, 10_000_000, 600),
    'operator',
    'default zone: requests a client may send per window',
    'requests',
  ),
  rl_window: field(Window('1m'), 'operator', 'default zone: window', 'count and s, m, h or d'),
  rl_distributed: field(
    Flag(false),
    'operator',
    'counters shared through the key-value store; needed with several nodes',
  ),
  rl_zones: field(Type.Array(Zone, { maxItems: 100, default: [] }), 'operator', 'further zones'),
  rl_trust_proxy: field(
    Flag(false),
    'admin',
    'believe the listed proxies: the client address from X-Forwarded-For, and pass on what else they say of the client',
  ),
  rl_trusted_proxies: field(
    Type.Array(Type.String({ maxLength: 64, pattern: cidr }), { maxItems: 500, default: [], uniqueItems: true }),
    'admin',
    'addresses or networks of those proxies',
  ),
  endpoint_limits: field(
    Type.Array(EndpointLimit, { maxItems: 500, default: [] }),
    'operator',
    'tight caps per client on expensive endpoints',
  ),

  flood_global_enabled: field(Flag(false), 'operator', 'cap on all requests together'),
  flood_global_events: field(
    Whole(1, 100_000_000, 100_000),
    'operator',
    'requests per window, all clients together',
    'requests',
  ),
  flood_global_window: field(Window('10s'), 'operator', 'window of the global cap', 'count and s, m, h or d'),
  flood_burst_enabled: field(Flag(false), 'operator', 'burst cap per client'),
  flood_burst_events: field(Whole(1, 10_000_000, 100), 'operator', 'requests per window and client', 'requests'),
  flood_burst_window: field(Window('1s'), 'operator', 'window of the burst cap', 'count and s, m, h or d'),
  flood_timeouts_enabled: field(Flag(false), 'operator', 'timeouts against slow requests'),
  flood_read_header: field(
    Window('10s'),
    'operator',
    'time a client has to send the request head',
    'count and s, m, h or d',
  ),
  flood_read_body: field(Window('30s'), 'operator', 'time between two pieces of a body', 'count and s, m, h or d'),
  flood_write: field(Window('60s'), 'operator', 'time a client has to take the answer', 'count and s, m, h or d'),
  flood_idle: field(Window('65s'), 'operator', 'time a connection may idle', 'count and s, m, h or d'),
  flood_autoban_enabled: field(Flag(false), 'operator', 'ban clients that keep being limited'),
  flood_autoban_threshold: field(
    Whole(1, 1_000_000, 20),
    'operator',
    'limited requests within the window that lead to a ban',
    'requests',
  ),
  flood_autoban_window_sec: field(Whole(1, 86_400, 60), 'operator', 'window of the automatic ban', 'seconds'),
  flood_autoban_duration_sec: field(
    Whole(1, 31_536_000, 600),
    'operator',
    'length of the first ban; repeat offenders get longer ones',
    'seconds',
  ),
  attack_mode: field(Choice(['off', 'auto', 'on'], 'off'), 'operator', 'under-attack mode'),
  attack_spike_factor: field(
    Type.Number({ minimum: 1.1, maximum: 1000, default: 3 }),
    'operator',
    'auto: requests per minute above the baseline by this factor',
    'times',
  ),
  attack_min_rpm: field(Whole(1, 100_000_000, 600), 'operator', 'auto: never below this rate', 'requests per minute'),
  attack_burst_events: field(Whole(1, 10_000_000, 20), 'operator', 'cap per client while under attack', 'requests'),
  attack_burst_window: field(Window('1s'), 'operator', 'window of that cap', 'count and s, m, h or d'),
  challenge_enabled: field(Flag(false), 'operator', 'browser challenge on the listed paths'),
  challenge_paths: field(
    Type.Array(Path(), { maxItems: 500, default: [], uniqueItems: true }),
    'operator',
    'path prefixes that are challenged',
  ),
};
