import { readFileSync } from 'node:fs';
import t from 'tap';
import { groupOf, groups, elsewhere, other } from './groups.js';
import { shapeOf, titleOf, type SettingSchema } from './schema.js';

interface Listed {
  readonly name: string;
  readonly about: string;
  readonly values: string;
}

/** Of the reference that is written from the schema: the settings themselves, not their members. */
const listed = readFileSync(new URL('../../../../../docs/settings.md', import.meta.url), 'utf8')
  .split('\n')
  .flatMap((line): Listed[] => {
    const [, name = '', about = '', values = ''] = /^\| `([a-z0-9_]+)` \| (.*?) \| (.*?) \|/.exec(line) ?? [];
    return name === '' ? [] : [{ name, about, values }];
  });

t.test('X3: each setting has a group of its kind, a help and a label that people read', async (t) => {
  t.ok(listed.length > 100, `${listed.length} settings`);
  const labels = new Map<string, string>();
  for (const { name, about } of listed) {
    const group = groupOf(name);
    if (elsewhere.has(name)) t.equal(group, null, `${name} has a page of its own`);
    else t.ok(group !== null && group !== other, `${name} is in ${group?.key ?? 'no group'}`);
    t.ok(about.trim().length > 5, `${name} has a help: ${about}`);
    const label = titleOf(name);
    t.match(label, /^[A-Z0-9][^_]*$/, `${name}: ${label}`);
    const key = `${group?.key ?? ''}: ${label}`;
    t.notOk(labels.has(key), `${name} and ${labels.get(key) ?? ''} are not both "${key}"`);
    labels.set(key, name);
  }
});

t.test('X3: what was added lately stands where it is looked for', async (t) => {
  const wanted: readonly (readonly [name: string, group: string, label: RegExp])[] = [
    ['second_opinion', 'rules', /^Second opinion$/],
    ['graphql_paths', 'api', /^GraphQL paths$/],
    ['rl_headers', 'rates', /^Tell clients/],
    ['otel_endpoint', 'telemetry', /collector/],
    ['otel_traces_percent', 'telemetry', /^Share of requests/],
    ['otel_metrics_interval_sec', 'telemetry', /^Send metrics every$/],
    ['proxy_protocol', 'proxies', /^Proxy protocol$/],
    ['self_test_site', 'engine', /^Self test site$/],
    ['https_redirect', 'https', /redirect$/],
    ['acme_staging_first', 'https', /staging first$/],
  ];
  for (const [name, group, label] of wanted) {
    t.ok(
      listed.some((one) => one.name === name),
      `${name} is a setting`,
    );
    t.equal(groupOf(name)?.key, group, name);
    t.match(titleOf(name), label);
  }
  t.equal(new Set(groups.map(({ key }) => key)).size, groups.length, 'no group twice');
  const seconds: SettingSchema = { type: 'integer', 'x-unit': 'seconds', minimum: 15, maximum: 3600 };
  t.equal(shapeOf(seconds).kind, 'number');
});
