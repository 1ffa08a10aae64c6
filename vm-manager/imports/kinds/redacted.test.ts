// Tools that write the same word in place of every secret (Gitleaks with --redact, and what others put there).
import t from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client } from '../../testing/import-client.js';
import { redacted } from './secrets.js';

const leak = (file: string, line: number, key: string, secret: string) => ({
  ...{ RuleID: 'generic-api-key', Description: 'A key', Tags: [], Commit: '', Date: '', Entropy: 3.5 },
  ...{ File: file, StartLine: line, Secret: secret, Match: `${key} = "${secret}"` },
});

const sarifOf = (leaks: readonly ReturnType<typeof leak>[]) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'gitleaks', rules: [{ id: 'generic-api-key' }] } },
      results: leaks.map(({ RuleID, File, StartLine, Secret }) => ({
        ruleId: RuleID,
        message: { text: `${RuleID} has detected secret for file ${File}.` },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: File },
              region: { startLine: StartLine, snippet: { text: Secret } },
            },
          },
        ],
      })),
    },
  ],
});

const leaksWith = (secret: string, line = 3) => [
  leak('deploy/a.env', line, 'MAIL_KEY', secret),
  leak('deploy/a.env', line + 1, 'SMS_KEY', secret),
  leak('deploy/b.env', line, 'MAIL_KEY', secret),
];

void onBothDatabases(t, 'secrets that a tool does not show are as many as it found', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const secret of ['REDACTED', '****', 'glpa...', '[MASKED]']) {
    const app = await client.application();
    const send = async (report: unknown) => (await client.send(app, report, { mode: 'sync' })).body['report'];
    t.match(await send(leaksWith(secret)), { created: 3, duplicates_in_file: 0 }, secret);
    t.match(await send(leaksWith(secret)), { created: 0, closed: 0, unchanged: 3 }, `${secret}: again`);
    t.match(await send(leaksWith(secret, 9)), { created: 0, closed: 0 }, `${secret}: further down in the files`);
    const other = await client.application();
    const sarif = await client.send(other, sarifOf(leaksWith(secret)), { mode: 'sync' });
    t.match(sarif.body['report'], { created: 3 }, `${secret}: SARIF`);
  }
});

t.test('what stands in place of a secret', (t) => {
  for (const text of ['REDACTED', '***', 'xxxx', 'AKIA...', 'AKIA***', '<hidden>', '[redacted]', 'ab…'])
    t.ok(redacted.test(text), text);
  for (const text of ['hunter2', 'x1x2', 'a...b', 'redacted-key-4711', '-----BEGIN KEY-----'])
    t.notOk(redacted.test(text), text);
  t.end();
});
