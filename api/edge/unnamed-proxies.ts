// Addresses that limits took for one client although they may be proxies that the settings do not name. Two things
// happen to them: one that sends many different forwarding fields is never banned (also if somebody invents them), and
// one through which a single abuser came is banned with everybody behind it. Nodes say both in the events of such
// requests (proxy/admit/bans/auto-ban.ts); here people see them by node, with what to set.
import { BlockList, isIP } from 'node:net';
import { Type } from '@sinclair/typebox';
import type { Settings } from '#settings';
import type { Sql } from '../db/client.js';
import { OneOf, refusals, Time, type App } from '../http-kit/index.js';
import type { EdgeParts } from './routes.js';

const windowMs = 86_400_000;
/** Addresses that are looked at, those with the newest events first; an attacker with more hides none of them. */
const addressesMax = 2_000;
/** Rules of such events; a ban of a client that speaks for nobody else has the first one, too, without the tag. */
const banRuleId = 1_006_200;
const notBannedRuleId = 1_006_201;
const tagged = { messages: [{ tags: ['gatehouse/client-address'] }] };

const schema = {
  tags: ['edge'],
  summary: 'Addresses that may be proxies or CDNs which rl_trusted_proxies does not name, of the last 24 hours',
  response: {
    200: Type.Object({
      items: Type.Array(
        Type.Object({
          node: Type.String(),
          kind: OneOf(
            ['banned', 'not_banned'],
            'banned: by a request that was forwarded for another client, so every client behind the address is; ' +
              'not_banned: limited only, because its requests carry many different forwarding fields',
          ),
          address: Type.String({ description: 'the one of the newest event' }),
          addresses: Type.Integer({ description: 'different ones of this kind at this node' }),
          requests: Type.Integer({ description: 'recorded; nodes record a part of limited requests' }),
          last_at: Time,
          request_id: Type.String({ description: 'of the newest event' }),
        }),
        { description: 'one a node and kind, without addresses that the settings trust by now; the newest first' },
      ),
    }),
    ...refusals,
  },
};

interface Row {
  readonly node: string;
  readonly rule_id: string | number;
  readonly client_ip: string;
  readonly requests: number;
  readonly last_at: Date;
  readonly request_id: string;
}

const readRows = (sql: Sql, since: Date): Promise<Row[]> => sql<Row[]>`
  select node, rule_id, client_ip, count(*)::int as requests, max(at) as last_at,
    (array_agg(request_id order by at desc, id desc))[1] as request_id
  from security_events
  where at >= ${since} and rule_id in (${banRuleId}, ${notBannedRuleId}) and details @> ${sql.json(tagged)}
  group by node, rule_id, client_ip order by last_at desc limit ${addressesMax}`;

/** Whether the settings name an address as a trusted proxy by now. */
function trustOf({ rl_trust_proxy: isOn, rl_trusted_proxies: networks }: Settings): (address: string) => boolean {
  const list = new BlockList();
  if (isOn)
    for (const network of networks) {
      const [address = '', bits] = network.split('/');
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      if (isIP(address) !== 0) list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
    }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

export function registerUnnamedProxiesRoute(app: App, { database, currentSettings, now }: EdgeParts): void {
  app.get('/api/unnamed-proxies', { schema }, async () => {
    const isTrusted = trustOf(await currentSettings());
    const rows = await readRows(database.sql, new Date(now() - windowMs));
    const found = new Map<string, Row[]>();
    for (const row of rows) {
      if (isTrusted(row.client_ip)) continue;
      const key = `${row.rule_id} ${row.node}`;
      found.set(key, [...(found.get(key) ?? []), row]);
    }
    return {
      items: [...found.values()].map((some) => {
        const [newest] = some as [Row];
        return {
          node: newest.node,
          kind: Number(newest.rule_id) === banRuleId ? ('banned' as const) : ('not_banned' as const),
          address: newest.client_ip,
          addresses: some.length,
          requests: some.reduce((sum, { requests }) => sum + requests, 0),
          last_at: newest.last_at.toISOString(),
          request_id: newest.request_id,
        };
      }),
    };
  });
}
