import t from 'tap';
import { channelsOf } from './channel-rows.js';
import { blankConnector, connectorOf, formOf, type StoredConnector } from './connector-values.js';

const stored: StoredConnector = {
  name: 'soc',
  kind: 'splunk_hec',
  enabled: false,
  target: 'https://splunk.example/********',
  token: '********',
  index: 'main',
  options: { format: 'ecs', source: 'a=b' },
};

t.test('a connector goes through its form unchanged', async (t) => {
  t.same(connectorOf(formOf(stored), stored), stored, 'with what is kept secret as it is shown');
  t.equal(connectorOf({ ...formOf(stored), token: 'new' }, stored).token, 'new');
  t.match(
    connectorOf({ ...formOf(stored), kind: 'syslog' }, stored),
    { token: null, index: '' },
    'what a kind has not',
  );
  t.match(connectorOf({ ...blankConnector, target: ' https://x.example ', options: 'batch\n\n format = ecs ' }, null), {
    name: 'webhook',
    target: 'https://x.example',
    token: null,
    options: { batch: '', format: 'ecs' },
  });
});

t.test('channels are listed once, unless what tells them apart is hidden', async (t) => {
  const rule = (id: string, type: 'chat' | 'webhook', target: string) => ({ id, name: `rule ${id}`, type, target });
  const rows = channelsOf([
    rule('1', 'webhook', 'https://a.example/'),
    rule('2', 'webhook', 'https://a.example/'),
    rule('3', 'chat', 'https://a.example/'),
    rule('4', 'chat', 'https://hooks.example/********'),
    rule('5', 'chat', 'https://hooks.example/********'),
  ]);
  t.same(
    rows.map(({ rules, ruleId }) => [ruleId, ...rules]),
    [
      ['1', 'rule 1', 'rule 2'],
      ['3', 'rule 3'],
      ['4', 'rule 4'],
      ['5', 'rule 5'],
    ],
  );
});
