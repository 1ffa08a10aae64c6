// The classification: the examples of the specification, the table as a whole, and what has to hold of any title.
import fc from 'fast-check';
import t from 'tap';
import { attackIds } from '../testing/attack-ids.js';
import { byWeakness, isHygiene, wordsOnly } from './cwe-table.js';
import { vulnerableComponent, wordsOfWeakness } from './cwe-words.js';
import { classify, flag, type Classifiable } from './classify.js';
import { keywords } from './keywords.js';
import { stages } from './stages.js';
import { techniqueNames } from './techniques.js';
import { readWeaknesses, type Weakness } from './words.js';

const seed = Number(process.env['SEED'] ?? 20_261_122);

const of = (cwe: Weakness, title: string, more: Partial<Classifiable> = {}): string => {
  const found = classify({ title, cwe, severity: 'high', confirmed: false, ...more });
  return found === null
    ? 'none'
    : `${found.capability.stage} ${found.capability.cap} ${found.capability.mitre} ${found.capability.pivot ?? '-'}`;
};

t.test('S2 stages: the six stages stand in the order of escalation', (t) => {
  t.strictSame(stages, ['entry', 'execute', 'credential', 'privesc', 'pivot', 'impact']);
  t.end();
});

t.test('S2 examples: the classification gives the stages that the specification names', (t) => {
  t.match(of('CWE-918', 'Anything'), /^entry ssrf/);
  t.match(of('CWE-78', 'Anything'), /^execute rce/);
  t.match(of('CWE-77', 'Anything'), /^execute rce/);
  t.match(of('CWE-798', 'Anything'), /^credential hardcoded_secret/);
  for (const title of ['IAM policy too broad', 'Wildcard in the policy', 'Role with iam:*'])
    t.match(of('CWE-732', title), /^privesc iam_wildcard/, title);
  for (const title of ['Public bucket', 'S3 bucket is world readable', 'Anonymous access to blob storage'])
    t.match(of('CWE-732', title), /^impact public_bucket/, title);
  for (const title of ['Privileged container', 'Pod mounts a hostPath volume', 'Container with host path mount'])
    for (const cwe of [null, 'CWE-250', 'CWE-269'])
      t.match(of(cwe, title), /^privesc container_escape/, `${title} ${cwe}`);
  t.end();
});

t.test('decided: words of a public bucket win over words of identity', (t) => {
  t.match(of('CWE-732', 'Bucket policy allows public read'), /^impact public_bucket T1530/);
  t.match(of('CWE-284', 'Storage policy grants anonymous access'), /^impact public_bucket/);
  t.match(of('CWE-732', 'IAM policy with wildcard for a bucket'), /^privesc iam_wildcard/);
  t.match(of('CWE-732', 'Key file readable by all'), /^credential stored_secret/);
  t.match(of('CWE-732', 'File mode 0777'), /^privesc perm_default/);
  t.end();
});

t.test('decided: pivot-capable are footholds, credentials, remote execution and the escape to a host', (t) => {
  const wanted = new Map<number, string | null>([
    [918, 'foothold'],
    [89, 'foothold'],
    [22, 'foothold'],
    [24, null],
    [79, null],
    [352, null],
    [601, null],
    [293, null],
    [78, 'rce'],
    [502, 'rce'],
    [787, 'rce'],
    [190, null],
    [1321, null],
    [494, null],
    [798, 'credential'],
    [384, 'credential'],
    [653, 'host-escape'],
    [862, null],
    [863, null],
    [250, null],
    [923, null],
    [940, null],
    [639, null],
  ]);
  for (const [weakness, pivot] of wanted) t.equal(byWeakness.get(weakness)?.pivot, pivot, `CWE-${weakness}`);
  t.match(of(null, 'Service account token is mounted'), /^pivot sa_token T1528 -/);
  t.match(of(null, 'Container escape by docker.sock'), /host-escape$/);
  t.end();
});

t.test('every technique is one of ATT&CK 18, and none of the impair-defences family', (t) => {
  const all = [
    vulnerableComponent,
    ...byWeakness.values(),
    ...keywords.map((words) => words.capability),
    ...[...wordsOfWeakness.values()].flat().map((words) => words.capability),
  ];
  t.ok(all.length > 250);
  for (const id of new Set([...all.map(({ mitre }) => mitre), ...Object.keys(techniqueNames)])) {
    t.ok(attackIds.has(id), id);
    t.match(id, /^T\d{4}(\.\d{3})?$/);
    t.notMatch(id, /^T1562/);
  }
  t.ok(
    ['T1550.004', 'T1003.008', 'T1681'].every((id) => attackIds.has(id)),
    'the list is read',
  );
  t.notOk(['T1574.002', 'T9999', 'T1562.005'].some((id) => attackIds.has(id)));
  t.equal(attackIds.size, 691);
  t.end();
});

t.test('the table: its size, and no weakness in two places', (t) => {
  t.ok(byWeakness.size + wordsOnly.length >= 212, `${byWeakness.size} and ${wordsOnly.length} with words`);
  for (const number of wordsOnly) {
    t.notOk(byWeakness.has(number), `CWE-${number} speaks with words only`);
    t.ok(wordsOfWeakness.has(number), `CWE-${number} has words`);
    t.notOk(isHygiene(number));
  }
  for (const number of wordsOfWeakness.keys()) t.ok(byWeakness.has(number) || wordsOnly.includes(number));
  t.end();
});

t.test('weaknesses are read as reports write them', (t) => {
  const cases: [Weakness, number[]][] = [
    [89, [89]],
    ['89', [89]],
    ['CWE-89', [89]],
    ['cwe-089: SQL injection (5 of 9)', [89]],
    ['CWE-79,CWE-89', [79, 89]],
    ['external/cwe/cwe-079', [79]],
    ['79, 89', [79, 89]],
    [
      ['CWE-1004', 'CWE-89'],
      [1004, 89],
    ],
    [null, []],
    ['', []],
    ['none', []],
    ['-1', []],
    [0, []],
    [Number.NaN, []],
    [['CWE-79', 79, '79'], [79]],
  ];
  for (const [written, read] of cases) t.strictSame(readWeaknesses(written), read, JSON.stringify(written));
  t.match(of(['CWE-1004', 'CWE-89'], 'x'), /^entry sqli/, 'the first that gives something wins');
  t.match(of(['CWE-79', 'CWE-89'], 'x'), /^entry xss/);
  t.equal(of(['CWE-1004', 'CWE-99999'], 'SQL injection'), 'none', 'a weakness that is known to give nothing answers');
  t.match(of('CWE-99999', 'SQL injection'), /^entry sqli/, 'words speak where no weakness is known');
  t.end();
});

t.test('what brings an attacker no further is dropped', (t) => {
  for (const title of ['Missing X-Frame-Options header', 'Cookie without Secure flag', 'HSTS not set', 'Server banner'])
    t.equal(of(null, title), 'none', title);
  t.equal(of('CWE-614', 'SQL injection'), 'none');
  t.equal(of('CWE-89', 'SQL injection', { severity: 'info' }), 'none', 'informational');
  t.match(of('CWE-89', 'SQL injection', { severity: 'info', confirmed: true }), /^entry/, 'unless it is proven');
  t.equal(of('CWE-200', 'Version in an answer'), 'none');
  t.match(of('CWE-200', 'Password in an answer'), /^credential stored_secret/);
  t.match(of('CWE-200', 'Customer data in an answer'), /^impact sensitive_data/);
  t.equal(of(null, 'Spelling'), 'none');
  t.equal(of(null, ''), 'none');
  t.end();
});

t.test('components count by their words, or where a CVE and a high severity say so', (t) => {
  t.match(of('CWE-1395', 'Remote code execution in a library'), /^execute rce/);
  t.match(of('CWE-1395', 'Library of last year', { cves: ['CVE-2026-12345'] }), /^entry vuln_component/);
  t.equal(of('CWE-1395', 'Library of last year', { cves: ['CVE-2026-12345'], severity: 'medium' }), 'none');
  t.equal(of('CWE-1395', 'Library of last year'), 'none');
  t.end();
});

t.test('words: the named examples', (t) => {
  const cases: [string, RegExp][] = [
    ['Metadata service answers without a token', /^credential metadata T1552.005/],
    ['SSRF to the metadata service', /^entry ssrf/],
    ['Cluster-admin bound to default', /^privesc iam_wildcard/],
    ['Snapshot is public', /^impact public_bucket/],
    ['Kubelet open to anonymous requests', /^entry missing_auth T1133/],
    ['Security group allows 0.0.0.0/0 on port 22', /^entry exposed_service/],
    ['Security group allows 0.0.0.0/0', /^pivot lateral_net/],
    ['Stored XSS in comments', /^entry xss T1189/],
    ['DOM XSS in search', /^entry xss T1204.001/],
    ['AKIA key found', /^credential cloud_key/],
    ['API key committed to source', /^credential stored_secret/],
    ['JWT with alg none accepted', /^credential forged_token/],
    ['Credential stuffing possible', /^credential brute_force T1110.004/],
    ['BOLA in orders', /^impact idor/],
    ['Unpinned action in workflow', /^execute supply_chain T1195.002/],
    ['Typosquat of a package', /^execute supply_chain T1195.001/],
    ['Backup can be deleted', /^impact backup_exposed/],
    ['ReDoS in parser', /^impact dos/],
    ['Diamond pricing', /^none/],
  ];
  for (const [title, wanted] of cases) t.match(of(null, title), wanted, title);
  t.match(of(null, 'Runs as root', { source: 'k8s' }), /^privesc container_escape/);
  t.equal(of(null, 'Runs as root', { source: 'dast' }), 'none');
  t.end();
});

t.test('flags: the metadata service is found in title or location', (t) => {
  const flags = (title: string, location: string | null): number =>
    classify({ title, cwe: 918, severity: 'high', confirmed: false, location })?.flags ?? 0;
  t.equal(flags('SSRF', null) & flag.metadata, 0);
  t.not(flags('SSRF to metadata service', null) & flag.metadata, 0);
  t.not(flags('SSRF', 'GET /fetch?u=http://169.254.169.254/') & flag.metadata, 0);
  t.end();
});

t.test('any title: total, one capability, the same for any case, spacing and compatible forms', (t) => {
  const word = fc.constantFrom(
    'SQL',
    'injection',
    'bucket',
    'public',
    'IAM',
    '*',
    'token',
    'leak',
    'ﬁle',
    'ＲＣＥ',
    '\t',
  );
  const titles = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(word, { maxLength: 12 }).map((all) => all.join(' ')),
  );
  const numbers = fc.constantFrom(null, 79, 89, 732, 200, 1395, 311, 4242);
  fc.assert(
    fc.property(titles, numbers, (title, cwe) => {
      const found = of(cwe, title);
      t.equal(of(cwe, title.toUpperCase().toLowerCase()), of(cwe, title.toUpperCase()), 'case');
      t.equal(of(cwe, `  ${title.replaceAll(' ', '  ')} `), found, 'spacing');
      t.equal(of(cwe, title.normalize('NFKC')), found, 'forms');
      return t.passing();
    }),
    { seed, numRuns: 500 },
  );
  t.end();
});

t.test('any title: time does not grow with what comes after its beginning', (t) => {
  const start = process.cpuUsage();
  for (const piece of ['a', 'public ', 'missing ', 'token ', '169.254.', 'ﷺ', 'iam ', 'backup '])
    for (let round = 0; round < 20; round++) of(null, piece.repeat(100_000));
  const { user } = process.cpuUsage(start);
  t.ok(user / 160 < 20_000, `${Math.round(user / 160)} µs for 100,000 words`);
  t.end();
});
