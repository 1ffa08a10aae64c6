// Templates of CloudFormation: what makes a file one, what is known of its values, and resources that break a rule
// beside their twins that do not.
import t from 'tap';
import { together } from '../../contract.js';
import { IacEngine } from '../engine.js';
import { iacScanner } from '../scanner.js';
import { terraformRules } from '../terraform/rules.js';
import { fixesOfTemplates } from './fixes.js';
import { twins } from './testing/twins.js';

const check = async (path: string, text: string) => {
  const engine = await IacEngine.create();
  return together([engine.take({ path, bytes: Buffer.from(text) }), engine.end()]);
};
const head = "AWSTemplateFormatVersion: '2010-09-09'\n";
/** A resource of a type, with what stands under `Properties`. */
const one = (type: string, properties: string, more = ''): string =>
  `${head}${more}Resources:\n  It:\n    Type: ${type}\n    Properties:\n` +
  `${properties.replaceAll(/^(?=.)/gm, '      ')}\n`;
/** Lines at which a rule is broken. */
const broken = async (rule: string, text: string, path = 'stack.yaml'): Promise<number[]> =>
  (await check(path, text)).findings.filter((found) => found.rule === rule).map(({ line }) => line);

t.test('a resource and its twin', async (t) => {
  for (const [rule, type, bad, line, good] of twins) {
    t.same(await broken(rule, one(type, bad)), [line], `${rule}: ${bad}`);
    t.same(await broken(rule, one(type, good)), [], `${rule}: ${good}`);
  }
});

t.test('JSON', async (t) => {
  const text =
    '{\n "Resources": {\n  "It": {\n   "Type": "AWS::RDS::DBInstance",\n   "Properties": {\n' +
    '    "StorageEncrypted": "false",\n    "MultiAZ": true\n   }\n  }\n }\n}\n';
  for (const path of ['a.json', 'a.template', 'deep/cfn/stack.cfn', 'a.yaml'])
    t.same(await broken('aws-rds-encrypted', text, path), [6], path);
  const { findings } = await check('a.json', text);
  t.match(
    findings.find(({ rule }) => rule === 'aws-rds-encrypted'),
    {
      address: 'AWS::RDS::DBInstance.It',
      snippet: '"StorageEncrypted": "false",',
      message: /AWS::RDS::DBInstance\.It/,
    },
  );
  const other = await check('a.json', '{"Resources": [], "Type": "AWS::S3::Bucket"}');
  t.same([other.findings, other.notScanned, other.scanned], [[], [], []], 'some other JSON is none');
  const list = await check('a.json', '[{"Resources": {"A": {"Type": "AWS::S3::Bucket"}}}]');
  t.same([list.findings, list.scanned], [[], []]);
});

t.test('what cannot be read is told', async (t) => {
  for (const [path, text] of [
    ['a.yaml', `${head}Resources:\n  A:\n    Type: AWS::S3::Bucket\n   bad: [\n`],
    ['a.json', '{"AWSTemplateFormatVersion": "2010-09-09",\n "Resources": {"A": {"Type": "AWS::S3::Bucket",}}}'],
    [
      'deep.json',
      `{"AWSTemplateFormatVersion": "x", "Resources": {"A": {"Type": "AWS::S3::Bucket", "P": ${'['.repeat(5000)}`,
    ],
  ] as const) {
    const { notScanned, findings } = await check(path, path === 'deep.json' ? text : text);
    t.match(notScanned, [{ path, isFault: true, reason: /cannot be read.* in line \d/ }], path);
    t.same(findings, []);
  }
  const laughs = `${head}Resources:\n  A: &a { Type: AWS::S3::Bucket, X: [1,1,1,1,1,1,1,1,1,1] }\n${Array.from(
    { length: 12 },
    (_, n) =>
      `  L${n}: &l${n} [${Array(12)
        .fill(n === 0 ? '*a' : `*l${n - 1}`)
        .join(', ')}]`,
  ).join('\n')}\n`;
  const started = Date.now();
  t.match((await check('a.yaml', laughs)).notScanned, [{ isFault: true, reason: /too deep or too large/ }]);
  t.ok(Date.now() - started < 3000, 'aliases of aliases are bounded');
});

t.test('values', async (t) => {
  const parameters = `Parameters:
  Open: { Type: String, Default: 0.0.0.0/0 }
  Given: { Type: String }
  Stored: { Type: 'AWS::SSM::Parameter::Value<String>', Default: 0.0.0.0/0 }
  Off: { Type: String, Default: 'false' }
Mappings:
  Net: { here: { cidr: 0.0.0.0/0 }, there: { cidr: 10.0.0.0/8 } }
`;
  const rule = 'aws-open-admin-port';
  const open = (cidr: string): Promise<number[]> =>
    broken(
      rule,
      one('AWS::EC2::SecurityGroupIngress', `IpProtocol: tcp\nFromPort: 22\nToPort: 22\nCidrIp: ${cidr}`, parameters),
    );
  for (const [cidr, isOpen] of [
    ['!Ref Open', true],
    ['{ Ref: Open }', true],
    ['!Ref Given', false],
    ['!Ref Stored', false],
    ['!FindInMap [Net, here, cidr]', true],
    ['!FindInMap [Net, there, cidr]', false],
    ['!FindInMap [Net, !Ref AWS::Region, cidr]', false],
    ['!Sub "${Open}"', true],
    ['!Sub "0.0.0.0/${Mask}"', false],
    ['!Sub ["0.0.0.0/${M}", { M: 0 }]', true],
    ['!Join ["/", ["0.0.0.0", "0"]]', true],
    ['!Join ["/", ["0.0.0.0", !Ref Given]]', false],
    ['!Select [1, ["10.0.0.0/8", "0.0.0.0/0"]]', true],
    ['!Select [1, !Split [",", "10.0.0.0/8,0.0.0.0/0"]]', true],
    ['!ImportValue shared', false],
    ['!GetAtt Vpc.CidrBlock', false],
    ['{ "Fn::Transform": { Name: M } }', false],
    ['!Cidr ["0.0.0.0/0", 1, 8]', false],
  ] as const)
    t.equal((await open(cidr)).length > 0, isOpen, cidr);
  t.same(
    await broken('aws-rds-encrypted', one('AWS::RDS::DBInstance', 'StorageEncrypted: !Ref Off', parameters)),
    [13],
  );
  const unknown = await check('a.yaml', one('AWS::RDS::DBInstance', 'StorageEncrypted: !Ref Given', parameters));
  t.notOk(unknown.findings.some(({ rule: id }) => id === 'aws-rds-encrypted'));
  t.match(unknown.notScanned, [{ isFault: false, reason: /known only when they are deployed/ }], 'it is said');
  for (const properties of [
    'Fn::Transform: { Name: AWS::Include, Parameters: { Location: s3://a/b } }',
    'Engine: mysql\nFn::Transform: { Name: Mine }',
  ])
    t.same(await broken('aws-rds-encrypted', one('AWS::RDS::DBInstance', properties)), [], 'put in elsewhere');
});

t.test('conditions', async (t) => {
  const conditions = `Parameters: { Env: { Type: String, Default: dev } }
Conditions:
  IsProd: !Equals [!Ref Env, prod]
  IsDev: !Not [!Condition IsProd]
`;
  const encrypted = (value: string): Promise<number[]> =>
    broken('aws-rds-encrypted', one('AWS::RDS::DBInstance', `StorageEncrypted: ${value}`, conditions));
  t.same(await encrypted('!If [IsProd, true, false]'), [], 'one of two');
  t.same(await encrypted('!If [IsProd, false, false]'), [10], 'both');
  t.same(await encrypted('!If [IsProd, !Ref AWS::NoValue, false]'), [10], 'in both, once by its lack');
  t.same(await encrypted('!If [IsProd, false, !If [IsDev, true, false]]'), [], 'the other way round');
  t.same(await encrypted('!If [IsProd, true, !If [IsDev, true, false]]'), [], 'what cannot be is not asked');
  t.same(await encrypted('!If [Nothing, false, false]'), [], 'a condition that is not there');
  const many = Array.from({ length: 9 }, (_, n) => `  C${n}: !Equals [!Ref Env, e${n}]`).join('\n');
  const chain = Array.from({ length: 9 }, (_, n) => n).reduce((rest, n) => `!If [C${n}, true, ${rest}]`, 'false');
  const text = one('AWS::RDS::DBInstance', `StorageEncrypted: ${chain}`, `Conditions:\n${many}\n`);
  t.same(await broken('aws-rds-encrypted', text), [], 'of many conditions too');
  const rules =
    'SecurityGroupIngress:\n' +
    '  - !If [IsProd, { IpProtocol: tcp, FromPort: 22, ToPort: 22, CidrIp: 0.0.0.0/0 }, !Ref AWS::NoValue]';
  t.same(await broken('aws-open-admin-port', one('AWS::EC2::SecurityGroup', rules, conditions)), []);
});

t.test('resources that belong together', async (t) => {
  const bucket = (properties: string, more: string): string =>
    `${head}Resources:\n  Data:\n    Type: AWS::S3::Bucket\n    Properties:\n      ${properties}\n${more}`;
  const trail = '  Trail:\n    Type: AWS::CloudTrail::Trail\n    Properties: { S3BucketName: !Ref Data }\n';
  t.same(await broken('aws-trail-bucket-log', bucket('BucketName: a', trail)), [3]);
  const logged = 'LoggingConfiguration: { DestinationBucketName: !Ref Logs }';
  t.same(await broken('aws-trail-bucket-log', bucket(logged, trail)), []);
  const logs = '  Logs:\n    Type: AWS::S3::Bucket\n';
  t.same(await broken('aws-s3-logging', bucket(logged, logs)), [], 'where logs go no log is asked for');
  const flow = (id: string): string =>
    `${head}Resources:\n  Net: { Type: AWS::EC2::VPC, Properties: { CidrBlock: 10.0.0.0/16 } }\n` +
    `  Flow: { Type: AWS::EC2::FlowLog, Properties: { ResourceId: ${id}, ResourceType: VPC } }\n`;
  t.same(await broken('aws-vpc-flow-logs', flow('!Ref Net')), []);
  t.same(await broken('aws-vpc-flow-logs', flow('!GetAtt Net.VpcId')), []);
  t.same(await broken('aws-vpc-flow-logs', flow('vpc-1')), [3]);
});

t.test('applications (SAM), nested stacks, macros', async (t) => {
  const globals =
    'Transform: AWS::Serverless-2016-10-31\n' +
    'Globals: { Function: { Tracing: Active }, Api: { TracingEnabled: true } }\n';
  t.same(await broken('aws-lambda-tracing', one('AWS::Serverless::Function', 'Handler: a', globals)), []);
  t.same(await broken('aws-lambda-tracing', one('AWS::Serverless::Function', 'Tracing: PassThrough', globals)), [8]);
  t.same(await broken('aws-api-tracing', one('AWS::Serverless::Api', 'StageName: a', globals)), []);
  const policies =
    'Policies:\n  - AmazonS3ReadOnlyAccess\n  - Statement: [{ Effect: Allow, Action: "*", Resource: "*" }]';
  t.same(await broken('aws-iam-wildcard', one('AWS::Serverless::Function', policies)), [8]);
  const nested = await check('a.yaml', one('AWS::CloudFormation::Stack', 'TemplateURL: https://x.test/a'));
  t.match(nested.notScanned, [{ isFault: false, reason: /nested stacks/ }]);
  const macro = await check('a.yaml', one('AWS::SNS::Topic', 'KmsMasterKeyId: k', 'Transform: [Mine]\n'));
  t.match(macro.notScanned, [{ isFault: false, reason: /macros/ }]);
  const loop =
    `${head}Transform: AWS::LanguageExtensions\nResources:\n` +
    `  Fn::ForEach::Topics: [N, [a], { "T\${N}": { Type: AWS::SNS::Topic } }]\n`;
  t.match((await check('a.yaml', loop)).notScanned, [{ isFault: false, reason: /loops/ }]);
});

t.test('what people set aside', async (t) => {
  const comment = one(
    'AWS::RDS::DBInstance',
    '# gatehouse:ignore aws-rds-encrypted on a disk that is\nStorageEncrypted: false',
  );
  const found = (await check('a.yaml', comment)).findings.find(({ rule }) => rule === 'aws-rds-encrypted');
  t.match(found, { line: 7, suppressed: 'on a disk that is' });
  const json = (aside: object): string =>
    JSON.stringify({ Resources: { A: { Type: 'AWS::SNS::Topic', Metadata: { gatehouse: { ignore: aside } } } } });
  const of = async (text: string) => (await check('a.json', text)).findings.map(({ suppressed }) => suppressed);
  t.same(await of(json([{ rule: 'aws-sns-encrypted', reason: 'public news' }])), ['public news']);
  t.same(await of(json(['aws-sns-encrypted'])), ['no reason given']);
  t.same(await of(json([{ rule: 'aws-sqs-encrypted', reason: 'x' }])), [undefined]);
});

t.test('what to do is said in both languages', (t) => {
  const ids = new Set(terraformRules.map(({ id }) => id));
  t.same(
    Object.keys(fixesOfTemplates).filter((id) => !ids.has(id)),
    [],
    'no text is of a rule that there is not',
  );
  const rule = iacScanner.rules.find(({ id }) => id === 'aws-rds-encrypted');
  t.match(rule?.remediation, /Terraform: .*storage_encrypted.* CloudFormation: .*StorageEncrypted/);
  t.equal(iacScanner.wants('a/package-lock.json'), false);
  t.end();
});

t.test('templates that would keep an engine busy for ever', async (t) => {
  const bucket = (properties: string, more = ''): string => one('AWS::S3::Bucket', properties, more);
  const many = Array.from({ length: 26 }, (_, at) => `  C${at}: !And [!Condition C${at + 1}, !Condition C${at + 1}]\n`);
  const texts = {
    'conditions that name each other twice': bucket(
      'BucketName: !If [C0, a, b]',
      `Conditions:\n${many.join('')}  C26: !Equals [!Ref A, b]\n`,
    ),
    'a condition that names itself': bucket('BucketName: !If [C, a, b]', 'Conditions:\n  C: !Not [!Condition C]\n'),
    'a mapping that asks for itself': bucket(
      'BucketName: !FindInMap [M, a, b]',
      'Mappings:\n  M:\n    a:\n      b: !FindInMap [M, a, b]\n',
    ),
    'a text that asks for a long one': bucket(
      `BucketName: !Sub "${'${A}'.repeat(20_000)}"`,
      `Parameters:\n  A:\n    Type: String\n    Default: "${'x'.repeat(90_000)}"\n`,
    ),
    'names that are never closed': bucket(`BucketName: !Sub "${'${'.repeat(60_000)}"`),
    'a word of capital letters': bucket(`AccessControl: "${'A'.repeat(60_000)}"`),
    aliases: bucket('BucketName: a', `Metadata:\n  x: &a 1\n  y:\n${'    - *a\n'.repeat(20_000)}`),
    'lines after what is no YAML': `Resources:\n  A:\n    Type: AWS::S3::Bucket\n  : [\n${'\n'.repeat(100_000)}`,
  };
  for (const [name, text] of Object.entries(texts)) {
    const began = performance.now();
    const { scanned, notScanned } = await check('stack.yaml', text);
    t.ok(performance.now() - began < 2500, name);
    t.equal(scanned.length + notScanned.length > 0, true, `${name}: it is said`);
  }
});

t.test('an alias means what has its name before it', async (t) => {
  const text =
    `${head}Metadata:\n  a: &it false\n  b: &it true\nResources:\n  It:\n    Type: AWS::RDS::DBInstance\n` +
    '    Properties:\n      StorageEncrypted: *it\n';
  t.same(await broken('aws-rds-encrypted', text), []);
  t.same(await broken('aws-rds-encrypted', text.replace('b: &it true', 'b: &other true')), [9]);
});

t.test('YAML in its flow form', async (t) => {
  const text = '{Resources: {It: {Type: AWS::RDS::DBInstance, Properties: {StorageEncrypted: false}}}}\n';
  t.same(await broken('aws-rds-encrypted', text), [1]);
});
