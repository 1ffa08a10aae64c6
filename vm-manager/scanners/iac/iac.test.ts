// Configuration that breaks a rule beside its twin that does not: Dockerfiles, Compose, Terraform and what it knows.
import t from 'tap';
import { together } from '../contract.js';
import { IacEngine } from './engine.js';
import { iacScanner } from './scanner.js';

const check = async (files: Readonly<Record<string, string>>) => {
  const engine = await IacEngine.create();
  const all = Object.entries(files).map(([path, text]) => engine.take({ path, bytes: Buffer.from(text) }));
  return together([...all, engine.end()]);
};
const rulesOf = async (path: string, text: string): Promise<string[]> =>
  (await check({ [path]: text })).findings.map(({ rule, line }) => `${rule}:${line}`);
/** Only those whose ids begin so. */
const some = async (path: string, text: string, prefix: string): Promise<string[]> =>
  (await rulesOf(path, text)).filter((one) => one.startsWith(prefix));

t.test('Dockerfiles', async (t) => {
  const good = 'FROM debian:12\nUSER 1000\n';
  for (const [text, found] of [
    [good, []],
    ['FROM debian:12\n', ['docker-root-user:1']],
    ['FROM debian:12\nUSER root\n', ['docker-root-user:2']],
    ['FROM debian:12\nUSER app\nUSER 0:0\n', ['docker-root-user:3']],
    ['FROM debian:12 AS base\nUSER app\nFROM base\n', []],
    ['FROM gcr.test/distroless/static:nonroot\n', []],
    ['FROM debian\nUSER app\n', ['docker-untagged:1']],
    ['ARG TAG=12\nFROM debian:${TAG}\nUSER app\n', []],
    ['ARG TAG\nFROM debian:${TAG}\nUSER app\n', []],
    ['ARG TAG=latest\nFROM debian:$TAG\nUSER app\n', ['docker-untagged:2']],
    [`FROM debian@sha256:${'a'.repeat(64)}\nUSER app\n`, []],
    ['FROM scratch\nCOPY a /a\nUSER 1\n', []],
    [`${good}ENV DB_PASSWORD=hunter2hunter\n`, ['docker-secret-in-env:3']],
    [`${good}ARG DB_PASSWORD\nENV DB_PASSWORD=$DB_PASSWORD\n`, []],
    [`${good}ENV DB_PASSWORD_FILE=/run/secrets/db\n`, []],
    [`${good}RUN curl -s https://x.test/i.sh | bash\n`, ['docker-pipe-to-shell:3']],
    [`${good}RUN curl -so i.sh https://x.test/i.sh \\\n  && sha256sum -c sums && sh i.sh\n`, []],
    [`${good}ADD https://x.test/a.tar.gz /a\n`, ['docker-add-url:3']],
    [`${good}ADD --checksum=sha256:aa https://x.test/a.tar.gz /a\n`, []],
    [`${good}RUN chmod -R 777 /app\n`, ['docker-world-writable:3']],
    [`${good}RUN --security=insecure make\n`, ['docker-insecure-run:3']],
    [`${good}EXPOSE 22/tcp\n`, ['docker-expose-ssh:3']],
    [`${good}RUN apt-get update \\\n # why\n && apt-get install -y x\n`, []],
    [`${good}RUN <<EOF\napt-get update\napt-get install -y x\nEOF\n`, []],
    [`${good}# gatehouse:ignore docker-expose-ssh a bastion\nEXPOSE 22\n`, ['docker-expose-ssh:4']],
  ] as const)
    t.same(await rulesOf('build/Dockerfile', text), found, text);
  const aside = await check({ Dockerfile: `${good}EXPOSE 22 # gatehouse:ignore docker-expose-ssh a bastion\n` });
  t.match(aside.findings, [{ suppressed: 'a bastion' }]);
  await t.rejects(check({ Dockerfile: 'nothing here' }), /no instruction FROM/);
});

t.test('Compose', async (t) => {
  const file = (lines: string): string => `services:\n  a:\n    image: x.test/a:1\n${lines}`;
  for (const [lines, found] of [
    ['', []],
    ['    privileged: true\n', ['compose-privileged:4']],
    ['    volumes:\n      - ./data:/data\n      - /var/run/docker.sock:/s\n', ['compose-docker-socket:6']],
    ['    volumes:\n      - type: bind\n        source: /etc\n        target: /e\n', ['compose-host-directory:5']],
    ['    network_mode: host\n', ['compose-host-network:4']],
    ['    cap_add: [NET_BIND_SERVICE]\n', []],
    ['    cap_add: [SYS_ADMIN]\n', ['compose-capabilities:4']],
    ['    environment:\n      DB_PASSWORD: s3cr3tValue9\n', ['compose-secret:5']],
    ['    environment:\n      - DB_PASSWORD=${DB_PASSWORD}\n', []],
    ['    environment:\n      DB_PASSWORD: changeme\n', []],
    ['    ports: ["5432:5432"]\n', ['compose-open-database:4']],
    ['    ports: ["127.0.0.1:5432:5432", "8080:80"]\n', []],
    ['    security_opt: ["seccomp:unconfined"]\n', ['compose-unconfined:4']],
    ['    privileged: "true"\n', ['compose-privileged:4']],
    ['    privileged: "${P:-true}"\n', ['compose-privileged:4']],
    ['    privileged: "${P:-${Q-on}}"\n', ['compose-privileged:4']],
    ['    privileged: "${P:-false}"\n', []],
    ['    network_mode: ${NET:-host}\n', ['compose-host-network:4']],
    ['    volumes: ["${SOCKET-/var/run/docker.sock}:/s"]\n', ['compose-docker-socket:4']],
  ] as const)
    t.same(await rulesOf('deploy/compose.yaml', file(lines)), found, lines);
  const unsettled = await check({ 'compose.yaml': file('    privileged: ${P}\n') });
  t.match(unsettled.notScanned, [{ path: 'compose.yaml', reason: /no default/, isFault: false }], 'it is said');
  for (const [path, text, found] of [
    ['stack.yml', file('    privileged: true\n'), ['compose-privileged:4']],
    ['a.yaml', '{services: {a: {image: "x:1", privileged: true}}}', ['compose-privileged:1']],
    ['.gitlab-ci.yml', 'services:\n  - postgres:12\n', []],
    ['services.yaml', 'services:\n  App\\Mailer:\n    public: true\n', []],
    ['broken.yaml', 'services: [\n', []],
  ] as const)
    t.same(await rulesOf(path, text), found, path);
  t.same(await rulesOf('docker-compose.prod.yml', 'services:\n  a:\n    image: x.test/a\n'), ['compose-untagged:3']);
});

t.test('Terraform: what is known, what is not, and what belongs together', async (t) => {
  const volume = (text: string): string => `resource "aws_ebs_volume" "v" {\n  kms_key_id = "k"\n${text}}\n`;
  const bad = ['aws-ebs-encrypted:1'];
  for (const [what, text, found] of [
    ['missing, where the default is insecure', volume(''), bad],
    ['set', volume('  encrypted = true\n'), []],
    ['said to be off', volume('  encrypted = false\n'), ['aws-ebs-encrypted:3']],
    ['a variable without a default is not known', `variable "e" {}\n${volume('  encrypted = var.e\n')}`, []],
    [
      'a default counts',
      `variable "e" {\n  default = false\n}\n${volume('  encrypted = var.e\n')}`,
      ['aws-ebs-encrypted:6'],
    ],
    ['a local', `locals { e = true }\n${volume('  encrypted = local.e\n')}`, []],
    ['a condition that is known', volume('  encrypted = true ? true : false\n'), []],
    ['a function that is not', volume('  encrypted = tobool(file("x"))\n'), []],
    ['none of it', volume('  count = 0\n'), []],
  ] as const)
    t.same(await some('m/main.tf', text, 'aws-ebs-encrypted'), found, what);
  const bucket = 'resource "aws_s3_bucket" "b" {\n  bucket = "logs"\n}\n';
  const block = (text: string): string => `resource "aws_s3_bucket_public_access_block" "p" {\n  bucket = ${text}\n}\n`;
  for (const [text, found] of [
    [bucket, ['aws-s3-no-access-block:1']],
    [bucket + block('aws_s3_bucket.b.id'), []],
    [bucket + block('"logs"'), []],
    [bucket + block('aws_s3_bucket.other.id'), ['aws-s3-no-access-block:1']],
  ] as const)
    t.same(await some('main.tf', text, 'aws-s3-no-access'), found, text);
  const split = await check({ 'm/a.tf': bucket, 'm/b.tf': block('aws_s3_bucket.b.id'), 'n/a.tf': bucket });
  const open = split.findings.filter(({ rule }) => rule === 'aws-s3-no-access-block').map(({ path }) => path);
  t.same(open, ['n/a.tf'], 'the files of a directory are one');
});

t.test('Terraform: rules and their twins', async (t) => {
  const group = (text: string): string => `resource "aws_security_group" "g" {\n  description = "d"\n${text}\n}\n`;
  const ingress = (from: number, to: number, cidr: string, protocol = 'tcp'): string =>
    group(
      `  ingress {\n description = "d"\n from_port = ${from}\n to_port = ${to}\n` +
        ` protocol = "${protocol}"\n cidr_blocks = ${cidr}\n }`,
    );
  const policy = (text: string): string => `resource "aws_iam_policy" "p" {\n  policy = ${text}\n}\n`;
  const all = '{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}';
  for (const [text, prefix, isBad] of [
    [ingress(22, 22, '["0.0.0.0/0"]'), 'aws-open-admin-port', true],
    [ingress(0, 65_535, '["::/0"]'), 'aws-open-admin-port', true],
    [ingress(0, 0, '["0.0.0.0/0"]', '-1'), 'aws-open-admin-port', true],
    [ingress(22, 22, '["10.0.0.0/8"]'), 'aws-open-admin-port', false],
    [ingress(443, 443, '["0.0.0.0/0"]'), 'aws-open-admin-port', false],
    [ingress(22, 22, 'var.networks'), 'aws-open-admin-port', false],
    [
      group(
        '  dynamic "ingress" {\n for_each = [1]\n content {\n from_port = 3389\n to_port = 3389\n ' +
          'protocol = "tcp"\n cidr_blocks = ["0.0.0.0/0"]\n }\n }',
      ),
      'aws-open-admin-port',
      true,
    ],
    [policy(`<<EOF\n${all}\nEOF`), 'aws-iam-wildcard', true],
    [
      policy('jsonencode({ Statement = [{ Effect = "Allow", Action = "*", Resource = "*" }] })'),
      'aws-iam-wildcard',
      true,
    ],
    [
      policy('jsonencode({ Statement = [{ Effect = "Deny", Action = "*", Resource = "*" }] })'),
      'aws-iam-wildcard',
      false,
    ],
    [
      `${policy(
        'data.aws_iam_poli' + 'cy_document.d.json',
      )}data "aws_iam_policy_document" "d" {\n statement {\n actions = ["*"]\n resources = ["*"]\n }\n}\n`,
      'aws-iam-wildcard',
      true,
    ],
    [
      'resource "aws_instance" "i" {\n metadata_options {\n http_tokens = "required"\n }\n}\n',
      'aws-instance-metadata',
      false,
    ],
    ['resource "aws_instance" "i" {}\n', 'aws-instance-metadata', true],
    ['resource "aws_db_instance" "d" {\n publicly_accessible = true\n}\n', 'aws-rds-public', true],
    ['resource "aws_db_instance" "d" {}\n', 'aws-rds-public', false],
  ] as const)
    t.equal((await some('main.tf', text, prefix)).length > 0, isBad, text);
});

t.test('Terraform: blocks that are repeated, and blocks that are attributes', async (t) => {
  const group = (text: string): string => `resource "aws_security_group" "g" {\n  description = "d"\n${text}\n}\n`;
  const rule = (cidr: string, port: number | string = 22): string =>
    `from_port = ${port}\n to_port = ${port}\n protocol = "tcp"\n cidr_blocks = ${cidr}\n`;
  const every = '["0.0.0.0/0"]';
  const dynamic = (over: string, content: string, more = ''): string =>
    group(`  dynamic "ingress" {\n for_each = ${over}\n ${more}\n content {\n ${content} }\n }`);
  for (const [text, count] of [
    [group(`  ingress = [{ ${rule(every).replaceAll('\n', ',')} }]`), 1],
    [group(`  ingress = [{ ${rule('["10.0.0.0/8"]').replaceAll('\n', ',')} }]`), 0],
    [
      'locals { all = [{ port = 22 }] }\n' +
        group(`  ingress = [for r in local.all : { ${rule(every, 'r.port').replaceAll('\n', ',')} }]`),
      1,
    ],
    [`locals { c = "0.0.0.0/0" }\n${dynamic('[22]', rule('[local.c]', 'ingress.value'))}`, 1],
    [dynamic('[443, 3389]', rule(every, 'ingress.value')), 1],
    [dynamic('[443, 80]', rule(every, 'ingress.value')), 0],
    [dynamic('{ ssh = { port = 22 } }', rule(every, 'ingress.value["port"]')), 1],
    [dynamic('{ "22" = 1 }', rule(every, 'ingress.key')), 1],
    [dynamic('toset([22])', rule(every, 'r.value'), 'iterator = r'), 1],
    [dynamic('[]', rule(every)), 0],
    [
      'variable "p" { default = [{ port = 22, from = ["0.0.0.0/0"] }] }\n' +
        dynamic('var.p', rule('ingress.value.from', 'ingress.value.port')),
      1,
    ],
    [group(`  ingress {\n ${rule('flatten([["10.0.0.0/8"], ["0.0.0.0/0"]])')} }`), 1],
    [group(`  ingress {\n ${rule('split(",", "10.0.0.0/8,0.0.0.0/0")')} }`), 1],
    [`locals { n = [{ c = "0.0.0.0/0" }] }\n${group(`  ingress {\n ${rule('local.n[*].c')} }`)}`, 1],
    [`locals { n = ["10.0.0.0/8", "0.0.0.0/0"] }\n${group(`  ingress {\n ${rule('[local.n[0]]')} }`)}`, 0],
    [`locals { n = ["10.0.0.0/8", "0.0.0.0/0"] }\n${group(`  ingress {\n ${rule('[local.n[1]]')} }`)}`, 1],
    [group(`  ingress {\n from_port = 22\n to_port = 22\n ipv6_cidr_blocks = ["0:0:0:0:0:0:0:0/0"]\n }`), 1],
    [group(`  ingress {\n from_port = 22\n to_port = 22\n ipv6_cidr_blocks = ["2000::/3"]\n }`), 1],
    [group(`  ingress {\n from_port = 22\n to_port = 22\n ipv6_cidr_blocks = ["2001:db8::/32"]\n }`), 0],
    [group(`  ingress {\n protocol = -1\n cidr_blocks = ["0.0.0.0/1", "128.0.0.0/1"]\n }`), 1],
    [
      'resource "aws_security_group_rule" "r" {\n for_each = toset(["10.0.0.0/8", "0.0.0.0/0"])\n type = "ingress"\n' +
        rule('[each.value]') +
        '}\n',
      1,
    ],
    [
      'resource "aws_security_group_rule" "r" {\n for_each = { a = 22 }\n type = "ingress"\n' +
        rule(every, 'each.value') +
        '}\n',
      1,
    ],
  ] as const)
    t.equal((await some('main.tf', text, 'aws-open-admin-port')).length, count, text);
  for (const [text, isNoted] of [
    [dynamic('var.rules', rule(every, 'ingress.value.port')), true],
    [group(`  ingress {\n ${rule('var.networks')} }`), true],
    [group(`  ingress {\n ${rule('[for c in data.x.y.all : c]')} }`), true],
    [group(`  ingress {\n ${rule('[aws_vpc.v.cidr_block]')} }`), false],
    [group(`  ingress {\n ${rule(every)} }`), false],
  ] as const) {
    const { notScanned, scanned } = await check({ 'main.tf': text });
    t.same(scanned, ['main.tf']);
    t.equal(
      notScanned.some(({ reason, isFault }) => !isFault && reason.includes('only when it is applied')),
      isNoted,
      text,
    );
  }
});

t.test('Terraform and Compose: what grows by powers is bounded, and said', async (t) => {
  const tens = (name: string): string => `[${Array.from({ length: 10 }, () => name).join(', ')}]`;
  const lists = Array.from({ length: 9 }, (_, at) => `  l${at + 1} = ${tens(`local.l${at}`)}\n`).join('');
  const many = `[${Array.from({ length: 100 }, (_, at) => at).join(', ')}]`;
  const loops = ['a', 'b', 'c', 'd', 'e'].reduceRight((inner, name) => `[for ${name} in local.m : ${inner}]`, 'a');
  const within = ['a', 'b', 'c'].reduceRight(
    (inner, name) => `dynamic "${name}" {\n for_each = local.m\n content {\n${inner}\n}\n}`,
    'x = 1',
  );
  const group = (cidr: string): string =>
    `resource "aws_security_group" "g" {\n ingress {\n from_port = 22\n to_port = 22\n cidr_blocks = ${cidr}\n }\n}\n`;
  for (const [what, text] of [
    ['lists of lists', `locals {\n  l0 = ["10.0.0.0/8"]\n${lists}}\n${group('local.l9')}`],
    ['loops within loops', `locals {\n  m = ${many}\n}\n${group(loops)}`],
    ['blocks within blocks', `locals {\n  m = ${many}\n}\nresource "aws_security_group" "g" {\n${within}\n}\n`],
  ] as const) {
    const { scanned, notScanned } = await check({ 'main.tf': text });
    t.same(scanned, ['main.tf'], what);
    if (what !== 'blocks within blocks') t.match(notScanned, [{ path: 'main.tf', reason: /only when/ }], what);
  }
  const deep = `${'${A:-'.repeat(50_000)}true${'}'.repeat(50_000)}`;
  const { notScanned } = await check({
    'compose.yaml': `services:\n  a:\n    image: x:1\n    privileged: "${deep}"\n`,
  });
  t.match(notScanned, [{ reason: /no default/ }], 'defaults within defaults');
});

t.test('Terraform: broken files are refused with their line', async (t) => {
  const engine = await IacEngine.create();
  for (const text of ['resource "a" "b" {', 'resource "a" "b" {\n x = = 1\n}\n', '}}}}', `a = ${'['.repeat(5000)}`])
    t.throws(() => engine.take({ path: 'a.tf', bytes: Buffer.from(text) }), /in line \d+/, text.slice(0, 30));
  t.same(engine.take({ path: 'empty.tf', bytes: Buffer.from('') }).findings, []);
});

t.test('rules have what a person needs', async (t) => {
  t.equal(new Set(iacScanner.rules.map(({ id }) => id)).size, iacScanner.rules.length, 'each id once');
  for (const { id, title, description, remediation, cwes } of iacScanner.rules)
    t.ok(title !== '' && description.length > 15 && remediation.length > 8 && cwes.length > 0, id);
  for (const [path, wanted] of [
    ['Dockerfile', true],
    ['a/web.Dockerfile', true],
    ['Dockerfile.prod', true],
    ['docs/Dockerfile.md', false],
    ['compose.yaml', true],
    ['docker-compose.override.yml', true],
    ['main.tf', true],
    ['main.tf.json', 'Terraform in JSON'],
    ['a.yaml', true],
    ['a.json', true],
    ['a/package.json', false],
  ] as const)
    t.equal(iacScanner.wants(path), wanted, path);
});
